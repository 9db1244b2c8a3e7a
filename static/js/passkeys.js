// <form data-passkey="address of the options">: its [data-passkey-button] opens the browser's
// passkey dialog, puts the answer into the field `answer` and sends the form. data-passkey-new
// creates a passkey. Buttons and forms that are hidden without script appear if the browser
// supports passkeys and the page has a host name: at an IP address browsers refuse them.
const AT_ADDRESS = /^[\d.]+$|^\[/;

export function passkeyForms(root) {
  const known = window.PublicKeyCredential?.parseRequestOptionsFromJSON;
  if (!known || AT_ADDRESS.test(location.hostname)) return;
  for (const form of root.querySelectorAll("form[data-passkey]")) {
    const button = form.querySelector("[data-passkey-button]");
    form.hidden = false;
    button.hidden = false;
    button.addEventListener("click", () => ask(form, button));
  }
}

async function ask(form, button) {
  const error = form.querySelector("[data-passkey-error]");
  if (error) error.hidden = true;
  button.disabled = true;
  try {
    const answer = await credential(form, await options(form));
    form.elements.answer.value = JSON.stringify(answer.toJSON());
    form.submit();
  } catch {
    button.disabled = false;
    if (error) error.hidden = false;
  }
}

async function options(form) {
  const body = new URLSearchParams({ csrf_token: form.elements.csrf_token.value });
  const response = await fetch(form.dataset.passkey, { method: "POST", body });
  if (!response.ok || response.redirected) throw new Error(String(response.status));
  return response.json();
}

function credential(form, given) {
  return "passkeyNew" in form.dataset
    ? navigator.credentials.create({
        publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(given),
      })
    : navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(given),
      });
}
