// An operator who sees the portal as another user changes nothing: in forms that write, the buttons
// are disabled, with the bar's sentence as the reason, and so are the fields; their text can still
// be selected. [data-harmless] forms stay, such as Stop.
const TYPED =
  "textarea, input:is([type=text], [type=email], [type=url], [type=tel], [type=number], [type=password], [type=search])";

export function disableChanges() {
  const reason = document.getElementById("view-only");
  if (!reason) return;
  for (const form of document.querySelectorAll('form[method="post"]:not([data-harmless])')) {
    for (const control of form.elements) {
      if (control.matches("button, [type=submit]")) disable(control, reason);
      else if (control.matches(TYPED)) control.readOnly = true;
      else if (control.matches("select:not([hx-get]), input:not([type=hidden])"))
        control.disabled = true;
    }
  }
}

// Buttons that only show something, such as a password, stay enabled; one that opens a menu of
// disabled buttons does not.
function disable(button, reason) {
  const menu = document.getElementById(button.getAttribute("popovertarget"));
  if (button.type !== "submit" && !menu?.querySelector("button[name]")) return;
  button.disabled = true;
  button.title = reason.textContent;
  button.setAttribute("aria-describedby", reason.id);
}
