// Asks once, of users without a time zone, whether to use the browser's.
export function setUpZonePrompt() {
  const form = document.querySelector("[data-zone-prompt]");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!form || !zone || ["UTC", "Etc/UTC"].includes(zone)) return;
  form.querySelector("[data-zone]").textContent = zone.replaceAll("_", " ");
  form.querySelector("[name=timezone]").value = zone;
  form.hidden = false;
}
