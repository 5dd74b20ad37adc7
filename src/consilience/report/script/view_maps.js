// A map of each view, which shows the groups of the level, or one group alone.
const missing = 65535; // coordinate of an entity that lacks the view
const margin = 14;
const mostNamed = 9; // groups whose names are drawn
const draw = {
  0: (pen, x, y, r) => { pen.beginPath(); pen.arc(x, y, r, 0, 7); pen.fill(); },
  1: (pen, x, y, r) => pen.fillRect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r),
  2: (pen, x, y, r) => {
    pen.beginPath(); pen.moveTo(x, y - 1.2 * r); pen.lineTo(x + 1.2 * r, y); pen.lineTo(x, y + 1.2 * r);
    pen.lineTo(x - 1.2 * r, y); pen.fill();
  },
};
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

const probe = make("span", undefined, "unseen");
document.body.append(probe);

const showViewMaps = async () => {
  const { rows, cluster } = await unpackAll(data.points);
  const views = await Promise.all(
    data.maps.map(async (map, i) => ({ canvas: at(`view-map-${i}`), place: await unpack(map.place) })),
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
    const level = levelOf(state.level);
    const style = getComputedStyle(canvas.parentElement);
    const tone = (color) => { // the color in the theme of the page
      probe.style.color = color === null ? "var(--soft)" : `var(--k${color})`;
      return getComputedStyle(probe).color;
    };
    const looks = new Map([noGroup, ...listGroups()].map((info) => [info.group, { ...info, tone: tone(info.color) }]));
    const chosen = state.focus;
    const group = Array.from(cluster, (number) => groupAt(level, number));
    const point = (i, alpha, r) => {
      if (place[2 * i] === missing) return;
      pen.globalAlpha = alpha;
      pen.fillStyle = looks.get(group[i]).tone;
      draw[looks.get(group[i]).shape](pen, x(i), y(i), r);
    };
    for (let i = 0; i < rows.length; i++) if (group[i] !== chosen) point(i, chosen === null ? 0.7 : 0.09, radius);
    for (let i = 0; i < rows.length; i++) if (group[i] === chosen) point(i, 0.95, radius + 0.5);

    // the names of a few groups at their medians, so that color is not the only sign
    pen.globalAlpha = 1;
    pen.font = "600 12px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 4;
    pen.lineJoin = "round";
    for (const [c, { name }] of looks) {
      if (c < 0 || (chosen !== null ? c !== chosen : looks.size > mostNamed)) continue;
      const members = [...rows.keys()].filter((i) => group[i] === c && place[2 * i] !== missing);
      if (!members.length) continue;
      const text = name.length > 22 ? `${name.slice(0, 21)}…` : name;
      const half = pen.measureText(text).width / 2;
      const where = [Math.min(Math.max(median(members.map(x)), half + 4), wide - half - 4), median(members.map(y))];
      pen.strokeStyle = style.backgroundColor;
      pen.fillStyle = style.color;
      pen.strokeText(text, ...where);
      pen.fillText(text, ...where);
    }
    canvas.places = (i) => (place[2 * i] === missing ? null : [x(i), y(i)]);
  };

  const nearest = (canvas, px, py) => {
    let [best, least] = [-1, 15 * 15];
    for (let i = 0; i < rows.length; i++) {
      const where = (state.focus === null || groupAt(levelOf(state.level), cluster[i]) === state.focus) && canvas.places(i);
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
      const group = groupAt(levelOf(state.level), cluster[i]);
      hover.replaceChildren(picture(rows[i], idOf(rows[i])), userText(titleOf(rows[i]), 60), ", ", chip(group));
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
  ["level", "focus", "theme"].forEach((topic) => listen(topic, drawAll));
  addEventListener("resize", drawAll);
  drawAll();
};
