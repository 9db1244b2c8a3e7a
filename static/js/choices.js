// Help with a long list of checkboxes: a field that shows only the choices with its words, and a
// button that selects all that are shown, or clears them.
const plain = (text) =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ł", "l")
    .replaceAll("ø", "o");

export function choices(root) {
  for (const tools of root.querySelectorAll("[data-choices][hidden]")) {
    const rows = [...tools.parentElement.querySelectorAll(".form-check")];
    const shown = () => rows.filter((row) => !row.hidden).map((row) => row.querySelector("input"));
    const field = tools.querySelector("input");
    const button = tools.querySelector("button");
    const name = () => {
      button.textContent = shown().every((box) => box.checked)
        ? button.dataset.none
        : button.dataset.all;
    };
    tools.hidden = false;
    field?.addEventListener("input", () => {
      const wanted = plain(field.value.trim());
      for (const row of rows) row.hidden = !plain(row.textContent).includes(wanted);
      name();
    });
    field?.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
    button.addEventListener("click", () => {
      const boxes = shown();
      const all = boxes.every((box) => box.checked);
      for (const box of boxes) box.checked = !all;
      boxes[0]?.dispatchEvent(new Event("change", { bubbles: true }));
      name();
    });
    tools.parentElement.addEventListener("change", name);
    name();
  }
}
