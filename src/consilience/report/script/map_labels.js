// Names of groups on a map. While there is room beside the points they stand there, with a line to their group;
// otherwise near their points, where they cover fewest of them. No name covers another, and one without room is left out.
const lineHeight = 15;
const symbolRoom = 15; // for the symbol before the first line
const gap = 5;
const leastSide = 84; // width beside the points from which names stand there
const widest = 190;
const mostNames = 120;
const isolate = (text) => `\u2068${text}\u2069`; // so that the direction of a name is its own

const graphemes = (text) => (window.Intl?.Segmenter ? Array.from(new Intl.Segmenter().segment(text), (part) => part.segment) : Array.from(text));
const cut = (text, width, measure) => {
  if (measure(text) <= width) return text;
  const parts = graphemes(text.slice(0, 300));
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(parts.slice(0, middle).join("").trimEnd() + "…") <= width) low = middle;
    else high = middle - 1;
  }
  return parts.slice(0, low).join("").trimEnd() + "…";
};
const wrap = (text, width, measure, mostLines) => {
  const words = text.slice(0, 200).split(" ").filter(Boolean);
  const lines = [];
  while (words.length && lines.length < mostLines) {
    let line = words.shift();
    while (words.length && measure(`${line} ${words[0]}`) <= width) line += ` ${words.shift()}`;
    if (lines.length === mostLines - 1 && words.length) line += ` ${words.join(" ")}`;
    lines.push(cut(line, width, measure));
    if (measure(line) > width && lines.length === mostLines) break;
  }
  return lines.length ? lines : ["(empty)"];
};
const makeBox = (anchor, width, measure, mostLines) => {
  const lines = wrap(anchor.name, width - symbolRoom, measure, mostLines);
  return { group: anchor.group, anchor, lines, width: Math.max(...lines.map(measure)) + symbolRoom, height: lines.length * lineHeight };
};
const overlaps = (a, b) =>
  a.left < b.left + b.width + gap && b.left < a.left + a.width + gap && a.top < b.top + b.height + 2 && b.top < a.top + a.height + 2;

// Boxes in a column, each as near to the height of its group as the others allow.
const stack = (boxes, top, bottom) => {
  boxes.sort((a, b) => a.anchor.py - b.anchor.py);
  let end = top;
  for (const box of boxes) {
    box.top = Math.max(end, box.anchor.py - box.height / 2);
    end = box.top + box.height + gap;
  }
  let start = bottom;
  for (const box of [...boxes].reverse()) {
    box.top = Math.min(box.top, start - box.height);
    start = box.top - gap;
  }
};
const placeBeside = (anchors, frame, measure) => {
  const { left, right, wide, high } = frame;
  const rooms = { left: Math.min(widest, left - 22), right: Math.min(widest, wide - right - 22) };
  if (Math.min(rooms.left, rooms.right) < leastSide) return null;
  const sides = { left: [], right: [] };
  const used = { left: 0, right: 0 };
  const middle = (left + right) / 2;
  for (const anchor of anchors) {
    const first = anchor.px < middle ? "left" : "right";
    for (const side of first === "left" ? ["left", "right"] : ["right", "left"]) {
      const box = makeBox(anchor, rooms[side], measure, 3);
      if (used[side] + box.height + gap > high - 12) continue;
      used[side] += box.height + gap;
      sides[side].push(box);
      break;
    }
  }
  for (const side of ["left", "right"]) {
    stack(sides[side], 6, high - 6);
    for (const box of sides[side]) {
      box.left = side === "left" ? left - 14 - box.width : right + 14;
      box.start = [side === "left" ? left - 12 : right + 12, box.top + lineHeight / 2];
      box.isRight = side === "left";
    }
  }
  return [...sides.left, ...sides.right];
};

const directions = [[0, -1], [0, 1], [1, 0], [-1, 0], [0.6, -1], [-0.6, -1], [0.6, 1], [-0.6, 1]];
const shifts = [[0, 0], ...[0.6, 1.1, 1.8].flatMap((reach) => directions.map(([x, y]) => [reach * x, reach * y]))];
const measureDistance = (box, [x, y]) =>
  Math.hypot(x - Math.max(box.left, Math.min(box.left + box.width, x)), y - Math.max(box.top, Math.min(box.top + box.height, y)));
const placeNear = (anchors, { wide, high, taken = [] }, measure) => {
  const placed = [];
  const width = Math.min(widest, 0.38 * wide);
  const points = anchors.flatMap(({ members }) => members);
  for (const anchor of anchors) {
    const box = makeBox(anchor, width, measure, 2);
    let best = null;
    for (const [dx, dy] of shifts) {
      const left = Math.max(4, Math.min(wide - box.width - 4, anchor.px - box.width / 2 + 0.6 * dx * box.width));
      const top = Math.max(4, Math.min(high - box.height - 4, anchor.py - box.height / 2 + dy * (box.height / 2 + 12)));
      const candidate = { ...box, left, top };
      if ([...taken, ...placed].some((other) => overlaps(candidate, other))) continue;
      const nCovered = points.filter((point) => measureDistance(candidate, point) === 0).length;
      const center = [left + box.width / 2, top + box.height / 2];
      const distanceTo = ({ px, py }) => Math.hypot(center[0] - px, center[1] - py);
      const distance = distanceTo(anchor);
      const isNearerToOther = anchors.some((other) => other !== anchor && distanceTo(other) < distance);
      const cost = 3 * nCovered + distance / 8 + (isNearerToOther ? 12 : 0);
      if (!best || cost < best.cost) best = { ...candidate, cost, center };
    }
    if (!best) continue;
    if (Math.min(...anchor.members.map((point) => measureDistance(best, point))) > 12) best.start = best.center;
    placed.push(best);
  }
  return placed;
};

