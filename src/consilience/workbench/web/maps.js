// Maps of the items: the joint map and one per view. The points are pixels on one canvas; names, rings and the lasso are
// on a second; rings around changed items on a third, which fades.
import { drawNames, drawShape, indexPoints, measureCrowd, paintPoints, placeNames, rowsWithin } from "/shared.js";
import { at, countItems, colorOf, fill, make, makeButton, modifierKey, number, say, shapeOf, shorten } from "/elements.js";
import * as store from "/store.js";
import { clustering, idOf, items, nowhere, page, server, textOf } from "/store.js";

const [otherTone, firstShade, nShades, nSeries] = [11, 12, 64, 5];
const [firstBell, nBellShades] = [firstShade + 64, 32]; // shades of the first end of a decision, then of the second
const maxZoom = 60;
const inset = 14;
let tones = [];
let palette = new Float32Array(0);
let probe = null;
let isLasso = false;

const readColor = (name) => {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
};
const mix = (from, to, share) => from.map((value, c) => value + share * (to[c] - value));
const readTones = () => {
  const names = ["map-none", ...Array.from({ length: 10 }, (_, k) => `k${k}`), "map-other"];
  const series = Array.from({ length: nSeries }, (_, k) => readColor(`map-series${k}`));
  const shades = Array.from({ length: nShades }, (_, k) => {
    const place = (k / (nShades - 1)) * (nSeries - 1);
    const left = Math.min(Math.floor(place), nSeries - 2);
    return mix(series[left], series[left + 1], place - left);
  });
  const ground = readColor("map-none");
  const bells = ["bell1", "bell2"].flatMap((name) => {
    const end = readColor(name);
    return Array.from({ length: nBellShades }, (_, k) => mix(ground, end, 0.45 + (0.55 * k) / (nBellShades - 1)));
  });
  tones = [...names.map(readColor), ...shades, ...bells];
  palette = Float32Array.from(tones.flat(), (value) => value * value);
};
const cssTone = (tone) => `rgb(${tones[tone].map(Math.round).join(" ")})`;
const shadeOf = (share) => firstShade + Math.round(share * (nShades - 1));
const shadeTones = [0, 0.25, 0.5, 0.75, 1].map(shadeOf);
const toneOfGroup = (group) => (group < 0 ? 0 : 1 + colorOf(group));
const isReduced = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Maps that must be painted wait in a queue: per frame as many are painted as fit, so that the page stays responsive.
const waiting = new Set();
let frame = 0;
let whenPainted = [];
const paintWaiting = () => {
  frame = 0;
  const start = performance.now();
  for (const map of waiting) {
    waiting.delete(map);
    map.paint();
    if (performance.now() - start > 14) break;
  }
  if (waiting.size) frame = requestAnimationFrame(paintWaiting);
  else whenPainted.splice(0).forEach((action) => action());
};
const requestPaint = (map, isFirst = false) => {
  if (isFirst) {
    const others = [...waiting];
    waiting.clear();
    waiting.add(map);
    others.forEach((other) => waiting.add(other));
  } else waiting.add(map);
  frame ||= requestAnimationFrame(paintWaiting);
};
export const afterPainting = (action) => {
  whenPainted.push(action);
  frame ||= requestAnimationFrame(paintWaiting);
};

class PointMap {
  // `view` is null for the joint map.
  constructor(view, layout) {
    this.view = view;
    const { n } = items;
    this.points = { ...layout, tone: new Uint8Array(n), shape: new Uint8Array(n), isLit: store.isLit };
    this.findNearest = indexPoints(layout);
    this.crowd = measureCrowd(layout);
    this.anchors = [];
    this.names = [];
    this.loop = null;
    this.isMoving = false;
    this.seconds = 0;
    this.isStale = true;
    this.pulse = [];
    this.measureBounds();
    this.position = { ...this.home };
    this.build();
    this.connect();
  }

