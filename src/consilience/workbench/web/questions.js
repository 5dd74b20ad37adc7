// Questions: "Are these two the same kind?" The next questions are fetched while a question is read.
import { get } from "/api.js";
import { sendDecision } from "/decide.js";
import { compareColumns, compareMeasurements, describeView, fetchItem, makePicture } from "/item.js";
import { at, fill, make, makeButton, makeChip, makeGroupLink, number } from "/elements.js";
import * as store from "/store.js";
import { clustering, items, page, server } from "/store.js";

const nAhead = 6;
const mostSkipped = 200; // pairs that a request names
let [current, queue] = [null, []];
let message = null; // why asking can stop, as the server says it; null if it should go on
let problem = null; // why no questions could be fetched
let isAskedAnyway = false; // whether the person goes on although asking can stop
let isFetching = false;
let isSending = false;
let answered = []; // questions that this page answered, with the number of the decision
const keyOf = ({ pair }) => pair.join("-");
const isAnswered = (question) => answered.some((entry) => keyOf(entry.question) === keyOf(question));

const fetchQuestions = async () => {
  if (isFetching) return;
  isFetching = true;
  const asked = clustering.number;
  if (!current) showQuestion(); // says that the next question is looked for
  try {
    const skip = [...answered.map(({ question }) => question), ...(current ? [current] : [])].map(keyOf).slice(-mostSkipped);
    const listed = await get("/api/questions", { n: nAhead, skip: skip.join(",") });
    const isOpen = (question) => !isAnswered(question) && !(current && keyOf(current) === keyOf(question));
    queue = listed.questions.filter(isOpen); // a question may have been answered while the others were looked for
    [message, problem] = [listed.message, null];
    isAskedAnyway &&= message !== null;
    queue.slice(0, 2).forEach(({ pair }) => pair.forEach((row) => fetchItem(row).catch(() => null)));
  } catch (error) {
    problem = error.message;
  } finally {
    isFetching = false;
  }
  if (problem === null && asked !== clustering.number) fetchQuestions(); // the groups have changed meanwhile
  if (current) showEnd();
  else advance();
};
const isEnd = () => message !== null && !isAskedAnyway;
const advance = () => {
  current = isEnd() ? null : queue.shift() || null;
  if (queue.length < 2 && current) fetchQuestions();
  showQuestion();
};

