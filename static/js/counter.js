// <textarea data-counter="id of the counter">: keeps "96 of 1,000" under the field true.
import { formatNumber } from "./numbers.js";
import { say } from "./messages.js";

export function counters(root) {
  for (const field of root.querySelectorAll("[data-counter]")) {
    const counter = document.getElementById(field.dataset.counter);
    const most = Number(counter.dataset.most);
    const show = () => {
      counter.textContent = say("count", {
        count: formatNumber(field.value.length),
        most: formatNumber(most),
      });
      counter.classList.toggle("is-danger", field.value.length > most);
    };
    field.addEventListener("input", show);
    show();
  }
}
