// A message about something that ended on another page: bottom left, 6 seconds, stays under pointer
// or focus. The server sends one with the header HX-Trigger: {"toast": {"message": "…", "url":
// "…", "act": "…"}}.
import { say } from "./messages.js";

const STAYS_MS = 6000;

export function note(message, stays = STAYS_MS, url = "", act = "") {
  const place = document.getElementById("toasts") ?? made();
  const toast = document.createElement("div");
  toast.className = "toast-note";
  const line = document.createElement("p");
  line.textContent = message;
  toast.append(line);
  if (url) {
    const link = document.createElement("a");
    link.href = url;
    link.textContent = act;
    toast.append(link);
  }
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn btn-sm";
  close.textContent = say("close");
  close.addEventListener("click", () => toast.remove());
  toast.append(close);
  place.replaceChildren(toast);
  if (stays) leaveAfter(toast, stays);
}

function made() {
  const place = document.createElement("div");
  place.id = place.className = "toasts";
  place.role = "status";
  document.body.append(place);
  return place;
}

function leaveAfter(toast, stays) {
  const leave = () => {
    if (toast.matches(":hover, :focus-within")) setTimeout(leave, 1000);
    else toast.remove();
  };
  setTimeout(leave, stays);
}

export function toasts() {
  document.addEventListener("toast", ({ detail }) =>
    note(detail.message, STAYS_MS, detail.url, detail.act),
  );
}