// Whether asking can stop, although there is a question on the screen.
const showEnd = () => {
  const note = at("question-end");
  if (!note) return;
  note.hidden = !message;
  note.textContent = message ?? "";
};
const showProgress = () => {
  const n = server.state?.n_answers ?? 0;
  at("question-progress").textContent = n === 1 ? "1 answer so far" : `${number(n)} answers so far`;
  at("answer-undo").disabled = !answered.length || store.isReadOnly();
};
const makeSide = (item, letter) => {
  const head = make("div", undefined, `wb-side-head wb-side-${letter.toLowerCase()}`);
  const title = make("h3");
  fill(title, make("span", letter, "wb-letter"), make("bdi", item.id));
  const text = items.texts.get(item.row);
  return fill(head, title, item.picture && makePicture(item.picture, item.id), text && make("p", text), makeGroupLink(item.group), item.confidence !== null && make("small", ` confidence ${store.writeConfidence(item.confidence)}`));
};
// What stands in place of a question: that asking can stop, that none was found, or that one is looked for.
const showNoQuestion = () => {
  const box = at("question");
  const hadFocus = box.contains(document.activeElement) || at("answers").contains(document.activeElement);
  at("answers").hidden = true;
  store.setPins([]);
  delete box.dataset.pair;
  const text = isFetching ? "Looking for the next question …" : (problem ?? message ?? "There is no open question.");
  const buttons = make("div", undefined, "wb-buttons");
  const add = (id, words, action, className) => {
    const button = makeButton(words, action, className);
    button.id = id;
    buttons.append(button);
  };
  if (!isFetching && problem !== null) add("ask-again", "Try again", fetchQuestions, "wb-primary");
  else if (!isFetching && isEnd() && queue.length) add("ask-anyway", "Ask anyway", askAnyway, "wb-primary");
  if (answered.length && !store.isReadOnly()) add("undo-last-answer", "Undo the last answer", undoAnswer);
  box.replaceChildren(make("p", text, "wb-empty"), buttons);
  if (hadFocus) box.focus({ preventScroll: true });
};
const showQuestion = async () => {
  const box = at("question");
  box.ariaBusy = String(!current && isFetching);
  showProgress();
  if (!current) return showNoQuestion();
  const question = current;
  if (page.isAsking) store.setPins(question.pair);
  let pair;
  try {
    pair = await Promise.all(question.pair.map(fetchItem));
  } catch (error) {
    if (current !== question) return;
    [current, problem] = [null, error.message];
    return showNoQuestion();
  }
  if (current !== question) return;
  const title = make("h2", "Are these two the same kind?", "wb-question-title");
  const gain = make("p", question.sentence, "wb-gain");
  gain.id = "question-gain";
  const reason = make("p", question.reason, "wb-note");
  reason.id = "question-reason";
  const grid = make("div", undefined, "wb-pair");
  fill(grid, makeSide(pair[0], "A"), makeSide(pair[1], "B"), compareColumns(pair));
  pair[0].views.forEach((view, k) => {
    const views = [view, pair[1].views[k]];
    const isInBoth = views.every(({ is_present: isPresent }) => isPresent);
    const isSame = isInBoth && views[0].group === views[1].group;
    const head = make("h4", view.name);
    const verdict = isInBoth ? (isSame ? "same group" : "different groups") : "not in both";
    head.append(make("span", verdict, `wb-tag ${isSame ? "wb-satisfied" : isInBoth ? "wb-violated" : ""}`));
    fill(grid, head, compareMeasurements(views));
    for (const side of views) {
      grid.append(fill(make("div", undefined, "wb-pair-cell"), side.is_present && makeChip(side.group), ...describeView(side, 3, false)));
    }
  });
  const isSameQuestion = box.dataset.pair === keyOf(question);
  box.dataset.pair = keyOf(question);
  const end = make("p", undefined, "wb-end");
  end.id = "question-end";
  const hadFocus = box.contains(document.activeElement);
  at("answers").hidden = false;
  box.replaceChildren(end, title, gain, reason, grid);
  if (hadFocus) box.focus({ preventScroll: true });
  showEnd();
  if (!isSameQuestion) box.scrollTop = 0;
};
const askAnyway = () => {
  isAskedAnyway = true;
  advance();
};

// The page moves on only after the server has recorded the answer.
export const answer = async (choice) => {
  if (!current || isSending || store.isReadOnly()) return;
  const question = current;
  setSending(true);
  const result = await sendDecision("/api/answer", { pair: question.pair, answer: choice });
  setSending(false);
  if (!result) return;
  answered.push({ question, number: result.number });
  current = null;
  if (queue.length) advance();
  else if (isFetching) showQuestion();
  else fetchQuestions();
  if (choice === "unknown") fetchQuestions(); // no new groups follow, with which it would be asked whether to go on
};
export const undoAnswer = async () => {
  const last = answered.at(-1);
  if (!last || isSending || store.isReadOnly()) return;
  setSending(true);
  const result = await sendDecision("/api/undo", { number: last.number });
  setSending(false);
  if (!result) return;
  answered = answered.filter((entry) => entry !== last);
  if (current) queue.unshift(current);
  current = last.question;
  showQuestion();
};
// Forget the answers that were undone or replaced elsewhere, so that their pairs can be asked about again.
const dropUndoneAnswers = () => {
  const inactive = new Set(server.state.decisions.filter((decision) => !decision.is_active).map((decision) => decision.number));
  const nBefore = answered.length;
  answered = answered.filter((entry) => !inactive.has(entry.number));
  if (answered.length < nBefore && page.isAsking && !current) showQuestion();
};
const setSending = (isOn) => {
  isSending = isOn; // the buttons stay enabled, because a disabled button loses the focus
  for (const id of ["answer-same", "answer-different", "answer-unknown"]) at(id).ariaDisabled = String(isOn);
};
export const setAsking = (isAsking) => {
  if (page.isAsking === isAsking) return;
  page.isAsking = isAsking;
  if (!isAsking && at("question-panel").contains(document.activeElement)) at("open-questions").focus();
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
    dropUndoneAnswers();
    showProgress();
    for (const id of ["answer-same", "answer-different", "answer-unknown"]) at(id).disabled = store.isReadOnly();
  });
};
