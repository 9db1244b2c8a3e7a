// Requests as a developer would type them: for a shell, which reads secrets and ids from variables,
// and for Python's requests.
const VALUES = { startDate: "2026-05-01", endDate: "2026-05-31" };

const constantCase = (name) => name.replace(/[A-Z]/g, "_$&").toUpperCase();
const quoted = (value) => `'${String(value).replaceAll("'", "'\\''")}'`;

function address(described, path, operation, prefix = "") {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => `${prefix}${constantCase(name)}`);
  const query = operation.parameters
    .filter((parameter) => parameter.in === "query" && parameter.required)
    .map(({ name }) => `${name}=${VALUES[name] ?? "VALUE"}`);
  const server = described.servers[0].url.replace(/\/$/, "");
  return `${server}${filled}${query.length ? "?" : ""}${query.join("&")}`;
}

const VARIABLES = { YOUR_API_KEY: "$API_KEY", "Bearer ACCESS_TOKEN": "Bearer $TOKEN" };
const FORM_VARIABLES = {
  client_id: "$CLIENT_ID",
  client_secret: "$CLIENT_SECRET",
  token: "$TOKEN",
};

function headers({ security }) {
  const schemes = new Set(security.flatMap((scheme) => Object.keys(scheme)));
  if (schemes.has("apiKey")) return { "x-api-key": "YOUR_API_KEY" };
  schemes.delete("clientCredentials");
  return schemes.size ? { Authorization: "Bearer ACCESS_TOKEN" } : {};
}

function body({ requestBody }) {
  const [media, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const sent = Array.isArray(content?.example)
    ? content.example
    : content?.example && { ...content.example };
  if (media === "application/x-www-form-urlencoded") delete sent.scope; // of one API only; without it, a token has all scopes of its client
  return { isJson: media === "application/json", sent };
}

export function curl(described, path, method, operation) {
  const { isJson, sent } = body(operation);
  const lines = [`curl -X ${method.toUpperCase()} "${address(described, path, operation, "$")}"`];
  for (const [name, value] of Object.entries(headers(operation)))
    lines.push(`-H "${name}: ${VARIABLES[value]}"`);
  if (isJson)
    lines.push(
      "-H 'Content-Type: application/json'",
      `-d ${quoted(JSON.stringify(sent, null, 2))}`,
    );
  else
    for (const [name, value] of Object.entries(sent ?? {})) {
      const variable = FORM_VARIABLES[name];
      lines.push(
        variable ? `--data-urlencode "${name}=${variable}"` : `-d ${name}=${quoted(value)}`,
      );
    }
  return lines.join(" \\\n  ");
}

export function python(described, path, method, operation) {
  const { isJson, sent } = body(operation);
  const headerValues = headers(operation);
  const lines = [literal(address(described, path, operation))];
  if (Object.keys(headerValues).length) lines.push(`headers=${literal(headerValues)}`);
  if (sent !== undefined) lines.push(`${isJson ? "json" : "data"}=${literal(sent)}`);
  const call = `requests.${method}(\n${lines.map((line) => `    ${line},\n`).join("")})`;
  return `import requests\n\nresponse = ${call}\nresponse.raise_for_status()`;
}

// A Python literal, formatted for its place in the call.
function literal(value, indent = "    ") {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(
        ([name, item]) => `${JSON.stringify(name)}: ${literal(item, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return items.length
    ? `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`
    : open + close;
}
