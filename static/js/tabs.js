// A row of tabs that is wider than a phone shows the current one and that more follow; the sidebar
// of a low window shows the current entry.
const BESIDE = 24;
const FADE = 72; // at the edge of the strip, static/css/navigation.css

export function showCurrentTab(root) {
  const tab = root.querySelector(".tabs [aria-current]");
  if (!tab) return;
  const strip = tab.closest(".tabs");
  const [shown, edges] = [tab, strip].map((each) => each.getBoundingClientRect());
  // The start of a long name stays in view.
  const hidden = Math.min(shown.right + FADE - edges.right, shown.left - BESIDE - edges.left);
  if (hidden > 0) strip.scrollLeft += hidden;
  const showMore = () =>
    strip.toggleAttribute(
      "data-more",
      strip.scrollLeft + strip.clientWidth < strip.scrollWidth - 1,
    );
  strip.addEventListener("scroll", showMore, { passive: true });
  showMore();
}

export function showCurrentPlace() {
  const place = document.querySelector(".sidebar-links [aria-current]");
  if (!place) return;
  const places = place.closest(".sidebar-links");
  const hidden =
    place.getBoundingClientRect().bottom + BESIDE - places.getBoundingClientRect().bottom;
  if (hidden > 0) places.scrollTop += hidden;
}
