// Start the parts that need the packed columns.
const start = async () => {
  showTheme();
  if (typeof DecompressionStream === "undefined") {
    at("find-trouble").textContent =
      "This browser is too old to show the table of entities and the maps; the rest of the page is complete.";
    at("find-trouble").hidden = false;
    document.querySelectorAll("#find .needs-js, #map .needs-js").forEach((element) => (element.hidden = true));
    return;
  }
  const columns = await unpackAll(data.columns);
  const nameOf = columns.cluster ? showEntities(columns) : String;
  await showMaps(nameOf);
  root.dataset.ready = "true";
};
start();
