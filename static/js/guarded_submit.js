// A form that can't be sent because the network or the server is down stays as it is and says so:
// before it is sent, a request checks that the server responds, because a browser leaves the page
// first. The check begins when the pointer or the focus comes to the button, so that a click rarely
// waits for it, and is skipped while the last response is fresh. A form in progress is not sent
// twice (a file as the response keeps the page open, hence the end). Its button keeps its width and
// says what it does: data-busy="Applying…".
import { showToast } from "./toast.js";
import { message } from "./messages.js";

const BUSY_MS = 8000;
const TIMEOUT_MS = 3000;
const FRESH_MS = 5000;

export function setUpGuardedSubmit() {
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (event.defaultPrevented || (submitter?.formMethod || form.method) !== "post") return;
    if (!navigator.onLine) {
      event.preventDefault();
      showOffline();
      return;
    }
    if (form.ariaBusy === "true") {
      event.preventDefault();
      return;
    }
    if (!isFresh()) {
      event.preventDefault();
      sendIfReached(form, submitter);
      return;
    }
    // Waits until the browser has read the pressed button's own value.
    setTimeout(() => markBusy(form, submitter));
  });
  for (const type of ["pointerover", "focusin"]) document.addEventListener(type, checkAhead);
  document.addEventListener("htmx:sendError", showOffline);
  document.addEventListener("htmx:afterRequest", ({ target }) => clearBusy(target));
  addEventListener("pageshow", () =>
    document.querySelectorAll("form[aria-busy]").forEach(clearBusy),
  );
}

let respondedAt = 0; // as performance.now(): the page itself was a response
let check = null;

function isFresh() {
  return performance.now() - respondedAt < FRESH_MS;
}

function checkAhead({ target }) {
  const button = target.closest?.("button");
  if (button?.type === "submit" && button.form?.method === "post" && !isFresh()) isReached();
}

// A check in progress serves all who wait for it.
function isReached() {
  check ??= requestHealth().finally(() => (check = null));
  return check;
}

async function requestHealth() {
  try {
    await fetch("/healthz", {
      method: "HEAD",
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    // A slow server still counts as reachable.
    if (error.name !== "TimeoutError") return false;
  }
  respondedAt = performance.now();
  return true;
}

const sending = new Set();

async function sendIfReached(form, submitter) {
  if (sending.has(form)) return;
  sending.add(form);
  const reached = await isReached();
  sending.delete(form);
  if (reached) form.requestSubmit(submitter);
  else showOffline();
}

function showOffline() {
  showToast(message("offline"), 0);
}

// Texts with an id are updated by responses of the server, also while the button is busy.
function labelOf(button) {
  return button.querySelector("[id]") ?? button;
}

function markBusy(form, button) {
  form.ariaBusy = "true";
  setTimeout(() => clearBusy(form), BUSY_MS);
  if (!button?.dataset.busy) return;
  button.style.width = `${button.offsetWidth}px`;
  button.dataset.idleLabel = labelOf(button).textContent;
  button.ariaBusy = "true";
  labelOf(button).textContent = button.dataset.busy;
}

function clearBusy(form) {
  if (!form.matches?.("form[aria-busy]")) return;
  form.removeAttribute("aria-busy");
  const button = form.querySelector("button[data-idle-label]");
  if (!button) return;
  labelOf(button).textContent = button.dataset.idleLabel;
  button.removeAttribute("aria-busy");
  button.removeAttribute("data-idle-label");
  button.style.width = "";
}
