// Help with a long list of checkboxes: a field that shows only the choices with its words, and a
// button that selects all that are shown, or clears them.
const withoutAccents = (text) =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ł", "l")
    .replaceAll("ø", "o");

export function setUpChoices(root) {
  for (const tools of root.querySelectorAll("[data-choices][hidden]")) {
    const rows = [...tools.parentElement.querySelectorAll(".form-check")];
    const visibleBoxes = () =>
      rows.filter((row) => !row.hidden).map((row) => row.querySelector("input"));
    const field = tools.querySelector("input");
    const button = tools.querySelector("button");
    const labelButton = () => {
      button.textContent = visibleBoxes().every((box) => box.checked)
        ? button.dataset.none
        : button.dataset.all;
    };
    tools.hidden = false;
    field?.addEventListener("input", () => {
      const query = withoutAccents(field.value.trim());
      for (const row of rows) row.hidden = !withoutAccents(row.textContent).includes(query);
      labelButton();
    });
    field?.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
    button.addEventListener("click", () => {
      const boxes = visibleBoxes();
      const all = boxes.every((box) => box.checked);
      for (const box of boxes) box.checked = !all;
      boxes[0]?.dispatchEvent(new Event("change", { bubbles: true }));
      labelButton();
    });
    tools.parentElement.addEventListener("change", labelButton);
    labelButton();
  }
}
