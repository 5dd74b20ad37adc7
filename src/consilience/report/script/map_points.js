// Points as pixels. Every point adds its shape to the sums of the pixels that it covers, so that the picture does not
// depend on the order of the points: a pixel has the mean color of its points, and is the more opaque the more there are.
const quarters = 4; // positions within a pixel, per axis
const shapeDistance = [
  (x, y, r) => Math.hypot(x, y) - r, // disc
  (x, y, r) => Math.max(Math.abs(x), Math.abs(y)) - 0.88 * r, // square
  (x, y, r) => (Math.abs(x) + Math.abs(y)) * 0.7071 - 0.9 * r, // diamond
];
// Coverage of the pixels around a point, for each shape and position within the pixel.
const makeMasks = (radius, stride) => {
  const reach = Math.ceil(radius * 1.3 + 0.5);
  const masks = [];
  for (const distance of shapeDistance) {
    for (let q = 0; q < quarters * quarters; q++) {
      const [dx, dy] = [((q % quarters) + 0.5) / quarters, (Math.floor(q / quarters) + 0.5) / quarters];
      const [offsets, weights] = [[], []];
      for (let y = -reach; y <= reach; y++) {
        for (let x = -reach; x <= reach; x++) {
          const weight = Math.min(1, 0.5 - distance(x + 0.5 - dx, y + 0.5 - dy, radius));
          if (weight < 0.02) continue;
          offsets.push(4 * (y * stride + x));
          weights.push(weight);
        }
      }
      masks.push({ offsets: Int32Array.from(offsets), weights: Float32Array.from(weights) });
    }
  }
  return { masks, reach };
};
// Opacity of a pixel by the number of points on it, at most `crowd` in dense regions: the denser the map, the fainter
// is a single point, and further points count by their logarithm.
const curveLength = 1024;
const makeCurve = (crowd) => {
  const single = Math.max(0.3, 0.95 * (1 + crowd) ** -0.22);
  const rise = (0.97 - single) / Math.log(Math.max(1.5 * crowd, 2));
  return Float32Array.from({ length: curveLength }, (_, i) => {
    const n = (i + 0.5) ** 2 / 64;
    return n < 1 ? single * n : Math.min(0.97, single + rise * Math.log(n));
  });
};

// Draw points {x, y, tone, shape, isLit}: those that are not lit stand back behind the others, without their color.
let sums = new Float32Array(0);
const paintPoints = (canvas, points, palette, { width, height, originX, originY, step, radius, crowd, nLit }) => {
  const { x, y, tone, shape, isLit } = points;
  const { masks, reach } = makeMasks(radius, width + 2 * Math.ceil(radius * 1.3 + 2));
  const pad = reach + 1;
  const stride = width + 2 * Math.ceil(radius * 1.3 + 2);
  const size = 4 * stride * (height + 2 * pad + 2);
  if (sums.length !== size) sums = new Float32Array(size);
  const picture = new ImageData(width, height);
  const pixels = picture.data;

  const add = (wanted) => {
    sums.fill(0);
    const n = tone.length;
    for (let i = 0; i < n; i++) {
      if (isLit[i] !== wanted || x[i] === nowhere) continue;
      const px = originX + x[i] * step;
      const py = originY - y[i] * step;
      if (px < -reach || py < -reach || px >= width + reach || py >= height + reach) continue;
      const column = Math.floor(px);
      const row = Math.floor(py);
      const q = (((py - row) * quarters) | 0) * quarters + (((px - column) * quarters) | 0);
      const { offsets, weights } = masks[shape[i] * quarters * quarters + q];
      const base = 4 * ((row + pad) * stride + column + pad);
      const c = wanted ? 3 * tone[i] : 0;
      const [r, g, b] = [palette[c], palette[c + 1], palette[c + 2]];
      for (let k = 0; k < offsets.length; k++) {
        const p = base + offsets[k];
        const weight = weights[k];
        sums[p] += weight * r;
        sums[p + 1] += weight * g;
        sums[p + 2] += weight * b;
        sums[p + 3] += weight;
      }
    }
  };
  const blend = (curve, fade) => {
    for (let row = 0; row < height; row++) {
      let p = 4 * ((row + pad) * stride + pad);
      let out = 4 * row * width;
      for (let column = 0; column < width; column++, p += 4, out += 4) {
        const n = sums[p + 3];
        if (n === 0) continue;
        const alpha = fade * curve[Math.min(curveLength - 1, Math.sqrt(64 * n) | 0)];
        const below = pixels[out + 3] === 0 ? 0 : (1 - alpha) * (pixels[out + 3] / 255);
        const total = alpha + below;
        const share = alpha / total;
        for (let c = 0; c < 3; c++) {
          // the palette has squares, so that mixed colors stay bright
          pixels[out + c] = share * Math.sqrt(sums[p + c] / n) + (1 - share) * pixels[out + c];
        }
        pixels[out + 3] = 255 * total;
      }
    }
  };
  const n = tone.length;
  if (nLit < n) {
    add(0);
    blend(makeCurve(crowd), 0.4);
  }
  if (nLit) {
    add(1);
    blend(makeCurve((crowd * nLit) / n), 1);
  }
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  canvas.getContext("2d").putImageData(picture, 0, 0);
};
// Mean number of neighbors, per unit of area, around the points in dense regions.
const measureCrowd = ({ x, y }) => {
  const counts = new Uint32Array(128 * 128);
  let n = 0;
  for (let i = 0; i < x.length; i++) {
    if (x[i] === nowhere) continue;
    counts[(y[i] >> 9) * 128 + (x[i] >> 9)]++;
    n++;
  }
  const sorted = counts.filter(Boolean).sort();
  let seen = 0;
  for (const count of sorted) {
    seen += count;
    if (seen >= 0.9 * n) return count / 512 ** 2;
  }
  return 0;
};

// Points by the cells of a grid, so that the one under the pointer is found at once.
const cellBits = 8; // a cell is 2 ** 8 units wide; there are 256 by 256
const indexPoints = ({ x, y }) => {
  const cellOf = (i) => ((y[i] >> cellBits) << 8) | (x[i] >> cellBits);
  const starts = new Uint32Array(256 * 256 + 1);
  for (let i = 0; i < x.length; i++) if (x[i] !== nowhere) starts[cellOf(i) + 1]++;
  for (let cell = 0; cell < 256 * 256; cell++) starts[cell + 1] += starts[cell];
  const rows = new Uint32Array(starts[256 * 256]);
  const next = starts.slice();
  for (let i = 0; i < x.length; i++) if (x[i] !== nowhere) rows[next[cellOf(i)]++] = i;
  return (centerX, centerY, reach, isWanted) => {
    const cell = (value) => Math.max(0, Math.min(255, Math.floor(value) >> cellBits));
    let [best, least] = [-1, reach * reach];
    for (let v = cell(centerY - reach); v <= cell(centerY + reach); v++) {
      for (let k = starts[(v << 8) + cell(centerX - reach)]; k < starts[(v << 8) + cell(centerX + reach) + 1]; k++) {
        const i = rows[k];
        const distance = (x[i] - centerX) ** 2 + (y[i] - centerY) ** 2;
        if (distance <= least && isWanted(i)) [best, least] = [i, distance];
      }
    }
    return best;
  };
};
