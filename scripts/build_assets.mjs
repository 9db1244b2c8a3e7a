// Builds static/dist from static/ and the installed packages: `npm run build`.
//
// Every file gets its content hash in its name, references between files follow, and each text
// file gets a .gz and a .br beside it. static/dist/manifest.json says which name became which.
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, extname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { Features, transform } from "lightningcss";
import { PurgeCSS } from "purgecss";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const STATIC = join(ROOT, "static");
const VENDOR = join(STATIC, "vendor");
const DIST = join(STATIC, "dist");
const PACKAGES = join(ROOT, "node_modules");
const COMPRESSED = new Set([".css", ".js", ".svg"]);

// Words of the kept style sheet that forms and browsers bring, not a template.
const RENDERED = "checkbox radio file date color number search disabled readonly multiple";

const text = (...path) => readFileSync(join(...path), "utf8");

function files(folder, endings) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => endings.includes(extname(path)))
    .sort();
}

function sources() {
  return [
    ...files(join(ROOT, "templates"), [".html"]),
    ...files(join(ROOT, "app/portal"), [".py"]),
    ...files(join(STATIC, "js"), [".js"]),
  ].map((path) => readFileSync(path, "utf8"));
}

const drawing = (name) => join(PACKAGES, "@tabler/icons/icons/outline", `${name}.svg`);

