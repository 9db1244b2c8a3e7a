// A button that puts a proposed value into a field.
export function setUpSuggestedValues() {
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("[data-fill]");
    if (!button) return;
    const field = document.getElementById(button.dataset.fill);
    field.value = button.value;
    for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    field.focus();
    button.hidden = true;
  });
}
