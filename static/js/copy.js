// <button data-copy="id of the text" hidden>: copies the text and says so for two seconds. If the
// browser refuses, it selects the text instead.
import { message } from "./messages.js";
import { showToast } from "./toast.js";

export function setUpCopyButtons(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("[data-copy][hidden]")) {
    const label = button.querySelector("span");
    const originalText = label.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
      } catch {
        getSelection().selectAllChildren(source);
        showToast(message("notCopied"));
        return;
      }
      if (label.matches(".visually-hidden")) {
        showToast(message("copied"));
        return;
      }
      button.style.minWidth = `${button.offsetWidth}px`;
      label.textContent = message("copied");
      setTimeout(() => {
        label.textContent = originalText;
      }, 2000);
    });
  }
}
