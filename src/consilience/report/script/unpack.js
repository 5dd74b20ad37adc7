// Packed columns.
const arrays = { Uint8Array, Int16Array, Uint16Array, Int32Array };
const findStarts = (content) => {
  const starts = [0];
  for (let place = content.indexOf("\n"); place >= 0; place = content.indexOf("\n", place + 1)) starts.push(place + 1);
  starts.push(content.length + 1);
  return Int32Array.from(starts);
};

// Strings of all rows in one string, which is searched as a whole; a row becomes a string of its own when it is shown.
class Lines {
  constructor(content) {
    this.content = content;
    this.starts = findStarts(content);
    this.length = this.starts.length - 1;
  }
  get(row) { return this.content.slice(this.starts[row], this.starts[row + 1] - 1); }
  get lower() {
    if (!this.lowered) {
      const content = this.content.toLowerCase(); // of some letters it is longer
      this.lowered = { content, starts: content.length === this.content.length ? this.starts : findStarts(content) };
    }
    return this.lowered;
  }
  // Set mask[row] for all rows that contain a word in lower case.
  find(word, mask) {
    const { content, starts } = this.lower;
    let row = 0;
    for (let place = content.indexOf(word); place >= 0; place = content.indexOf(word, starts[row])) {
      let [low, high] = [row, this.length]; // the row that starts last before the place
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (starts[middle] <= place) low = middle;
        else high = middle;
      }
      mask[low] = 1;
      row = low + 1;
      if (row >= this.length) return;
    }
  }
}

const unpack = async (column) => {
  const bytes = Uint8Array.from(atob(column.data), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const content = await new Response(stream).arrayBuffer();
  return column.array === "names" ? new Lines(new TextDecoder().decode(content)) : new arrays[column.array](content);
};
const unpackAll = async (columns) =>
  Object.fromEntries(await Promise.all(Object.entries(columns).map(async ([key, column]) => [key, await unpack(column)])));
