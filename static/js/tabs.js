// A row of tabs that is wider than a phone shows the one that is open.
export function showCurrentTab(root) {
  const tab = root.querySelector(".tabs [aria-current]");
  const row = tab?.closest("ul");
  const strip = [row, row?.parentElement].find((one) => one && one.scrollWidth > one.clientWidth);
  if (strip) strip.scrollLeft = tab.offsetLeft + tab.offsetWidth - strip.clientWidth + 24;
}
