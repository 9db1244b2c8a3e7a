// <form data-selection>: a box in the head of the table selects every row of the page, and the bar
// says how many are selected.
import { formatNumber } from "./numbers.js";
import { say } from "./messages.js";

export function selections(root) {
  for (const form of root.querySelectorAll("form[data-selection]")) {
    const rows = [...form.querySelectorAll('input[name="id"]')];
    const every = form.querySelector("[data-select-all]");
    const bar = form.querySelector("[data-selected]");
    const show = () => {
      const count = rows.filter((row) => row.checked).length;
      bar.textContent = count
        ? say("selected", { count: formatNumber(count) })
        : say("selectedNone");
      every.checked = count === rows.length;
      every.indeterminate = count > 0 && count < rows.length;
    };
    every.hidden = false;
    every.addEventListener("change", () => {
      for (const row of rows) row.checked = every.checked;
      show();
    });
    for (const row of rows) row.addEventListener("change", show);
    show();
  }
}
