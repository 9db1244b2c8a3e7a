// <button data-reveal="id of a password" hidden>: shows what is typed there until the form is sent.
export function setUpRevealButtons(root) {
  for (const button of root.querySelectorAll("[data-reveal][hidden]")) {
    const field = document.getElementById(button.dataset.reveal);
    const show = (isShown) => {
      field.type = isShown ? "text" : "password";
      button.setAttribute("aria-pressed", isShown);
    };
    button.hidden = false;
    button.addEventListener("click", () => show(field.type === "password"));
    field.form.addEventListener("submit", () => show(false));
  }
}
