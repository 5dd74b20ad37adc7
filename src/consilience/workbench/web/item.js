// The panel of an item: what each view says about it.
import { get } from "/api.js";
import {
  at, countItems, fill, make, makeButton, makeChip, makeGroupLink, makeItemList, modifierKey, number, shorten,
} from "/elements.js";
import * as store from "/store.js";
import { clustering, items, page } from "/store.js";

// Descriptions are kept until the clustering changes.
const cache = new Map();
export const fetchItem = (row) => {
  const key = `${row} ${clustering.number}`;
  if (!cache.has(key)) {
    if (cache.size > 60) cache.clear();
    const request = get("/api/item", { row });
    request.catch(() => cache.delete(key));
    cache.set(key, request);
  }
  return cache.get(key);
};
const mostMeasured = 8; // measurements of a view that are shown at once
const makeFeatures = (features) => {
  const list = make("dl", undefined, "wb-features");
  for (const { name, value } of features.slice(0, mostMeasured)) fill(list, make("dt", name), make("dd", shorten(value, 200)));
  return list;
};
// A table of [name, value of A, value of B] for two items.
const makeRows = (rows) =>
  rows.map(([name, ...values]) => {
    const heading = make("th", name);
    heading.scope = "row";
    return fill(make("tr"), heading, ...values.map((value) => make("td", value ? shorten(value, 200) : "–")));
  });
const makePairTable = (label, rows) => {
  const table = make("table", undefined, "wb-pair-table");
  const head = make("tr");
  for (const text of [label, "A", "B"]) {
    const heading = make("th", text);
    heading.scope = "col";
    head.append(heading);
  }
  return fill(table, fill(make("thead"), head), fill(make("tbody"), ...makeRows(rows.slice(0, mostMeasured))));
};
const makeLongPairTable = (label, rows) => {
  const box = make("div", undefined, "wb-pair-measures");
  box.append(makePairTable(label, rows));
  const nHidden = rows.length - mostMeasured;
  if (nHidden <= 0) return box;
  const more = makeButton(`Show ${number(nHidden)} more`, () => {
    box.querySelector("tbody").append(...makeRows(rows.slice(mostMeasured)));
    more.remove();
  }, "wb-quiet");
  return fill(box, more);
};
const listPairs = (entries) => {
  const names = new Set(entries.flatMap((listed) => listed.map(({ name }) => name)));
  const [first, second] = entries.map((listed) => new Map(listed.map((entry) => [entry.name, entry])));
  return [...names].map((name) => [name, first.get(name), second.get(name)]);
};
// The measurements of two items in a view, those first that are farthest from the mean for one of them; null if none.
export const compareMeasurements = (views) => {
  const distanceOf = ([, ...entries]) => Math.max(...entries.map((entry) => Math.abs(entry?.distance ?? 0)));
  const pairs = listPairs(views.map((view) => view?.measurements ?? [])).sort((a, b) => distanceOf(b) - distanceOf(a));
  return pairs.length ? makeLongPairTable("Measurement", pairs.map(([name, ...entries]) => [name, ...entries.map((entry) => entry?.value)])) : null;
};
// The other columns of two items, which no view shows as measurements; null if there are none.
export const compareColumns = (described) => {
  const measured = new Set(described.flatMap(({ views }) => views.flatMap(({ measurements }) => measurements.map(({ name }) => name))));
  const pairs = listPairs(described.map(({ columns }) => columns.filter(({ name }) => !measured.has(name))));
  return pairs.length ? makeLongPairTable("Column", pairs.map(([name, ...entries]) => [name, ...entries.map((entry) => entry?.value)])) : null;
};
export const makePicture = (source, id) => {
  const image = make("img", undefined, "wb-picture");
  image.src = source;
  image.alt = `Picture of ${id}`;
  return image;
};
// Content of a view, for the panel and for questions, which show the measurements of two items in a table.
export const describeView = (view, nNearest, hasMeasurements = true) => {
  const parts = [];
  if (!view.is_present) return [make("p", "This item lacks the view.", "wb-note")];
  if (view.text) parts.push(make("p", shorten(view.text, 600), "wb-view-text"));
  if (view.features.length) parts.push(makeFeatures(view.features));
  if (view.measurements.length && hasMeasurements) parts.push(makeFeatures(view.measurements));
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
    [`${modifierKey}-click`, "to add further points."],
    ["Shift-drag", "around points to select them."],
    ["Search", "for ids and texts, or open a group."],
    ["Then decide", "whether they belong together, with the buttons next to the maps."],
    ["Or answer", "questions: those whose answers change most come first."],
    ["Keys", `/ searches, Escape goes back one step, ${modifierKey}-Z undoes a decision.`],
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

const replaceItem = (...children) => {
  const hadFocus = at("item").contains(document.activeElement);
  at("item").replaceChildren();
  fill(at("item"), ...children);
  if (hadFocus) at("item").focus({ preventScroll: true });
};
let shown = "";
const showItem = async () => {
  const { size } = page.selection;
  const row = size === 1 ? [...page.selection][0] : -1;
  if (row < 0) {
    shown = "";
    return replaceItem(...(size ? makeSelection() : [makeGuide()]));
  }
  const key = `${row} ${clustering.number}`;
  if (shown === key) return;
  shown = key;
  let item;
  try {
    item = await fetchItem(row);
  } catch (error) {
    return replaceItem(make("p", error.message, "wb-empty"));
  }
  if (shown !== key) return;
  const facts = make("dl", undefined, "wb-facts");
  const add = (name, value) => fill(facts, make("dt", name), fill(make("dd"), value));
  add("Group", makeGroupLink(item.group));
  if (item.second !== null && item.second >= 0) add("Second choice", makeGroupLink(item.second));
  if (item.confidence !== null) add("Confidence", store.writeConfidence(item.confidence));
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
  const picture = item.picture && makePicture(item.picture, item.id);
  replaceItem(title, text && make("p", text, "wb-item-text"), picture, facts, columns, make("h3", "Group by each view alone"), ...views);
};
export const buildItem = () => {
  store.listen("selection state", showItem);
  showItem();
};
