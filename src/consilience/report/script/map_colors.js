// What the points of the map are colored by, and its legend. Tones: 0 for none, 1 to 10 for the colors of groups and
// categories, 11 for other categories, then the shades for numbers, from low to high.
const nowhere = 65535; // coordinate of a row without a position, and level of an empty cell
const [otherTone, firstShade, nShades, nSeries] = [11, 12, 64, 5];
const noCategory = 255; // code of an empty cell
const readColor = (probe, name) => {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
};
const listTones = (probe) => {
  const names = ["map-none", ...Array.from({ length: 10 }, (_, k) => `k${k}`), "map-other"];
  const series = Array.from({ length: nSeries }, (_, k) => readColor(probe, `map-series${k}`));
  const shades = Array.from({ length: nShades }, (_, k) => {
    const place = (k / (nShades - 1)) * (nSeries - 1);
    const left = Math.min(Math.floor(place), nSeries - 2);
    return series[left].map((value, c) => value + (place - left) * (series[left + 1][c] - value));
  });
  return [...names.map((name) => readColor(probe, name)), ...shades];
};

const valueAt = ({ scale, low, high, top }, level) =>
  scale === "log" ? low * (high / low) ** (level / top) : low + ((high - low) * level) / top;
const writeValue = (color, level) => {
  const value = valueAt(color, level);
  if (color.kind === "date") {
    const date = new Date(Math.round(value) * 864e5);
    return Number.isNaN(date.getTime()) ? "–" : date.toISOString().slice(0, 10);
  }
  let text;
  if (color.scale === "log" || color.decimals > 9 || Math.abs(value) >= 1e12) {
    const isHuge = value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e12);
    text = isHuge ? value.toExponential(2) : value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
  } else if (color.decimals < 0) text = number(Math.round(value * 10 ** color.decimals) / 10 ** color.decimals);
  else text = value.toLocaleString("en-US", { minimumFractionDigits: color.decimals, maximumFractionDigits: color.decimals });
  text = text.replace("-", "−");
  return !color.unit ? text : color.unit === "%" ? `${text}%` : `${text} ${color.unit}`;
};
const shadeOf = (share) => firstShade + Math.round(Math.max(0, Math.min(1, share)) * (nShades - 1));
// The tone of each value, and its text.
const toneOf = {
  category: ({ names }, code) => (code === noCategory ? 0 : code < names.length ? 1 + code : otherTone),
  order: ({ names }, code) => (code === noCategory ? 0 : shadeOf(code / Math.max(1, names.length - 1))),
  number: ({ shown: [low, high] }, level) => (level === nowhere ? 0 : shadeOf((level - low) / (high - low))),
};
toneOf.date = toneOf.number;
const textOf = {
  category: ({ names }, code) => (code === noCategory ? "no value" : (names[code] ?? "another value")),
  number: (color, level) => (level === nowhere ? "no value" : writeValue(color, level)),
};
textOf.order = textOf.category;
textOf.date = textOf.number;

const swatch = (tone, tones, shape) => {
  const element = make("i", undefined, `map-swatch s${shape || 0}`);
  element.style.background = `rgb(${tones[tone].map(Math.round).join(" ")})`;
  return element;
};
// Show the legend of a column; `choose(code)` shows one of its categories alone, or all again.
const showLegend = (legend, color, values, tones, chosen, choose, noun) => {
  const parts = [];
  const isScale = color.kind === "number" || color.kind === "date";
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  if (isScale) {
    const [low, high] = color.shown;
    const bar = make("span", undefined, "map-scale");
    bar.style.background = `linear-gradient(to right, ${tones.slice(firstShade).map((tone) => `rgb(${tone.map(Math.round).join(" ")})`).join(", ")})`;
    bar.setAttribute("role", "img");
    const ends = [`${low > 0 ? "≤ " : ""}${writeValue(color, low)}`, `${high < color.top ? "≥ " : ""}${writeValue(color, high)}`];
    const middle = writeValue(color, (low + high) / 2);
    bar.setAttribute("aria-label", `Colors from ${ends[0]} to ${ends[1]}`);
    const marks = make("span", undefined, "map-marks");
    marks.append(...[ends[0], color.scale === "log" ? `${middle} (log scale)` : middle, ends[1]].map((text) => make("span", text)));
    const box = make("span", undefined, "map-bar");
    box.append(bar, marks);
    parts.push(box);
  } else {
    const names = color.n_others ? [...color.names, `${number(color.n_others)} other ${color.n_others === 1 ? "value" : "values"}`] : color.names;
    names.forEach((name, code) => {
      const button = make("button");
      button.type = "button";
      button.setAttribute("aria-pressed", String(chosen === code));
      button.append(swatch(toneOf[color.kind](color, code), tones), userText(name, 40), make("small", number(counts.get(code) || 0)));
      button.addEventListener("click", () => choose(chosen === code ? null : code));
      parts.push(button);
    });
  }
  const nMissing = counts.get(isScale ? nowhere : noCategory) || 0;
  if (nMissing) {
    const note = make("span", undefined, "map-note");
    note.append(swatch(0, tones), `no value: ${number(nMissing)} ${noun}`);
    parts.push(note);
  }
  legend.replaceChildren(...parts);
};
