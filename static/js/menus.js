export function setUpMenus() {
  document.addEventListener("click", ({ target }) => {
    // A link of a menu that downloads a file or leads to a part of the page leaves the menu open: close it.
    target.closest("[popover] a:is(.menu-row, [href^='#'])")?.closest("[popover]").hidePopover?.();
    // A field in error may be in a closed panel: open it.
    const link = target.closest(".error-summary a[href^='#']");
    const panel = link && document.getElementById(link.hash.slice(1))?.closest("[popover]");
    if (panel) document.querySelector(`[popovertarget="${panel.id}"]`).click();
  });
}
