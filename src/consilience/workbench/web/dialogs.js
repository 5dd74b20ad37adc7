// Dialogs: each returns a promise of the answer, null if the person closes it.
import { fill, make, makeButton } from "/elements.js";

// Show a dialog; `build(body, finish)` adds its fields and returns what the confirming button yields.
const openDialog = (title, confirmText, build, { cancelText = "Cancel" } = {}) =>
  new Promise((resolve) => {
    const dialog = make("dialog", undefined, "wb-dialog");
    const form = make("form");
    form.method = "dialog";
    const body = make("div", undefined, "wb-dialog-body");
    let answer = null;
    const readAnswer = build(body, (value) => {
      answer = value;
      dialog.close();
    });
    const buttons = make("div", undefined, "wb-dialog-buttons");
    const cancel = makeButton(cancelText, () => dialog.close());
    cancel.dataset.dialog = "cancel";
    buttons.append(cancel);
    if (confirmText) {
      const confirm = make("button", confirmText, "wb-primary");
      confirm.type = "submit";
      confirm.dataset.dialog = "confirm";
      buttons.append(confirm);
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer = readAnswer ? readAnswer() : true;
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    const heading = make("h2", title);
    heading.id = "dialog-title";
    dialog.setAttribute("aria-labelledby", "dialog-title");
    dialog.append(fill(form, heading, body, buttons));
    document.body.append(dialog);
    dialog.showModal();
  });

export const askText = (title, label, { value = "", note = "", confirm = "OK", isOptional = false } = {}) =>
  openDialog(title, confirm, (body) => {
    const field = make("label", label);
    const input = make("input");
    input.value = value;
    input.required = !isOptional;
    input.maxLength = 200;
    input.autofocus = true;
    input.dataset.dialog = "text";
    field.append(input);
    fill(body, note && make("p", note), field);
    return () => input.value.trim();
  });

// Choose from a list of [value, element].
export const askChoice = (title, note, choices) =>
  openDialog(title, null, (body, finish) => {
    const list = make("div", undefined, "wb-choices");
    for (const [value, element] of choices) {
      const button = makeButton(undefined, () => finish(value));
      button.dataset.choice = value;
      list.append(fill(button, element));
    }
    fill(body, note && make("p", note), list);
    return null;
  });

export const confirmAction = (title, text, confirm) =>
  openDialog(title, confirm, (body) => {
    body.append(make("p", text));
    return () => true;
  });

// Ask which of the earlier decisions that a new one contradicts are withdrawn. Returns their numbers. A contradiction with
// a single decision leaves no choice. The number 0 stands for constraints of the run.
export const askWithdrawals = ({ sentence, replaced, choices }) =>
  openDialog("Contradiction", "Withdraw and decide", (body) => {
    const write = (decision) => (decision.number ? `Decision ${decision.number}: ${decision.sentence}` : decision.sentence);
    const fields = choices.map((decisions, k) => {
      const field = make("fieldset", undefined, "wb-withdrawals");
      if (decisions.length === 1) {
        fill(field, make("legend", "This is withdrawn:"), make("p", write(decisions[0])));
        return [field, () => decisions[0].number];
      }
      const chosen = decisions.find(({ number }) => replaced.includes(number)) ?? decisions.at(-1);
      field.append(make("legend", "Choose which of these is withdrawn:"));
      const inputs = decisions.map((decision) => {
        const input = make("input");
        input.type = "radio";
        input.name = `withdrawal-${k}`;
        input.value = decision.number;
        input.checked = decision === chosen;
        field.append(fill(make("label"), input, make("span", write(decision))));
        return input;
      });
      return [field, () => Number(inputs.find((input) => input.checked).value)];
    });
    fill(body, make("p", sentence), ...fields.map(([field]) => field));
    return () => [...new Set(fields.map(([, readNumber]) => readNumber()))];
  }, { cancelText: "Keep what was decided before" });
