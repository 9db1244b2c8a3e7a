// <a href="the confirmation as a page" data-dialog="id">: opens the dialog that is in the page.
export function setUpDialogs() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest?.("[data-dialog]");
    const dialog = opener && document.getElementById(opener.dataset.dialog);
    if (!dialog || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    dialog.showModal();
    dialog.addEventListener("close", () => opener.focus(), { once: true });
  });
  document.addEventListener("click", (event) => {
    if (event.target.matches?.("dialog[open]") && outside(event)) event.target.close();
  });
}

function outside({ target, clientX, clientY }) {
  const { left, right, top, bottom } = target.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}
