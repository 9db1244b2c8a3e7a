// Buttons that save what is shown only once: <button data-download="id of the text"
// data-name="file" hidden> saves it as a file, <button data-print hidden> prints the page.
export function setUpSaveAndPrintButtons(root) {
  for (const button of root.querySelectorAll("[data-download][hidden]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const text = document.getElementById(button.dataset.download).textContent;
      const url = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/plain" }));
      Object.assign(document.createElement("a"), {
        href: url,
        download: button.dataset.name,
      }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    });
  }
  for (const button of root.querySelectorAll("[data-print][hidden]")) {
    button.hidden = false;
    button.addEventListener("click", () => print());
  }
}
