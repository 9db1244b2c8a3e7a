// A row of tabs that is wider than a phone shows the one that is open.
const BESIDE = 24;

export function showCurrentTab(root) {
  const tab = root.querySelector(".tabs [aria-current]");
  if (!tab) return;
  const strip = tab.closest(".tabs");
  const hidden = tab.getBoundingClientRect().right + BESIDE - strip.getBoundingClientRect().right;
  if (hidden > 0) strip.scrollLeft += hidden;
}
