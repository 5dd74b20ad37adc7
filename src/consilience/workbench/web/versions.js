// Versions of the clustering: keep, compare, revert, and save as a new run.
import { get } from "/api.js";
import { sendDecision, showMessage, undo } from "/decide.js";
import { askText, confirmAction } from "/dialogs.js";
import { at, countGroups, fill, make, makeButton, makeItemList, number, say, writeTime } from "/elements.js";
import * as store from "/store.js";
import { clustering, server } from "/store.js";

const present = { number: -1, name: "the present groups" }; // as a choice beside the versions

const keep = async () => {
  const note = "The present groups are kept under this name, so that you can return to them.";
  const name = await askText("Keep this version", "Name", { note, confirm: "Keep" });
  if (name) await sendDecision("/api/keep", { name });
};
const revert = async (version) => {
  const text = `The groups become those of “${version.name}”. Decisions made since then are not in effect any more, until you undo this step.`;
  if (await confirmAction("Revert to this version?", text, "Revert")) await sendDecision("/api/revert", { version: version.number });
};
const remove = async (version) => {
  const text = `The name “${version.name}” is removed. The groups and decisions stay as they are.`;
  if (await confirmAction("Remove this version?", text, "Remove")) await undo(version.number);
};
const save = async () => {
  const note = "The present groups are saved as a new run, in a folder beside this one. It can predict the groups of new items.";
  const folder = await askText("Save as a new run", "Name of the folder", { note, confirm: "Save" });
  if (folder) await sendDecision("/api/save", { folder });
};
let difference = null; // what the last comparison returned
let compared = null; // the clustering whose groups were compared, null if only versions were
const compare = async (first, second) => {
  const shown = [first, second].includes(String(present.number)) ? clustering.number : null;
  try {
    [difference, compared] = [await get("/api/diff", { first, second }), shown];
    showVersions();
    at("compare").focus({ preventScroll: true });
    at("diff").scrollIntoView({ block: "nearest" });
    say(difference.overview);
  } catch (error) {
    showMessage(error.message);
  }
};
const makeDifference = () => {
  const block = make("div", undefined, "wb-section");
  block.id = "diff";
  const list = make("ul", undefined, "wb-sentences");
  difference.sentences.forEach((sentence) => list.append(make("li", sentence)));
  const moved = new Map(difference.moved.map((entry) => [entry.row, entry]));
  const describe = (row) => `${moved.get(row).from ?? "no group"} → ${moved.get(row).to ?? "no group"}`;
  const nHidden = difference.n_moved - difference.moved.length;
  return fill(
    block,
    make("h3", "Differences"),
    make("p", difference.overview),
    list,
    difference.moved.length > 0 && makeItemList([...moved.keys()], describe),
    nHidden > 0 && make("p", `and ${number(nHidden)} more`, "wb-note"),
  );
};
const makeChoice = (id, versions, chosen) => {
  const choice = make("select");
  choice.id = id;
  for (const { number: value, name } of versions) {
    const option = make("option", name);
    option.value = value;
    choice.append(option);
  }
  if (chosen !== undefined && versions.some((version) => String(version.number) === String(chosen))) choice.value = chosen;
  return choice;
};
const showVersions = () => {
  const { versions, saved } = server.state;
  const before = [at("diff-first")?.value, at("diff-second")?.value];
  const head = make("div", undefined, "wb-panel-tools");
  const keepButton = makeButton("Keep version …", keep, "wb-primary");
  keepButton.id = "keep";
  const saveButton = makeButton("Save as run …", save);
  saveButton.id = "save";
  keepButton.disabled = saveButton.disabled = store.isReadOnly();
  head.append(keepButton, saveButton);
  const list = make("ol", undefined, "wb-versions");
  for (const version of versions) {
    const entry = make("li");
    entry.dataset.version = version.number;
    const revertButton = makeButton("Revert", () => revert(version), "wb-quiet");
    revertButton.disabled = store.isReadOnly() || version.is_current;
    const removeButton = makeButton("Remove", () => remove(version), "wb-quiet");
    removeButton.dataset.do = "remove";
    removeButton.disabled = store.isReadOnly();
    const title = make("p", undefined, "wb-sentence");
    fill(title, make("b", version.name), version.is_current && make("span", "current", "wb-tag wb-satisfied"));
    const decisions = version.n_decisions === 1 ? "1 decision" : `${number(version.n_decisions)} decisions`;
    const facts = [countGroups(version.n_groups), decisions, writeTime(version.time)].filter(Boolean).join(", ");
    fill(entry, title, make("p", facts, "wb-note"), revertButton, version.number > 0 && removeButton);
    list.append(entry);
  }
  at("versions").replaceChildren(head);
  if (saved) {
    const box = make("div", undefined, "wb-saved");
    box.id = "saved";
    fill(box, make("p", "Saved in"), make("code", saved.folder), make("p", "Groups of new items:"), make("code", `consilience predict ${saved.folder} new.csv`));
    at("versions").append(box);
  }
  at("versions").append(list);
  const choices = [...versions, present];
  const first = makeChoice("diff-first", choices, before[0] ?? versions[0].number);
  const second = makeChoice("diff-second", choices, before[1] ?? present.number);
  const label = (text, choice) => fill(make("label", text), choice);
  const button = makeButton("Compare", () => compare(first.value, second.value));
  button.id = "compare";
  at("versions").append(fill(make("div", undefined, "wb-compare"), make("h3", "Compare"), label("From", first), label("To", second), button));
  if (compared !== null && compared !== clustering.number) [difference, compared] = [null, null];
  if (difference) at("versions").append(makeDifference());
};
export const buildVersions = () => store.listen("state", showVersions);