  measureBounds() {
    const { x, y } = this.points;
    const box = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };
    for (let row = 0; row < x.length; row++) {
      if (x[row] === nowhere) continue;
      box.left = Math.min(box.left, x[row]);
      box.right = Math.max(box.right, x[row]);
      box.bottom = Math.min(box.bottom, y[row]);
      box.top = Math.max(box.top, y[row]);
    }
    if (box.left > box.right) Object.assign(box, { left: 0, right: 1, bottom: 0, top: 1 });
    this.bounds = box;
    this.home = { x: (box.left + box.right) / 2, y: (box.bottom + box.top) / 2, zoom: 1 };
  }

  build() {
    const title = this.view ? this.view.name : "All views together";
    const isPartial = this.view && this.view.nPresent < items.n;
    const count = isPartial ? `${number(this.view.nPresent)} of ${number(items.n)}` : "";
    this.figure = make("figure", undefined, this.view ? "wb-map" : "wb-map wb-large");
    if (this.view) this.figure.dataset.viewMap = this.view.name;
    else this.figure.id = "map-joint";
    const caption = make("figcaption");
    this.enlarge = makeButton("Enlarge", () => enlarge(this), "wb-quiet wb-enlarge");
    this.enlarge.setAttribute("aria-label", `Enlarge ${title}`);
    fill(caption, make("b", title), isPartial && make("small", count), this.enlarge);
    caption.title = this.view ? `${this.view.name}: ${number(this.view.nPresent)} of ${countItems(items.n)}` : "";
    this.frame = make("div", undefined, "wb-frame");
    [this.canvas, this.fading, this.marks] = ["wb-points", "wb-pulse", "wb-marks"].map((name) => make("canvas", undefined, name));
    this.fading.ariaHidden = this.marks.ariaHidden = "true";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `Map: ${title}. Arrow keys move, plus and minus zoom, 0 shows everything.`);
    this.ring = make("i", undefined, "wb-ring");
    this.ring.hidden = true;
    const buttons = make("div", undefined, "wb-zoom");
    for (const [text, label, factor] of [["+", "Zoom in", 1.7], ["−", "Zoom out", 1 / 1.7], ["↺", "Show everything", 0]]) {
      const button = makeButton(text, () => (factor ? this.zoomAt(this.wide / 2, this.high / 2, factor) : this.moveHome()));
      button.setAttribute("aria-label", label);
      button.title = label;
      button.tabIndex = -1; // the map has keys
      buttons.append(button);
    }
    this.hint = make("p", undefined, "wb-hint");
    this.hint.hidden = true;
    this.frame.append(this.canvas, this.fading, this.marks, this.ring, this.hint);
    this.note = make("p", undefined, "wb-note wb-map-note");
    this.note.hidden = true;
    this.figure.append(caption, this.frame, this.note, buttons);
  }

  // Positions on the screen.
  readSize() {
    [this.wide, this.high] = [this.frame.clientWidth, this.frame.clientHeight];
    const { left, right, bottom, top } = this.bounds;
    this.fit = Math.max(
      1e-6,
      Math.min((this.wide - 2 * inset) / Math.max(right - left, 1), (this.high - 2 * inset) / Math.max(top - bottom, 1), 0.05),
    );
  }
  get step() { return this.fit * this.position.zoom; }
  toX(row) { return this.wide / 2 + (this.points.x[row] - this.position.x) * this.step; }
  toY(row) { return this.high / 2 - (this.points.y[row] - this.position.y) * this.step; }
  hasPoint(row) { return this.points.x[row] !== nowhere; }
  isInside(px, py) { return px >= 0 && py >= 0 && px <= this.wide && py <= this.high; }

  moveHome() {
    Object.assign(this.position, this.home);
    this.changePosition();
  }
  zoomAt(px, py, factor) {
    const before = this.position.zoom;
    const zoom = Math.max(1, Math.min(maxZoom, before * factor));
    const unit = (1 / (this.fit * before) - 1 / (this.fit * zoom));
    this.position.x += (px - this.wide / 2) * unit;
    this.position.y -= (py - this.high / 2) * unit;
    this.position.zoom = zoom;
    this.changePosition();
  }
  panBy(dx, dy) {
    this.position.x -= dx / this.step;
    this.position.y += dy / this.step;
    this.changePosition();
  }
  changePosition() {
    const { left, right, bottom, top } = this.bounds;
    if (this.position.zoom <= 1) Object.assign(this.position, this.home);
    this.position.x = Math.max(left, Math.min(right, this.position.x));
    this.position.y = Math.max(bottom, Math.min(top, this.position.y));
    this.figure.classList.toggle("wb-zoomed", this.position.zoom > 1);
    requestPaint(this, true);
  }

  // Colors.
  findBell() {
    const { propagation } = page;
    return propagation && (this.view ? propagation.views.get(this.view.name) : propagation.joint);
  }
  assignTones() {
    const { tone, shape } = this.points;
    const { labels, contested, viewLabels } = clustering;
    const bell = this.findBell();
    shape.fill(0);
    if (page.propagation) {
      this.isReached = new Uint8Array(items.n); // the others stand back
      for (let row = 0; row < items.n; row++) {
        const height = bell ? bell.heights[row] : 0;
        this.isReached[row] = height && bell.side[row] ? 1 : 0;
        tone[row] = height && bell.side[row] ? firstBell + (bell.side[row] - 1) * nBellShades + ((height * (nBellShades - 1)) / 255) | 0 : 0;
      }
      return;
    }
    const groups = page.color === "view" && this.view ? viewLabels[this.view.name] || labels : labels;
    const pick = {
      confidence: (row) => (store.confidenceOf(row) === null ? 0 : shadeOf(store.confidenceOf(row))),
      contested: (row) => (contested[row] ? 5 : 0),
      classes: (row) => {
        const code = items.classes.values[row];
        return code === 255 ? 0 : code < 10 ? 1 + code : otherTone;
      },
    }[page.color];
    for (let row = 0; row < items.n; row++) {
      tone[row] = pick ? pick(row) : toneOfGroup(groups[row]);
      if (!pick && groups[row] >= 10) shape[row] = shapeOf(groups[row]);
    }
  }
  // For each group the median of its positions, and some members in its middle.
  findAnchors() {
    const members = new Map([...server.groups.keys()].map((group) => [group, []]));
    for (let row = 0; row < items.n; row++) if (this.hasPoint(row)) members.get(clustering.labels[row])?.push(row);
    const sampleOf = (rows, n) => rows.filter((_, k) => k % Math.ceil(rows.length / n) === 0);
    const median = (rows, values) => Float64Array.from(rows, (row) => values[row]).sort()[rows.length >> 1];
    this.anchors = [...members]
      .filter(([, rows]) => rows.length)
      .sort((a, b) => b[1].length - a[1].length)
      .map(([group, all]) => {
        const rows = sampleOf(all, 400);
        const [x, y] = [median(rows, this.points.x), median(rows, this.points.y)];
        const distance = (row) => Math.hypot(this.points.x[row] - x, this.points.y[row] - y);
        const near = rows.map((row) => [distance(row), row]).sort((a, b) => a[0] - b[0]).slice(0, Math.ceil(0.6 * rows.length));
        return { group, x, y, members: sampleOf(near.map(([, row]) => row), 40) };
      });
  }
  refresh() {
    this.isStale = true;
    requestPaint(this, this.figure.classList.contains("wb-large"));
  }

  // Painting.
  paint() {
    this.readSize();
    if (!this.wide || !this.high) return;
    if (this.isStale) {
      this.assignTones();
      this.findAnchors();
      this.isStale = false;
    }
    const start = performance.now();
    const ratio = (devicePixelRatio || 1) * (this.isMoving && this.seconds > 0.03 ? 0.5 : 1);
    const spread = Math.sqrt((0.12 * this.wide * this.high) / Math.max(items.n, 1) / Math.PI);
    const radius = Math.max(0.75, Math.min(7, Math.max(0.9, Math.min(4.2, spread)) * this.position.zoom ** 0.3)) * ratio;
    const scale = this.step * ratio;
    this.radius = radius / ratio;
    const isLit = page.propagation ? this.isReached : store.isLit;
    paintPoints(this.canvas, { ...this.points, isLit }, palette, {
      width: Math.max(1, Math.round(this.wide * ratio)),
      height: Math.max(1, Math.round(this.high * ratio)),
      originX: (this.wide / 2) * ratio - this.position.x * scale,
      originY: (this.high / 2) * ratio + this.position.y * scale,
      step: scale,
      radius,
      crowd: (this.crowd / scale ** 2) * Math.PI * radius ** 2,
      nLit: page.propagation ? isLit.reduce((total, value) => total + value, 0) : store.nLit,
    });
    if (ratio === (devicePixelRatio || 1)) this.seconds = (performance.now() - start) / 1000;
    this.drawMarks();
    this.drawPulse();
    this.placeRing();
  }
  clear(canvas) {
    const ratio = devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.round(this.wide * ratio), Math.round(this.high * ratio)];
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    return pen;
  }
  drawMarks() {
    if (!this.wide) return;
    const pen = this.clear(this.marks);
    const style = getComputedStyle(this.frame);
    const [ink, ground] = [style.color, style.backgroundColor];
    if (store.hasRings()) this.drawRings(pen, [...page.selection], ink, ground);
    if (page.propagation) this.drawPairs(pen, ink);
    this.names = [];
    if (this.figure.classList.contains("wb-large") && !page.propagation) this.drawNames(pen, ink, ground);
    page.pins.forEach((row, k) => this.drawPin(pen, row, "AB"[k]));
    if (this.loop) {
      pen.beginPath();
      this.loop.forEach(([x, y]) => pen.lineTo(x, y));
      pen.closePath();
      pen.fillStyle = pen.strokeStyle = cssTone(1);
      pen.globalAlpha = 0.12;
      pen.fill();
      pen.globalAlpha = 1;
      pen.lineWidth = 1.5;
      pen.stroke();
    }
  }
  drawRings(pen, rows, color, ground) {
    const reach = this.radius + 2.5;
    pen.beginPath();
    for (const row of rows) {
      if (!this.hasPoint(row)) continue;
      const [px, py] = [this.toX(row), this.toY(row)];
      if (!this.isInside(px, py)) continue;
      pen.moveTo(px + reach, py);
      pen.arc(px, py, reach, 0, 7);
    }
    for (const [stroke, width] of [[ground, 4], [color, 1.8]]) {
      pen.strokeStyle = stroke;
      pen.lineWidth = width;
      pen.stroke();
    }
  }
  drawPairs(pen, ink) {
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.setLineDash([4, 3]);
    for (const [a, b] of page.propagation.pairs.slice(0, 200)) {
      if (!this.hasPoint(a) || !this.hasPoint(b)) continue;
      pen.beginPath();
      pen.moveTo(this.toX(a), this.toY(a));
      pen.lineTo(this.toX(b), this.toY(b));
      pen.stroke();
    }
    pen.setLineDash([]);
    page.propagation.pairs.slice(0, 200).forEach((pair) =>
      pair.forEach((row, k) => {
        if (!this.hasPoint(row)) return;
        pen.beginPath();
        drawShape(pen, 0, this.toX(row), this.toY(row), 5);
        pen.fillStyle = cssTone(firstBell + (k + 1) * nBellShades - 1);
        pen.fill();
        pen.stroke();
      }),
    );
  }
  drawNames(pen, ink, ground) {
    pen.font = `600 ${this.wide < 480 ? 11.5 : 12.5}px ${getComputedStyle(document.body).fontFamily}`;
    const anchors = this.anchors.map(({ group, x, y, members }) => ({
      group,
      name: store.nameGroup(group),
      px: this.wide / 2 + (x - this.position.x) * this.step,
      py: this.high / 2 - (y - this.position.y) * this.step,
      members: members.map((row) => [this.toX(row), this.toY(row)]),
    }));
    const { left, right } = this.bounds;
    const frame = {
      wide: this.wide,
      high: this.high,
      left: this.wide / 2 + (left - this.position.x) * this.step,
      right: this.wide / 2 + (right - this.position.x) * this.step,
    };
    this.names = placeNames(anchors, frame, (text) => pen.measureText(text).width);
    const shown = page.hoveredGroup ?? page.openGroup;
    const isByGroup = page.color === "group" || page.color === "view";
    drawNames(pen, this.names, {
      ink,
      ground,
      drawSymbol: (group, x, y) => drawShape(pen, shapeOf(group), x, y, 4.5),
      colorOf: (group) => (isByGroup ? cssTone(toneOfGroup(group)) : ink),
      isFaint: (group) => shown !== null && shown !== group,
    });
  }
  drawPin(pen, row, letter) {
    if (!this.hasPoint(row)) return;
    const [px, py] = [this.toX(row), this.toY(row)];
    const tone = cssTone(letter === "A" ? firstBell + nBellShades - 1 : firstBell + 2 * nBellShades - 1);
    const style = getComputedStyle(this.frame);
    pen.beginPath();
    pen.arc(px, py, 9, 0, 7);
    pen.fillStyle = tone;
    pen.fill();
    pen.strokeStyle = style.backgroundColor;
    pen.lineWidth = 2;
    pen.stroke();
    pen.fillStyle = style.backgroundColor;
    pen.font = "700 11px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(letter, px, py + 0.5);
    pen.textAlign = "start";
  }
  drawPulse() {
    if (!this.pulse.length || !this.wide) return;
    const pen = this.clear(this.fading);
    pen.strokeStyle = getComputedStyle(this.frame).accentColor;
    pen.lineWidth = 1.6;
    pen.beginPath();
    const isMany = this.pulse.length > 2000; // squares are faster than circles
    const reach = this.radius + 3;
    for (const row of this.pulse) {
      if (!this.hasPoint(row)) continue;
      const [px, py] = [this.toX(row), this.toY(row)];
      if (!this.isInside(px, py)) continue;
      if (isMany) pen.rect(px - reach, py - reach, 2 * reach, 2 * reach);
      else {
        pen.moveTo(px + reach, py);
        pen.arc(px, py, reach, 0, 7);
      }
    }
    pen.stroke();
  }
  showPulse(rows) {
    clearTimeout(this.pulseTimer);
    this.pulse = rows;
    this.fading.classList.remove("wb-fade");
    if (!rows.length) return this.wide && this.clear(this.fading);
    this.drawPulse();
    if (!isReduced()) requestAnimationFrame(() => this.fading.classList.add("wb-fade"));
    this.pulseTimer = setTimeout(() => this.showPulse([]), 8000);
  }
  placeRing() {
    const row = page.hovered;
    const isShown = row >= 0 && this.hasPoint(row) && this.isInside(this.toX(row), this.toY(row));
    this.ring.hidden = !isShown;
    if (isShown) this.ring.style.transform = `translate(${this.toX(row)}px, ${this.toY(row)}px)`;
  }

  // Pointer and keyboard.
  where(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
  rowAt(px, py, reach) {
    const x = this.position.x + (px - this.wide / 2) / this.step;
    const y = this.position.y - (py - this.high / 2) / this.step;
    const near = this.findNearest(x, y, reach / this.step, (row) => store.isLit[row] === 1);
    return near >= 0 ? near : this.findNearest(x, y, (0.6 * reach) / this.step, () => true);
  }
  nameAt(px, py) {
    return this.names.find(({ left, top, width, height }) => px >= left && px <= left + width && py >= top && py <= top + height) || null;
  }
  connect() {
    const pointers = new Map();
    let [start, wasDragged] = [null, false];
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      pointers.set(event.pointerId, this.where(event));
      canvas.setPointerCapture(event.pointerId);
      start = this.where(event);
      wasDragged = false;
      if (pointers.size === 1 && (event.shiftKey || isLasso)) this.loop = [start];
      else this.loop = null;
    });
    canvas.addEventListener("pointermove", (event) => {
      const spot = this.where(event);
      if (!pointers.has(event.pointerId)) {
        const row = this.rowAt(...spot, this.nameAt(...spot) ? 3 : 12);
        store.setHovered(row);
        showCard(row, event.clientX, event.clientY);
        canvas.classList.toggle("wb-over", row >= 0 || Boolean(this.nameAt(...spot)));
        return;
      }
      const before = pointers.get(event.pointerId);
      if (Math.hypot(spot[0] - start[0], spot[1] - start[1]) > 4) wasDragged = true;
      if (!wasDragged) return;
      hideCard();
      if (this.loop) {
        this.loop.push(spot);
        return this.drawMarks();
      }
      this.isMoving = true;
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        const length = (a, b) => Math.max(10, Math.hypot(a[0] - b[0], a[1] - b[1]));
        this.zoomAt((spot[0] + other[0]) / 2, (spot[1] + other[1]) / 2, length(spot, other) / length(before, other));
      } else this.panBy(spot[0] - before[0], spot[1] - before[1]);
      pointers.set(event.pointerId, spot);
    });
    const release = (event) => {
      if (!pointers.delete(event.pointerId) || pointers.size) return;
      const spot = this.where(event);
      const isClick = event.type === "pointerup" && !wasDragged;
      const mode = event.ctrlKey || event.metaKey ? "add" : "replace";
      const { loop } = this;
      this.loop = null;
      if (this.isMoving) {
        this.isMoving = false;
        requestPaint(this, true);
      }
      if (loop && !isClick) return this.selectWithin(loop, mode);
      if (!isClick) return;
      const name = this.nameAt(...spot);
      const row = this.rowAt(...spot, name ? 3 : event.pointerType === "touch" ? 22 : 12);
      if (name && row < 0) return store.openGroup(name.group);
      if (row >= 0) store.select([row], event.shiftKey ? "add" : mode);
      else if (mode === "replace" && page.selection.size) store.select([]);
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => {
      store.setHovered(-1);
      hideCard();
    });
    canvas.addEventListener("dblclick", (event) => this.zoomAt(...this.where(event), event.shiftKey ? 0.45 : 2.2));
    // Where the maps can be scrolled, the wheel alone scrolls and zooms with Ctrl or Cmd.
    canvas.addEventListener(
      "wheel",
      (event) => {
        const scroller = at("maps");
        const canScroll = scroller.scrollHeight > scroller.clientHeight + 8 || document.documentElement.scrollHeight > innerHeight + 8;
        if (canScroll && !event.ctrlKey && !event.metaKey) return this.showHint();
        event.preventDefault();
        hideCard();
        const lines = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 400 : 1;
        this.isMoving = true;
        clearTimeout(this.wheelTimer);
        this.wheelTimer = setTimeout(() => {
          this.isMoving = false;
          requestPaint(this, true);
        }, 160);
        this.zoomAt(...this.where(event), Math.exp(-Math.max(-120, Math.min(120, event.deltaY * lines)) * 0.004));
      },
      { passive: false },
    );
    const keys = {
      ArrowLeft: () => this.panBy(50, 0),
      ArrowRight: () => this.panBy(-50, 0),
      ArrowUp: () => this.panBy(0, 50),
      ArrowDown: () => this.panBy(0, -50),
      "+": () => this.zoomAt(this.wide / 2, this.high / 2, 1.5),
      "=": () => this.zoomAt(this.wide / 2, this.high / 2, 1.5),
      "-": () => this.zoomAt(this.wide / 2, this.high / 2, 1 / 1.5),
      0: () => this.moveHome(),
    };
    canvas.addEventListener("keydown", (event) => {
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    new ResizeObserver(() => requestPaint(this)).observe(this.frame);
    canvas.placeOf = (row) => (this.hasPoint(row) ? [this.toX(row), this.toY(row)] : null); // for tests
  }
  showHint() {
    this.hint.textContent = `${modifierKey} + wheel zooms`;
    this.hint.hidden = false;
    clearTimeout(this.hintTimer);
    this.hintTimer = setTimeout(() => (this.hint.hidden = true), 1200);
  }
  selectWithin(loop, mode) {
    const isWanted = (row) => this.hasPoint(row) && store.isLit[row] === 1;
    const rows = [...rowsWithin(loop, items.n, isWanted, (row) => this.toX(row), (row) => this.toY(row))];
    this.drawMarks();
    if (rows.length || mode === "replace") store.select(rows, mode);
    setLasso(false);
    say(`${countItems(page.selection.size)} selected`);
  }
}

