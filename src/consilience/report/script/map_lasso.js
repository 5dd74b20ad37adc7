// The rows whose points are within a polygon, by the even-odd rule.
const rowsWithin = (corners, n, isWanted, toX, toY) => {
  const [left, right] = [Math.min(...corners.map(([px]) => px)), Math.max(...corners.map(([px]) => px))];
  const [top, bottom] = [Math.min(...corners.map(([, py]) => py)), Math.max(...corners.map(([, py]) => py))];
  const rows = new Set();
  for (let row = 0; row < n; row++) {
    if (!isWanted(row)) continue;
    const [px, py] = [toX(row), toY(row)];
    if (px < left || px > right || py < top || py > bottom) continue;
    let isInside = false;
    for (let k = 0, last = corners.length - 1; k < corners.length; last = k++) {
      const [ax, ay] = corners[k];
      const [bx, by] = corners[last];
      if (ay > py !== by > py && px < ax + ((py - ay) / (by - ay)) * (bx - ax)) isInside = !isInside;
    }
    if (isInside) rows.add(row);
  }
  return rows;
};
