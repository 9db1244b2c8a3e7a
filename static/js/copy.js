// <button data-copy="id of the text" hidden>: copies the text and says so for two seconds.
import { say } from "./messages.js";

export function copyButtons(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("[data-copy][hidden]")) {
    const word = button.querySelector("span");
    const usual = word.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.style.minWidth = `${button.offsetWidth}px`;
      word.textContent = say("copied");
      setTimeout(() => {
        word.textContent = usual;
      }, 2000);
    });
  }
}
