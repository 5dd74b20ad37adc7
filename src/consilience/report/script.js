"use strict";
// Theme, cluster list, maps and search. Text from the data is only ever set as textContent.
(() => {
  const root = document.documentElement;
  const at = (id) => document.getElementById(id);
  const make = (name, text, className) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const userText = (name, length) => {
    const element = make("bdi", name.length > length ? name.slice(0, length - 1) + "…" : name || "(empty)");
    if (name.length > length) element.title = name;
    return element;
  };
  const picture = (row, name) => {
    if (!sources.has(row)) return "";
    const element = make("img", undefined, "thumbnail");
    element.src = sources.get(row);
    element.alt = name;
    return element;
  };
  const number = (value) => value.toLocaleString("en-US");
  const data = JSON.parse(at("report-data").textContent);
  const sources = new Map(Object.entries(data.pictures).map(([row, source]) => [Number(row), source]));
  document.querySelectorAll("img[data-row]").forEach((image) => sources.set(Number(image.dataset.row), image.src));
  root.classList.add("js");

  // ---- light and dark -------------------------------------------------------------------------------------------
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.style.colorScheme || (system.matches ? "dark" : "light")) === "dark";
  const redraws = [];
  const redraw = () => redraws.forEach((draw) => draw());
  const showTheme = () => {
    at("theme").textContent = isDark() ? "Light" : "Dark";
    at("theme").setAttribute("aria-label", isDark() ? "Light colors" : "Dark colors");
    redraw();
  };
  at("theme").addEventListener("click", () => {
    root.style.colorScheme = isDark() ? "light" : "dark";
    showTheme();
  });
  system.addEventListener("change", showTheme);

  // ---- print: everything open, in light colors -------------------------------------------------------------------
  let before = null;
  addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("details:not([open])")];
    before = { closed, scheme: root.style.colorScheme };
    closed.forEach((block) => (block.open = true));
    root.style.colorScheme = "light";
    redraw();
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    before.closed.forEach((block) => (block.open = false));
    root.style.colorScheme = before.scheme;
    redraw();
  });

  // ---- clusters ---------------------------------------------------------------------------------------------------
  const blocks = [...document.querySelectorAll("details.cluster")];
  const words = new Map(blocks.map((block) => [block, block.textContent.toLowerCase()]));
  const orders = {
    size: (a, b) => b.dataset.size - a.dataset.size || a.dataset.cluster - b.dataset.cluster,
    cluster: (a, b) => a.dataset.cluster - b.dataset.cluster,
    sure: (a, b) => a.dataset.sure - b.dataset.sure,
    contested: (a, b) => b.dataset.contested - a.dataset.contested,
    stability: (a, b) => a.dataset.stability - b.dataset.stability,
  };
  const showClusters = () => {
    const wanted = at("cluster-filter").value.trim().toLowerCase();
    const isNumber = /^\d+$/.test(wanted) && blocks.some((block) => block.dataset.cluster === wanted);
    for (const block of blocks) {
      block.hidden = isNumber ? block.dataset.cluster !== wanted : !words.get(block).includes(wanted);
    }
    at("cluster-none").hidden = blocks.some((block) => !block.hidden);
    blocks.sort(orders[at("cluster-order").value]).forEach((block) => at("cluster-list").append(block));
  };
  const updateOpenButton = () => {
    at("cluster-open").textContent = blocks.every((block) => block.open) ? "Close all" : "Open all";
  };
  at("cluster-filter").addEventListener("input", showClusters);
  at("cluster-order").addEventListener("change", showClusters);
  at("cluster-open").addEventListener("click", () => {
    const open = !blocks.every((block) => block.open);
    blocks.forEach((block) => (block.open = open));
  });
  blocks.forEach((block) => block.addEventListener("toggle", updateOpenButton));
  updateOpenButton();

  // ---- the command ------------------------------------------------------------------------------------------------
  at("copy")?.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(at("command").textContent);
      at("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(at("command"));
      at("copy").textContent = "Selected";
    }
    setTimeout(() => (at("copy").textContent = "Copy"), 2000);
  });

  // ---- packed columns ---------------------------------------------------------------------------------------------
  const arrays = { Int16Array, Uint16Array, Int32Array };
  const unpack = async (column) => {
    const bytes = Uint8Array.from(atob(column.data), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const content = await new Response(stream).arrayBuffer();
    return column.array === "names" ? new TextDecoder().decode(content).split("\n") : new arrays[column.array](content);
  };
  const unpackAll = async (columns) =>
    Object.fromEntries(await Promise.all(Object.entries(columns).map(async ([key, column]) => [key, await unpack(column)])));

  // ---- maps -------------------------------------------------------------------------------------------------------
  const missing = 65535; // coordinate of an entity that lacks the view
  const margin = 14;
  const draw = {
    0: (pen, x, y, r) => { pen.beginPath(); pen.arc(x, y, r, 0, 7); pen.fill(); },
    1: (pen, x, y, r) => pen.fillRect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r),
    2: (pen, x, y, r) => {
      pen.beginPath(); pen.moveTo(x, y - 1.2 * r); pen.lineTo(x + 1.2 * r, y); pen.lineTo(x, y + 1.2 * r);
      pen.lineTo(x - 1.2 * r, y); pen.fill();
    },
  };
  const colorOf = (cluster) => {
    const symbol = document.querySelector(`#legend [data-cluster="${cluster}"] i`);
    return getComputedStyle(symbol || root).color;
  };
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

  const showMaps = async (nameOf) => {
    const { rows, cluster } = await unpackAll(data.points);
    const buttons = [...document.querySelectorAll("#legend button")];
    let chosen = null;
    const views = await Promise.all(
      data.maps.map(async (map, i) => ({ canvas: at(`map-${i}`), place: await unpack(map.place) })),
    );

    const drawMap = ({ canvas, place }) => {
      const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
      const scale = devicePixelRatio || 1;
      if (!wide) return;
      canvas.width = wide * scale;
      canvas.height = high * scale;
      const pen = canvas.getContext("2d");
      pen.scale(scale, scale);
      const x = (i) => margin + (place[2 * i] / (missing - 1)) * (wide - 2 * margin);
      const y = (i) => high - margin - (place[2 * i + 1] / (missing - 1)) * (high - 2 * margin);
      const radius = rows.length > 1500 ? 2.1 : rows.length > 300 ? 2.8 : 3.6;
      const colors = new Map(buttons.map(({ dataset }) => [Number(dataset.cluster), colorOf(dataset.cluster)]));
      const point = (i, alpha, r) => {
        if (place[2 * i] === missing) return;
        pen.globalAlpha = alpha;
        pen.fillStyle = colors.get(cluster[i]);
        draw[Math.floor(Math.max(cluster[i], 0) / 10) % 3](pen, x(i), y(i), r);
      };
      for (let i = 0; i < rows.length; i++) if (cluster[i] !== chosen) point(i, chosen === null ? 0.7 : 0.09, radius);
      for (let i = 0; i < rows.length; i++) if (cluster[i] === chosen) point(i, 0.95, radius + 0.5);

      // the number of each cluster at its median, so that color is not the only sign
      pen.globalAlpha = 1;
      pen.font = "650 13px system-ui, sans-serif";
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.lineWidth = 4;
      pen.lineJoin = "round";
      const style = getComputedStyle(canvas.parentElement);
      for (const c of colors.keys()) {
        if (c < 0 || (chosen !== null && c !== chosen)) continue;
        const members = [...rows.keys()].filter((i) => cluster[i] === c && place[2 * i] !== missing);
        if (!members.length) continue;
        const where = [median(members.map(x)), median(members.map(y))];
        pen.strokeStyle = style.backgroundColor;
        pen.fillStyle = style.color;
        pen.strokeText(c, ...where);
        pen.fillText(c, ...where);
      }
      canvas.places = (i) => (place[2 * i] === missing ? null : [x(i), y(i)]);
    };

    const nearest = (canvas, px, py) => {
      let [best, least] = [-1, 15 * 15];
      for (let i = 0; i < rows.length; i++) {
        const where = (chosen === null || cluster[i] === chosen) && canvas.places(i);
        const distance = where ? (where[0] - px) ** 2 + (where[1] - py) ** 2 : Infinity;
        if (distance < least) [best, least] = [i, distance];
      }
      return best;
    };
    for (const { canvas } of views) {
      const hover = canvas.parentElement.querySelector(".hover");
      const hide = () => (hover.hidden = true);
      const showHover = (event) => {
        const i = nearest(canvas, event.offsetX, event.offsetY);
        if (i < 0) return hide();
        const name = nameOf(rows[i]);
        hover.replaceChildren(picture(rows[i], name), userText(name, 60), cluster[i] < 0 ? ", no cluster" : `, cluster ${cluster[i]}`);
        hover.hidden = false;
        const [x, y] = canvas.places(i);
        hover.style.left = `${Math.max(0, Math.min(x + 10, canvas.clientWidth - hover.offsetWidth - 4))}px`;
        hover.style.top = `${y > canvas.clientHeight / 2 ? y - hover.offsetHeight - 8 : y + 12}px`;
      };
      canvas.addEventListener("pointermove", showHover);
      canvas.addEventListener("pointerdown", showHover);
      canvas.addEventListener("pointerleave", hide);
    }
    const drawAll = () => views.forEach(drawMap);
    for (const button of buttons) {
      button.addEventListener("click", () => {
        const clicked = Number(button.dataset.cluster);
        chosen = chosen === clicked ? null : clicked;
        for (const other of buttons) {
          other.setAttribute("aria-pressed", String(Number(other.dataset.cluster) === chosen));
        }
        drawAll();
      });
    }
    redraws.push(drawAll);
    addEventListener("resize", drawAll);
    drawAll();
  };

  // ---- all entities -----------------------------------------------------------------------------------------------
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

  const start = async () => {
    showTheme();
    if (typeof DecompressionStream === "undefined") {
      at("find-trouble").textContent =
        "This browser is too old to show the table of entities and the maps; the rest of the page is complete.";
      at("find-trouble").hidden = false;
      document.querySelectorAll("#find .needs-js, #map .needs-js").forEach((element) => (element.hidden = true));
      return;
    }
    const columns = await unpackAll(data.columns);
    const nameOf = columns.cluster ? showEntities(columns) : String;
    await showMaps(nameOf);
    root.dataset.ready = "true";
  };
  start();
})();
