// Names of groups on the map, none of which covers another or leaves the frame.
const graphemes = (text) => (window.Intl?.Segmenter ? Array.from(new Intl.Segmenter().segment(text), (part) => part.segment) : Array.from(text));
const cutToWidth = (text, width, measure) => {
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
// At most two lines, broken between words.
const wrapLabel = (text, width, measure) => {
  const words = text.slice(0, 300).split(" ").filter(Boolean);
  if (measure(text) <= width || words.length < 2) return [cutToWidth(text, width, measure)];
  let first = words[0];
  let used = 1;
  while (used < words.length && measure(`${first} ${words[used]}`) <= width) first += ` ${words[used++]}`;
  const rest = words.slice(used).join(" ");
  return rest ? [cutToWidth(first, width, measure), cutToWidth(rest, width, measure)] : [cutToWidth(first, width, measure)];
};
const overlap = (a, b) => a.x < b.x + b.wide && b.x < a.x + a.wide && a.y < b.y + b.high && b.y < a.y + a.high;
// How much of a box points cover: returns a function from a box to a share from 0 to 1.
const measureCover = (points, { wide, high }) => {
  const cell = 6;
  const [nColumns, nRows] = [Math.ceil(wide / cell) + 1, Math.ceil(high / cell) + 1];
  const counts = new Uint32Array(nColumns * nRows);
  points((px, py) => counts[Math.floor(py / cell) * nColumns + Math.floor(px / cell)]++);
  const least = 0.03 * counts.reduce((most, count) => Math.max(most, count), 0); // outliers do not count
  const totals = new Int32Array((nColumns + 1) * (nRows + 1));
  for (let row = 0; row < nRows; row++) {
    for (let column = 0, sum = 0; column < nColumns; column++) {
      sum += counts[row * nColumns + column] > least ? 1 : 0;
      totals[(row + 1) * (nColumns + 1) + column + 1] = totals[row * (nColumns + 1) + column + 1] + sum;
    }
  }
  return ({ x, y, wide: w, high: h }) => {
    const [left, right] = [Math.floor(x / cell), Math.min(nColumns, Math.ceil((x + w) / cell))];
    const [top, bottom] = [Math.floor(y / cell), Math.min(nRows, Math.ceil((y + h) / cell))];
    const total = (row, column) => totals[row * (nColumns + 1) + column];
    const covered = total(bottom, right) - total(top, right) - total(bottom, left) + total(top, left);
    return covered / Math.max(1, (right - left) * (bottom - top));
  };
};
const directions = [[0, -1], [0, 1], [1, 0], [-1, 0], [0.7, -1], [-0.7, -1], [0.7, 1], [-0.7, 1]];
// The point of a group that is nearest to a box, and its distance.
const findLead = (box, members) => {
  let lead = { distance: Infinity, x: 0, y: 0 };
  for (const [x, y] of members) {
    const distance = Math.hypot(x - Math.max(box.x, Math.min(box.x + box.wide, x)), y - Math.max(box.y, Math.min(box.y + box.high, y)));
    if (distance < lead.distance) lead = { distance, x, y };
  }
  return lead;
};
// Place labels {name, x, y, members}, the most important first, near their points but beside them if there is room. Those
// without room are left out.
const placeLabels = (labels, frame, obstacles, cover, measure, lineHeight, symbolWidth) => {
  const placed = [];
  const widest = Math.min(170, frame.wide * 0.4);
  const spreadOf = (values) => Math.min(60, values.map(Math.abs).sort((a, b) => a - b)[Math.floor(values.length * 0.85)]);
  for (const label of labels) {
    if (placed.length >= 120) break;
    const lines = wrapLabel(label.name, widest, measure);
    const wide = Math.max(...lines.map(measure)) + symbolWidth + 8;
    const high = lines.length * lineHeight + 4;
    if (wide > frame.wide - 8 || high > frame.high - 8) continue;
    const spreadX = spreadOf(label.members.map(([x]) => x - label.x));
    const spreadY = spreadOf(label.members.map(([, y]) => y - label.y));
    const shifts = [[0, 0]];
    for (const reach of [0.5, 1, 1.6]) {
      for (const [x, y] of directions) {
        shifts.push([x * (reach * spreadX + (y ? 0 : wide / 2 + 6)), y * (reach * spreadY + high / 2 + 4)]);
      }
    }
    let best = null;
    for (const [dx, dy] of shifts) {
      const x = Math.max(4, Math.min(frame.wide - wide - 4, label.x + dx - wide / 2));
      const y = Math.max(4, Math.min(frame.high - high - 4, label.y + dy - high / 2));
      const box = { x, y, wide, high };
      if (placed.some((other) => overlap(box, other)) || obstacles.some((other) => overlap(box, other))) continue;
      const lead = findLead(box, label.members);
      const distanceTo = (other) => Math.hypot(x + wide / 2 - other.x, y + high / 2 - other.y);
      const isNearerToOther = labels.some((other) => other !== label && distanceTo(other) < distanceTo(label));
      const cost = cover(box) + lead.distance / 50 + Math.hypot(dx, dy) / 400 + (isNearerToOther ? 0.35 : 0);
      if (lead.distance < 60 && (!best || cost < best.cost)) best = { ...box, lead, cost };
    }
    if (best) placed.push({ group: label.group, lines, symbolWidth, ...best });
  }
  return placed;
};
const drawSymbol = [
  (pen, x, y, r) => pen.arc(x, y, r, 0, 7),
  (pen, x, y, r) => pen.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r),
  (pen, x, y, r) => [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]].forEach(([dx, dy]) => pen.lineTo(x + dx * r, y + dy * r)),
];
// `lookOf(group)` returns color and shape of the symbol before the name, or null for none.
const drawLabels = (pen, placed, lineHeight, ink, ground, lookOf) => {
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  for (const label of placed) {
    const { x, y, wide, high, lead, lines, symbolWidth } = label;
    pen.globalAlpha = label.isFaint ? 0.3 : 1;
    if (lead.distance > 9) {
      const end = [Math.max(x, Math.min(x + wide, lead.x)), Math.max(y, Math.min(y + high, lead.y))];
      for (const [color, width] of [[ground, 3.5], [ink, 1]]) {
        pen.strokeStyle = color;
        pen.lineWidth = width;
        pen.beginPath();
        pen.moveTo(...end);
        pen.lineTo(lead.x, lead.y);
        pen.stroke();
      }
    }
    const middleX = x + symbolWidth + (wide - symbolWidth) / 2;
    const lineY = (i) => y + high / 2 + (i - (lines.length - 1) / 2) * lineHeight;
    pen.textAlign = "center";
    const look = lookOf(label.group);
    if (look) {
      const widths = pen.measureText(`\u2068${lines[0]}\u2069`).width;
      pen.beginPath();
      drawSymbol[look.shape](pen, middleX - widths / 2 - 9, lineY(0), 4.5);
      pen.closePath();
      pen.strokeStyle = ground;
      pen.lineWidth = 4;
      pen.stroke();
      pen.fillStyle = look.color;
      pen.fill();
    }
    lines.forEach((line, i) => {
      const text = `\u2068${line}\u2069`; // isolated, so that its direction is its own
      pen.strokeStyle = ground;
      pen.lineWidth = 4;
      pen.strokeText(text, middleX, lineY(i));
      pen.fillStyle = ink;
      pen.fillText(text, middleX, lineY(i));
    });
  }
  pen.globalAlpha = 1;
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
    const step = Math.ceil(rows.length / 60);
    const sample = rows.map((_, k) => [xs[k], ys[k]]).filter((_, k) => k % step === 0);
    anchors.push({ group, x: xs[best], y: ys[best], count: counts[group], members: [[xs[best], ys[best]], ...sample] });
  });
  return anchors;
};
