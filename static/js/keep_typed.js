// A form that can't be sent because the network or the server is down stays as it is and says so:
// before it is sent, a request checks that the server responds, because a browser leaves the page
// first. A page that has just loaded skips this. A form in progress is not sent twice (a file as
// the response keeps the page open, hence the end). Its button keeps its width and says what it
// does: data-busy="Applying…".
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
    await fetch("/healthz", {
      method: "HEAD",
      cache: "no-store",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  } catch (error) {
    // A slow server still counts as reachable.
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

// Texts with an id are updated by responses of the server, also while the button is busy.
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
