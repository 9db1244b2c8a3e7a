// <input type="file">: its button in the language of the page instead of the browser's, and the name and
// size of the chosen file, which can be taken back where it isn't sent at once. data-button: the words of
// its button where the page shows what is stored.
import { message } from "./messages.js";

export function setUpFileFields(root) {
  for (const field of root.querySelectorAll(".form-control[type='file']")) {
    if (field.closest(".file-field")) continue;
    const wrapper = createElement("span", "file-field");
    const name = createElement("span", "file-name");
    const remove = createElement("button", "btn btn-sm btn-plain", message("removeFile"));
    remove.type = "button";
    name.setAttribute("aria-live", "polite");
    const show = () => {
      const [file] = field.files;
      name.textContent = file
        ? `${file.name}, ${sizeOf(file)}`
        : field.dataset.button
          ? ""
          : message("noFile");
      remove.hidden = !file || field.hasAttribute("hx-post");
    };
    remove.addEventListener("click", () => {
      field.value = "";
      show();
      field.focus();
    });
    field.addEventListener("change", show);
    field.replaceWith(wrapper);
    wrapper.append(
      field,
      createElement("span", "btn", field.dataset.button ?? message("chooseFile")),
      name,
      remove,
    );
    show();
  }
}

function createElement(tag, classes, text = "") {
  return Object.assign(document.createElement(tag), { className: classes, textContent: text });
}

function sizeOf({ size }) {
  const [unit, of] = size < 1e6 ? ["kilobyte", 1e3] : ["megabyte", 1e6];
  const style = { style: "unit", unit, maximumFractionDigits: 1 };
  return new Intl.NumberFormat(document.documentElement.lang, style).format(
    Math.max(size / of, 0.1),
  );
}
