// An operator who sees the portal as another user changes nothing: the buttons of forms that write
// are disabled, with the bar's sentence as the reason. [data-harmless] forms stay, such as Stop.
export function viewOnly() {
  const reason = document.getElementById("view-only");
  if (!reason) return;
  for (const form of document.querySelectorAll('form[method="post"]:not([data-harmless])')) {
    for (const button of form.elements) {
      if (button.type !== "submit") continue;
      button.disabled = true;
      button.title = reason.textContent;
      button.setAttribute("aria-describedby", reason.id);
    }
  }
}
