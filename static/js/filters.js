// Filters that filter nothing stay out of the address, and none is asked for twice at once.
export function filters() {
  document.addEventListener("htmx:configRequest", ({ target, detail }) => {
    if (!target.matches("form.filters, form.filter-panel")) return;
    if (target.popover) target.hidePopover(); // the focus returns to its button, which keeps it
    for (const [name, value] of [...detail.formData]) if (value === "") detail.formData.delete(name);
  });
  // Enter in a field is a change, which is under way already, and then a submit.
  document.addEventListener(
    "submit",
    (event) => {
      if (!event.target.matches("form.filters.htmx-request")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
}
