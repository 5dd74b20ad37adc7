// The list of clusters, and the button that copies the command.
const blocks = [...document.querySelectorAll("details.cluster")];
const words = new Map(blocks.map((block) => [block, block.textContent.toLowerCase()]));
const orders = {
  size: (a, b) => b.dataset.size - a.dataset.size || a.dataset.cluster - b.dataset.cluster,
  cluster: (a, b) => a.dataset.cluster - b.dataset.cluster,
  sure: (a, b) => a.dataset.sure - b.dataset.sure,
  contested: (a, b) => b.dataset.contested - a.dataset.contested,
  stability: (a, b) => a.dataset.stability - b.dataset.stability,
};
const showClusters = () => {
  const wanted = at("cluster-filter").value.trim().toLowerCase();
  const isNumber = /^\d+$/.test(wanted) && blocks.some((block) => block.dataset.cluster === wanted);
  for (const block of blocks) {
    block.hidden = isNumber ? block.dataset.cluster !== wanted : !words.get(block).includes(wanted);
  }
  at("cluster-none").hidden = blocks.some((block) => !block.hidden);
  blocks.sort(orders[at("cluster-order").value]).forEach((block) => at("cluster-list").append(block));
};
const updateOpenButton = () => {
  at("cluster-open").textContent = blocks.every((block) => block.open) ? "Close all" : "Open all";
};
at("cluster-filter").addEventListener("input", showClusters);
at("cluster-order").addEventListener("change", showClusters);
at("cluster-open").addEventListener("click", () => {
  const open = !blocks.every((block) => block.open);
  blocks.forEach((block) => (block.open = open));
});
blocks.forEach((block) => block.addEventListener("toggle", updateOpenButton));
updateOpenButton();

at("copy")?.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(at("command").textContent);
    at("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(at("command"));
    at("copy").textContent = "Selected";
  }
  setTimeout(() => (at("copy").textContent = "Copy"), 2000);
});
