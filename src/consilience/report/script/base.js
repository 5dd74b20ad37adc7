// Elements, text from the data, and numbers. Text from the data is only ever set as textContent.
const root = document.documentElement;
const at = (id) => document.getElementById(id);
const make = (name, text, className) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
};
const userText = (name, length) => {
  const element = make("bdi", name.length > length ? name.slice(0, length - 1) + "…" : name || "(empty)");
  if (name.length > length) element.title = name;
  return element;
};
const picture = (row, name) => {
  if (!sources.has(row)) return "";
  const element = make("img", undefined, "thumbnail");
  element.src = sources.get(row);
  element.alt = name;
  return element;
};
const number = (value) => value.toLocaleString("en-US");
const data = JSON.parse(at("report-data").textContent);
const sources = new Map(Object.entries(data.pictures).map(([row, source]) => [Number(row), source]));
const images = [...document.querySelectorAll("img[data-row]")]; // those of a row without a source repeat its picture
images.filter(({ src }) => src).forEach((image) => sources.set(Number(image.dataset.row), image.src));
images.filter(({ src }) => !src).forEach((image) => (image.src = sources.get(Number(image.dataset.row))));
root.classList.add("js");
