// A link of a menu that downloads a file leaves the page, and the menu, as they are: close the menu.
export function menus() {
  document.addEventListener("click", (event) => {
    event.target.closest("[popover] a.menu-row")?.closest("[popover]").hidePopover?.();
  });
}
