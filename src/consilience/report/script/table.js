// The table of all rows, or of those that the search, the map and the choice of a group leave.
const pageSize = 25;
let words = []; // of the search, in lower case; they are marked in the table
let shownRows = []; // all rows of the table, in its order

const chip = (group, differs) => {
  const { name, color, shape } = group < 0 ? noGroup : groupInfo(group);
  if (color === null) return make("span", name, "none");
  const element = make("span", undefined, `chip k${color} s${shape}`);
  element.append(make("i"), userText(name, 48));
  if (!differs) return element;
  const underlined = make("u");
  underlined.append(element);
  return underlined;
};

// A text with the words of the search marked; a long text is shown from the first of them on.
const markHits = (text, length) => {
  const element = make("bdi");
  const lower = text.toLowerCase();
  const places = lower.length === text.length ? words.map((word) => lower.indexOf(word)).filter((place) => place >= 0) : [];
  const first = places.length ? Math.min(...places) : 0;
  const from = text.length > length && first > length - 40 ? first - 30 : 0;
  const to = Math.min(text.length, from + length);
  if (text.length > length) element.title = text;
  if (from) element.append("…");
  let end = from;
  while (places.length && end < to) {
    let [next, size] = [to, 0];
    for (const word of words) {
      const place = lower.indexOf(word, end);
      if (place >= 0 && (place < next || (place === next && word.length > size))) [next, size] = [place, word.length];
    }
    if (!size) break;
    element.append(text.slice(end, next), make("mark", text.slice(next, Math.min(next + size, to))));
    end = next + size;
  }
  element.append(text.slice(end, to) || (end === from && !text ? "–" : ""), to < text.length ? "…" : "");
  return element;
};

const secondOf = (row) => {
  const second = groupAt(levelOf(state.level), columns.second[row]);
  return second === groupOf(row) ? -1 : second;
};
const isSureKnown = (row) => columns.sure[row] !== nowhere;
const certaintyOf = (row) => (isSureKnown(row) ? data.words[columns.sure[row]] : "");

