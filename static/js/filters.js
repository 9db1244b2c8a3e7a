// Filters that filter nothing stay out of the address.
export function filters() {
  document.addEventListener("htmx:configRequest", ({ target, detail }) => {
    if (!target.matches("form.filters")) return;
    for (const [name, value] of [...detail.formData]) if (value === "") detail.formData.delete(name);
  });
}
