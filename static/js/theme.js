// The appearance switch: changes the page at once and lets the form remember it.
export function setUpThemeSwitch() {
  document.addEventListener(
    "submit",
    (event) => {
      const form = event.target;
      if (!form.matches("[data-theme-switch]")) return;
      event.preventDefault();
      const theme = event.submitter.value;
      if (theme) document.documentElement.dataset.bsTheme = theme;
      else delete document.documentElement.dataset.bsTheme;
      document.querySelector('meta[name="color-scheme"]').content = theme || "light dark";
      for (const button of form.querySelectorAll("[name=theme]")) {
        button.ariaPressed = String(button === event.submitter);
      }
      fetch(form.action, {
        method: "POST",
        body: new FormData(form, event.submitter),
        redirect: "manual",
      });
      dispatchEvent(new Event("themechange"));
    },
    true,
  );
}
