// The words of scripts in the language of the page, from components/script_words.html; {name} is a
// placeholder for a value.
const words = JSON.parse(document.getElementById("words").textContent);

export const say = (name, values = {}) =>
  words[name].replace(/\{(\w+)\}/g, (place, key) => values[key] ?? place);
