// <textarea data-counter="id of the counter">: keeps "96 of 1,000" under the field true.
import { formatNumber } from "./numbers.js";
import { message } from "./messages.js";

export function setUpCounters(root) {
  for (const field of root.querySelectorAll("[data-counter]")) {
    const counter = document.getElementById(field.dataset.counter);
    const maximum = Number(counter.dataset.most);
    const show = () => {
      counter.textContent = message("count", {
        count: formatNumber(field.value.length),
        most: formatNumber(maximum),
      });
      counter.classList.toggle("is-danger", field.value.length > maximum);
    };
    field.addEventListener("input", show);
    show();
  }
}
