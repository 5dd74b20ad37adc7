// The map of all rows by all views together.
const showMap = async () => {
  const frame = at("map-frame");
  const [canvas, marks, card, legend, live] = ["points", "marks", "card", "legend", "live"].map((part) => at(`map-${part}`));
  const n = data.n;
  const places = await unpack(data.layout);
  const points = {
    x: places.subarray(0, n),
    y: places.subarray(n),
    tone: new Uint8Array(n),
    shape: new Uint8Array(n),
    isLit: new Uint8Array(n).fill(1),
  };
  const { x, y } = points;
  const findNearest = indexPoints(points);
  const crowd = measureCrowd(points);
  const probe = frame.appendChild(make("i"));
  probe.hidden = true;

  // What is drawn: the groups of this level, the colors, and which rows stand out.
  const groups = new Int32Array(n);
  let nGroups = 0;
  let [color, values, category] = [null, null, null]; // the column to color by, null for the groups; its category shown alone
  let hovered = null; // group under the pointer or keyboard focus in a list
  let current = -1; // group that the keyboard has reached
  let tones = [];
  let palette = new Float32Array(0);
  let nLit = n;
  let litGroups = new Uint8Array(0); // whether any point of a group is lit
  const readGroups = () => {
    nGroups = 0;
    for (let row = 0; row < n; row++) {
      groups[row] = groupOf(row);
      if (groups[row] >= nGroups) nGroups = groups[row] + 1;
    }
  };
  const readTheme = () => {
    tones = listTones(probe);
    palette = Float32Array.from(tones.flat(), (value) => value * value);
  };
  const assignTones = () => {
    const looks = Array.from({ length: nGroups }, (_, group) => groupInfo(group));
    const pick = color && toneOf[color.kind];
    for (let row = 0; row < n; row++) {
      const look = groups[row] < 0 ? null : looks[groups[row]];
      points.tone[row] = pick ? pick(color, values[row]) : look ? 1 + look.color : 0;
      points.shape[row] = look && !pick ? look.shape : 0;
    }
  };
  const light = () => {
    const group = hovered ?? state.focus;
    litGroups = new Uint8Array(nGroups);
    nLit = 0;
    for (let row = 0; row < n; row++) {
      const isLit =
        (group === null || groups[row] === group) &&
        (hovered !== null || !state.selection || state.selection.has(row)) &&
        (category === null || values[row] === category);
      points.isLit[row] = isLit ? 1 : 0;
      nLit += points.isLit[row];
      if (isLit && groups[row] >= 0) litGroups[groups[row]] = 1;
    }
  };
  // Where it is drawn: the middle of the frame in units of the layout, and pixels per unit.
  const bounds = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };
  for (let row = 0; row < n; row++) {
    if (x[row] === nowhere) continue;
    bounds.left = Math.min(bounds.left, x[row]);
    bounds.right = Math.max(bounds.right, x[row]);
    bounds.bottom = Math.min(bounds.bottom, y[row]);
    bounds.top = Math.max(bounds.top, y[row]);
  }
  const isEmpty = bounds.left > bounds.right;
  const home = isEmpty ? { x: 0, y: 0, zoom: 1 } : { x: (bounds.left + bounds.right) / 2, y: (bounds.bottom + bounds.top) / 2, zoom: 1 };
  const view = { ...home };
  const maxZoom = 60;
  const inset = 26; // between the outermost points and the frame
  const forButtons = 40; // width that the buttons take on the right
  let [wide, high, middle, fit] = [0, 0, 0, 1];
  const readSize = () => {
    [wide, high] = [frame.clientWidth, frame.clientHeight];
    frame.style.setProperty("--shape", `${wide} / ${high}`); // print keeps it
    middle = (wide - forButtons) / 2;
    const across = Math.max(bounds.right - bounds.left, 1);
    const upward = Math.max(bounds.top - bounds.bottom, 1);
    fit = Math.max(1e-6, Math.min((wide - forButtons - 2 * inset) / across, (high - 2 * inset) / upward, 0.05));
  };
  const step = () => fit * view.zoom;
  const toX = (row) => middle + (x[row] - view.x) * step();
  const toY = (row) => high / 2 - (y[row] - view.y) * step();
  const keepInside = () => {
    view.zoom = Math.max(1, Math.min(maxZoom, view.zoom));
    const limit = (value, low, high) => Math.max(low, Math.min(high, value));
    if (view.zoom === 1) Object.assign(view, home);
    else if (!isEmpty) [view.x, view.y] = [limit(view.x, bounds.left, bounds.right), limit(view.y, bounds.bottom, bounds.top)];
    frame.classList.toggle("zoomed", view.zoom > 1);
    at("map-out").disabled = at("map-reset").disabled = view.zoom <= 1;
    at("map-in").disabled = view.zoom >= maxZoom;
  };

  // Drawing: the points on one canvas; names, the lasso and the ring around a point on another.
  let [isMoving, slow, pending] = [false, false, 0];
  const font = `600 12.5px ${getComputedStyle(document.body).fontFamily}`;
  let names = []; // of groups, placed
  let loop = null; // corners of the lasso, in pixels
  let ringed = -1; // row with a ring around it
  const drawPoints = (target, ratio) => {
    const spread = Math.sqrt((0.12 * wide * high) / Math.max(n, 1) / Math.PI);
    const radius = Math.max(0.75, Math.min(7, Math.max(0.9, Math.min(4.6, spread)) * view.zoom ** 0.3)) * ratio;
    const scale = step() * ratio;
    paintPoints(target, points, palette, {
      width: Math.max(1, Math.round(wide * ratio)),
      height: Math.max(1, Math.round(high * ratio)),
      originX: middle * ratio - view.x * scale,
      originY: (high / 2) * ratio + view.y * scale,
      step: scale,
      radius,
      crowd: ((crowd / scale ** 2) * Math.PI * radius ** 2),
      nLit,
    });
  };
  const arrangeLabels = () => {
    const pen = marks.getContext("2d");
    pen.font = font;
    const isVisible = (row) => {
      if (x[row] === nowhere) return false;
      const [px, py] = [toX(row), toY(row)];
      return px >= 0 && py >= 0 && px < wide && py < high;
    };
    const shown = hovered ?? state.focus;
    const anchors = findAnchors(groups, nGroups, toX, toY, isVisible);
    anchors.sort((a, b) => (b.group === shown) - (a.group === shown) || b.count - a.count || a.group - b.group);
    const named = anchors.map((anchor) => ({ ...anchor, name: groupInfo(anchor.group).name }));
    const buttons = frame.querySelector(".map-buttons");
    const space = {
      wide: wide - forButtons,
      high,
      left: middle + (bounds.left - view.x) * step(),
      right: middle + (bounds.right - view.x) * step(),
      taken: [{ left: buttons.offsetLeft, top: buttons.offsetTop, width: buttons.offsetWidth, height: buttons.offsetHeight }],
    };
    names = placeNames(named, space, (text) => pen.measureText(text).width);
    canvas.names = names;
  };
  const drawMarks = (target = marks, ratio = devicePixelRatio || 1) => {
    [target.width, target.height] = [Math.round(wide * ratio), Math.round(high * ratio)];
    const pen = target.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = font;
    const style = getComputedStyle(frame);
    const [ink, ground] = [style.color, style.backgroundColor];
    const isInside = ([px, py]) => px >= 0 && py >= 0 && px <= wide && py <= high;
    const isSeen = ({ left, top, width, height, anchor }) =>
      isInside([left, top]) && isInside([left + width, top + height]) && anchor.members.some(isInside);
    drawNames(pen, names.filter(isSeen), {
      ink,
      ground,
      drawSymbol: (group, px, py) => drawShape(pen, groupInfo(group).shape, px, py, 4.5),
      colorOf: (group) => (color ? ink : `rgb(${tones[1 + groupInfo(group).color].join(" ")})`),
      isFaint: (group) => !litGroups[group],
    });
    if (ringed >= 0) {
      for (const [line, lineWidth] of [[ground, 5], [ink, 2]]) {
        pen.strokeStyle = line;
        pen.lineWidth = lineWidth;
        pen.beginPath();
        pen.arc(toX(ringed), toY(ringed), 8, 0, 7);
        pen.stroke();
      }
    }
    if (loop) {
      pen.strokeStyle = pen.fillStyle = getComputedStyle(canvas).accentColor;
      pen.lineWidth = 2;
      pen.setLineDash([6, 4]);
      pen.beginPath();
      loop.forEach(([px, py]) => pen.lineTo(px, py));
      pen.closePath();
      pen.globalAlpha = 0.12;
      pen.fill();
      pen.globalAlpha = 1;
      pen.stroke();
    }
  };
  const drawAll = () => {
    pending = 0;
    if (!wide || frame.hidden) return;
    const ratio = Math.min(devicePixelRatio || 1, n > 50000 ? 1.5 : 2);
    const start = performance.now();
    drawPoints(canvas, isMoving && slow ? Math.min(1, ratio) : ratio);
    if (!isMoving) {
      slow = performance.now() - start > 25;
      arrangeLabels();
    }
    drawMarks();
    if (isPrinting) canvas.getContext("2d").drawImage(marks, 0, 0, canvas.width, canvas.height);
  };
  // Browsers print a canvas as a list of drawings, of which the first clears what lies below: one canvas must have all.
  let isPrinting = false;
  for (const name of ["beforeprint", "afterprint"]) {
    addEventListener(name, () => {
      isPrinting = name === "beforeprint";
      drawNow();
    });
  }
  const requestDraw = () => (pending ||= requestAnimationFrame(drawAll));
  const drawNow = () => {
    readSize();
    keepInside();
    drawAll();
  };

  // Moving.
  const isStill = matchMedia("(prefers-reduced-motion: reduce)");
  let glide = 0;
  const moveTo = (target) => {
    cancelAnimationFrame(glide);
    hideCard();
    const from = { ...view };
    const begin = performance.now();
    const advance = (now) => {
      const share = isStill.matches || slow ? 1 : Math.min(1, Math.max(0, (now - begin) / 180));
      const eased = 1 - (1 - share) ** 3;
      for (const key of ["x", "y"]) view[key] = from[key] + eased * (target[key] - from[key]);
      view.zoom = from.zoom * (target.zoom / from.zoom) ** eased;
      keepInside();
      requestDraw();
      glide = share < 1 ? requestAnimationFrame(advance) : 0;
    };
    advance(begin);
  };
  const zoomAt = (px, py, factor, isGliding) => {
    const zoom = Math.max(1, Math.min(maxZoom, view.zoom * factor));
    const [across, up] = [(px - middle) / fit, (high / 2 - py) / fit];
    const target = { zoom, x: view.x + across / view.zoom - across / zoom, y: view.y + up / view.zoom - up / zoom };
    if (isGliding) return moveTo(target);
    Object.assign(view, target);
    keepInside();
    requestDraw();
  };
  const panBy = (dx, dy) => {
    view.x -= dx / step();
    view.y += dy / step();
    keepInside();
    moveNames(names, dx, dy);
    requestDraw();
  };

  // The card of a point.
  const hideCard = () => {
    card.hidden = true;
    if (ringed < 0) return;
    ringed = -1;
    drawMarks();
  };
  const showCard = (row) => {
    ringed = row;
    const group = make("span", undefined, "map-of");
    if (groups[row] < 0) group.append("no group");
    else {
      const look = groupInfo(groups[row]);
      group.append(swatch(1 + look.color, tones, look.shape), userText(look.name, 60));
    }
    const title = make("b");
    title.append(userText(titleOf(row), 90));
    const lines = [title, group];
    const tell = (name, value, length) => {
      const line = make("span");
      line.append(userText(name, 40), ": ", userText(value, length));
      lines.push(line);
    };
    if (color) tell(color.name, textOf[color.kind](color, values[row]), 60);
    const words = columns.text0?.get(row);
    if (words && columns.ids && data.texts[0].name !== color?.name) tell(data.texts[0].name, words, 140);
    const text = make("span", undefined, "map-texts");
    text.append(...lines);
    card.replaceChildren(picture(row, titleOf(row)), text);
    card.hidden = false;
    const [px, py] = [toX(row), toY(row)];
    const left = px + 14 + card.offsetWidth < wide - 4 ? px + 14 : px - 14 - card.offsetWidth;
    card.style.left = `${Math.max(4, Math.min(left, wide - card.offsetWidth - 4))}px`;
    card.style.top = `${Math.max(4, Math.min(py - card.offsetHeight / 2, high - card.offsetHeight - 4))}px`;
    drawMarks();
  };
  const rowAt = (px, py, reach) => {
    if (isEmpty) return -1;
    const across = view.x + (px - middle) / step();
    const up = view.y + (high / 2 - py) / step();
    return findNearest(across, up, reach / step(), (row) => points.isLit[row] === 1);
  };
  const nameAt = (px, py) =>
    names.find(({ left, top, width, height }) => px >= left && px <= left + width && py >= top && py <= top + height);
  const say = (text) => (live.textContent = text);
  const describeGroup = (group) => {
    const { name, size } = groupInfo(group);
    return `${name}: ${number(size)} ${data.noun}, ${Math.round((100 * size) / n)}%`;
  };

  // Show a group alone; if it is already, or another has its page open, open its page.
  const visit = (group, opensPage) => {
    if (group >= 0 && (root.dataset.page || (opensPage && state.focus === group))) location.hash = linkOf(group);
    else setFocus(group);
  };

  // The pointer: drag to move, two fingers to zoom, Shift or the lasso to select, click to show a group alone.
  const pointers = new Map();
  let [wasDragged, pinch, isLasso] = [false, null, false];
  const where = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const setLasso = (isOn) => {
    isLasso = isOn;
    at("map-lasso").setAttribute("aria-pressed", String(isOn));
    frame.classList.toggle("lasso", isOn);
  };
  const finishLasso = () => {
    const corners = loop;
    loop = null;
    setLasso(false);
    if (corners.length > 2) {
      const isWanted = (row) =>
        x[row] !== nowhere && (state.focus === null || groups[row] === state.focus) && (category === null || values[row] === category);
      setSelection(rowsWithin(corners, n, isWanted, toX, toY));
    } else drawMarks();
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button) return;
    canvas.setPointerCapture(event.pointerId);
    const position = where(event);
    pointers.set(event.pointerId, position);
    wasDragged = false;
    if (pointers.size === 2) {
      loop = null;
      const [a, b] = [...pointers.values()];
      pinch = Math.hypot(a[0] - b[0], a[1] - b[1]);
    } else if (isLasso || event.shiftKey) loop = [position];
  });
  canvas.addEventListener("pointermove", (event) => {
    const position = where(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      const name = nameAt(...position);
      const row = rowAt(...position, name ? 3 : 12);
      if (row < 0) hideCard();
      else if (row !== ringed || card.hidden) showCard(row);
      canvas.style.cursor = row >= 0 || name ? "pointer" : "";
      return;
    }
    const [dx, dy] = [position[0] - before[0], position[1] - before[1]];
    if (!wasDragged && !loop && Math.hypot(dx, dy) < 4 && pointers.size < 2) return;
    if (!wasDragged) hideCard();
    wasDragged = true;
    if (pointers.size === 2) {
      const middleOf = () => [...pointers.values()].reduce(([ax, ay], [bx, by]) => [ax + bx / 2, ay + by / 2], [0, 0]);
      const [oldX, oldY] = middleOf();
      pointers.set(event.pointerId, position);
      const [a, b] = [...pointers.values()];
      const [newX, newY] = middleOf();
      const distance = Math.hypot(a[0] - b[0], a[1] - b[1]);
      isMoving = true;
      panBy(newX - oldX, newY - oldY);
      zoomAt(newX, newY, distance / Math.max(pinch, 1));
      names = [];
      pinch = distance;
      return;
    }
    if (loop) {
      const last = loop[loop.length - 1];
      if (Math.hypot(position[0] - last[0], position[1] - last[1]) >= 3) loop.push(position);
      return drawMarks();
    }
    pointers.set(event.pointerId, position);
    isMoving = true;
    panBy(dx, dy);
  });
  const release = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (pointers.size) return;
    isMoving = false;
    const isClick = event.type === "pointerup" && !wasDragged;
    if (loop && !isClick) return finishLasso();
    loop = null;
    if (!isClick) return requestDraw();
    const position = where(event);
    const name = nameAt(...position);
    const row = rowAt(...position, name ? 3 : event.pointerType === "touch" ? 22 : 12);
    if (row >= 0) {
      showCard(row);
      say(`${titleOf(row)}, ${groups[row] < 0 ? "no group" : groupInfo(groups[row]).name}`);
      visit(groups[row], false);
      return;
    }
    hideCard();
    if (name) visit(name.group, true);
    else if (!root.dataset.page) setFocus(null);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", ({ pointerType }) => pointers.size || pointerType === "touch" || hideCard());
  canvas.addEventListener("dblclick", (event) => zoomAt(...where(event), event.shiftKey ? 1 / 2.2 : 2.2, true));

  // The wheel zooms with Ctrl or Cmd only, as in other maps within a page, so that the page can be scrolled.
  const hint = at("map-hint");
  let hinting = 0;
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) {
        hint.textContent = `${/Mac|iP/.test(navigator.platform) ? "⌘" : "Ctrl"} + wheel zooms`;
        hint.hidden = false;
        clearTimeout(hinting);
        hinting = setTimeout(() => (hint.hidden = true), 1200);
        return;
      }
      event.preventDefault();
      hideCard();
      const lines = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 400 : 1;
      zoomAt(...where(event), Math.exp(-Math.max(-120, Math.min(120, event.deltaY * lines)) * 0.004));
    },
    { passive: false },
  );

  // The keyboard.
  const goToGroup = (direction) => {
    const order = [...new Set(groups)].filter((group) => group >= 0).sort((a, b) => groupInfo(b).size - groupInfo(a).size || a - b);
    if (!order.length) return say("There are no groups.");
    const place = order.indexOf(current);
    const next = place < 0 ? (direction > 0 ? 0 : order.length - 1) : (place + direction + order.length) % order.length;
    current = order[next];
    highlight(current);
    say(`${describeGroup(current)}; ${next + 1} of ${order.length}`);
  };
  const keys = {
    ArrowLeft: () => panBy(60, 0),
    ArrowRight: () => panBy(-60, 0),
    ArrowUp: () => panBy(0, 60),
    ArrowDown: () => panBy(0, -60),
    "+": () => zoomAt(middle, high / 2, 1.6, true),
    "=": () => zoomAt(middle, high / 2, 1.6, true),
    "-": () => zoomAt(middle, high / 2, 1 / 1.6, true),
    0: () => moveTo(home),
    n: () => goToGroup(1),
    p: () => goToGroup(-1),
    Enter: () => current >= 0 && visit(current, true),
    Escape: () => {
      setLasso(false);
      loop = null;
      current = -1;
      category = null;
      highlight(null);
      if (!root.dataset.page) setFocus(null);
      if (state.selection) setSelection(null);
      say("Everything is shown.");
    },
  };
  canvas.addEventListener("keydown", (event) => {
    const act = keys[event.key] || keys[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    hideCard();
    act();
  });
  canvas.addEventListener("blur", () => highlight(null));

  // The buttons.
  at("map-in").addEventListener("click", () => zoomAt(middle, high / 2, 1.8, true));
  at("map-out").addEventListener("click", () => zoomAt(middle, high / 2, 1 / 1.8, true));
  at("map-reset").addEventListener("click", () => moveTo(home));
  at("map-lasso").addEventListener("click", () => setLasso(!isLasso));
  at("map-save").addEventListener("click", () => {
    const sheet = make("canvas");
    const layer = make("canvas");
    const ratio = 3;
    [sheet.width, sheet.height] = [Math.round(wide * ratio), Math.round(high * ratio)];
    const pen = sheet.getContext("2d");
    pen.fillStyle = getComputedStyle(frame).backgroundColor;
    pen.fillRect(0, 0, sheet.width, sheet.height);
    drawPoints(layer, ratio);
    pen.drawImage(layer, 0, 0);
    ringed = -1;
    drawMarks(layer, ratio);
    pen.drawImage(layer, 0, 0);
    sheet.toBlob((blob) => {
      const link = make("a");
      link.href = URL.createObjectURL(blob);
      link.download = "map.png";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  });

  // Groups in lists: pointing at one shows it on the map.
  const highlight = (group) => {
    if (hovered === group) return;
    hovered = group;
    light();
    requestDraw();
  };
  const groupIn = (event) => {
    const element = event.target.closest?.("[data-group]");
    return element && !element.closest("[hidden]") ? Number(element.dataset.group) : null;
  };
  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, (event) => {
      highlight(groupIn(event));
    });
  }

  // Color by.
  const choice = at("map-color");
  const colors = data.colors.filter((spec) => spec.values || columns[spec.column]);
  ["Group", ...colors.map(({ name }) => name)].forEach((name, i) => {
    const option = make("option", name);
    option.value = String(i);
    choice.append(option);
  });
  const showColors = () => {
    assignTones();
    if (color) showLegend(legend, color, values, tones, category, chooseCategory, data.noun);
    else {
      const nOutside = groups.reduce((total, group) => total + (group < 0), 0);
      const notes = [];
      if (nOutside) {
        const note = make("span", undefined, "map-note");
        note.append(swatch(0, tones), `no group: ${number(nOutside)} ${data.noun}`);
        notes.push(note);
      }
      if (nGroups > 10) notes.push(make("span", "Colors repeat: the names and shapes tell the groups apart.", "map-note"));
      legend.replaceChildren(...notes);
    }
  };
  const chooseCategory = (code) => {
    category = code;
    light();
    showColors();
    requestDraw();
  };
  const freeHeight = () => (frame.style.flex = frame.style.height = "");
  addEventListener("resize", freeHeight);
  addEventListener("hashchange", freeHeight);
  choice.addEventListener("change", async () => {
    if (!frame.hidden) [frame.style.flex, frame.style.height] = ["none", `${high}px`]; // legends of any height leave the points in place
    const chosen = colors[Number(choice.value) - 1] || null;
    values = chosen && (chosen.values ? await unpack(chosen.values) : columns[chosen.column].map((level, row) => (columns.cluster[row] < 0 ? nowhere : level)));
    [color, category] = [chosen, null];
    hideCard();
    light();
    showColors();
    if (!at("map-table").hidden) showTable();
    requestDraw();
  });

  // The groups as a table: what the map tells, without positions.
  const showTable = () => {
    const all = findAnchors(groups, nGroups, (row) => x[row], (row) => y[row], (row) => x[row] !== nowhere);
    const nearest = (anchor) =>
      all
        .filter((other) => other !== anchor)
        .sort((a, b) => Math.hypot(a.px - anchor.px, a.py - anchor.py) - Math.hypot(b.px - anchor.px, b.py - anchor.py))
        .slice(0, 3);
    const members = new Map();
    groups.forEach((group, row) => members.has(group) ? members.get(group).push(row) : members.set(group, [row]));
    const summarize = (rows) => {
      const filled = rows.map((row) => values[row]).filter((value) => value !== (color.kind === "number" || color.kind === "date" ? nowhere : noCategory));
      if (!filled.length) return "no value";
      if (color.kind === "number" || color.kind === "date") return `${writeValue(color, filled.sort((a, b) => a - b)[filled.length >> 1])} (median)`;
      const counts = new Map();
      filled.forEach((code) => counts.set(code, (counts.get(code) || 0) + 1));
      const [code, count] = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
      return `${textOf[color.kind](color, code)} (${Math.round((100 * count) / filled.length)}%)`;
    };
    const heads = ["Group", "Size", ...(color ? [color.name] : []), "Nearest on the map"];
    const head = make("tr");
    heads.forEach((name) => {
      const cell = make("th");
      cell.scope = "col";
      cell.append(userText(name, 40));
      head.append(cell);
    });
    const rows = all.sort((a, b) => b.count - a.count || a.group - b.group).map((anchor) => {
      const { name, size, color: tone, shape } = groupInfo(anchor.group);
      const line = make("tr");
      line.dataset.group = anchor.group;
      const title = make("th");
      title.scope = "row";
      title.append(swatch(1 + tone, tones, shape), userText(name, 80));
      const cells = [`${number(size)} (${Math.round((100 * size) / n)}%)`];
      if (color) cells.push(summarize(members.get(anchor.group)));
      cells.push(nearest(anchor).map((other) => groupInfo(other.group).name).join("; ") || "–");
      line.append(title, ...cells.map((text) => {
        const cell = make("td");
        cell.append(userText(text, 200));
        return cell;
      }));
      return line;
    });
    const table = make("table");
    const [top, body] = [make("thead"), make("tbody")];
    top.append(head);
    body.append(...rows);
    table.append(make("caption", "Groups on the map"), top, body);
    at("map-table").replaceChildren(table);
  };
  at("map-as-table").addEventListener("click", () => {
    const isShown = at("map-table").hidden;
    if (isShown) showTable();
    at("map-table").hidden = !isShown;
    legend.hidden = isShown;
    frame.hidden = isShown;
    at("map-as-table").setAttribute("aria-pressed", String(isShown));
    at("map-as-table").textContent = isShown ? "Show the map" : "Show as table";
    if (!isShown) drawNow();
  });

  // What the other parts of the page change.
  listen("level", () => {
    current = -1;
    hovered = null;
    hideCard();
    readGroups();
    light();
    showColors();
    if (!at("map-table").hidden) showTable();
    requestDraw();
  });
  listen("focus", () => {
    light();
    requestDraw();
  });
  listen("selection", () => {
    if (state.selection) say(`${number(state.selection.size)} ${data.noun} selected`);
    light();
    requestDraw();
  });
  const showColorsOfTheme = () => {
    readTheme();
    showColors();
    drawNow();
  };
  listen("theme", showColorsOfTheme);
  new ResizeObserver(() => {
    hideCard();
    drawNow();
  }).observe(frame);
  canvas.places = (row) => (x[row] === nowhere ? null : [toX(row), toY(row)]);
  canvas.view = view;
  readGroups();
  light();
  showColorsOfTheme();
};
