// A panel that reloads itself (hx-trigger="every …"): the link in it that had the focus keeps it,
// and while a dialog of the panel is open it doesn't reload.
export function livePanels() {
  let held = null;
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (isAsking(event.target)) event.preventDefault();
  });
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (isAsking(detail.target)) detail.shouldSwap = false;
    held =
      isLive(detail.target) && detail.target.contains(document.activeElement)
        ? document.activeElement.getAttribute("href")
        : null;
  });
  document.addEventListener("htmx:afterSwap", ({ target }) => {
    if (!held || document.activeElement !== document.body) return;
    const link = [...target.querySelectorAll("a[href]")].find(
      (one) => one.getAttribute("href") === held,
    );
    link?.focus({ preventScroll: true });
  });
}

const isLive = (panel) => panel.matches("[hx-trigger^=every]");
const isAsking = (panel) => isLive(panel) && panel.querySelector("dialog[open]") !== null;
