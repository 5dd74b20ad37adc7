// A map of each view.
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
