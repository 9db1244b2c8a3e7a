// <input type="color" data-picker="id of a text field">: shows the colour that is typed there, and
// writes the one that is chosen. A blank field shows the colour that it follows, which the server
// sends with what is wrong with the field; an unknown colour leaves the last one.
const measure = document.createElement("canvas").getContext("2d");

export function setUpColourPickers(root) {
  for (const picker of root.querySelectorAll("[data-picker]")) {
    const text = document.getElementById(picker.dataset.picker);
    let lastColour = text.placeholder;
    const show = () => {
      const value = text.value.trim() || text.placeholder;
      if (CSS.supports("color", value)) lastColour = value;
      if (!lastColour) return;
      measure.fillStyle = lastColour;
      if (measure.fillStyle.startsWith("#")) picker.value = measure.fillStyle;
    };
    picker.hidden = false;
    picker.addEventListener("input", () => {
      text.value = lastColour = picker.value;
    });
    text.addEventListener("input", show);
    const live = document.getElementById(`${text.id}-live`);
    if (live)
      new MutationObserver(() => {
        text.ariaInvalid = String(live.querySelector(".field-error") !== null);
        text.placeholder = live.querySelector("[data-shown]")?.dataset.shown ?? text.placeholder;
        show();
      }).observe(live, { childList: true });
    show();
  }
}
