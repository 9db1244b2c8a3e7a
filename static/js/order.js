// <fieldset data-order="name">: its rows can be put in order by their buttons and by dragging the
// grip. The position of a row is the number in its fields' names; an input event notifies the form.
import { message } from "./messages.js";

const ROW = "[data-order-row]";
const LABELS = { up: "moveUp", down: "moveDown", remove: "remove" };
const NUMBERED = ["name", "id", "for", "aria-describedby"];

export function setUpOrderedLists(root) {
  for (const list of root.querySelectorAll("[data-order]")) {
    if (list.dataset.ready) continue;
    list.dataset.ready = "true";
    for (const button of list.querySelectorAll("[data-move]")) {
      // htmx would send the input to the URL of the button pressed last.
      button.type = "button";
      button.removeAttribute("formaction");
    }
    list.addEventListener("click", onClick);
    list.addEventListener("pointerdown", startDrag);
    list.addEventListener("input", () => appendBlankRow(list));
    prepare(list);
  }
}

const rowsOf = (list) => [...list.querySelectorAll(ROW)];
const filledRows = (list) => rowsOf(list).slice(0, -1);
const nameOf = (row) =>
  row.querySelector("input:not([type=hidden]), select").value || message("row");

function prepare(list) {
  const movable = filledRows(list);
  list.toggleAttribute("data-grips", movable.length > 1);
  for (const [index, row] of rowsOf(list).entries()) {
    const last = index >= movable.length;
    row.querySelector("[data-grip]").hidden = last || movable.length < 2;
    row.querySelector(".row-actions").hidden = last;
    for (const button of row.querySelectorAll("[data-move]")) {
      const { move } = button.dataset;
      const end =
        (move === "up" && index === 0) || (move === "down" && index === movable.length - 1);
      button.ariaDisabled = end ? "true" : null;
      button.ariaLabel = message(LABELS[move], { row: nameOf(row) });
    }
  }
}

function renumber(list) {
  const { order } = list.dataset;
  const inName = new RegExp(`\\b${order}-\\d+`, "g");
  rowsOf(list).forEach((row, index) => {
    for (const element of row.querySelectorAll("*")) {
      for (const attribute of NUMBERED) {
        const value = element.getAttribute(attribute);
        if (value) element.setAttribute(attribute, value.replace(inName, `${order}-${index}`));
      }
    }
  });
  prepare(list);
}

function notifyChange(list, status) {
  renumber(list);
  document.getElementById("order-status").textContent = status;
  list.dispatchEvent(new Event("input", { bubbles: true }));
}

function positionMessage(list, row) {
  const rows = filledRows(list);
  return message("moved", { row: nameOf(row), place: rows.indexOf(row) + 1, count: rows.length });
}

function onClick(event) {
  const button = event.target.closest("[data-move]");
  if (!button) return;
  event.preventDefault();
  const list = event.currentTarget;
  const row = button.closest(ROW);
  const rows = filledRows(list);
  const index = rows.indexOf(row);
  if (button.dataset.move === "remove") {
    const status = message("removed", { row: nameOf(row) });
    const next = row.nextElementSibling;
    row.remove();
    next.querySelector("input, select").focus();
    notifyChange(list, status);
    return;
  }
  if (button.ariaDisabled === "true") return;
  if (button.dataset.move === "up") rows[index - 1].before(row);
  else rows[index + 1].after(row);
  notifyChange(list, positionMessage(list, row));
  button.focus();
}

function startDrag(event) {
  const grip = event.target.closest("[data-grip]");
  if (!grip || event.button !== 0) return;
  event.preventDefault();
  const list = event.currentTarget;
  const row = grip.closest(ROW);
  const before = filledRows(list).indexOf(row);
  // On the list: a row that is moved in the page would lose the pointer.
  list.setPointerCapture(event.pointerId);
  row.classList.add("dragged");
  const follow = ({ clientY }) => {
    for (const other of filledRows(list)) {
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
    if (filledRows(list).indexOf(row) !== before) notifyChange(list, positionMessage(list, row));
  };
  list.addEventListener("pointermove", follow);
  list.addEventListener("lostpointercapture", drop, { once: true });
}

// The last row is spare; once it has a value, it belongs to the list and another one follows.
function appendBlankRow(list) {
  const last = rowsOf(list).at(-1);
  if (![...last.querySelectorAll("input, select")].some((field) => field.value)) return;
  const next = last.cloneNode(true);
  for (const field of next.querySelectorAll("input, select")) field.value = "";
  for (const error of next.querySelectorAll(".field-error")) error.remove();
  for (const label of next.querySelectorAll("label")) label.className = "visually-hidden";
  last.after(next);
  renumber(list);
}
