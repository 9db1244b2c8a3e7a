// A row of tabs that is wider than a phone shows the current one and that more follow; the sidebar
// of a low window shows the current entry.
const MARGIN = 24;
const FADE = 72; // at the edge of the strip, static/css/navigation.css

export function showCurrentTab(root) {
  const tab = root.querySelector(".tabs [aria-current]");
  if (!tab) return;
  const strip = tab.closest(".tabs");
  const [tabBox, stripBox] = [tab, strip].map((each) => each.getBoundingClientRect());
  // The start of a long name stays in view.
  const hidden = Math.min(
    tabBox.right + FADE - stripBox.right,
    tabBox.left - MARGIN - stripBox.left,
  );
  if (hidden > 0) strip.scrollLeft += hidden;
  const showMore = () =>
    strip.toggleAttribute(
      "data-more",
      strip.scrollLeft + strip.clientWidth < strip.scrollWidth - 1,
    );
  strip.addEventListener("scroll", showMore, { passive: true });
  showMore();
}

export function showCurrentEntry() {
  const entry = document.querySelector(".sidebar-links [aria-current]");
  if (!entry) return;
  const list = entry.closest(".sidebar-links");
  const hidden =
    entry.getBoundingClientRect().bottom + MARGIN - list.getBoundingClientRect().bottom;
  if (hidden > 0) list.scrollTop += hidden;
}
