// Numbers with the separators of the page's language (data-thousands, data-decimal).
const { thousands, decimal } = document.documentElement.dataset;
const english = new Intl.NumberFormat("en");

export const formatNumber = (value) =>
  english.format(value).replace(/[,.]/g, (separator) => (separator === "," ? thousands : decimal));
