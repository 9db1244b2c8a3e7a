// <form data-unsaved>: the browser asks before the page is left with unsaved input, by a link or by
// another form, such as one that applies the rows as they were; this script asks if the content is
// replaced in place. data-unsaved="refused": the form's values were not saved, so it asks without
// another change. On phones, its sticky bar needs a change. Set it up after guarded_submit.js, which
// prevents the submit of a form that can't be sent: its input is still unsaved.
import { message } from "./messages.js";

export function setUpUnsavedWarning() {
  let sent = null;
  const isUnsaved = (sending) =>
    [...document.querySelectorAll("form[data-unsaved]")].some(
      (form) =>
        form !== sent &&
        form !== sending &&
        (form.dataset.unsaved === "refused" || [...form.elements].some(changed)),
    );
  document.addEventListener(
    "input",
    ({ target }) =>
      target.form?.matches("[data-unsaved]") && target.form.setAttribute("data-changed", ""),
  );
  document.addEventListener("submit", ({ target, defaultPrevented }) => {
    if (!defaultPrevented) sent = target;
  });
  document.addEventListener("htmx:afterRequest", ({ target, detail }) => {
    if (detail.successful && target.matches("form")) sent = target;
  });
  addEventListener("beforeunload", (event) => isUnsaved() && event.preventDefault());
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { target, detail } = event;
    if (detail.target.id !== "content" || !isUnsaved(target) || confirm(message("unsaved"))) return;
    event.preventDefault();
    target.closest("form")?.reset();
  });
}

function changed(control) {
  if (control.type === "checkbox") return control.checked !== control.defaultChecked;
  if (control.matches("select:not([multiple])")) {
    const stored =
      [...control.options].find((option) => option.defaultSelected) ?? control.options[0];
    return stored !== undefined && !stored.selected;
  }
  return (
    control.matches("input:not([type=hidden]), textarea") && control.value !== control.defaultValue
  );
}
