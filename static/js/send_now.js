// data-send-now: a form that the user has sent before, and that needs no further click.
export function sendMarkedForm(root) {
  root.querySelector("form[data-send-now]")?.requestSubmit();
}
