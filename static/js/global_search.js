// The field in the top bar: "/" or Ctrl + K goes there, or to the page of the search where there is
// no room for the field. Arrow keys move through the results below it, Enter opens the first.
export function setUpSearch() {
  const form = document.querySelector("[data-search]");
  if (!form) return;
  const field = form.querySelector("input");
  const list = form.querySelector(".search-list");
  const close = () => list.replaceChildren();

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input, textarea, select, [contenteditable]");
    const wanted =
      (event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !typing);
    if (!wanted || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    if (!field.offsetParent) return location.assign(form.action);
    field.focus();
    field.select();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      close();
      field.focus();
    }
    if (event.key === "Enter" && event.target === field) {
      const found = list.querySelector("[data-query]");
      const first = found?.dataset.query === field.value.trim() && found.querySelector("a");
      if (first) {
        event.preventDefault();
        first.click();
      }
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const places = [field, ...list.querySelectorAll("a")];
    const next = places.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    if (places.length < 2) return;
    event.preventDefault();
    places.at(next % places.length).focus();
  });
  form.addEventListener("focusout", ({ relatedTarget }) => {
    if (!form.contains(relatedTarget)) close();
  });
  // Results that arrive after the user has left the field are not shown.
  list.addEventListener("htmx:beforeSwap", (event) => {
    if (!form.contains(document.activeElement)) event.detail.shouldSwap = false;
  });
}
