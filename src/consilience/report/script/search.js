// The search over ids, texts, categories and names of groups. Its hits are the selection, which map and table show.
const maxHits = 50; // that the first screen lists

const findRows = (text) => {
  const searched = [columns.ids, ...data.texts.map((_, i) => columns[`text${i}`])].filter(Boolean);
  let mask = null; // rows that contain all words
  for (const word of text.split(/\s+/)) {
    const hits = new Uint8Array(data.n);
    searched.forEach((column) => column.find(word, hits));
    if (!columns.ids && /^\d+$/.test(word)) for (let row = 0; row < data.n; row++) if (String(row).includes(word)) hits[row] = 1;
    if (mask) for (let row = 0; row < data.n; row++) hits[row] &= mask[row];
    mask = hits;
  }
  const ranks = [[], [], [], []]; // equal ids, ids that start with the text, ids that contain it, other rows
  for (let row = 0; row < data.n; row++) {
    if (!mask[row]) continue;
    const id = idOf(row).toLowerCase();
    const place = id.indexOf(text);
    ranks[place < 0 ? 3 : place > 0 ? 2 : id.length === text.length ? 0 : 1].push(row);
  }
  return ranks.flat();
};

const search = () => {
  const text = at("search").value.trim().toLowerCase();
  words = text ? text.split(/\s+/) : [];
  if (text) setSelection(new Set(findRows(text)), "search");
  else if (state.origin === "search") setSelection(null);
};
const clearSearch = () => {
  at("search").value = "";
  words = [];
  setSelection(null);
};

const listHits = () => {
  const isSearch = state.origin === "search";
  at("hits").hidden = !isSearch;
  at("group-box").hidden = isSearch;
  if (!isSearch) return;
  const groups = listGroups().filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const items = groups.slice(0, maxHits).map(({ group }) => {
    const item = make("li");
    const link = make("a");
    link.href = linkOf(group);
    link.append(chip(group));
    item.append(make("small", "group "), link);
    return item;
  });
  for (const row of [...state.selection].slice(0, maxHits)) {
    const item = make("li");
    const head = make("b");
    head.append(picture(row, idOf(row)), markHits(columns.ids || !columns.text0 ? idOf(row) : titleOf(row), 60));
    item.append(head, " ", chip(groupOf(row)));
    const texts = data.texts.map((_, i) => columns[`text${i}`]?.get(row)).filter(Boolean);
    const countWords = (value) => words.filter((word) => value.toLowerCase().includes(word)).length;
    const hit = texts.sort((a, b) => countWords(b) - countWords(a))[0];
    if (hit) {
      const snippet = make("span", undefined, "snippet");
      snippet.append(markHits(hit, 140));
      item.append(snippet);
    }
    items.push(item);
  }
  const more = state.selection.size - maxHits;
  if (more > 0) items.push(make("li", `${number(more)} more in the table below`, "note"));
  at("hits").replaceChildren(...(items.length ? items : [make("li", "No matches.", "note")]));
};

// What is selected, in words, with what can be done with it.
const describeSelection = () => {
  const bar = at("selected");
  bar.hidden = !state.selection;
  if (!state.selection) return;
  const button = (text, act) => {
    const element = make("button", text);
    element.type = "button";
    element.addEventListener("click", () => act(element));
    return element;
  };
  const verb = state.origin === "search" ? "found" : "selected";
  const link = Object.assign(make("a", "Show in the table"), { href: "#find" });
  bar.replaceChildren(make("span", `${number(state.selection.size)} ${data.noun} ${verb}`));
  if (state.selection.size) bar.append(link, button("Download CSV", saveRows), button("Copy", copyRows));
  bar.append(button("Clear", () => { clearSearch(); at("search").focus(); }));
};

const enableSearch = () => {
  let timer = null;
  at("search").addEventListener("input", () => {
    clearTimeout(timer);
    if (data.n <= 20000) search();
    else timer = setTimeout(search, 150);
  });
  at("search").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && at("search").value) { clearSearch(); event.stopPropagation(); }
    if (event.key === "Enter" && state.selection?.size) goTo("#find");
  });
  listen("selection", () => {
    if (state.origin === "map") { at("search").value = ""; words = []; }
    listHits();
    describeSelection();
  });
  listen("level", listHits);
};
