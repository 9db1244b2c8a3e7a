// <form data-auto-submit>: a filter row sends itself when something is chosen or typing rests.
const RESTS_MS = 400;

export function autoSubmit() {
  let timer;
  const send = (form) => {
    clearTimeout(timer);
    form.requestSubmit();
  };
  document.addEventListener("change", ({ target }) => {
    const form = target.closest?.("form[data-auto-submit]");
    if (form) send(form);
  });
  document.addEventListener("input", ({ target }) => {
    const form = target.type === "search" && target.closest("form[data-auto-submit]");
    if (!form || !form.hasAttribute("hx-get")) return;
    clearTimeout(timer);
    timer = setTimeout(() => send(form), RESTS_MS);
  });
  document.addEventListener("submit", ({ target }) => {
    if (!target.matches("form[data-auto-submit]")) return;
    // Filters that filter nothing stay out of the address.
    for (const field of target.elements) if (field.name && field.value === "") field.disabled = true;
    setTimeout(() => { for (const field of target.elements) field.disabled = false; });
  });
  // A page that comes back as it was left shows the filters of its list, not those chosen last.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) for (const form of document.querySelectorAll("form[data-auto-submit]")) form.reset();
  });
}
