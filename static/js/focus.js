// data-take-focus: an error summary, or the heading of content that has just been swapped in.
export function takeFocus(root) {
  const target = root.matches?.("[data-take-focus]")
    ? root
    : root.querySelector("[data-take-focus]");
  target?.focus();
}
