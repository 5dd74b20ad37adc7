// The list of groups, and the slider that merges them.
const linkOf = (group) => (state.level === finest.n ? `#group-${group}` : `#level-${state.level}-group-${group}`);
const treePlaces = new Map(data.order.map((cluster, place) => [cluster, place]));
const groupOrders = {
  size: (a, b) => b.size - a.size || a.group - b.group,
  tree: (a, b) => treePlaces.get(a.cluster) - treePlaces.get(b.cluster),
  name: (a, b) => a.name.localeCompare(b.name),
  stability: (a, b) => (a.stability ?? 2) - (b.stability ?? 2) || b.size - a.size,
};
const qualityOf = (stability) => {
  const element = make("span", undefined, "quality");
  if (stability === null) return element;
  const { look, mark, word } = data.qualities.find(({ least }) => stability >= least);
  const text = `${word}: ${Math.round(100 * stability)}% stay in it when the data is resampled`;
  element.className = `quality ${look}`;
  element.title = text;
  const symbol = make("span", mark);
  symbol.setAttribute("aria-hidden", "true");
  element.append(symbol, make("span", ` ${text}`, "unseen"));
  return element;
};

const showGroups = () => {
  if (!at("group-list")) return;
  const wanted = (at("group-filter")?.value ?? "").trim().toLowerCase();
  const all = listGroups();
  const largest = Math.max(1, ...all.map(({ size }) => size));
  const shown = all.filter(({ name, group }) => name.toLowerCase().includes(wanted) || String(group) === wanted);
  shown.sort(groupOrders[at("group-order")?.value ?? "size"]);
  const isAssessed = all.some(({ stability }) => stability !== null);
  const items = shown.map((info) => {
    const link = make("a");
    link.href = linkOf(info.group);
    link.dataset.group = info.group;
    const bar = make("span", undefined, "bar");
    bar.setAttribute("aria-hidden", "true");
    bar.append(make("span"));
    bar.firstChild.style.width = `${(100 * info.size) / largest}%`;
    link.append(chip(info.group), bar, make("span", number(info.size), "size"));
    if (isAssessed) link.append(qualityOf(info.stability));
    if (state.focus === info.group) link.setAttribute("aria-current", "true");
    const item = make("li");
    item.append(link);
    return item;
  });
  at("group-list").replaceChildren(...(items.length ? items : [make("li", "No matching groups.", "note")]));
};

const showLevel = () => {
  if (!at("level")) return;
  const text = state.level === 1 ? "1 group" : `${number(state.level)} groups`;
  at("level").value = levels.findIndex(({ n }) => n === state.level);
  at("level").setAttribute("aria-valuetext", text);
  at("level-value").textContent = text;
  at("level-note").hidden = state.level === finest.n;
};

const enableGroups = () => {
  at("group-filter")?.addEventListener("input", showGroups);
  at("group-order")?.addEventListener("change", showGroups);
  at("level")?.addEventListener("input", () => setLevel(levels[at("level").value].n));
  listen("level", () => { showLevel(); showGroups(); });
  listen("focus", showGroups);
  showLevel();
  showGroups();
};
