// A panel that reloads itself (hx-trigger="every …"): the link in it that had the focus keeps it,
// and while a dialog of the panel is open it doesn't reload.
export function setUpLivePanels() {
  let focusedHref = null;
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (hasOpenDialog(event.target)) event.preventDefault();
  });
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (hasOpenDialog(detail.target)) detail.shouldSwap = false;
    focusedHref =
      isLive(detail.target) && detail.target.contains(document.activeElement)
        ? document.activeElement.getAttribute("href")
        : null;
  });
  document.addEventListener("htmx:afterSwap", ({ target }) => {
    if (!focusedHref || document.activeElement !== document.body) return;
    const focused = [...target.querySelectorAll("a[href]")].find(
      (link) => link.getAttribute("href") === focusedHref,
    );
    focused?.focus({ preventScroll: true });
  });
}

const isLive = (panel) => panel.matches("[hx-trigger^=every]");
const hasOpenDialog = (panel) => isLive(panel) && panel.querySelector("dialog[open]") !== null;
