// Elements that several parts of the page make. Text from the data enters by textContent only.
import { describeGroup, idOf, items, nameGroup, openGroup, select, setHovered, setHoveredGroup, textOf } from "/store.js";

export const at = (id) => document.getElementById(id);
export const make = (tag, text, className) => {
  const element = document.createElement(tag);
  if (text !== undefined && text !== null) element.textContent = text;
  if (className) element.className = className;
  return element;
};
export const fill = (parent, ...children) => {
  parent.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return parent;
};
export const makeButton = (text, action, className) => {
  const button = make("button", text, className);
  button.type = "button";
  button.addEventListener("click", action);
  return button;
};
export const number = (value) => Number(value).toLocaleString("en-US");
export const countItems = (n) => (n === 1 ? "1 item" : `${number(n)} ${items.noun}`);
export const countGroups = (n) => (n === 1 ? "1 group" : `${number(n)} groups`);
export const modifierKey = /Mac|iP/.test(navigator.platform) ? "⌘" : "Ctrl"; // adds to the selection, undoes, zooms
export const percent = (share) => `${Math.round(100 * share)}%`;
export const say = (text) => (at("live").textContent = text);
export const shorten = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
export const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const writeTime = (time) => {
  if (time === null) return "";
  const date = new Date(typeof time === "number" ? time * 1000 : time);
  if (Number.isNaN(date.getTime())) return "";
  const isToday = date.toDateString() === new Date().toDateString();
  const clock = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return isToday ? clock : `${date.toLocaleDateString([], { day: "numeric", month: "short" })}, ${clock}`;
};

// Color and shape of a group follow from its number, so that they stay when the items are clustered again.
export const colorOf = (group) => group % 10;
export const shapeOf = (group) => Math.floor(group / 10) % 3;

export const makeChip = (group) => {
  const isGroup = group !== null && group !== undefined && group >= 0;
  if (!isGroup) return make("span", "no group", "none");
  const chip = make("span", undefined, `chip k${colorOf(group)} s${shapeOf(group)}`);
  const name = make("bdi", nameGroup(group));
  name.dataset.named = group;
  return fill(chip, make("i"), name);
};
// A name of a group changes without anything else: panels keep what they show.
export const renewNames = () => document.querySelectorAll("[data-named]").forEach((name) => (name.textContent = nameGroup(Number(name.dataset.named))));
export const makeGroupLink = (group) => {
  if (group === null || group === undefined || group < 0 || !describeGroup(group)) return makeChip(group);
  const link = makeButton(undefined, () => openGroup(group), "wb-link");
  link.addEventListener("pointerenter", () => setHoveredGroup(group));
  link.addEventListener("pointerleave", () => setHoveredGroup(null));
  return fill(link, makeChip(group));
};
export const makeBar = (share) => {
  const bar = make("span", undefined, "bar");
  const length = make("span");
  length.style.width = percent(Math.max(0, Math.min(1, share)));
  bar.append(length);
  return bar;
};
const followPointer = (element, row) => {
  element.addEventListener("pointerenter", () => setHovered(row));
  element.addEventListener("pointerleave", () => setHovered(-1));
  element.addEventListener("focus", () => setHovered(row));
  element.addEventListener("blur", () => setHovered(-1));
};
// A list of items; a click selects the item, with Ctrl or Cmd it is added to the selection.
export const makeItemList = (rows, describe = null) => {
  const list = make("ul", undefined, "wb-items");
  for (const row of rows) {
    const button = makeButton(undefined, (event) => select([row], event.ctrlKey || event.metaKey ? "add" : "replace"));
    button.dataset.row = row;
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return; // browsers do not take this for a click
      event.preventDefault();
      select([row], "add");
    });
    const picture = items.pictures[row];
    if (picture) {
      const image = make("img", undefined, "wb-thumbnail");
      image.src = picture;
      image.alt = "";
      button.append(image);
    }
    const words = make("span");
    fill(words, make("b", shorten(idOf(row), 80)), make("small", describe ? describe(row) : shorten(textOf(row), 110)));
    button.append(words);
    followPointer(button, row);
    list.append(fill(make("li"), button));
  }
  return list;
};
// Words between backquotes become code.
export const makeCodeText = (tag, text, className) => {
  const element = make(tag, undefined, className);
  text.split("`").forEach((part, k) => element.append(k % 2 ? make("code", part) : part));
  return element;
};
