// A map of each view, which shows the groups of the level, or one group alone.
const missing = 65535; // coordinate of an entity that lacks the view
const margin = 14;
const mostNamed = 9; // groups whose names are drawn
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
      pen.beginPath();
      drawShape(pen, looks.get(group[i]).shape, x(i), y(i), r);
      pen.fill();
    };
    for (let i = 0; i < rows.length; i++) if (group[i] !== chosen) point(i, chosen === null ? 0.7 : 0.09, radius);
    for (let i = 0; i < rows.length; i++) if (group[i] === chosen) point(i, 0.95, radius + 0.5);

    // the names of a few groups, so that color is not the only sign
    pen.globalAlpha = 1;
    pen.font = "600 12px system-ui, sans-serif";
    const isNamed = (c) => c >= 0 && (chosen === null ? looks.size <= mostNamed : c === chosen);
    const anchors = findAnchors(group, Math.max(...looks.keys()) + 1, x, y, (i) => place[2 * i] !== missing)
      .map((anchor) => ({ ...anchor, name: looks.get(anchor.group)?.name }))
      .filter((anchor) => isNamed(anchor.group));
    canvas.names = placeNames(anchors, { wide, high, left: margin, right: wide - margin }, (text) => pen.measureText(text).width);
    drawNames(pen, canvas.names, {
      ink: style.color,
      ground: style.backgroundColor,
      drawSymbol: (c, px, py) => drawShape(pen, looks.get(c).shape, px, py, 4),
      colorOf: (c) => looks.get(c).tone,
      isFaint: () => false,
    });
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