// The card beside the pointer.
const showCard = (row, clientX, clientY) => {
  const card = at("card");
  card.hidden = row < 0;
  if (row < 0) return;
  const words = make("div");
  const group = store.groupOf(row);
  fill(words, make("b", shorten(idOf(row), 80)), make("span", shorten(textOf(row), 180)));
  const symbol = make("span", undefined, group < 0 ? "none" : `chip k${colorOf(group)} s${shapeOf(group)}`);
  if (group >= 0) symbol.append(make("i"));
  symbol.append(make("span", store.nameGroup(group)));
  words.append(symbol);
  const picture = items.pictures[row];
  card.replaceChildren(words);
  if (picture) {
    const image = make("img", undefined, "wb-thumbnail");
    image.src = picture;
    image.alt = "";
    card.prepend(image);
  }
  const { offsetWidth: width, offsetHeight: height } = card;
  const left = clientX + 16 + width > innerWidth ? clientX - width - 12 : clientX + 16;
  card.style.left = `${Math.max(4, left)}px`;
  card.style.top = `${Math.max(4, Math.min(innerHeight - height - 4, clientY + 14))}px`;
};
const hideCard = () => (at("card").hidden = true);

const setLasso = (isOn) => {
  isLasso = isOn;
  at("lasso").setAttribute("aria-pressed", String(isOn));
  at("map-grid").classList.toggle("wb-lasso", isOn);
};
let maps = [];
const enlarge = (map) => {
  maps.forEach((other) => other.figure.classList.toggle("wb-large", other === map));
  at("map-grid").prepend(map.figure);
  maps.filter((other) => other !== map).forEach((other) => at("map-grid").append(other.figure));
  maps.forEach((other) => other.refresh());
};

