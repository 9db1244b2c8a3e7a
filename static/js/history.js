// A page that answers a form (data-address: where the form stands) is left by a link or by
// sending the form again: the back button then shows the current form, where browsers would ask
// about sending it once more. A reload still asks, since what was typed is on the page. Where the
// content was replaced in place since, the address is that of another page.
export function answeredForms() {
  const { address } = document.documentElement.dataset;
  if (!address) return;
  const answered = location.href;
  const leave = () => {
    if (location.href === answered) history.replaceState(history.state, "", address);
  };
  document.addEventListener("submit", (event) => {
    if (event.target.method === "post" && !event.defaultPrevented) leave();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='/']:not([target], [data-dialog])");
    if (link && !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.shiftKey) leave();
  });
}
