// The panel of an item: what each view says about it.
import { get } from "/api.js";
import { at, fill, make, makeChip, makeGroupLink, makeItemList, percent, shorten } from "/elements.js";
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
export const makeFeatures = (features) => {
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

let shown = "";
const showItem = async () => {
  const row = page.active;
  if (row < 0) {
    at("item").replaceChildren(make("p", "Select an item to see what each view says about it.", "wb-empty"));
    return;
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
  at("item").replaceChildren();
  fill(at("item"), title, item.picture && makePicture(item.picture, item.id), facts, columns, make("h3", "Group by each view alone"), ...views);
};
export const buildItem = () => {
  store.listen("selection state", showItem);
  showItem();
};
