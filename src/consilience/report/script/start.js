// Start the parts that need the packed columns.
const start = async () => {
  showTheme();
  enablePages();
  if (typeof DecompressionStream === "undefined") {
    at("find-trouble").textContent =
      "This browser is too old for the search, the table and the maps; the rest of the page is complete.";
    at("find-trouble").hidden = false;
    document.querySelectorAll("#find .needs-js, .tools, .map, #map").forEach((element) => (element.hidden = true));
    return;
  }
  columns = await unpackAll(data.columns);
  enableGroups();
  if (columns.cluster) {
    showTable();
    enableExport();
    enableSearch();
    await showMap();
  } else at("map").hidden = true;
  await showViewMaps();
  root.dataset.ready = "true";
};
start();
