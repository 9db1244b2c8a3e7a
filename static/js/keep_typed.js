// A form that can't be sent because the network is gone stays as it is and says so.
// A form at work is not sent twice (a file as the answer leaves the page standing, hence the end).
// It keeps its button's width and says what it does: data-busy="Applying…".
import { note } from "./toast.js";

const AT_WORK_MS = 8000;

export function keepTyped() {
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (event.defaultPrevented || form.method !== "post") return;
    if (!navigator.onLine) {
      event.preventDefault();
      offline();
      return;
    }
    if (form.ariaBusy === "true") {
      event.preventDefault();
      return;
    }
    // Waits until the browser has read the pressed button's own value.
    setTimeout(() => atWork(form, submitter));
  });
  document.addEventListener("htmx:sendError", offline);
  document.addEventListener("htmx:afterRequest", ({ target }) => rested(target));
  addEventListener("pageshow", () => document.querySelectorAll("form[aria-busy]").forEach(rested));
}

function offline() {
  note("The connection is gone. What you typed is still here; nothing was sent.", 0);
}

function atWork(form, button) {
  form.ariaBusy = "true";
  setTimeout(() => rested(form), AT_WORK_MS);
  if (!button?.dataset.busy) return;
  button.style.width = `${button.offsetWidth}px`;
  button.dataset.usual = button.textContent;
  button.ariaBusy = "true";
  button.textContent = button.dataset.busy;
}

function rested(form) {
  if (!form.matches?.("form[aria-busy]")) return;
  form.removeAttribute("aria-busy");
  const button = form.querySelector("button[data-usual]");
  if (!button) return;
  button.textContent = button.dataset.usual;
  button.removeAttribute("aria-busy");
  button.removeAttribute("data-usual");
  button.style.width = "";
}
