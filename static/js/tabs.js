// A row of tabs that is wider than a phone shows the one that is open, and the sidebar of a low
// window the place that is open.
const BESIDE = 24;
const FADE = 64; // of the strip's edge, static/css/navigation.css

export function showCurrentTab(root) {
  const tab = root.querySelector(".tabs [aria-current]");
  if (!tab) return;
  const strip = tab.closest(".tabs");
  const hidden = tab.getBoundingClientRect().right + FADE - strip.getBoundingClientRect().right;
  if (hidden > 0) strip.scrollLeft += hidden;
}

export function showCurrentPlace() {
  const place = document.querySelector(".sidebar-places [aria-current]");
  if (!place) return;
  const places = place.closest(".sidebar-places");
  const hidden = place.getBoundingClientRect().bottom + BESIDE - places.getBoundingClientRect().bottom;
  if (hidden > 0) places.scrollTop += hidden;
}
