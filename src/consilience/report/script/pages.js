// The page of a group, which the address names: #group-3, or #level-8-group-3 of 8 groups. The map stays beside it.
const readAddress = () => {
  const [, n, group] = location.hash.match(/^#(?:level-(\d+)-)?group-(\d+)$/) ?? [];
  return group === undefined ? null : { level: n === undefined ? finest.n : Number(n), group: Number(group) };
};

// The page of groups that are merged, or that have no page in the document.
const buildPage = (info) => {
  const page = at("merged");
  const back = make("p", undefined, "back");
  back.append(Object.assign(make("a", "← All groups"), { href: "#overview" }));
  const title = make("h2");
  title.tabIndex = -1;
  title.append(chip(info.group));
  const share = Math.round((100 * info.size) / data.n);
  const size = make("p", `${number(info.size)} ${data.noun}, ${share}% of all.`, "note");
  page.replaceChildren(back, title, size);
  if (info.clusters.length < 2) return;
  const parts = make("ul", undefined, "neighbors");
  for (const cluster of info.clusters) {
    const { name, color, shape, size: n } = groupsOf(finest).get(cluster);
    const link = Object.assign(make("a"), { href: `#group-${cluster}` });
    const symbol = make("span", undefined, `chip k${color} s${shape}`);
    symbol.append(make("i"), userText(name, 80));
    link.append(symbol);
    const item = make("li");
    item.append(link, make("small", ` ${number(n)}`));
    parts.append(item);
  }
  page.append(make("h3", `It joins ${info.clusters.length} groups of the result`), parts);
};

let isRouting = false; // whether the focus follows the address, and not the address the focus
let shownAddress = null;
const showPage = () => {
  if (shownAddress === location.hash) return;
  shownAddress = location.hash;
  isRouting = true;
  routeTo(readAddress());
  isRouting = false;
};
const goTo = (hash) => {
  if (location.hash === hash && !readAddress()) at(hash.slice(1))?.scrollIntoView();
  location.hash = hash;
  showPage();
};
const routeTo = (address) => {
  const wasGroup = Boolean(root.dataset.page);
  const last = state.focus;
  document.querySelectorAll(".group.shown").forEach((page) => page.classList.remove("shown"));
  if (address && groupsOf(levelOf(address.level)).has(address.group) && levelOf(address.level).n === address.level) {
    setLevel(address.level);
    setFocus(address.group);
    root.dataset.page = "group";
    const isFinest = address.level === finest.n;
    let page = isFinest ? at(`group-${address.group}`) : null;
    if (!page) {
      page = at("merged");
      buildPage(groupInfo(address.group));
    }
    page.classList.add("shown");
    scrollTo({ top: 0, behavior: "instant" });
    page.querySelector("h2").focus({ preventScroll: true });
    return;
  }
  delete root.dataset.page;
  if (!wasGroup) return;
  if (state.focus !== -1) setFocus(null);
  const target = location.hash.length > 1 && at(location.hash.slice(1));
  if (target && location.hash !== "#overview") target.scrollIntoView({ behavior: "instant" });
  else {
    scrollTo({ top: 0, behavior: "instant" });
    document.querySelector(`#group-list [data-group="${last}"]`)?.focus();
  }
};

const enablePages = () => {
  addEventListener("hashchange", showPage);
  listen("focus", () => { // chosen on the map, or above the table
    if (root.dataset.page && !isRouting) goTo((state.focus ?? -1) < 0 ? "#overview" : linkOf(state.focus));
  });
  // within a frame of a notebook, links to a part of the page would open the notebook itself
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    goTo(link.getAttribute("href"));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && root.dataset.page) goTo("#overview");
  });
  showPage();
};