const showTable = () => {
  const { cluster, sure, contested, second, stability, ids } = columns;
  let byName = null; // ranks by name, computed on first use
  const rankNames = () => {
    if (byName) return byName;
    const { compare } = new Intl.Collator("en", { numeric: true });
    const names = Array.from({ length: data.n }, (_, row) => ids.get(row));
    const order = Array.from(names.keys()).sort((a, b) => compare(names[a], names[b]) || a - b);
    byName = new Int32Array(order.length);
    order.forEach((row, rank) => (byName[row] = rank));
    return byName;
  };
  const entity = (row) => {
    const element = make("span");
    element.append(picture(row, idOf(row)), markHits(idOf(row), 80));
    return element;
  };
  const heads = [{ name: ids ? "Id" : "Number", values: () => (ids ? rankNames() : null), cell: entity }];
  heads.push({
    isGroup: true,
    name: "Group",
    values: () => Int32Array.from(cluster, (_, row) => groupOf(row)),
    cell: (row) => chip(groupOf(row)),
  });
  data.texts.forEach(({ name }, i) => {
    const texts = columns[`text${i}`];
    const isLong = texts && Array.from({ length: Math.min(data.n, 50) }, (_, row) => texts.get(row).length).some((length) => length > 20);
    if (texts) heads.push({ name, cell: (row) => markHits(texts.get(row), 160), isText: true, isLong });
  });
  data.numbers.forEach(({ name, unit }, i) => {
    const numbers = columns[`number${i}`];
    const read = (text) => (text === "" ? Number.MAX_VALUE : Number.isNaN(Number(text)) ? Date.parse(text) : Number(text));
    const values = () => Float64Array.from({ length: data.n }, (_, row) => read(numbers.get(row)));
    const shorten = (text) => (/^-?\d+\.\d+$/.test(text) ? String(Number(Number(text).toPrecision(Math.max(5, text.indexOf(".") + 2)))) : text);
    heads.push({ name: unit ? `${name} (${unit})` : name, values, cell: (row) => make("span", shorten(numbers.get(row)).replace(/^-/, "−") || "–", "number") });
  });
  if (sure) {
    const text = (row) => (isSureKnown(row) ? `${sure[row]}%, ${certaintyOf(row)}` : "–");
    const values = () => Float64Array.from(sure, (percent, row) => (isSureKnown(row) ? percent : -1));
    heads.push({ name: "Confidence", values, cell: (row) => make("span", text(row)) });
  }
  if (second) {
    const cell = (row) => (secondOf(row) < 0 ? make("span", "–", "none") : chip(secondOf(row)));
    heads.push({ name: "Second choice", values: () => Int32Array.from(second, (_, row) => secondOf(row)), cell });
  }
  const stable = (row) => (stability[row] < 0 ? "–" : `${Math.round(stability[row] / 10)}%`);
  if (stability) heads.push({ name: "Stability", values: () => stability, cell: (row) => make("span", stable(row)) });
  if (contested) {
    heads.push({ name: "Views disagree", values: () => contested, cell: (row) => make("span", contested[row] ? "yes" : "no") });
  }
  data.views.forEach((name, v) => {
    const labels = columns[`view${v}`];
    const cell = (row) => {
      const group = groupAt(levelOf(state.level), labels[row]);
      return group < 0 ? make("span", "–", "none") : chip(group, cluster[row] >= 0 && group !== groupOf(row));
    };
    if (labels) heads.push({ name: `by ${name}`, values: () => labels, cell, isView: true });
  });

  let [sorted, rising, page] = [null, true, 0];
  const isShown = (head) => (!head.isView || at("find-views").checked) && (!head.isGroup || state.focus === null);
  const visible = () => heads.filter(isShown);

  const choose = () => {
    const only = at("find-contested").checked && contested;
    const candidates = state.selection ? [...state.selection] : Array.from({ length: data.n }, (_, row) => row);
    const all = state.focus === null && !only;
    shownRows = all ? candidates : candidates.filter((row) => (state.focus === null || groupOf(row) === state.focus) && (!only || contested[row]));
    if (sorted) {
      const values = sorted.values();
      const sign = rising ? 1 : -1;
      shownRows.sort((a, b) => sign * (values ? values[a] - values[b] : a - b) || a - b);
    }
    page = 0;
    show();
  };
  const show = () => {
    const start = page * pageSize;
    const rows = shownRows.slice(start, start + pageSize).map((row) => {
      const line = make("tr");
      visible().forEach((head, i) => {
        const cell = make(i ? "td" : "th", undefined, head.isLong ? "text" : undefined);
        if (!i) cell.scope = "row";
        cell.dataset.label = head.name;
        cell.append(head.cell(row));
        line.append(cell);
      });
      return line;
    });
    at("find-rows").replaceChildren(...rows);
    at("find-back").disabled = page === 0;
    at("find-on").disabled = start + pageSize >= shownRows.length;
    const end = Math.min(start + pageSize, shownRows.length);
    at("find-count").textContent = shownRows.length
      ? `${number(start + 1)} to ${number(end)} of ${number(shownRows.length)}`
      : "No matches.";
    at("find-title").textContent = describeRows();
  };
  const describeRows = () => {
    const noun = `${number(shownRows.length)} ${data.noun}`;
    const where = state.focus === null ? "" : state.focus < 0 ? " in no group" : ` in “${groupInfo(state.focus).name}”`;
    if (state.origin === "search") return `${noun}${where} found by “${at("search").value.trim()}”`;
    if (state.selection) return `${noun}${where} selected on the map`;
    return where || at("find-contested").checked ? `${noun}${where}` : `All ${noun}`;
  };
  const buildHead = () => at("find-head").replaceChildren(...visible().map((head) => head.element));

  heads.forEach((head) => {
    head.element = make("th");
    head.element.scope = "col";
    if (head.isText) return head.element.append(userText(head.name, 24));
    const button = make("button");
    button.type = "button";
    head.arrow = make("span", " ↕");
    head.arrow.setAttribute("aria-hidden", "true");
    button.append(userText(head.name, 24), head.arrow);
    button.addEventListener("click", () => {
      rising = sorted === head ? !rising : true;
      sorted = head;
      for (const other of heads.filter((candidate) => candidate.arrow)) {
        other.arrow.textContent = other !== sorted ? " ↕" : rising ? " ↑" : " ↓";
        if (other === sorted) other.element.setAttribute("aria-sort", rising ? "ascending" : "descending");
        else other.element.removeAttribute("aria-sort");
      }
      choose();
    });
    head.element.append(button);
  });

  // the choice of a group
  const fillGroups = () => {
    const option = (text, value) => Object.assign(make("option", text), { value });
    const nOutside = data.n - data.groups.reduce((sum, group) => sum + group.size, 0);
    at("find-group").replaceChildren(
      option("all groups", ""),
      ...listGroups().map(({ group, name, size }) => option(`${name} (${number(size)})`, group)),
      ...(nOutside ? [option(`no group (${number(nOutside)})`, -1)] : []),
    );
    at("find-group").value = state.focus ?? "";
  };
  at("find-group").addEventListener("change", () => {
    const { value } = at("find-group");
    setFocus(value === "" ? null : Number(value));
  });
  at("find-contested").addEventListener("change", choose);
  at("find-contested").parentElement.hidden = !contested;
  at("find-views").addEventListener("change", () => { buildHead(); show(); });
  at("find-back").addEventListener("click", () => { page--; show(); });
  at("find-on").addEventListener("click", () => { page++; show(); });
  document.querySelectorAll("[data-find]").forEach((link) =>
    link.addEventListener("click", () => {
      clearSearch();
      at("find-contested").checked = false;
      setFocus(Number(link.dataset.find));
    }),
  );
  listen("level", () => { fillGroups(); choose(); });
  listen("focus", () => { at("find-group").value = state.focus ?? ""; buildHead(); choose(); });
  listen("selection", choose);
  fillGroups();
  buildHead();
  choose();
};
