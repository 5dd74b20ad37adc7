// The state that the parts of the page share. A part that changes it uses the functions below, which announce the topic;
// parts that show it `listen`. Topics: "level" (number of groups shown), "focus" (the group shown alone), "selection"
// (selected rows), "theme".
const levels = data.levels.length ? data.levels : [{ n: 0, of: [], names: [] }];
const finest = levels[levels.length - 1]; // the clusters of the model
const state = {
  level: finest.n, // number of groups
  focus: null, // number of the group that is shown alone, -1 for rows without a group; null for all
  selection: null, // Set of selected rows; null if none is selected
  origin: null, // what has selected the rows: "search" or "map"
};
let columns = {}; // of the rows; `start` fills them
const listeners = {};
const listen = (topic, react) => (listeners[topic] ||= []).push(react);
const announce = (topic) => (listeners[topic] || []).forEach((react) => react());

const levelOf = (n) => levels.find((level) => level.n === n) || finest;
const groupAt = (level, cluster) => (cluster < 0 ? -1 : level.of[cluster] ?? -1);
const groupOf = (row) => groupAt(levelOf(state.level), columns.cluster[row]);

const groupTables = new Map(); // of each level: what is known about its groups
const groupsOf = (level) => {
  if (groupTables.has(level.n)) return groupTables.get(level.n);
  const table = new Map();
  for (const cluster of data.groups) { // the largest cluster of a group comes first, and gives color and shape
    const group = level.of[cluster.cluster];
    const info = table.get(group);
    if (info) {
      info.size += cluster.size;
      info.stability = null; // of merged clusters it is unknown
      info.clusters.push(cluster.cluster);
    } else {
      const name = level === finest ? cluster.name : level.names[group];
      table.set(group, { ...cluster, group, name, clusters: [cluster.cluster] });
    }
  }
  if (table.size <= 10) { // there are colors for all: groups that share one get another
    const taken = new Set();
    const repeated = [...table.values()].filter(({ color }) => taken.size === taken.add(color).size);
    for (const info of repeated) {
      info.color = Array.from({ length: 10 }, (_, color) => color).find((color) => !taken.has(color));
      taken.add(info.color);
    }
  }
  groupTables.set(level.n, table);
  return table;
};
const noGroup = { group: -1, name: "no group", size: 0, color: null, shape: 0, stability: null, clusters: [] };
const groupInfo = (group) => groupsOf(levelOf(state.level)).get(group) || noGroup;
const listGroups = () => [...groupsOf(levelOf(state.level)).values()].sort((a, b) => b.size - a.size || a.group - b.group);

const idOf = (row) => (columns.ids ? columns.ids.get(row) : String(row));
const titleOf = (row) => {
  const title = columns.ids || !columns.text0 ? idOf(row) : columns.text0.get(row) || idOf(row);
  return title.length > 80 ? `${title.slice(0, 79)}…` : title;
};

const setFocus = (group) => {
  if (group === state.focus) return;
  state.focus = group;
  announce("focus");
};
const setSelection = (rows, origin = "map") => {
  state.selection = rows;
  state.origin = rows && origin;
  announce("selection");
};
const setLevel = (n) => {
  if (n === state.level) return;
  state.level = n;
  state.focus = null; // its number has another meaning now
  announce("level");
  announce("focus");
};
