// Filters of a list apply while the user types. Blank ones stay out of the URL, and no request is
// sent twice at once.
export function setUpFilters() {
  document.addEventListener("htmx:configRequest", (event) => {
    const { target, detail } = event;
    if (!target.matches("form.filters, form.filter-panel")) return;
    if (isUnfinished(detail.triggeringEvent)) return event.preventDefault();
    if (target.popover) target.hidePopover(); // the focus returns to its button, which keeps it
    if (target.matches("form.filters")) addTyped(detail.formData);
    for (const [name, value] of [...detail.formData])
      if (value === "") detail.formData.delete(name);
  });
  // A pending response would replace what was typed since.
  document.addEventListener("input", ({ target }) => {
    if (searches(target)) htmx.trigger("#content", "htmx:abort");
  });
  document.addEventListener("compositionend", ({ target }) => {
    if (searches(target)) target.dispatchEvent(new Event("input", { bubbles: true }));
  });
  // Single letters, and results that are shown already, add no entry to the browser's history.
  document.addEventListener("htmx:beforeHistoryUpdate", ({ detail }) => {
    const { history, requestConfig } = detail;
    if (!requestConfig.elt.matches("form.filters")) return;
    const shown = `${location.pathname}${location.search}`;
    if (requestConfig.triggeringEvent?.type === "input" || history.path === shown)
      history.type = "replace";
  });
  document.addEventListener("htmx:afterSettle", ({ detail }) => {
    if (!detail.requestConfig?.elt.matches("form.filters")) return;
    document.getElementById("announcement").textContent =
      document.querySelector("[data-announced]")?.textContent ?? "";
  });
  // Enter in a field fires a change, whose request is pending already, and then a submit.
  document.addEventListener(
    "submit",
    (event) => {
      if (!event.target.matches("form.filters.htmx-request")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
}

// Values typed in the panel and not applied yet are applied with the filters in the row.
function addTyped(formData) {
  for (const field of document.querySelectorAll(
    "form.filter-panel :is(input:not([type=hidden]), select)",
  )) {
    const wasChosen = field.options && [...field.options].find((option) => option.defaultSelected);
    const before = field.options ? (wasChosen ?? field.options[0]).value : field.defaultValue;
    if (field.value !== before) formData.set(field.name, field.value);
  }
}

// A character that is being composed, or a first letter: it narrows little and no index finds it.
function isUnfinished(event) {
  if (event?.type !== "input") return false;
  const { name, value } = event.target;
  const isFirst = /^[!-~]$/.test(value.trim()) && !new URLSearchParams(location.search).get(name);
  return event.isComposing || isFirst;
}

function searches(field) {
  return field.matches?.("form.filters [type=search]");
}
