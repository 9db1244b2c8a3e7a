// Everything here makes pages quicker or easier; each page works without it.
import { chat } from "./chat.js";
import { choices } from "./choices.js";
import { colourPickers } from "./colour.js";
import { copyButtons } from "./copy.js";
import { counters } from "./counter.js";
import { dialogs } from "./dialog.js";
import { filters } from "./filters.js";
import { finding } from "./find.js";
import { takeFocus } from "./focus.js";
import { answeredForms } from "./history.js";
import { keepButtons } from "./keep.js";
import { keepTyped } from "./keep_typed.js";
import { livePanels } from "./live_panels.js";
import { menus } from "./menus.js";
import { orders } from "./order.js";
import { sections } from "./sections.js";
import { selections } from "./selection.js";
import { sendNow } from "./send_now.js";
import { showCurrentPlace, showCurrentTab } from "./tabs.js";
import { themeSwitch } from "./theme.js";
import { toasts } from "./toast.js";
import { unsaved } from "./unsaved.js";
import { viewOnly } from "./view_only.js";
import { zoneQuestion } from "./zone_question.js";

function prepare(root) {
  choices(root);
  colourPickers(root);
  copyButtons(root);
  counters(root);
  keepButtons(root);
  orders(root);
  selections(root);
  sendNow(root);
  takeFocus(root);
  viewOnly();
  showCurrentTab(root);
  if (root.querySelector("form[data-passkey]")) import("./passkeys.js").then(({ passkeyForms }) => passkeyForms(root));
  if (root.querySelector("[data-chart]")) import("./chart.js").then(({ charts }) => charts(root));
}

chat();
dialogs();
filters();
finding();
keepTyped();
answeredForms();
livePanels();
menus();
sections(document);
showCurrentPlace();
themeSwitch();
toasts();
unsaved();
zoneQuestion();
prepare(document);
document.addEventListener("htmx:afterSettle", (event) => prepare(event.detail.elt));
