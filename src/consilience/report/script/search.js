// The table of all entities.
const pageSize = 25;
const chip = (cluster, differs) => {
  if (cluster < 0) return make("span", "no cluster", "none");
  const element = make("span", undefined, `chip k${cluster % 10} s${Math.floor(cluster / 10) % 3}`);
  element.append(make("i"), String(cluster));
  if (!differs) return element;
  const underlined = make("u");
  underlined.append(element);
  return underlined;
};

const showEntities = (columns) => {
  const { cluster, sure, contested, certainty, stability, ids } = columns;
  const nameOf = (row) => (ids ? ids[row] : String(row));
  const lower = ids ? ids.map((id) => id.toLowerCase()) : null;
  const entity = (row) => {
    const element = make("span");
    element.append(picture(row, nameOf(row)), userText(nameOf(row), 80));
    return element;
  };
  let byName = null; // ranks by name, computed on first use
  const rankNames = () => {
    if (byName) return byName;
    const { compare } = new Intl.Collator("en", { numeric: true });
    const order = Array.from(ids.keys()).sort((a, b) => compare(ids[a], ids[b]) || a - b);
    byName = new Int32Array(order.length);
    order.forEach((row, rank) => (byName[row] = rank));
    return byName;
  };
  const heads = [
    { name: "Entity", values: () => (ids ? rankNames() : null), cell: (row) => entity(row) },
    { name: "Cluster", values: () => cluster, cell: (row) => chip(cluster[row]) },
  ];
  const confidenceText = (row) => (sure[row] / 1000).toFixed(2);
  if (sure && certainty) {
    const places = Float64Array.from(certainty, (place, row) => place * 1001 + sure[row]);
    const words = (row) => [data.words[certainty[row]], confidenceText(row)].filter(Boolean).join(", ");
    heads.push({ name: "Confidence", values: () => places, cell: (row) => make("span", words(row)) });
  } else if (sure) heads.push({ name: "Confidence", values: () => sure, cell: (row) => make("span", confidenceText(row)) });
  const stable = (row) => (stability[row] < 0 ? "–" : `${Math.round(stability[row] / 10)}%`);
  if (stability) heads.push({ name: "Stability", values: () => stability, cell: (row) => make("span", stable(row)) });
  data.views.forEach((name, v) => {
    const labels = columns[`view${v}`];
    const cell = (row) =>
      labels[row] < 0 ? make("span", "–", "none") : chip(labels[row], cluster[row] >= 0 && labels[row] !== cluster[row]);
    if (labels) heads.push({ name, values: () => labels, cell });
  });
  if (contested) heads.push({ name: "Contested", values: () => contested, cell: (row) => make("span", contested[row] ? "yes" : "no") });

  let [sorted, rising, page, matches] = [null, true, 0, []];

  const search = () => {
    const text = at("find-text").value.trim().toLowerCase();
    const wanted = at("find-cluster").value;
    const only = at("find-contested").checked;
    const ranks = [[], [], []]; // equal names, names that start with the text, names that contain it
    for (let row = 0; row < data.n; row++) {
      if (wanted !== "" && cluster[row] !== Number(wanted)) continue;
      if (only && !contested[row]) continue;
      const name = lower ? lower[row] : String(row);
      const place = text ? name.indexOf(text) : 0;
      if (place >= 0) ranks[place > 0 ? 2 : name.length === text.length ? 0 : 1].push(row);
    }
    matches = text ? ranks.flat() : ranks.flat().sort((a, b) => a - b);
    const values = sorted && sorted.values();
    const sign = rising ? 1 : -1;
    if (sorted) matches.sort((a, b) => sign * (values ? values[a] - values[b] : a - b) || a - b);
    page = 0;
    show();
  };
  const show = () => {
    const start = page * pageSize;
    const rows = matches.slice(start, start + pageSize).map((row) => {
      const line = make("tr");
      heads.forEach((head, i) => {
        const cell = make(i ? "td" : "th");
        if (!i) cell.scope = "row";
        cell.append(head.cell(row));
        line.append(cell);
      });
      return line;
    });
    at("find-rows").replaceChildren(...rows);
    at("find-back").disabled = page === 0;
    at("find-on").disabled = start + pageSize >= matches.length;
    const end = Math.min(start + pageSize, matches.length);
    at("find-count").textContent = matches.length
      ? `${number(start + 1)} to ${number(end)} of ${number(matches.length)}`
      : "No matches.";
  };

  heads.forEach((head) => {
    head.element = make("th");
    head.element.scope = "col";
    const button = make("button");
    button.type = "button";
    head.arrow = make("span", " ↕");
    head.arrow.setAttribute("aria-hidden", "true");
    button.append(userText(head.name, 24), head.arrow);
    button.addEventListener("click", () => {
      rising = sorted === head ? !rising : true;
      sorted = head;
      for (const other of heads) {
        other.arrow.textContent = other !== sorted ? " ↕" : rising ? " ↑" : " ↓";
        if (other === sorted) other.element.setAttribute("aria-sort", rising ? "ascending" : "descending");
        else other.element.removeAttribute("aria-sort");
      }
      search();
    });
    head.element.append(button);
  });
  at("find-head").replaceChildren(...heads.map((head) => head.element));
  at("find-text").addEventListener("input", search);
  at("find-cluster").addEventListener("change", search);
  at("find-contested").addEventListener("change", search);
  at("find-contested").parentElement.hidden = !contested;
  document.querySelectorAll("[data-find]").forEach((link) =>
    link.addEventListener("click", () => {
      at("find-text").value = "";
      at("find-contested").checked = false;
      at("find-cluster").value = link.dataset.find;
      search();
    }),
  );
  at("find-back").addEventListener("click", () => { page--; show(); });
  at("find-on").addEventListener("click", () => { page++; show(); });
  search();
  return nameOf;
};