// The legend of the chosen color.
const showLegend = () => {
  const swatch = (tone, text) => {
    const entry = make("span", undefined, "wb-key");
    const spot = make("i", undefined, "map-swatch");
    spot.style.background = cssTone(tone);
    return fill(entry, spot, make("span", text));
  };
  const entries = {
    group: () => [],
    view: () => [make("span", "Each view’s map has the groups that the view alone would give.")],
    confidence: () => [make("span", "0%"), ...shadeTones.map((tone) => swatch(tone, "")), make("span", "100%")],
    contested: () => [swatch(5, "the views disagree"), swatch(0, "they agree")],
    classes: () => items.classes.names.slice(0, 10).map((name, k) => swatch(1 + k, shorten(name, 24))).concat(
      items.classes.names.length > 10 ? [swatch(otherTone, `${items.classes.names.length - 10} more`)] : [],
    ),
  }[page.color]();
  if (page.propagation) {
    const bell = (k) => swatch(firstBell + k * nBellShades - 1, k === 1 ? "near the first item" : "near the second item");
    at("legend").replaceChildren(bell(1), bell(2));
  } else at("legend").replaceChildren(...entries);
};

export const buildMaps = () => {
  probe = at("map-grid").parentElement.appendChild(make("i"));
  probe.hidden = true;
  readTones();
  maps = [new PointMap(null, items.layout), ...items.views.map((view) => new PointMap(view, view.layout))];
  at("map-grid").replaceChildren(...maps.map((map) => map.figure));
  const n = items.views.length;
  const nBeside = n <= 2 ? 1 : n <= 8 ? 2 : 3; // columns of views beside the joint map, on wide screens
  const layout = { columns: n <= 4 ? n : n <= 6 ? 3 : 4, beside: nBeside, rows: Math.ceil(n / nBeside) };
  for (const [name, value] of Object.entries(layout)) at("map-grid").style.setProperty(`--${name}`, value);
  const colors = [["group", "Group"], ...(clustering.confidence ? [["confidence", "Confidence"]] : []), ["contested", "Contested"], ["view", "By this view alone"]];
  if (items.classes) colors.push(["classes", "Known classes"]);
  for (const [value, text] of colors) {
    const option = make("option", text);
    option.value = value;
    at("color").append(option);
  }
  at("color").addEventListener("change", () => store.setColor(at("color").value));
  at("lasso").addEventListener("click", () => setLasso(!isLasso));
  const refreshAll = () => maps.forEach((map) => map.refresh());
  const markAll = () => maps.forEach((map) => map.drawMarks());
  store.listen("clustering", () => {
    refreshAll();
    const rows = [...clustering.changed];
    afterPainting(() => maps.forEach((map) => map.showPulse(rows)));
  });
  store.listen("groups", markAll);
  store.listen("lit", () => maps.forEach((map) => requestPaint(map)));
  store.listen("color propagation", () => {
    showLegend();
    refreshAll();
    maps.forEach((map) => {
      const bell = map.findBell();
      map.note.hidden = !bell;
      map.note.textContent = map.note.title = bell ? bell.sentence : "";
    });
  });
  store.listen("selection pins", markAll);
  store.listen("hover", () => maps.forEach((map) => map.placeRing()));
  store.listen("theme", () => {
    readTones();
    showLegend();
    refreshAll();
  });
  showLegend();
};
export const isDrawingLasso = () => isLasso;
export const stopLasso = () => setLasso(false);
