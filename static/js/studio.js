// The branding studio: errors disappear once the draft is saved with the input, and a narrow page
// starts with the preview of a phone.
export function clearSavedErrors(root) {
  if (root.matches?.("[data-all-saved]")) clearErrors();
}

export function showPhonePreview() {
  document.addEventListener(
    "htmx:load",
    () => {
      const isChosen = new URLSearchParams(location.search).has("width");
      if (!isChosen && matchMedia("(max-width: 859px)").matches) {
        document.getElementById("view-width-phone")?.click();
      }
    },
    { once: true },
  );
}

// Pictures have forms of their own.
function clearErrors() {
  const fields = "#studio-form :is(.field, .field-cell):not(#studio-pictures *)";
  for (const field of document.querySelectorAll(fields)) {
    field.classList.remove("has-error");
    for (const part of field.querySelectorAll("[aria-invalid]"))
      part.removeAttribute("aria-invalid");
  }
  for (const error of document.querySelectorAll(
    "#studio-form .field-error:not(#studio-pictures *)",
  ))
    error.remove();
  const summary = document.querySelector(".error-summary");
  for (const link of summary?.querySelectorAll("li a") ?? []) {
    if (!document.getElementById("studio-pictures").querySelector(link.hash))
      link.closest("li").remove();
  }
  if (summary && !summary.querySelector("li")) summary.remove();
}
