// Start of the workbench: authorization, the state of the server, and the frame around the panels.
import { authorize, followState, post } from "/api.js";
import { connectActions, showMessage } from "/decide.js";
import { buildDecisions } from "/decisions.js";
import { at, capitalize, countGroups, countItems, make, makeCodeText, renewNames } from "/elements.js";
import { buildGroups } from "/groups.js";
import { buildItem } from "/item.js";
import { connectKeys } from "/keys.js";
import { afterPainting, buildMaps } from "/maps.js";
import { buildQuestions, setAsking } from "/questions.js";
import * as store from "/store.js";
import { clustering, items, page, server } from "/store.js";
import { buildVersions } from "/versions.js";

const root = document.documentElement;

// Light and dark.
const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.style.colorScheme || (system.matches ? "dark" : "light")) === "dark";
const showTheme = () => {
  at("theme").textContent = isDark() ? "Light" : "Dark";
  at("theme").setAttribute("aria-label", isDark() ? "Light colors" : "Dark colors");
  if (items.isLoaded && clustering.labels) store.announce("theme");
};
const connectTheme = () => {
  const name = "consilience-theme";
  try {
    root.style.colorScheme = localStorage.getItem(name) || "";
  } catch {
    // Without storage the colors are those of the system.
  }
  at("theme").addEventListener("click", () => {
    root.style.colorScheme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem(name, root.style.colorScheme);
    } catch {
      // The choice lasts until the page is reloaded.
    }
    showTheme();
  });
  system.addEventListener("change", showTheme);
  showTheme();
};

// Panels: tabs on the right, and tabs at the bottom of small screens.
const showSide = (name) => {
  for (const tab of document.querySelectorAll("[data-side]")) {
    const isShown = tab.dataset.side === name;
    tab.setAttribute("aria-selected", String(isShown));
    tab.tabIndex = isShown ? 0 : -1;
    at(tab.dataset.side).hidden = !isShown;
  }
};
const showTab = (name) => {
  document.body.dataset.tab = name;
  for (const tab of at("small-tabs").children) {
    if (tab.dataset.tab === name) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (["item", "decisions", "versions"].includes(name)) showSide(name);
  if (isSmall()) setAsking(name === "questions" || (page.isAsking && name === "maps"));
};
const isSmall = () => matchMedia("(max-width: 900px)").matches;
const connectTabs = () => {
  const tabs = [...document.querySelectorAll("[data-side]")];
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => showSide(tab.dataset.side));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(k + step + tabs.length) % tabs.length];
      showSide(next.dataset.side);
      next.focus();
    });
  });
  for (const tab of at("small-tabs").children) tab.addEventListener("click", () => showTab(tab.dataset.tab));
  store.listen("selection", () => page.selection.size === 1 && showSide("item"));
  store.listen("group", () => page.openGroup !== null && isSmall() && showTab("groups"));
};

