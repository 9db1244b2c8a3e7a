// Pressing a button or a link leaves the current field, whose change is sent at once. A response
// while the button is held down would replace it, and the click would be lost: until the click,
// nothing is sent.
const LONGEST_MS = 1000;

export function holdRequests() {
  const waiting = [];
  let held;
  const release = () => {
    clearTimeout(held);
    held = undefined;
    for (const issue of waiting.splice(0)) issue();
  };
  const soon = () => setTimeout(release); // after the click
  document.addEventListener(
    "pointerdown",
    ({ isPrimary, button }) => {
      if (isPrimary && button === 0) held = setTimeout(release, LONGEST_MS);
    },
    true,
  );
  document.addEventListener("pointerup", soon, true);
  document.addEventListener("pointercancel", soon, true);
  document.addEventListener("htmx:confirm", (event) => {
    if (held === undefined) return;
    event.preventDefault();
    waiting.push(() => event.detail.issueRequest(true));
  });
}