// Place anchors {group, name, px, py, members: [[x, y], ...]}, the most important first; those that are out of sight have no
// name. The frame has the size of the map, the left and right end of its points, and boxes that no name covers.
const placeNames = (anchors, frame, measure) => {
  const isInside = ([x, y]) => x >= 0 && y >= 0 && x <= frame.wide && y <= frame.high;
  const visible = anchors.filter(({ members }) => members.some(isInside)).slice(0, mostNames);
  return placeBeside(visible, frame, measure) || placeNear(visible, frame, measure);
};
// Move names with the points.
const moveNames = (boxes, dx, dy) => {
  for (const box of boxes) {
    [box.left, box.top] = [box.left + dx, box.top + dy];
    [box.anchor.px, box.anchor.py] = [box.anchor.px + dx, box.anchor.py + dy];
    if (box.start) box.start = [box.start[0] + dx, box.start[1] + dy];
    box.anchor.members = box.anchor.members.map(([x, y]) => [x + dx, y + dy]);
  }
};

// The path of a symbol.
const drawShape = (pen, shape, x, y, r) => {
  if (shape === 0) pen.arc(x, y, r, 0, 7);
  else if (shape === 1) pen.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
  else [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]].forEach(([dx, dy]) => pen.lineTo(x + dx * r, y + dy * r));
  pen.closePath();
};
// Draw names; `drawSymbol(group, x, y)` adds the path of a symbol, `colorOf(group)` is its color.
const drawNames = (pen, boxes, { ink, ground, drawSymbol, colorOf, isFaint }) => {
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  for (const { group, anchor, start, isRight } of boxes) {
    if (!start) continue;
    pen.globalAlpha = isFaint(group) ? 0.2 : 0.75;
    const distanceTo = ([x, y]) => Math.hypot(x - start[0], y - start[1]);
    const end = anchor.members.reduce((best, point) => (distanceTo(point) < distanceTo(best) ? point : best), [anchor.px, anchor.py]);
    if (distanceTo(end) < 8) continue;
    for (const [color, width] of [[ground, 3], [colorOf(group), 1]]) {
      pen.strokeStyle = color;
      pen.lineWidth = width;
      pen.beginPath();
      pen.moveTo(start[0] + (isRight ? 0 : -2), start[1]);
      pen.lineTo(...end);
      pen.stroke();
    }
  }
  for (const { group, lines, left, top, width, isRight } of boxes) {
    pen.globalAlpha = isFaint(group) ? 0.35 : 1;
    pen.textAlign = isRight ? "right" : "left";
    const x = isRight ? left + width - symbolRoom : left + symbolRoom;
    pen.beginPath();
    drawSymbol(group, isRight ? left + width - 6 : left + 6, top + lineHeight / 2);
    pen.strokeStyle = ground;
    pen.lineWidth = 4;
    pen.stroke();
    pen.fillStyle = colorOf(group);
    pen.fill();
    lines.forEach((line, k) => {
      const y = top + (k + 0.5) * lineHeight;
      pen.strokeText(isolate(line), x, y);
      pen.fillStyle = ink;
      pen.fillText(isolate(line), x, y);
    });
  }
  pen.globalAlpha = 1;
  pen.textAlign = "start";
};
// The position of each group among the points that are visible: the member next to the median of both axes.
const findAnchors = (groups, nGroups, toX, toY, isVisible) => {
  const counts = new Uint32Array(nGroups);
  for (let i = 0; i < groups.length; i++) if (groups[i] >= 0 && isVisible(i)) counts[groups[i]]++;
  const most = Math.max(40, Math.min(400, Math.floor(20000 / nGroups)));
  const members = Array.from({ length: nGroups }, () => []);
  const seen = new Uint32Array(nGroups);
  for (let i = 0; i < groups.length; i++) {
    const g = groups[i];
    if (g < 0 || !isVisible(i)) continue;
    if (seen[g]++ % Math.ceil(counts[g] / most) === 0) members[g].push(i);
  }
  const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  const anchors = [];
  members.forEach((rows, group) => {
    if (!rows.length) return;
    const [xs, ys] = [rows.map(toX), rows.map(toY)];
    const [x, y] = [middle(xs.slice()), middle(ys.slice())];
    let best = 0;
    for (let k = 1; k < rows.length; k++) {
      if ((xs[k] - x) ** 2 + (ys[k] - y) ** 2 < (xs[best] - x) ** 2 + (ys[best] - y) ** 2) best = k;
    }
    const step = Math.ceil(rows.length / Math.max(8, Math.min(60, 3000 / nGroups)));
    const sample = rows.map((_, k) => [xs[k], ys[k]]).filter((_, k) => k % step === 0);
    anchors.push({ group, px: xs[best], py: ys[best], count: counts[group], members: [[xs[best], ys[best]], ...sample] });
  });
  return anchors;
};
