// A form that can't be sent because the network or the server is gone stays as it is and says so:
// before it goes, the server is asked whether it is there, since a browser leaves the page first. It
// is not asked on a page that came a moment ago.
// A form at work is not sent twice (a file as the answer leaves the page standing, hence the end).
// It keeps its button's width and says what it does: data-busy="Applying…".
import { note } from "./toast.js";
import { say } from "./words.js";

const AT_WORK_MS = 8000;
const ANSWER_MS = 3000;
const FRESH_MS = 5000;

export function keepTyped() {
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (event.defaultPrevented || (submitter?.formMethod || form.method) !== "post") return;
    if (!navigator.onLine) {
      event.preventDefault();
      offline();
      return;
    }
    if (form.ariaBusy === "true") {
      event.preventDefault();
      return;
    }
    if (!reached.delete(form) && performance.now() > FRESH_MS) {
      event.preventDefault();
      sendIfReached(form, submitter);
      return;
    }
    // Waits until the browser has read the pressed button's own value.
    setTimeout(() => atWork(form, submitter));
  });
  document.addEventListener("htmx:sendError", offline);
  document.addEventListener("htmx:afterRequest", ({ target }) => rested(target));
  addEventListener("pageshow", () => document.querySelectorAll("form[aria-busy]").forEach(rested));
}

const reached = new Set();
const asking = new Set();

async function sendIfReached(form, submitter) {
  if (asking.has(form)) return;
  asking.add(form);
  try {
    await fetch("/healthz", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
  } catch (error) {
    // A slow server is one all the same.
    if (error.name !== "TimeoutError") return offline();
  } finally {
    asking.delete(form);
  }
  reached.add(form);
  form.requestSubmit(submitter);
}

function offline() {
  note(say("offline"), 0);
}

// Words with an id are changed by answers of the server, which find them while the button is busy too.
function words(button) {
  return button.querySelector("[id]") ?? button;
}

function atWork(form, button) {
  form.ariaBusy = "true";
  setTimeout(() => rested(form), AT_WORK_MS);
  if (!button?.dataset.busy) return;
  button.style.width = `${button.offsetWidth}px`;
  button.dataset.usual = words(button).textContent;
  button.ariaBusy = "true";
  words(button).textContent = button.dataset.busy;
}

function rested(form) {
  if (!form.matches?.("form[aria-busy]")) return;
  form.removeAttribute("aria-busy");
  const button = form.querySelector("button[data-usual]");
  if (!button) return;
  words(button).textContent = button.dataset.usual;
  button.removeAttribute("aria-busy");
  button.removeAttribute("data-usual");
  button.style.width = "";
}
