// The reference of the docs page: the OpenAPI document in Redoc, in the colors of the page, with
// what Redoc leaves out: examples of requests, permissions and error codes.
import { curl, python } from "./docs_samples.js";

const place = document.getElementById("viewer");
const dark = matchMedia("(prefers-color-scheme: dark)");

const probe = document.body.appendChild(document.createElement("span"));
probe.hidden = true;

function color(name) {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

function theme() {
  const [ink, second, line, sunken] = ["ink", "ink-3", "line", "sunken"].map(color);
  const font = { fontFamily: getComputedStyle(document.body).fontFamily };
  return {
    colors: {
      primary: { main: color("brand-text"), light: color("brand-text") },
      success: { main: color("success") },
      warning: { main: color("warning"), contrastText: color("page") },
      error: { main: color("danger") },
      gray: { 50: sunken, 100: line },
      text: { primary: ink, secondary: second },
      border: { light: line, dark: line },
      responses: {
        success: {
          color: color("success"),
          backgroundColor: color("success-tint"),
          tabTextColor: "#72b17f",
        },
        error: {
          color: color("danger"),
          backgroundColor: color("danger-tint"),
          tabTextColor: "#f18175",
        },
        redirect: {
          color: color("warning"),
          backgroundColor: color("warning-tint"),
          tabTextColor: "#cb9967",
        },
        info: {
          color: color("info"),
          backgroundColor: color("info-tint"),
          tabTextColor: "#6ea8e3",
        },
      },
    },
    schema: {
      nestedBackground: color("canvas"),
      linesColor: color("line-control"),
      typeNameColor: second,
      typeTitleColor: second,
      requireLabelColor: color("danger"),
    },
    typography: {
      ...font,
      fontSize: "15px",
      lineHeight: "1.5",
      headings: { ...font, fontWeight: "600" },
      code: { color: ink, backgroundColor: sunken, fontFamily: "var(--mono)", wrap: true },
      links: {
        color: color("brand-text"),
        visited: color("brand-text"),
        hover: color("brand-text-hover"),
      },
    },
    sidebar: { backgroundColor: color("canvas"), textColor: ink },
    rightPanel: { backgroundColor: "#1e1b18", textColor: "#eeece9" },
    codeBlock: { backgroundColor: "#12100e" },
    // Redoc fades the brand's colour here; these shades keep their contrast for every brand.
    extensionsHook: (name) =>
      name === "ConstraintItem"
        ? {
            color: color("brand-text"),
            background: color("brand-subtle"),
            borderColor: color("brand-subtle-edge"),
          }
        : undefined,
  };
}

// The words of an operation with its permission; its answers with their codes; its examples.
function complete(described, path, method, operation) {
  const roles = operation["x-roles"]
    ? `, which these roles have: ${operation["x-roles"].join(", ")}`
    : "";
  if (operation["x-permission"])
    operation.description += `\n\nNeeds \`${operation["x-permission"]}\`${roles}.`;
  for (const answer of Object.values(operation.responses)) {
    const codes = Object.entries(answer["x-error-codes"] ?? {});
    if (!codes.length) continue;
    answer["x-summary"] = answer.description;
    answer.description = codes.map(([code, meaning]) => `- \`${code}\`: ${meaning}`).join("\n");
  }
  operation["x-codeSamples"] = [
    { lang: "Shell", label: "curl", source: curl(described, path, method, operation) },
    { lang: "Python", label: "Python", source: python(described, path, method, operation) },
  ];
}

// Redoc would show the regular expression of the read-only fields as the name of one field. Their
// types are those of the record that has them.
function nameFields(schema, _name, schemas) {
  for (const [pattern, field] of Object.entries(schema.patternProperties ?? {})) {
    for (const name of pattern.match(/\w+/g)) {
      const read = schemas.find((other) => other.properties?.[name])?.properties[name];
      schema.properties[name] = { ...read, ...field };
    }
  }
  delete schema.patternProperties;
}

async function show() {
  const described = await (await fetch(place.dataset.document)).json();
  Object.values(described.components.schemas).forEach(nameFields);
  for (const [path, operations] of Object.entries(described.paths)) {
    for (const [method, operation] of Object.entries(operations))
      complete(described, path, method, operation);
  }
  const within = document.createElement("div");
  place.replaceChildren(within);
  const options = {
    disableSearch: true,
    hideDownloadButtons: true,
    hideFab: true,
    nativeScrollbars: true,
    hideSchemaPattern: true,
    theme: theme(),
  };
  Redoc.init(described, options, within);
}

// Goes to the operation that the address names, as soon as Redoc has drawn it.
function goTo(id) {
  new MutationObserver((_changes, observer) => {
    const section = document.getElementById(id);
    if (!section) return;
    observer.disconnect();
    requestAnimationFrame(() => section.scrollIntoView({ behavior: "instant" }));
  }).observe(place, { childList: true, subtree: true });
}

const asked = decodeURIComponent(location.hash.slice(1));
if (asked.includes("/")) goTo(asked);
dark.addEventListener("change", show);
show();

// On phones the contents are a panel.
const contents = document.getElementById("contents");
contents.addEventListener("click", ({ target }) => target.closest("a") && contents.hidePopover());

// Searches the operations of the contents; without script they are a list by area.
const search = document.getElementById("docs-search");
search.hidden = false;
search.addEventListener("input", () => {
  const words = search.value.trim().toLowerCase().split(/\s+/);
  let found = 0;
  for (const area of document.querySelectorAll(".docs-contents details")) {
    let inArea = 0;
    for (const link of area.querySelectorAll("a")) {
      const text = `${link.textContent} ${link.dataset.terms}`.toLowerCase();
      link.hidden = !words.every((word) => text.includes(word));
      inArea += !link.hidden;
    }
    area.hidden = !inArea;
    area.open = Boolean(search.value.trim()) && inArea > 0;
    found += inArea;
  }
  document.getElementById("docs-no-match").hidden = found > 0;
});
