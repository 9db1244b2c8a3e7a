// Everything here makes pages faster or easier to use; each page works without it.
import { setUpChat } from "./chat.js";
import { setUpChoices } from "./choices.js";
import { setUpColourPickers } from "./colour.js";
import { setUpCopyButtons } from "./copy.js";
import { setUpCounters } from "./counter.js";
import { setUpDialogs } from "./dialog.js";
import { setUpFileFields } from "./files.js";
import { setUpFilters } from "./filters.js";
import { takeFocus } from "./focus.js";
import { setUpSearch } from "./global_search.js";
import { setUpGuardedSubmit } from "./guarded_submit.js";
import { setUpFormHistory } from "./history.js";
import { setUpHeldRequests } from "./hold_requests.js";
import { setUpLivePanels } from "./live_panels.js";
import { setUpMailFrames } from "./mail_frames.js";
import { setUpMenus } from "./menus.js";
import { setUpOrderedLists } from "./order.js";
import { setUpRevealButtons } from "./reveal.js";
import { setUpSaveAndPrintButtons } from "./save_buttons.js";
import { setUpSections } from "./sections.js";
import { setUpSelections } from "./selection.js";
import { sendMarkedForm } from "./send_now.js";
import { clearSavedErrors, showPhonePreview } from "./studio.js";
import { setUpSuggestedValues } from "./suggested_value.js";
import { showCurrentEntry, showCurrentTab } from "./tabs.js";
import { setUpThemeSwitch } from "./theme.js";
import { setUpToasts } from "./toast.js";
import { setUpUnsavedWarning } from "./unsaved.js";
import { disableChanges } from "./view_only.js";
import { setUpZonePrompt } from "./zone_prompt.js";

function prepare(root) {
  setUpChoices(root);
  setUpColourPickers(root);
  setUpCopyButtons(root);
  setUpCounters(root);
  setUpFileFields(root);
  setUpSaveAndPrintButtons(root);
  setUpOrderedLists(root);
  setUpRevealButtons(root);
  setUpSelections(root);
  sendMarkedForm(root);
  clearSavedErrors(root);
  takeFocus(root);
  disableChanges();
  showCurrentTab(root);
  if (root.querySelector("form[data-passkey]"))
    import("./passkeys.js").then(({ setUpPasskeyForms }) => setUpPasskeyForms(root));
  if (root.querySelector("[data-chart]"))
    import("./chart.js").then(({ drawCharts }) => drawCharts(root));
}

setUpChat();
setUpDialogs();
setUpSuggestedValues();
setUpFilters();
setUpSearch();
setUpGuardedSubmit();
setUpFormHistory();
setUpMailFrames();
setUpLivePanels();
setUpMenus();
setUpHeldRequests();
setUpSections(document);
showCurrentEntry();
showPhonePreview();
setUpThemeSwitch();
setUpToasts();
setUpUnsavedWarning();
setUpZonePrompt();
prepare(document);
document.addEventListener("htmx:afterSettle", (event) => prepare(event.detail.elt));
