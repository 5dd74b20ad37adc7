// The left panel: the list of groups, the page of a group, and what a search returns.
import { unpack } from "/shared.js";
import { get } from "/api.js";
import { askGroup, askView, decide, showMessage } from "/decide.js";
import { askText, confirmAction } from "/dialogs.js";
import { at, countItems, fill, make, makeBar, makeButton, makeChip, makeGroupLink, makeItemList, number, percent } from "/elements.js";
import * as store from "/store.js";
import { clustering, items, page, server } from "/store.js";

const listGroups = () => [...server.groups.values()].sort((a, b) => b.size - a.size || a.number - b.number);
const describeMean = ({ confidence }) => (confidence === null ? "" : `, mean confidence ${percent(confidence)}`);
const showList = () => {
  const groups = listGroups();
  const largest = Math.max(1, ...groups.map(({ size }) => size));
  const list = make("ul", undefined, "wb-groups");
  for (const group of groups) {
    const button = makeButton(undefined, () => store.openGroup(group.number));
    button.dataset.group = group.number;
    button.title = `${countItems(group.size)}${describeMean(group)}`;
    const name = make("span");
    fill(name, makeChip(group.number), group.is_new && make("span", "new", "wb-new"));
    const sure = make("span", group.confidence === null ? "" : percent(group.confidence), "wb-sure");
    fill(button, name, make("span", number(group.size), "size"), sure, makeBar(group.size / largest));
    button.addEventListener("pointerenter", () => store.setHoveredGroup(group.number));
    button.addEventListener("pointerleave", () => store.setHoveredGroup(null));
    list.append(fill(make("li"), button));
  }
  const head = make("div", undefined, "wb-groups-head");
  fill(head, make("span", "Group"), make("span", "Size"), make("span", clustering.confidence ? "Confidence" : ""));
  const nOutliers = clustering.labels.reduce((total, label) => total + (label < 0), 0);
  const note = nOutliers && make("p", `${countItems(nOutliers)} in no group`, "wb-note");
  const { scrollTop } = at("groups");
  at("groups").replaceChildren(head, list);
  if (note) at("groups").append(note);
  at("groups").scrollTop = scrollTop;
};

const makeMarks = ({ view, terms }) => {
  const block = make("div", undefined, "wb-marks-block");
  const list = make("ul", undefined, "wb-terms");
  for (const term of terms.slice(0, 8)) {
    const comparison = term.inside > term.outside ? "higher than elsewhere" : "lower than elsewhere";
    list.append(fill(make("li"), make("span", term.name), make("small", comparison)));
  }
  return fill(block, make("h4", view), list);
};
const makeSection = (title, ...content) => (content.some(Boolean) ? fill(make("div", undefined, "wb-section"), make("h3", title), ...content) : null);

