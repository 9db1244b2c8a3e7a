// <fieldset data-order="name">: its rows can be put in order by their buttons and by dragging the
// grip. The position of a row is the number in its fields' names; an input event notifies the form.
import { say } from "./messages.js";

const ROW = "[data-order-row]";
const LABELS = { up: "moveUp", down: "moveDown", remove: "remove" };
const NUMBERED = ["name", "id", "for", "aria-describedby"];

export function orders(root) {
  for (const list of root.querySelectorAll("[data-order]")) {
    if (list.dataset.ready) continue;
    list.dataset.ready = "true";
    for (const button of list.querySelectorAll("[data-move]")) {
      // htmx would send the input to the URL of the button pressed last.
      button.type = "button";
      button.removeAttribute("formaction");
    }
    list.addEventListener("click", pressed);
    list.addEventListener("pointerdown", grabbed);
    list.addEventListener("input", () => spare(list));
    prepare(list);
  }
}

const rowsOf = (list) => [...list.querySelectorAll(ROW)];
const filled = (list) => rowsOf(list).slice(0, -1);
const nameOf = (row) => row.querySelector("input:not([type=hidden]), select").value || say("row");

function prepare(list) {
  const movable = filled(list);
  list.toggleAttribute("data-grips", movable.length > 1);
  for (const [place, row] of rowsOf(list).entries()) {
    const last = place >= movable.length;
    row.querySelector("[data-grip]").hidden = last || movable.length < 2;
    row.querySelector(".row-actions").hidden = last;
    for (const button of row.querySelectorAll("[data-move]")) {
      const { move } = button.dataset;
      const end =
        (move === "up" && place === 0) || (move === "down" && place === movable.length - 1);
      button.ariaDisabled = end ? "true" : null;
      button.ariaLabel = say(LABELS[move], { row: nameOf(row) });
    }
  }
}

function number(list) {
  const { order } = list.dataset;
  const inName = new RegExp(`\\b${order}-\\d+`, "g");
  rowsOf(list).forEach((row, place) => {
    for (const part of row.querySelectorAll("*")) {
      for (const attribute of NUMBERED) {
        const value = part.getAttribute(attribute);
        if (value) part.setAttribute(attribute, value.replace(inName, `${order}-${place}`));
      }
    }
  });
  prepare(list);
}

function changed(list, words) {
  number(list);
  document.getElementById("order-status").textContent = words;
  list.dispatchEvent(new Event("input", { bubbles: true }));
}

function saidPlace(list, row) {
  const rows = filled(list);
  return say("moved", { row: nameOf(row), place: rows.indexOf(row) + 1, count: rows.length });
}

function pressed(event) {
  const button = event.target.closest("[data-move]");
  if (!button) return;
  event.preventDefault();
  const list = event.currentTarget;
  const row = button.closest(ROW);
  const rows = filled(list);
  const place = rows.indexOf(row);
  if (button.dataset.move === "remove") {
    const words = say("removed", { row: nameOf(row) });
    const next = row.nextElementSibling;
    row.remove();
    next.querySelector("input, select").focus();
    changed(list, words);
    return;
  }
  if (button.ariaDisabled === "true") return;
  if (button.dataset.move === "up") rows[place - 1].before(row);
  else rows[place + 1].after(row);
  changed(list, saidPlace(list, row));
  button.focus();
}

function grabbed(event) {
  const grip = event.target.closest("[data-grip]");
  if (!grip || event.button !== 0) return;
  event.preventDefault();
  const list = event.currentTarget;
  const row = grip.closest(ROW);
  const before = filled(list).indexOf(row);
  // On the list: a row that is moved in the page would lose the pointer.
  list.setPointerCapture(event.pointerId);
  row.classList.add("dragged");
  const follow = ({ clientY }) => {
    for (const other of filled(list)) {
      if (other === row) continue;
      const { top, height } = other.getBoundingClientRect();
      const above = other.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING;
      if (above && clientY < top + height / 2) return other.before(row);
      if (!above && clientY > top + height / 2) other.after(row);
    }
  };
  const drop = () => {
    list.removeEventListener("pointermove", follow);
    row.classList.remove("dragged");
    if (filled(list).indexOf(row) !== before) changed(list, saidPlace(list, row));
  };
  list.addEventListener("pointermove", follow);
  list.addEventListener("lostpointercapture", drop, { once: true });
}

// The last row is spare; once it has a value, it belongs to the list and another one follows.
function spare(list) {
  const last = rowsOf(list).at(-1);
  if (![...last.querySelectorAll("input, select")].some((field) => field.value)) return;
  const next = last.cloneNode(true);
  for (const field of next.querySelectorAll("input, select")) field.value = "";
  for (const error of next.querySelectorAll(".field-error")) error.remove();
  for (const label of next.querySelectorAll("label")) label.className = "visually-hidden";
  last.after(next);
  number(list);
}
