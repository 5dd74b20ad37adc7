// Names of groups on a map. While there is room beside the points they stand there, with a line to their group;
// otherwise near their points, where they cover fewest of them. No name covers another, and one without room is left out.
const lineHeight = 15;
const symbolRoom = 15; // for the symbol before the first line
const gap = 5;
const leastSide = 84; // width beside the points from which names stand there
const widest = 190;
const isolate = (text) => `\u2068${text}\u2069`; // so that the direction of a name is its own

const cut = (text, width, measure) => {
  if (measure(text) <= width) return text;
  const parts = Array.from(text.slice(0, 120));
  while (parts.length > 1 && measure(`${parts.join("").trimEnd()}…`) > width) parts.pop();
  return `${parts.join("").trimEnd()}…`;
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
  return lines;
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
const placeNear = (anchors, { wide, high }, measure) => {
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
      if (placed.some((other) => overlaps(candidate, other))) continue;
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

// Place anchors {group, name, px, py, members: [[x, y], ...]}, the most important first. The frame has the size of the
// map, and the left and right end of its points.
export const placeNames = (anchors, frame, measure) =>
  placeBeside(anchors, frame, measure) || placeNear(anchors.filter(({ px, py }) => px >= 0 && py >= 0 && px <= frame.wide && py <= frame.high), frame, measure);

// Draw names; `drawSymbol(group, x, y)` adds the path of a symbol, `colorOf(group)` is its color.
export const drawNames = (pen, boxes, { ink, ground, drawSymbol, colorOf, isFaint }) => {
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