// Every quoted word of a template or screen that is the name of an icon may be one: names are also
// chosen by a state or listed in a table, where no scan for calls would find them.
function iconNames(texts) {
  const names = new Set();
  for (const content of texts) {
    for (const [, name] of content.matchAll(/["']([a-z0-9]+(?:-[a-z0-9]+)*)["']/g)) {
      if (existsSync(drawing(name))) names.add(name);
    }
    for (const [, name] of content.matchAll(/\bicon\(["']([^"']+)["']/g)) {
      if (!existsSync(drawing(name)))
        throw new Error(`There is no icon "${name}" in the outline set.`);
    }
  }
  return [...names].sort();
}

function sprite(names) {
  const symbols = names.map((name) => {
    const shapes = readFileSync(drawing(name), "utf8").match(/<svg[^>]*>([\s\S]*)<\/svg>/)[1];
    const drawn = shapes.replace(/<path stroke="none"[^>]*>/, "").replace(/\s*\n\s*/g, "");
    return `<symbol id="${name}" viewBox="0 0 24 24">${drawn}</symbol>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("")}</svg>\n`;
}

async function vendor(texts) {
  mkdirSync(VENDOR, { recursive: true });
  const [reduced] = await new PurgeCSS().purge({
    content: [{ raw: [...texts, RENDERED].join("\n"), extension: "html" }],
    css: [{ raw: text(PACKAGES, "@tabler/core/dist/css/tabler.min.css") }],
    keyframes: true,
  });
  writeFileSync(join(VENDOR, "tabler.css"), reduced.css);
  writeFileSync(join(VENDOR, "icons.svg"), sprite(iconNames(texts)));
  cpSync(join(PACKAGES, "htmx.org/dist/htmx.min.js"), join(VENDOR, "htmx.js"));
  cpSync(join(PACKAGES, "uplot/dist/uPlot.min.css"), join(VENDOR, "uplot.css"));
  const plot = text(PACKAGES, "uplot/dist/uPlot.iife.min.js");
  writeFileSync(join(VENDOR, "uplot.js"), `${plot}\nexport default uPlot;\n`);
  writeFileSync(join(VENDOR, "redoc.js"), redoc());
  for (const subset of ["latin", "latin-ext"]) {
    const name = `inter-${subset}-wght-normal.woff2`;
    cpSync(join(PACKAGES, "@fontsource-variable/inter/files", name), join(VENDOR, name));
  }
  for (const weight of ["400Regular", "600SemiBold", "700Bold"]) {
    // of PDFs and of text in SVG pictures
    const name = `Inter_${weight}.ttf`;
    cpSync(join(PACKAGES, "@expo-google-fonts/inter", weight, name), join(VENDOR, name));
  }
}

// Redoc fitted into a page of ours: its headings one level below the page's h1, none of them left
// out on the way down, and without the logo that it would fetch from its maker.
function redoc() {
  const levels = { 1: 2, 2: 3, 3: 4, 5: 4 };
  let changes = 0;
  const changed = (word) => (changes++, word);
  const bundle = text(PACKAGES, "redoc/bundles/redoc.standalone.js")
    .replace(/(=\w+\.h)([1235])`/g, (_, before, level) => changed(`${before}${levels[level]}\``))
    .replace('"https://cdn.redoc.ly/redoc/logo-mini.svg"', () => changed('""'));
  if (changes !== 8) throw new Error(`Redoc has changed: ${changes} of 8 places were found.`);
  return bundle;
}

const manifest = {};

// Writes one file under its hash, after the files it refers to.
function emit(name, pending = []) {
  if (manifest[name]) return manifest[name];
  if (pending.includes(name))
    throw new Error(`These files import each other: ${pending.join(", ")}`);
  let body = readFileSync(join(STATIC, name));
  if (name.endsWith(".css"))
    body = small(name, linked(inlined(name), name, /url\((["']?)([^"')]+)\1\)/g, pending));
  if (name.endsWith(".js"))
    body = Buffer.from(linked(body.toString(), name, /(["'])(\.{1,2}\/[^"']+\.js)\1/g, pending));
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 10);
  const ending = extname(name);
  const hashed = `${name.slice(0, -ending.length)}.${hash}${ending}`;
  mkdirSync(dirname(join(DIST, hashed)), { recursive: true });
  writeFileSync(join(DIST, hashed), body);
  if (COMPRESSED.has(ending)) {
    writeFileSync(join(DIST, `${hashed}.gz`), gzipSync(body, { level: 9 }));
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    };
    writeFileSync(join(DIST, `${hashed}.br`), brotliCompressSync(body, { params }));
  }
  manifest[name] = hashed;
  return hashed;
}

// A style sheet without white space, its named breakpoints (@custom-media) in their place.
function small(name, css) {
  const include = Features.CustomMediaQueries | Features.MediaRangeSyntax;
  const options = { minify: true, drafts: { customMedia: true }, include };
  return Buffer.from(transform({ filename: name, code: Buffer.from(css), ...options }).code);
}

// A style sheet with its imports in their place, addresses kept relative to the sheet itself.
function inlined(name) {
  return text(STATIC, name).replace(/@import "([^"]+)";\n?/g, (_, target) => {
    const imported = posix.join(posix.dirname(name), target);
    return inlined(imported);
  });
}

function linked(content, name, references, pending) {
  return content.replace(references, (whole, quote, target) => {
    if (/^(data:|#|https?:|\/)/.test(target)) return whole;
    const other = posix.join(posix.dirname(name), target);
    const hashed = emit(other, [...pending, name]);
    const path = posix.relative(posix.dirname(name), hashed);
    const address = path.startsWith(".") ? path : `./${path}`;
    return name.endsWith(".css") ? `url("${address}")` : `${quote}${address}${quote}`;
  });
}

// Old versions go last, so that a running server never names a file that is not there.
function removeOld(kept) {
  for (const path of files(DIST, [
    ".css",
    ".js",
    ".svg",
    ".png",
    ".ico",
    ".webp",
    ".woff2",
    ".gz",
    ".br",
  ])) {
    const name = relative(DIST, path)
      .replaceAll("\\", "/")
      .replace(/\.(gz|br)$/, "");
    if (!kept.has(name)) rmSync(path);
  }
}

const started = Date.now();
await vendor(sources());
const imported = new Set(
  files(join(STATIC, "css"), [".css"]).flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/@import "\.\/([^"]+)";/g)].map(([, name]) => name),
  ),
);
for (const path of [
  ...files(join(STATIC, "css"), [".css"]).filter((path) => !imported.has(basename(path))),
  ...files(join(STATIC, "js"), [".js"]),
  ...files(join(STATIC, "img"), [".svg", ".png", ".ico", ".webp"]),
  ...files(VENDOR, [".js", ".svg", ".woff2"]),
]) {
  emit(relative(STATIC, path).replaceAll("\\", "/"));
}
const sorted = Object.fromEntries(Object.entries(manifest).sort());
writeFileSync(join(DIST, "manifest.new"), `${JSON.stringify(sorted, null, 2)}\n`);
renameSync(join(DIST, "manifest.new"), join(DIST, "manifest.json"));
removeOld(new Set(Object.values(sorted)));
console.log(`${Object.keys(sorted).length} assets in static/dist, ${Date.now() - started} ms`);
