/* The preview of a mail, as high as the mail: nothing scrolls within the page. Without script it has
   a fixed height and scrolls. Its frame needs allow-same-origin. */
const FRAMES = "iframe.mail-frame";

export function setUpMailFrames() {
  // A load event doesn't bubble, but it can be captured. A frame may have loaded before the script.
  document.addEventListener("load", ({ target }) => target.matches?.(FRAMES) && fit(target), true);
  window.addEventListener("resize", () => document.querySelectorAll(FRAMES).forEach(fit));
  document.querySelectorAll(FRAMES).forEach(fit);
}

function fit(frame) {
  const mail = frame.contentDocument?.documentElement;
  if (!mail || frame.contentDocument.URL === "about:blank") return;
  frame.style.height = "0"; // less than the mail, whose height is then that of its content
  frame.style.height = `${mail.scrollHeight}px`;
  frame.classList.add("mail-frame-whole");
}
