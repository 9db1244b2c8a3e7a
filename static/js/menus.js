export function menus() {
  document.addEventListener("click", ({ target }) => {
    // A link of a menu that downloads a file leaves the page, and the menu, as they are: close the menu.
    target.closest("[popover] a.menu-row")?.closest("[popover]").hidePopover?.();
    // A field in error may be in a closed panel: open it.
    const link = target.closest(".error-summary a[href^='#']");
    const panel = link && document.getElementById(link.hash.slice(1))?.closest("[popover]");
    if (panel) document.querySelector(`[popovertarget="${panel.id}"]`).click();
  });
}
