// A page that is the response to a form (data-address: the URL of the form) is left by a link or by
// sending the form again: the back button then shows the current form, where browsers would ask
// whether to send it again. A reload still asks, because the input is on the page. If the content
// was replaced in place since, the URL is that of another page.
export function setUpFormHistory() {
  const { address } = document.documentElement.dataset;
  if (!address) return;
  const responseUrl = location.href;
  const restoreAddress = () => {
    if (location.href === responseUrl) history.replaceState(history.state, "", address);
  };
  document.addEventListener("submit", (event) => {
    if (event.target.method === "post" && !event.defaultPrevented) restoreAddress();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='/']:not([target], [data-dialog])");
    if (link && !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.shiftKey)
      restoreAddress();
  });
}
