// Keyboard of the whole page.
import { redoLast, undoLast } from "/decide.js";
import { clearSearch } from "/groups.js";
import { isDrawingLasso, stopLasso } from "/maps.js";
import { answer, setAsking, undoAnswer } from "/questions.js";
import { at } from "/elements.js";
import * as store from "/store.js";
import { page } from "/store.js";

const answers = { y: () => answer("same"), n: () => answer("different"), d: () => answer("unknown"), u: undoAnswer };

// Escape takes back the most recent step: lasso, reach of a decision, selection, group, search, questions.
const stepBack = () => {
  if (isDrawingLasso()) stopLasso();
  else if (page.propagation) store.setPropagation(null);
  else if (page.selection.size) store.select([]);
  else if (page.openGroup !== null) store.openGroup(null);
  else if (page.hits) clearSearch();
  else if (page.isAsking) setAsking(false);
};
export const connectKeys = () =>
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.altKey) return;
    const isTyping = event.target.matches?.("input, textarea, select");
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !isTyping && (key === "z" || key === "y")) {
      event.preventDefault();
      if (key === "y" || event.shiftKey) redoLast();
      else undoLast();
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") {
      if (event.target.id === "search" && event.target.value) return clearSearch();
      return stepBack();
    }
    if (isTyping) return;
    if (key === "/") {
      event.preventDefault();
      at("search").focus();
    } else if (page.isAsking && answers[key] && !event.repeat) {
      event.preventDefault();
      answers[key]();
    }
  });
