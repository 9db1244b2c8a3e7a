// <a href="/chat" data-chat="id of the dialog">: opens the chat's page as a window in the corner.
export function setUpChat() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest?.("[data-chat]");
    const dialog = opener && document.getElementById(opener.dataset.chat);
    if (!dialog || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (dialog.open) return dialog.close();
    dialog.show();
    dialog.addEventListener("close", () => opener.focus(), { once: true });
    if (dialog.querySelector("form.chat-form")) return begin(dialog);
    htmx
      .ajax("GET", opener.href, { target: "#chat", select: "#chat", swap: "outerHTML" })
      .then(() => begin(dialog));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.querySelector("dialog.chat-window[open]")?.close();
  });
}

function begin(dialog) {
  dialog.querySelector("textarea, input:not([type=hidden])")?.focus();
}
