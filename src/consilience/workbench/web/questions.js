// Questions: "Are these two the same kind?" The next questions are fetched while a question is read.
import { get } from "/api.js";
import { sendDecision } from "/decide.js";
import { describeView, fetchItem, makePicture } from "/item.js";
import { at, fill, make, makeButton, makeChip, makeGroupLink, number, percent } from "/elements.js";
import * as store from "/store.js";
import { items, page, server } from "/store.js";

const nAhead = 6;
let [current, queue, message] = [null, [], null];
let isFetching = false;
let isSending = false;
let answered = []; // questions that this page answered, with the number of the decision
let skipped = new Set(); // pairs that the server may not know as answered yet
const keyOf = ({ pair }) => pair.join("-");

const fetchQuestions = async () => {
  if (isFetching) return;
  isFetching = true;
  if (!current) showQuestion(); // says that the next question is looked for
  try {
    const skip = [...skipped, ...(current ? [keyOf(current)] : [])].slice(-200);
    const answer = await get("/api/questions", { n: nAhead, skip: skip.join(",") });
    const isOpen = (question) => !skipped.has(keyOf(question)) && !(current && keyOf(current) === keyOf(question));
    queue = answer.questions.filter(isOpen); // a question may have been answered while the others were looked for
    message = answer.message;
    queue.slice(0, 2).forEach(({ pair }) => pair.forEach((row) => fetchItem(row).catch(() => null)));
  } catch (error) {
    message = error.message;
  } finally {
    isFetching = false;
  }
  if (current) showEnd();
  else advance();
};
const advance = () => {
  current = queue.shift() || null;
  if (queue.length < 2 && current) fetchQuestions();
  showQuestion();
};

// Whether asking can stop, although there are questions left.
const showEnd = () => {
  const note = at("question-end");
  if (!note) return;
  note.hidden = !message;
  note.textContent = message ?? "";
};
const makeSide = (item, letter) => {
  const head = make("div", undefined, `wb-side-head wb-side-${letter.toLowerCase()}`);
  const title = make("h3");
  fill(title, make("span", letter, "wb-letter"), make("bdi", item.id));
  const text = items.texts.get(item.row);
  return fill(head, title, item.picture && makePicture(item.picture, item.id), text && make("p", text), makeGroupLink(item.group), make("small", ` confidence ${percent(item.confidence)}`));
};
const showQuestion = async () => {
  const box = at("question");
  at("answers").hidden = !current;
  box.ariaBusy = String(!current && isFetching);
  const n = server.state?.n_answers ?? 0;
  at("question-progress").textContent = n === 1 ? "1 answer so far" : `${number(n)} answers so far`;
  at("answer-undo").disabled = !answered.length;
  if (!current) {
    store.setPins([]);
    delete box.dataset.pair;
    box.replaceChildren(make("p", isFetching ? "Looking for the next question …" : (message ?? "There is no open question."), "wb-empty"));
    if (answered.length) box.append(makeButton("Undo the last answer", undoAnswer));
    return;
  }
  const question = current;
  if (page.isAsking) store.setPins(question.pair);
  let pair;
  try {
    pair = await Promise.all(question.pair.map(fetchItem));
  } catch (error) {
    box.replaceChildren(make("p", error.message, "wb-empty"));
    return;
  }
  if (current !== question) return;
  const title = make("h2", "Are these two the same kind?", "wb-question-title");
  const gain = make("p", question.sentence, "wb-gain");
  gain.id = "question-gain";
  const reason = make("p", question.reason, "wb-note");
  reason.id = "question-reason";
  const grid = make("div", undefined, "wb-pair");
  fill(grid, makeSide(pair[0], "A"), makeSide(pair[1], "B"));
  pair[0].views.forEach((view, k) => {
    const other = pair[1].views[k];
    const isSame = view.is_present && other?.is_present && view.group === other.group;
    const head = make("h4", view.name);
    const verdict = !view.is_present || !other?.is_present ? "not in both" : isSame ? "same group" : "different groups";
    head.append(make("span", verdict, `wb-tag ${isSame ? "wb-satisfied" : verdict === "not in both" ? "" : "wb-violated"}`));
    grid.append(head);
    for (const side of [view, other]) {
      const cell = make("div", undefined, "wb-pair-cell");
      if (side) fill(cell, side.is_present && makeChip(side.group), ...describeView(side, 3));
      grid.append(cell);
    }
  });
  const isSameQuestion = box.dataset.pair === keyOf(question);
  box.dataset.pair = keyOf(question);
  const end = make("p", undefined, "wb-end");
  end.id = "question-end";
  box.replaceChildren(end, title, gain, reason, grid);
  showEnd();
  if (!isSameQuestion) box.scrollTop = 0;
};

// The page moves on only after the server has recorded the answer.
export const answer = async (choice) => {
  if (!current || isSending || store.isReadOnly()) return;
  isSending = true;
  setBusy(true);
  const question = current;
  const result = await sendDecision("/api/answer", { pair: question.pair, answer: choice });
  isSending = false;
  setBusy(false);
  if (!result) return;
  skipped.add(keyOf(question));
  answered.push({ question, number: result.number, choice });
  current = null;
  if (queue.length) return advance();
  showQuestion();
  fetchQuestions();
};
export const undoAnswer = async () => {
  const last = answered.at(-1);
  if (!last || isSending) return;
  if (last.number) {
    isSending = true;
    const result = await sendDecision("/api/undo", { number: last.number });
    isSending = false;
    if (!result) return;
  }
  answered.pop();
  skipped.delete(keyOf(last.question));
  if (current) queue.unshift(current);
  current = last.question;
  showQuestion();
};
const setBusy = (isBusy) => {
  for (const id of ["answer-same", "answer-different", "answer-unknown"]) at(id).disabled = isBusy || store.isReadOnly();
};
export const setAsking = (isAsking) => {
  if (page.isAsking === isAsking) return;
  page.isAsking = isAsking;
  document.body.classList.toggle("wb-asking", isAsking);
  at("open-questions").setAttribute("aria-pressed", String(isAsking));
  if (isAsking) {
    if (current) showQuestion();
    else fetchQuestions();
  } else store.setPins([]);
};
export const buildQuestions = () => {
  at("open-questions").addEventListener("click", () => setAsking(!page.isAsking));
  at("close-questions").addEventListener("click", () => setAsking(false));
  at("answer-same").addEventListener("click", () => answer("same"));
  at("answer-different").addEventListener("click", () => answer("different"));
  at("answer-unknown").addEventListener("click", () => answer("unknown"));
  at("answer-undo").addEventListener("click", undoAnswer);
  store.listen("clustering", () => {
    if (!page.isAsking) return void ([current, queue] = [null, []]);
    fetchQuestions(); // the question on the screen stays until it is answered
    showQuestion();
  });
  store.listen("state", () => {
    setBusy(isSending);
    const n = server.state.n_answers;
    at("question-progress").textContent = n === 1 ? "1 answer so far" : `${number(n)} answers so far`;
  });
};
