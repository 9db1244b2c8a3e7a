// <button data-copy="id of the text" hidden>: copies the text and says so for two seconds.
import { message } from "./messages.js";

export function setUpCopyButtons(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("[data-copy][hidden]")) {
    const label = button.querySelector("span");
    const originalText = label.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.style.minWidth = `${button.offsetWidth}px`;
      label.textContent = message("copied");
      setTimeout(() => {
        label.textContent = originalText;
      }, 2000);
    });
  }
}
