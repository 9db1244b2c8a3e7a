// <form data-unsaved>: the browser asks before the page is left with something typed in it, by a link
// or by another form, such as one that applies the rows as they were. On phones, its sticky bar needs a change.
export function unsaved() {
  let sent = null;
  document.addEventListener("input", ({ target }) => target.form?.matches("[data-unsaved]") && target.form.setAttribute("data-changed", ""));
  document.addEventListener("submit", ({ target }) => { sent = target; }, true);
  addEventListener("beforeunload", (event) => {
    const waiting = [...document.querySelectorAll("form[data-unsaved]")];
    if (waiting.some((form) => form !== sent && [...form.elements].some(changed))) event.preventDefault();
  });
}

function changed(control) {
  if (control.type === "checkbox") return control.checked !== control.defaultChecked;
  return control.matches("input:not([type=hidden])") && control.value !== control.defaultValue;
}
