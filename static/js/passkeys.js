// <form data-passkey="address of the options">: its [data-passkey-button] opens the browser's
// passkey dialog, puts the answer into the field `answer` and sends the form. data-passkey-new
// creates a passkey. Buttons and forms that are hidden without script appear if the browser
// supports passkeys and the page has a host name: at an IP address browsers refuse them.
const IP_ADDRESS = /^[\d.]+$|^\[/;

export function setUpPasskeyForms(root) {
  const isSupported = window.PublicKeyCredential?.parseRequestOptionsFromJSON;
  if (!isSupported || IP_ADDRESS.test(location.hostname)) return;
  for (const form of root.querySelectorAll("form[data-passkey]")) {
    const button = form.querySelector("[data-passkey-button]");
    form.hidden = false;
    button.hidden = false;
    button.addEventListener("click", () => usePasskey(form, button));
  }
}

async function usePasskey(form, button) {
  const error = form.querySelector("[data-passkey-error]");
  if (error) error.hidden = true;
  button.disabled = true;
  try {
    const answer = await askCredential(form, await requestOptions(form));
    form.elements.answer.value = JSON.stringify(answer.toJSON());
    form.submit();
  } catch {
    button.disabled = false;
    if (error) error.hidden = false;
  }
}

async function requestOptions(form) {
  const body = new URLSearchParams({ csrf_token: form.elements.csrf_token.value });
  const response = await fetch(form.dataset.passkey, { method: "POST", body });
  if (!response.ok || response.redirected) throw new Error(String(response.status));
  return response.json();
}

function askCredential(form, options) {
  return "passkeyNew" in form.dataset
    ? navigator.credentials.create({
        publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
      })
    : navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
      });
}
