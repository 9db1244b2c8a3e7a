// A message about something that ended on another page: bottom left, 6 seconds, stays under pointer
// or focus. The server sends one with the header HX-Trigger: {"toast": {"message": "…", "url":
// "…", "act": "…"}}.
import { message } from "./messages.js";

const DURATION_MS = 6000;

export function showToast(text, duration = DURATION_MS, url = "", actionLabel = "") {
  const container = document.getElementById("toasts") ?? createContainer();
  const toast = document.createElement("div");
  toast.className = "toast-note";
  const line = document.createElement("p");
  line.textContent = text;
  toast.append(line);
  if (url) {
    const link = document.createElement("a");
    link.href = url;
    link.textContent = actionLabel;
    toast.append(link);
  }
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn btn-sm";
  close.textContent = message("close");
  close.addEventListener("click", () => toast.remove());
  toast.append(close);
  container.replaceChildren(toast);
  if (duration) removeAfter(toast, duration);
}

function createContainer() {
  const container = document.createElement("div");
  container.id = container.className = "toasts";
  container.role = "status";
  document.body.append(container);
  return container;
}

function removeAfter(toast, duration) {
  const removeUnlessUsed = () => {
    if (toast.matches(":hover, :focus-within")) setTimeout(removeUnlessUsed, 1000);
    else toast.remove();
  };
  setTimeout(removeUnlessUsed, duration);
}

export function setUpToasts() {
  document.addEventListener("toast", ({ detail }) =>
    showToast(detail.message, DURATION_MS, detail.url, detail.act),
  );
}
