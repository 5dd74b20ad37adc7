// The list of decisions, and how far a decision reaches.
import { unpack } from "/shared.js";
import { download, get } from "/api.js";
import { redo, showMessage, undo } from "/decide.js";
import { at, fill, make, makeButton, writeTime } from "/elements.js";
import * as store from "/store.js";
import { items, page, server } from "/store.js";

const showReach = async (decision) => {
  try {
    const answer = await get("/api/propagation", { decision });
    const views = new Map();
    for (const view of answer.views) {
      const [heights, side] = await Promise.all([unpack(view.heights), unpack(view.side)]);
      views.set(view.name, { heights, side, sentence: view.sentence });
    }
    const joint = { heights: await unpack(answer.joint.heights), side: await unpack(answer.joint.side), sentence: answer.joint.sentence };
    store.setPropagation({ decision, kind: answer.kind, pairs: answer.pairs, views, joint });
    document.querySelector('#small-tabs [data-tab="maps"]').click();
  } catch (error) {
    showMessage(error.message);
  }
};
const showPropagation = () => {
  const strip = at("propagation");
  strip.hidden = !page.propagation;
  at("changes").classList.toggle("wb-covered", Boolean(page.propagation));
  at("map-grid").classList.toggle("wb-reach", Boolean(page.propagation)); // makes room for sentences under the maps
  if (!page.propagation) return;
  const { decision } = page.propagation;
  const sentence = server.state.decisions.find((entry) => entry.number === decision)?.sentence ?? "";
  const back = makeButton("Back to the groups", () => {
    at("maps").focus();
    store.setPropagation(null);
  }, "wb-primary");
  back.id = "propagation-back";
  const words = make("span");
  fill(words, make("b", "How far it reaches: "), sentence);
  strip.replaceChildren(words, back);
};
const showDecisions = () => {
  const { decisions } = server.state;
  const head = make("div", undefined, "wb-panel-tools");
  const link = makeButton("Export constraints.csv", () => download("/api/export", "constraints.csv").catch((error) => showMessage(error.message)));
  link.id = "export";
  link.title = "The pairs that follow from all decisions, for consilience cluster --constraints";
  head.append(link);
  const list = make("ol", undefined, "wb-decisions");
  for (const decision of [...decisions].reverse()) {
    const entry = make("li");
    entry.dataset.decision = decision.number;
    entry.classList.toggle("wb-undone", !decision.is_active);
    const line = make("p", decision.sentence, "wb-sentence");
    const facts = make("p", undefined, "wb-note");
    const inactive = decision.replaced_by === null ? "undone" : `replaced by ${decision.replaced_by}`;
    const status = decision.is_active ? decision.status : inactive;
    fill(facts, make("span", `${decision.number} · ${writeTime(decision.time)}`), status && make("span", status, `wb-tag wb-${decision.is_active ? decision.status : "undone-tag"}`));
    const buttons = make("div", undefined, "wb-buttons");
    const add = (text, action, name) => {
      const button = makeButton(text, action, "wb-quiet");
      button.dataset.do = name;
      button.disabled = store.isReadOnly() && (name === "undo" || name === "redo");
      buttons.append(button);
    };
    if (decision.can_undo) add("Undo", () => undo(decision.number), "undo");
    if (decision.can_redo) add("Redo", () => redo(decision.number), "redo");
    if (decision.rows.length) add("Show items", () => store.select(decision.rows), "items");
    if (decision.is_active && decision.is_pair && (decision.action === "together" || decision.action === "apart")) {
      add("Show how far it reaches", () => showReach(decision.number), "reach");
    }
    const reason = decision.reason && make("p", decision.reason, "wb-reason");
    if (reason) reason.dataset.status = decision.status;
    fill(entry, line, facts, reason, buttons);
    list.append(entry);
  }
  const empty = make("p", `No decisions yet. Select ${items.noun} on a map and say whether they belong together, or answer questions.`, "wb-empty");
  at("decisions").replaceChildren(...(decisions.length ? [head, list] : [empty]));
};
const showChanges = () => {
  const { changes } = server.state;
  const strip = at("changes");
  strip.hidden = !changes?.sentences.length;
  if (strip.hidden) return;
  const sentences = make("div");
  changes.sentences.slice(0, 6).forEach((sentence, k) => sentences.append(make(k ? "span" : "b", `${sentence} `)));
  const only = makeButton("Show only these", () => store.setFilter(page.filter === "changed" ? "all" : "changed"));
  only.id = "show-changed";
  const name = () => (only.textContent = page.filter === "changed" ? "Show all" : "Show only these");
  name();
  only.addEventListener("click", name);
  const close = makeButton("Close", () => {
    at("maps").focus();
    strip.hidden = true;
  }, "wb-quiet");
  strip.replaceChildren();
  fill(strip, sentences, store.clustering.changed.size > 0 && only, close);
};
export const buildDecisions = () => {
  store.listen("state", showDecisions);
  store.listen("propagation", showPropagation);
  store.listen("clustering", () => {
    if (page.propagation) store.setPropagation(null);
    showChanges();
  });
};
