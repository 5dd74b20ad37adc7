// Rows of the table as CSV, with the texts that a spreadsheet would run as formulas quoted, as in labels.csv.
const formulaStarts = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20";
const digits = "\\p{Nd}(?:_?\\p{Nd})*"; // a number as Python reads it
const numberPattern = new RegExp(
  `^\\s*[+-]?(?:inf(?:inity)?|nan|(?:${digits}\\.?(?:${digits})?|\\.${digits})(?:e[+-]?${digits})?)\\s*$`, "iu",
);
const guard = (text) => (text && formulaStarts.includes(text[0]) && !numberPattern.test(text) ? `'${text}` : text);
const writeCell = (value, separator) => {
  const text = guard(String(value));
  return text.includes(separator) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const listExported = () => {
  const { cluster, sure, second, stability, contested } = columns;
  const isCoarser = state.level !== finest.n;
  const nameOf = (number) => groupsOf(finest).get(number)?.name ?? "";
  const exported = [
    ["id", idOf],
    ["cluster", (row) => cluster[row]],
    ["name", (row) => nameOf(cluster[row])],
  ];
  if (isCoarser) exported.push([`group of ${state.level}`, groupOf], [`name of ${state.level}`, (row) => (groupOf(row) < 0 ? "" : groupInfo(groupOf(row)).name)]);
  if (sure) exported.push(["confidence", (row) => (isSureKnown(row) ? sure[row] / 100 : "")], ["confidence in words", certaintyOf]);
  if (second) {
    exported.push(["second", (row) => (second[row] < 0 ? "" : second[row])], ["second name", (row) => nameOf(second[row])]);
  }
  if (stability) exported.push(["stability", (row) => (stability[row] < 0 ? "" : stability[row] / 1000)]);
  if (contested) exported.push(["contested", (row) => (contested[row] ? "yes" : "no")]);
  const originals = [];
  data.texts.forEach(({ name, length }, i) => {
    const title = length ? `${name} (first ${length} characters)` : name;
    if (columns[`text${i}`]) originals.push([title, (row) => columns[`text${i}`].get(row)]);
  });
  data.numbers.forEach(({ name }, i) => originals.push([name, (row) => columns[`number${i}`].get(row)]));
  // A column of the results whose name the data has already gets the suffix _2, as in items.csv.
  const taken = new Set(originals.map(([name]) => name));
  const renamed = exported.map(([name, cell]) => {
    let free = name;
    for (let n = 2; taken.has(free); n += 1) free = `${name}_${n}`;
    return [free, cell];
  });
  return [...renamed, ...originals];
};
const writeRows = (rows, separator) => {
  const exported = listExported();
  const lines = [exported.map(([name]) => writeCell(name, separator)).join(separator)];
  for (const row of rows) lines.push(exported.map(([, cell]) => writeCell(cell(row), separator)).join(separator));
  return `${lines.join("\r\n")}\r\n`;
};

const saveRows = () => {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", writeRows(shownRows, ",")], { type: "text/csv;charset=utf-8" }));
  link.download = shownRows.length === data.n ? `${data.noun}.csv` : `${data.noun}-${shownRows.length}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
};
const copyText = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // pages in a frame may lack the permission
    const area = make("textarea", text, "unseen");
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
};
const confirmOn = (button, text) => {
  const before = button.textContent;
  button.textContent = text;
  setTimeout(() => (button.textContent = before), 2000);
};
const copyRows = async (button) => confirmOn(button, (await copyText(writeRows(shownRows, "\t"))) ? "Copied" : "Not copied");

const enableExport = () => {
  at("find-save").addEventListener("click", saveRows);
  at("find-copy").addEventListener("click", () => copyRows(at("find-copy")));
};
at("copy")?.addEventListener("click", async () => {
  const done = await copyText(at("command").textContent);
  if (!done) getSelection().selectAllChildren(at("command"));
  confirmOn(at("copy"), done ? "Copied" : "Selected");
});
