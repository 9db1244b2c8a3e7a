// <input type="file">: its button in the language of the page instead of the browser's, and the name and
// size of the chosen file, which can be taken back where it isn't sent at once. data-button: the words of
// its button where the page shows what is stored.
import { say } from "./messages.js";

export function fileFields(root) {
  for (const field of root.querySelectorAll(".form-control[type='file']")) {
    if (field.closest(".file-field")) continue;
    const shell = made("span", "file-field");
    const name = made("span", "file-name");
    const remove = made("button", "btn btn-sm btn-plain", say("removeFile"));
    remove.type = "button";
    name.setAttribute("aria-live", "polite");
    const show = () => {
      const [file] = field.files;
      name.textContent = file
        ? `${file.name}, ${sizeOf(file)}`
        : field.dataset.button
          ? ""
          : say("noFile");
      remove.hidden = !file || field.hasAttribute("hx-post");
    };
    remove.addEventListener("click", () => {
      field.value = "";
      show();
      field.focus();
    });
    field.addEventListener("change", show);
    field.replaceWith(shell);
    shell.append(
      field,
      made("span", "btn", field.dataset.button ?? say("chooseFile")),
      name,
      remove,
    );
    show();
  }
}

function made(tag, classes, text = "") {
  return Object.assign(document.createElement(tag), { className: classes, textContent: text });
}

function sizeOf({ size }) {
  const [unit, of] = size < 1e6 ? ["kilobyte", 1e3] : ["megabyte", 1e6];
  const style = { style: "unit", unit, maximumFractionDigits: 1 };
  return new Intl.NumberFormat(document.documentElement.lang, style).format(
    Math.max(size / of, 0.1),
  );
}
