// Packed columns.
const arrays = { Uint8Array, Int16Array, Uint16Array, Int32Array };
const unpack = async (column) => {
  const bytes = Uint8Array.from(atob(column.data), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const content = await new Response(stream).arrayBuffer();
  return column.array === "names" ? new TextDecoder().decode(content).split("\n") : new arrays[column.array](content);
};
const unpackAll = async (columns) =>
  Object.fromEntries(await Promise.all(Object.entries(columns).map(async ([key, column]) => [key, await unpack(column)])));
