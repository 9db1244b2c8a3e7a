// The messages of scripts in the language of the page, from components/script_messages.html; {name}
// is a placeholder for a value.
const messages = JSON.parse(document.getElementById("script-messages").textContent);

export const message = (name, values = {}) =>
  messages[name].replace(/\{(\w+)\}/g, (placeholder, key) => values[key] ?? placeholder);
