// Pressing a button or a link leaves the current field, whose change is sent at once. A response
// while the button is held down would replace it, and the click would be lost: until the click,
// nothing is sent.
const MAX_HOLD_MS = 1000;

export function setUpHeldRequests() {
  const waiting = [];
  let timer;
  const release = () => {
    clearTimeout(timer);
    timer = undefined;
    for (const issue of waiting.splice(0)) issue();
  };
  const releaseAfterClick = () => setTimeout(release); // after the click
  document.addEventListener(
    "pointerdown",
    ({ isPrimary, button }) => {
      if (isPrimary && button === 0) timer = setTimeout(release, MAX_HOLD_MS);
    },
    true,
  );
  document.addEventListener("pointerup", releaseAfterClick, true);
  document.addEventListener("pointercancel", releaseAfterClick, true);
  document.addEventListener("htmx:confirm", (event) => {
    if (timer === undefined) return;
    event.preventDefault();
    waiting.push(() => event.detail.issueRequest(true));
  });
}
