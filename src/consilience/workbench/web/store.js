// What the page shows: the items and the state come from the server; selection, filter and colors belong to this page.
import { unpack } from "/shared.js";
import { get } from "/api.js";

export const nowhere = 65535; // coordinate of an item without a position

export const items = { isLoaded: false, n: 0, noun: "items", views: [], classes: null, pictures: {} };
export const clustering = { number: -1, labels: null, confidence: null, contested: null, viewLabels: {}, changed: new Set() };
export const server = { state: null, groups: new Map() };
export const page = {
  selection: new Set(),
  hovered: -1,
  hoveredGroup: null,
  openGroup: null,
  filter: "all",
  hits: null, // rows that the search returned, or null
  color: "group",
  pins: [], // the two rows of the question
  propagation: null,
  isAsking: false,
};
export let isLit = new Uint8Array(0); // whether a row passes the filter; the others stand back
export let nLit = 0;

const listeners = new Map();
export const listen = (names, action) => {
  for (const name of names.split(" ")) {
    if (!listeners.has(name)) listeners.set(name, []);
    listeners.get(name).push(action);
  }
};
export const announce = (name) => (listeners.get(name) || []).forEach((action) => action());

export const idOf = (row) => items.ids.get(row);
export const textOf = (row) => items.texts.get(row);
export const groupOf = (row) => clustering.labels[row];
export const describeGroup = (number) => server.groups.get(number) || null;
export const nameGroup = (number) => (number === null || number < 0 ? "no group" : (describeGroup(number)?.name ?? `group ${number}`));
// Confidence from 0 to 1, null if it is unknown, and the word that follows from it.
const unknown = 255;
export const confidenceOf = (row) => (clustering.confidence && clustering.confidence[row] !== unknown ? clustering.confidence[row] / 100 : null);
const nameConfidence = (confidence) => (confidence === null ? "" : items.words[Math.round(100 * confidence)]);
export const writeConfidence = (confidence) => (confidence === null ? "–" : `${Math.round(100 * confidence)}%, ${nameConfidence(confidence)}`);
export const isReadOnly = () => Boolean(server.state?.read_only);

const splitLayout = async (layout, n) => {
  const places = await unpack(layout);
  return { x: places.subarray(0, n), y: places.subarray(n) };
};

export const loadItems = async () => {
  const answer = await get("/api/items");
  const { n } = answer;
  const [ids, texts, layout, classes, ...layouts] = await Promise.all([
    unpack(answer.ids),
    unpack(answer.texts),
    splitLayout(answer.layout, n),
    answer.classes ? unpack(answer.classes.values) : null,
    ...answer.views.map((view) => splitLayout(view.layout, n)),
  ]);
  Object.assign(items, {
    isLoaded: true,
    n,
    title: answer.title,
    folder: answer.folder,
    noun: answer.noun,
    ids,
    texts,
    layout,
    views: answer.views.map((view, k) => ({ name: view.name, nPresent: view.n_present, layout: layouts[k] })),
    pictures: answer.pictures || {},
    words: answer.words,
    classes: classes && { names: answer.classes.names, values: classes },
  });
  isLit = new Uint8Array(n).fill(1);
  nLit = n;
};

// Take over a state; returns whether the clustering changed.
export const applyState = async (state) => {
  const isNew = Boolean(state.labels) && state.clustering !== clustering.number;
  if (state.labels) {
    const names = Object.keys(state.view_labels);
    const [labels, confidence, contested, ...viewLabels] = await Promise.all([
      unpack(state.labels),
      state.confidence ? unpack(state.confidence) : null,
      unpack(state.contested),
      ...names.map((name) => unpack(state.view_labels[name])),
    ]);
    Object.assign(clustering, { labels, confidence, contested });
    clustering.viewLabels = Object.fromEntries(names.map((name, k) => [name, viewLabels[k]]));
  }
  if (isNew) {
    const rows = state.changes ? await unpack(state.changes.rows) : [];
    clustering.changed = new Set(rows);
    clustering.number = state.clustering;
  }
  server.state = state;
  server.groups = new Map((state.groups || []).map((group) => [group.number, group]));
  if (page.openGroup !== null && !server.groups.has(page.openGroup)) page.openGroup = null;
  if (isNew) updateLit();
  return isNew;
};

// Filters.
const tests = {
  all: () => true,
  contested: (row) => clustering.contested[row] === 1,
  low: (row) => ["doubtful", "a guess"].includes(nameConfidence(confidenceOf(row))),
  outliers: (row) => clustering.labels[row] < 0,
  changed: (row) => clustering.changed.has(row),
};
const findTest = (filter) => {
  if (!filter.startsWith("lacks:")) return tests[filter];
  const view = items.views[Number(filter.slice(6))];
  return (row) => view.layout.x[row] === nowhere;
};
const crowded = 300; // from here on, a selection is shown by letting the others stand back, not by rings

export const hasRings = () => page.selection.size <= crowded;
const updateLit = () => {
  if (!clustering.labels) return;
  const passes = findTest(page.filter);
  const hits = page.hits && new Set(page.hits);
  const group = page.hoveredGroup ?? page.openGroup;
  nLit = 0;
  for (let row = 0; row < items.n; row++) {
    const isShown =
      passes(row) &&
      (!hits || hits.has(row)) &&
      (group === null || clustering.labels[row] === group) &&
      (hasRings() || page.hoveredGroup !== null || page.selection.has(row));
    isLit[row] = isShown ? 1 : 0;
    nLit += isLit[row];
  }
};
export const countPassing = () => {
  const passes = findTest(page.filter);
  let count = 0;
  for (let row = 0; row < items.n; row++) if (passes(row)) count++;
  return count;
};
const relight = () => {
  updateLit();
  announce("lit");
};

export const setFilter = (filter) => {
  page.filter = filter;
  relight();
  announce("filter");
};
export const setHits = (rows) => {
  page.hits = rows;
  relight();
  announce("hits");
};
export const setHovered = (row) => {
  if (page.hovered === row) return;
  page.hovered = row;
  announce("hover");
};
export const setHoveredGroup = (number) => {
  if (page.hoveredGroup === number) return;
  page.hoveredGroup = number;
  relight();
};
export const openGroup = (number) => {
  page.openGroup = number;
  page.hoveredGroup = null;
  relight();
  announce("group");
};
export const setColor = (color) => {
  page.color = color;
  announce("color");
};
export const setPins = (rows) => {
  page.pins = rows;
  announce("pins");
};
export const setPropagation = (propagation) => {
  page.propagation = propagation;
  announce("propagation");
};

// Selection. `mode` is "replace" or "add"; adding a single row that is selected takes it out again.
export const select = (rows, mode = "replace") => {
  const before = hasRings();
  const chosen = mode === "add" ? new Set(page.selection) : new Set();
  const isToggle = mode === "add" && rows.length === 1 && chosen.has(rows[0]);
  if (isToggle) chosen.delete(rows[0]);
  else rows.forEach((row) => chosen.add(row));
  page.selection = chosen;
  if (!before || !hasRings()) relight();
  announce("selection");
};
