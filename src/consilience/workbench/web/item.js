// The panel of an item: what each view says about it.
import { get } from "/api.js";
import { at, countItems, fill, make, makeChip, makeGroupLink, makeItemList, number, percent, shorten } from "/elements.js";
import * as store from "/store.js";
import { clustering, items, page } from "/store.js";

// Descriptions are kept until the clustering changes.
const cache = new Map();
export const fetchItem = (row) => {
  const key = `${row} ${clustering.number} ${store.server.state.decisions?.length ?? 0}`;
  if (!cache.has(key)) {
    if (cache.size > 60) cache.clear();
    const request = get("/api/item", { row });
    request.catch(() => cache.delete(key));
    cache.set(key, request);
  }
  return cache.get(key);
};
const makeFeatures = (features) => {
  const list = make("dl", undefined, "wb-features");
  for (const { name, value } of features.slice(0, 8)) fill(list, make("dt", name), make("dd", value));
  return list;
};
export const makePicture = (source, id) => {
  const image = make("img", undefined, "wb-picture");
  image.src = source;
  image.alt = `Picture of ${id}`;
  return image;
};
// Content of a view, for the panel and for questions.
export const describeView = (view, nNearest) => {
  const parts = [];
  if (!view.is_present) return [make("p", `This item lacks the view.`, "wb-note")];
  if (view.text) parts.push(make("p", shorten(view.text, 600), "wb-view-text"));
  if (view.features.length) parts.push(makeFeatures(view.features));
  if (view.nearest.length && nNearest) {
    parts.push(make("p", "Nearest in this view", "wb-note"), makeItemList(view.nearest.slice(0, nNearest).map(({ row }) => row)));
  }
  return parts;
};

// What to do first, while nothing is selected.
const makeGuide = () => {
  const list = make("dl", undefined, "wb-guide");
  const steps = [
    ["Click a point", "to see what each view says about it."],
    ["Ctrl-click", "to add further points."],
    ["Shift-drag", "around points to select them."],
    ["Search", "for ids and texts, or open a group."],
    ["Then say", "what belongs together, with the buttons above the maps."],
    ["Or answer", "questions: those whose answers change most come first."],
  ];
  for (const [name, text] of steps) fill(list, make("dt", name), make("dd", text));
  return list;
};
const mostListed = 60;
const makeSelection = () => {
  const rows = [...page.selection];
  const counts = new Map();
  rows.forEach((row) => counts.set(store.groupOf(row), (counts.get(store.groupOf(row)) || 0) + 1));
  const groups = make("ul", undefined, "wb-plain wb-counted");
  for (const [group, count] of [...counts].sort((a, b) => b[1] - a[1])) {
    groups.append(fill(make("li"), makeGroupLink(group), make("span", number(count), "size")));
  }
  const title = make("h2", `${countItems(rows.length)} selected`, "wb-item-title");
  const nHidden = rows.length - mostListed;
  const more = nHidden > 0 && make("p", `and ${number(nHidden)} more`, "wb-note");
  return [title, make("h3", "Their groups"), groups, make("h3", "Members of the selection"), makeItemList(rows.slice(0, mostListed)), more];
};

let shown = "";
const showItem = async () => {
  const { size } = page.selection;
  const row = size === 1 ? [...page.selection][0] : -1;
  if (row < 0) {
    shown = "";
    at("item").replaceChildren();
    return void fill(at("item"), ...(size ? makeSelection() : [makeGuide()]));
  }
  const key = `${row} ${clustering.number} ${store.server.state.decisions?.length ?? 0}`;
  if (shown === key) return;
  shown = key;
  let item;
  try {
    item = await fetchItem(row);
  } catch (error) {
    at("item").replaceChildren(make("p", error.message, "wb-empty"));
    return;
  }
  if (shown !== key) return;
  const facts = make("dl", undefined, "wb-facts");
  const add = (name, value) => fill(facts, make("dt", name), fill(make("dd"), value));
  add("Group", makeGroupLink(item.group));
  if (item.second !== null && item.second >= 0) add("Second choice", makeGroupLink(item.second));
  add("Confidence", percent(item.confidence));
  if (item.is_contested) add("Views", "The views disagree about this item.");
  const columns = make("dl", undefined, "wb-facts");
  for (const { name, value } of item.columns) if (value) fill(columns, make("dt", name), make("dd", shorten(value, 400)));
  const views = item.views.map((view) => {
    const block = make("details", undefined, "wb-view");
    block.dataset.view = view.name;
    const summary = make("summary");
    const verdict = view.is_present ? makeChip(view.group) : make("span", "lacks this view", "none");
    fill(summary, make("b", view.name), verdict, view.is_distrusted && make("span", "ignored", "wb-new"));
    return fill(block, summary, ...describeView(view, 4));
  });
  const title = make("h2", item.id, "wb-item-title");
  const text = items.texts.get(row);
  at("item").replaceChildren();
  fill(at("item"), title, text && make("p", text, "wb-item-text"), item.picture && makePicture(item.picture, item.id), facts, columns, make("h3", "Group by each view alone"), ...views);

};
export const buildItem = () => {
  store.listen("selection state", showItem);
  showItem();
};
