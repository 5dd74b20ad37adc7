// Decisions of the person: sent to the server, and only reported as made once the server has recorded them.
import { get, post } from "/api.js";
import { askChoice, askText, askWithdrawals } from "/dialogs.js";
import { at, capitalize, countGroups, countItems, fill, make, makeButton, makeChip, number, say } from "/elements.js";
import * as store from "/store.js";
import { items, page, server } from "/store.js";

export const showMessage = (text) => {
  const close = makeButton("Close", () => {
    at("maps").focus();
    hideMessage();
  }, "wb-quiet");
  at("message").replaceChildren(make("span", capitalize(text)), close);
  at("message").hidden = false;
};
const hideMessage = () => (at("message").hidden = true);

// Send a request that may contradict earlier decisions. Returns the answer, or null if nothing was recorded.
export const sendDecision = async (path, body) => {
  hideMessage();
  document.body.classList.add("wb-busy");
  try {
    return await post(path, body);
  } catch (error) {
    if (error.status === 409 && error.body?.contradiction) {
      document.body.classList.remove("wb-busy");
      const withdraw = await askWithdrawals(error.body.contradiction);
      return withdraw ? sendDecision(path, { ...body, resolve: "newer", withdraw }) : null;
    }
    showMessage(error.message);
    return null;
  } finally {
    document.body.classList.remove("wb-busy");
  }
};
export const decide = async (body) => {
  const answer = await sendDecision("/api/decide", body);
  if (answer) say("The decision is recorded.");
  return answer;
};
export const undo = (decision) => sendDecision("/api/undo", { number: decision });
export const redo = (decision) => sendDecision("/api/redo", { number: decision });
export const undoLast = () => server.state?.undo != null && !store.isReadOnly() && undo(server.state.undo);
export const redoLast = () => server.state?.redo != null && !store.isReadOnly() && redo(server.state.redo);

export const askGroup = (title, note, isOffered = () => true) =>
  askChoice(title, note, [...server.groups.values()].filter((group) => isOffered(group.number)).sort((a, b) => b.size - a.size).map((group) => {
    const line = make("span", undefined, "wb-choice");
    return [group.number, fill(line, makeChip(group.number), make("small", number(group.size)))];
  }));

export const askView = (note) =>
  askChoice("Which view is misleading here?", note, items.views.map((view) => [view.name, make("span", view.name)]));

const selectedRows = () => [...page.selection];
const actions = {
  "action-together": () => decide({ action: "together", rows: selectedRows() }),
  "action-apart": () => decide({ action: "apart", rows: selectedRows() }),
  "action-not-with": async () => {
    const group = await askGroup("Not in which group?", "The selection is kept apart from the typical members of the group.");
    if (group === null) return;
    try {
      const { typical } = await get("/api/group", { number: group });
      const others = typical.map(({ row }) => row).filter((row) => !page.selection.has(row));
      if (!others.length) return showMessage("All typical members of this group are in the selection.");
      await decide({ action: "apart", rows: selectedRows(), other_rows: others });
    } catch (error) {
      showMessage(error.message);
    }
  },
  "action-split": async () => {
    const note = `The selection becomes a group: ${countItems(page.selection.size)}.`;
    const name = await askText("New group", "Name (optional)", { note, confirm: "Make the group", isOptional: true });
    if (name === null) return;
    await decide({ action: "split", rows: selectedRows(), ...(name ? { name } : {}) });
  },
  "action-outlier": () => decide({ action: "outlier", rows: selectedRows() }),
  "action-distrust": async () => {
    const view = await askView(`The view is ignored for the selection: ${countItems(page.selection.size)}.`);
    if (view !== null) await decide({ action: "distrust", view, rows: selectedRows() });
  },
  "action-clear": () => store.select([]),
};

const showActions = () => {
  const n = page.selection.size;
  const limit = server.state?.limits?.max_rows_apart ?? Infinity;
  const first = n === 1 ? store.idOf([...page.selection][0]) : null;
  at("selection-text").replaceChildren(
    n ? make("b", first ?? `${countItems(n)} selected`) : make("span", "Nothing selected"),
  );
  for (const button of at("actions").querySelectorAll("[data-least]")) {
    button.disabled = n < Number(button.dataset.least) || (store.isReadOnly() && !("local" in button.dataset));
  }
  const apart = at("action-apart");
  apart.textContent = n > 2 ? "Keep all apart" : "Keep apart";
  apart.title = n > limit ? `There ${limit === 1 ? "is" : "are"} ${countGroups(limit)}, so that at most ${countItems(limit)} can all be in different ones` : "The selected items get different groups";
  if (n > limit) apart.disabled = true;
  const [undoButton, redoButton] = [at("undo"), at("redo")];
  const focused = document.activeElement;
  undoButton.disabled = store.isReadOnly() || server.state?.undo == null;
  redoButton.disabled = store.isReadOnly() || server.state?.redo == null;
  if (focused === undoButton && undoButton.disabled) redoButton.focus();
  if (focused === redoButton && redoButton.disabled) undoButton.focus();
};
export const connectActions = () => {
  for (const [id, act] of Object.entries(actions)) at(id).addEventListener("click", act);
  at("undo").addEventListener("click", undoLast);
  at("redo").addEventListener("click", redoLast);
  store.listen("selection state", showActions);
};