const makeGroupActions = (group) => {
  const bar = make("div", undefined, "wb-buttons");
  const isOther = (other) => other !== group.number;
  // The numbers of groups are those of the clustering that is shown when the button is pressed.
  const add = (id, text, action) => {
    const button = makeButton(text, () => action(clustering.number));
    button.id = id;
    button.disabled = store.isReadOnly() && id !== "group-select";
    bar.append(button);
  };
  const findMembers = () => {
    const rows = [];
    clustering.labels.forEach((label, row) => label === group.number && rows.push(row));
    return rows;
  };
  add("group-select", "Select members", () => store.select(findMembers()));
  add("group-rename", "Rename …", async (shown) => {
    const name = await askText("Rename the group", "Name", { value: store.nameGroup(group.number), confirm: "Rename" });
    if (name) await decide({ action: "rename", groups: [group.number], name, clustering: shown });
  });
  add("group-merge", "Merge with …", async (shown) => {
    const other = await askGroup("Merge with which group?", "Both become a single group.", isOther);
    if (other !== null) await decide({ action: "merge", groups: [group.number, other], clustering: shown });
  });
  add("group-together", "Keep together", (shown) => decide({ action: "together", groups: [group.number], clustering: shown }));
  add("group-apart", "Keep apart from …", async (shown) => {
    const other = await askGroup("Keep apart from which group?", "Their typical members are kept apart.", isOther);
    if (other !== null) await decide({ action: "apart", groups: [group.number, other], clustering: shown });
  });
  add("group-distrust", "Misleading view …", async (shown) => {
    const view = await askView(`The view is ignored for all members of “${store.nameGroup(group.number)}”: ${countItems(group.size)}.`);
    if (view !== null) await decide({ action: "distrust", view, groups: [group.number], clustering: shown });
  });
  add("group-outlier", "Make outliers …", async () => {
    const text = `All members of “${store.nameGroup(group.number)}” are taken out of the groups: ${countItems(group.size)}.`;
    if (await confirmAction("Make them outliers?", text, "Make them outliers")) await decide({ action: "outlier", rows: findMembers() });
  });
  bar.querySelector("#group-together").disabled ||= group.size < 2;
  if (server.groups.size < 2) for (const id of ["group-merge", "group-apart"]) bar.querySelector(`#${id}`).disabled = true;
  return bar;
};
let shownGroup = null; // number and clustering of the page, so that it is fetched once
// Focus what takes the place of a list or of a page that had the focus.
const moveFocus = (before, element) => {
  const focused = document.activeElement;
  if (before && (focused === before || !focused || focused === document.body)) element?.focus({ preventScroll: true });
};
const findFocused = (...ids) => ids.map((id) => at(id)).some((box) => box.contains(document.activeElement)) && document.activeElement;
const showGroup = async () => {
  const isOpen = page.openGroup !== null;
  const before = findFocused("groups", "group-page", "hits");
  const last = shownGroup?.split(" ")[0];
  at("group-page").hidden = !isOpen;
  at("groups").hidden = isOpen || page.hits !== null;
  at("hits").hidden = isOpen || page.hits === null;
  if (!isOpen) {
    if (before && before.closest("#group-page")) moveFocus(before, document.querySelector(`[data-group="${last}"]`) ?? at("search"));
    return (shownGroup = null);
  }
  const key = `${page.openGroup} ${clustering.number}`;
  if (shownGroup === key) return;
  if (last !== String(page.openGroup)) at("group-page").replaceChildren(); // of another group
  shownGroup = key;
  let group;
  try {
    group = await get("/api/group", { number: page.openGroup });
  } catch (error) {
    return showMessage(error.message);
  }
  if (shownGroup !== key) return;
  const back = makeButton("← All groups", () => store.openGroup(null), "wb-quiet");
  back.id = "group-back";
  const title = make("h2", undefined, "wb-group-title");
  title.append(makeChip(group.number));
  const facts = make("p", `${countItems(group.size)}${describeMean(group)}`, "wb-note");
  const differences = make("ul", undefined, "wb-sentences");
  group.differences.forEach((sentence) => differences.append(make("li", sentence)));
  const support = make("ul", undefined, "wb-support");
  for (const { view, share } of group.support) {
    const line = make("li");
    fill(line, make("span", view), share === null ? make("small", "none") : makeBar(share), make("span", share === null ? "" : percent(share), "size"));
    support.append(line);
  }
  const neighbors = make("ul", undefined, "wb-plain");
  for (const neighbor of group.neighbors) {
    const line = make("li");
    fill(line, makeGroupLink(neighbor.number), make("small", ` ${number(neighbor.n_members)} members are near`));
    neighbors.append(line);
  }
  fillPage(at("group-page"), [
    back,
    title,
    facts,
    makeGroupActions(group),
    makeSection("What marks this group", group.differences.length > 0 && differences),
    makeSection("Typical members", group.typical.length > 0 && makeItemList(group.typical.map(({ row }) => row))),
    makeSection("Borderline members", group.borderline.length > 0 && makeItemList(group.borderline.map(({ row }) => row))),
    makeSection("Members that each view alone puts here", group.support.length > 0 && support),
    makeSection("Nearest groups", group.neighbors.length > 0 && neighbors),
    makeSection("Columns of each view in which it differs most", ...group.marks.filter(({ terms }) => terms.length).map(makeMarks)),
  ]);
  const same = before && before.id && document.querySelector(`#group-page #${before.id}:enabled`);
  if (before) moveFocus(before, same || back);
};
const fillPage = (element, children) => {
  element.replaceChildren();
  fill(element, ...children);
  element.scrollTop = 0;
};

// Search.
let searched = "";
let timer = 0;
const search = async () => {
  const text = at("search").value.trim();
  searched = text;
  if (!text) return store.setHits(null);
  try {
    const answer = await get("/api/search", { q: text });
    const rows = await unpack(answer.rows);
    if (searched === text) store.setHits([...rows]);
  } catch (error) {
    showMessage(error.message);
  }
};
const showHits = () => {
  if (page.hits !== null && page.openGroup !== null) store.openGroup(null);
  at("hits").hidden = page.hits === null || page.openGroup !== null;
  at("groups").hidden = page.hits !== null || page.openGroup !== null;
  if (page.hits === null) return;
  const most = 200;
  const head = make("div", undefined, "wb-hits-head");
  const n = page.hits.length;
  const all = makeButton("Select all", () => store.select(page.hits));
  all.id = "select-hits";
  fill(head, make("span", n ? `${countItems(n)}${n > most ? `, the first ${most} listed` : ""}` : "No item matches."), n > 0 && all);
  at("hits").replaceChildren(head, makeItemList(page.hits.slice(0, most)));
};
export const clearSearch = () => {
  at("search").value = "";
  search();
};
const showFilterNote = () => {
  const isAll = page.filter === "all";
  at("filter-note").textContent = isAll ? "" : countItems(store.countPassing());
};
export const buildGroups = () => {
  const filters = [["all", `All ${items.noun}`], ["contested", "Contested: the views disagree"], ...(clustering.confidence ? [["low", "Low confidence"]] : []), ["outliers", "In no group"], ["changed", "Changed by the last decision"]];
  items.views.forEach((view, k) => view.nPresent < items.n && filters.push([`lacks:${k}`, `Lacks ${view.name}`]));
  for (const [value, text] of filters) {
    const option = make("option", text);
    option.value = value;
    at("filter").append(option);
  }
  at("filter").addEventListener("change", () => store.setFilter(at("filter").value));
  at("search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 220);
  });
  store.listen("filter clustering", () => {
    at("filter").value = page.filter;
    showFilterNote();
  });
  store.listen("state", showList);
  store.listen("group state", showGroup);
  store.listen("hits", showHits);
};
