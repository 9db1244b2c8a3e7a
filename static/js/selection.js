// <form data-selection>: a box in the head of the table selects every row of the page, and the bar
// says how many are selected.
import { formatNumber } from "./numbers.js";
import { message } from "./messages.js";

export function setUpSelections(root) {
  for (const form of root.querySelectorAll("form[data-selection]")) {
    const rows = [...form.querySelectorAll('input[name="id"]')];
    const selectAll = form.querySelector("[data-select-all]");
    const bar = form.querySelector("[data-selected]");
    const show = () => {
      const count = rows.filter((row) => row.checked).length;
      bar.textContent = count
        ? message("selected", { count: formatNumber(count) })
        : message("selectedNone");
      selectAll.checked = count === rows.length;
      selectAll.indeterminate = count > 0 && count < rows.length;
    };
    selectAll.hidden = false;
    selectAll.addEventListener("change", () => {
      for (const row of rows) row.checked = selectAll.checked;
      show();
    });
    for (const row of rows) row.addEventListener("change", show);
    show();
  }
}