// Status, banners, and the first seconds.
const showBanner = (text, isError) => {
  at("banner").hidden = !text;
  at("banner").classList.toggle("wb-error", Boolean(isError));
  if (text && at("banner").dataset.text !== text) at("banner").replaceChildren(makeCodeText("p", text));
  at("banner").dataset.text = text || "";
};
let isConnected = true;
const showConnection = (isReached, reason) => {
  const was = isConnected;
  isConnected = isReached;
  if (isReached) {
    at("status").classList.remove("wb-failed");
    if (!was) showFrame();
    return;
  }
  const folder = items.folder || "FOLDER";
  const text = reason || `The connection is lost. Every decision is saved. Run \`consilience open ${folder}\` again.`;
  const title = reason ? "No access" : "Connection lost";
  if (at("workbench").hidden) showOpening(title, text);
  else showBanner(text, true);
  at("status-text").textContent = title;
  at("status").classList.add("wb-failed");
  at("status-progress").hidden = at("cancel").hidden = true;
};
const showOpening = (title, text, work = null) => {
  at("opening").hidden = false;
  at("opening-title").textContent = title;
  at("opening-text").replaceChildren(makeCodeText("span", capitalize(text)));
  at("opening-progress").hidden = !work;
  if (work?.share != null) at("opening-progress").value = work.share;
  else at("opening-progress").removeAttribute("value");
};
const showStatus = () => {
  const { work, error, changes } = server.state;
  const progress = at("status-progress");
  progress.hidden = !work;
  at("cancel").hidden = !work?.can_cancel;
  at("status").classList.toggle("wb-working", Boolean(work));
  at("status").classList.toggle("wb-failed", Boolean(error || server.state.opening_error));
  if (work) {
    at("status-text").textContent = `${capitalize(work.doing)} …`;
    if (work.share === null) progress.removeAttribute("value");
    else progress.value = work.share;
  } else if (server.state.opening_error) at("status-text").textContent = "Not opened";
  else if (error) at("status-text").textContent = "The last step failed";
  else {
    at("status-text").textContent = "Up to date";
    if (changes) at("status-text").append(make("span", `, clustered in ${changes.seconds.toFixed(1)} s`, "wb-hide-small"));
  }
};
let shownError = null;
const showFrame = () => {
  const { state } = server;
  if (!state) return;
  const isReady = state.is_ready && items.isLoaded && clustering.labels;
  at("opening").hidden = Boolean(isReady);
  at("workbench").hidden = !isReady;
  at("small-tabs").hidden = !isReady;
  at("open-questions").disabled = !isReady;
  if (!isReady) {
    if (state.opening_error) showOpening("The run cannot be opened", state.opening_error);
    else showOpening("Opening the run …", state.work?.doing ?? "", state.work ?? {});
  }
  if (isConnected) showBanner(state.read_only ? `Read-only: ${state.read_only}` : "", false);
  showStatus();
  if (!isReady) return;
  const score = state.scores?.nmi != null ? `NMI with known classes ${state.scores.nmi.toFixed(3)}` : "";
  const counts = `${countItems(items.n)} in ${countGroups(server.groups.size)}`;
  const folder = items.folder.split(/[\\/]/).at(-1);
  const hasTitle = items.title !== folder; // without a title, the server sends the name of the folder
  at("title").textContent = hasTitle ? items.title : counts;
  at("counts").textContent = [hasTitle && counts, score, folder].filter(Boolean).join(" · ");
  at("counts").title = items.folder;
  if (state.error && state.error !== shownError) showMessage(state.error);
  shownError = state.error;
};
const build = () => {
  document.title = `${items.title} – consilience workbench`;
  buildMaps();
  connectActions();
  buildGroups();
  buildItem();
  buildDecisions();
  buildVersions();
  buildQuestions();
  connectKeys();
};
// Panels replace their buttons when the state changes: focus the button that took the place of the focused one.
const selectByData = (element) => {
  const mark = [...(element?.attributes ?? [])].find(({ name }) => name.startsWith("data-"));
  return mark ? `[${mark.name}="${CSS.escape(mark.value)}"]` : "";
};
const keepFocus = (update) => {
  const focused = document.activeElement;
  const place = selectByData(focused?.closest("[data-decision], [data-version]"));
  const mark = focused?.id ? `#${focused.id}` : selectByData(focused);
  update();
  if (!focused || focused === document.body || focused.isConnected) return;
  for (const selector of [mark && `${place} ${mark}`, place && `${place} button`]) {
    const replacement = selector && document.querySelector(selector);
    if (replacement) return replacement.focus({ preventScroll: true });
  }
};
const apply = async (state) => {
  if (state.is_ready && !items.isLoaded) {
    server.state = state;
    showFrame();
    await store.loadItems();
  }
  const isFirst = !clustering.labels;
  const isNew = await store.applyState(state);
  if (isFirst && clustering.labels) {
    showFrame(); // panels need their size before the maps are painted
    build();
  } else showFrame();
  if (!clustering.labels) return;
  if (isFirst) clustering.changed = isFirst && state.changes ? clustering.changed : new Set();
  keepFocus(() => {
    store.announce("state");
    if (isNew) {
      store.announce("clustering");
      afterPainting(() => (root.dataset.clustering = String(clustering.number)));
    } else {
      renewNames();
      store.announce("groups");
    }
  });
};

const start = async () => {
  connectTheme();
  connectTabs();
  at("cancel").addEventListener("click", () => post("/api/cancel").catch((error) => showMessage(error.message)));
  const problem = await authorize();
  if (problem) return showConnection(false, problem);
  followState(apply, showConnection, () => clustering.number);
};
start();
