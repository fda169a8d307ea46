// The page: its search, its filters, and the selected cell.

const dispatcher = new Dispatcher(JSON.parse(document.getElementById("data").textContent));
const GROUPS = ["backends", "storages", "autograd", "autocast", "layers"];

const state = { words: [], namespace: "", served: new Set(), groups: new Set(GROUPS), all: false, column: null };
const [search, namespaces, legend, count] = ["search", "namespace", "legend", "count"].map((id) => document.getElementById(id));
const root = document.getElementById("grid");
const panel = new Panel(document.getElementById("panel"), dispatcher, { onGo: (operator) => go(operator, null), onClose });
const grid = new Grid(root, dispatcher, { onChoose: showCell, onColumn: focusColumn });

function kindIndexOf(row, column) {
  return dispatcher.data.cells[dispatcher.data.rows[row][column]].served;
}

/** Shows the operators and keys that match the search and the filters. Operators with equal rows are tested and counted together. */
function update() {
  const { keys, data, operators } = dispatcher;
  const wanted = keys.filter((key) => state.groups.has(key.group) && key.at !== 0 && (state.all || key.used));
  const columns = wanted.map((key) => key.at);
  const looked = state.column !== null && columns.includes(state.column) ? [state.column] : columns;
  const isMeant = ({ name }) => name.startsWith(state.namespace) && state.words.every((word) => name.toLowerCase().includes(word));
  const meant = operators.filter(isMeant);
  const counts = data.served.map(() => 0);
  const rows = new Map();
  for (const { row } of meant) rows.set(row, (rows.get(row) ?? 0) + 1);
  for (const [row, times] of rows) looked.forEach((column) => (counts[kindIndexOf(row, column)] += times));
  const fits = new Set([...rows.keys()].filter((row) => looked.some((column) => state.served.has(kindIndexOf(row, column)))));
  const shown = state.served.size === 0 ? meant : meant.filter(({ row }) => fits.has(row));

  root.dataset.only = [...state.served].map((served) => data.served[served][0]).join(" ");
  grid.show(shown, columns, looked.length === 1 ? state.column : null);
  [...legend.children].forEach((chip, served) => {
    chip.setAttribute("aria-pressed", String(state.served.has(served)));
    chip.querySelector("output").textContent = counts[served].toLocaleString("en");
    chip.disabled = counts[served] === 0 && !state.served.has(served);
  });
  const where = looked.length === 1 && state.column !== null ? keys[state.column].name : `${columns.length} keys`;
  count.textContent = `${shown.length.toLocaleString("en")} of ${operators.length.toLocaleString("en")} operators, ${where}`;
  document.getElementById("none").hidden = shown.length > 0;
}

function showCell(operator, at) {
  panel.show(operator, at);
  const key = at === null ? "" : `/${dispatcher.keys[at].name}`;
  history.replaceState(null, "", `#${encodeURIComponent(operator.name)}${key}`);
}

/** Selects an operator and a cell. Filters that hide it are removed. */
function go(operator, at) {
  if (!grid.operators.includes(operator)) {
    Object.assign(state, { words: [], namespace: "", served: new Set(), column: null });
    [search.value, namespaces.value] = ["", ""];
    update();
  }
  if (at !== null && !grid.columns.includes(at)) {
    Object.assign(state, { all: true, groups: new Set(GROUPS) });
    document.querySelectorAll("#keys input").forEach((input) => (input.checked = true));
    update();
  }
  grid.at = { row: grid.operators.indexOf(operator), column: at === null ? -1 : grid.columns.indexOf(at) };
  grid.reveal();
  root.scrollTop = grid.at.row * ROW_HEIGHT - root.clientHeight / 3;
  showCell(operator, at);
}

function focusColumn(at) {
  state.column = state.column === at ? null : at;
  update();
}

function onClose() {
  history.replaceState(null, "", location.pathname + location.search);
  root.focus();
}

function toggle(set, value) {
  if (!set.delete(value)) set.add(value);
  update();
}

legend.append(
  ...dispatcher.data.served.map(([word, meaning], served) =>
    element(
      "button",
      { type: "button", class: "chip", title: meaning, "data-served": word, onclick: () => toggle(state.served, served) },
      element("i", { class: word, "aria-hidden": "true" }, LETTERS[word]),
      word,
      element("output"),
    ),
  ),
);
const namespaceNames = new Set(dispatcher.operators.map(({ name }) => name.slice(0, name.indexOf("::") + 2)));
namespaces.append(...[...namespaceNames].sort().map((space) => element("option", { value: space }, space.slice(0, -2))));
const groups = GROUPS.filter((group) => dispatcher.keys.some((key) => key.group === group));
document.getElementById("keys").append(
  ...groups.map((group) =>
    element("label", {}, element("input", { type: "checkbox", checked: true, name: group, onchange: () => toggle(state.groups, group) }), group),
  ),
  element(
    "label",
    { title: "keys without registrations, and backends that are not linked" },
    element("input", {
      type: "checkbox",
      name: "all",
      onchange: ({ target }) => {
        state.all = target.checked;
        update();
      },
    }),
    `unused too (${dispatcher.keys.length - 1} keys)`,
  ),
);

search.addEventListener("input", () => {
  state.words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  root.scrollTop = 0;
  grid.at.row = 0;
  update();
});
search.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "ArrowDown") return;
  root.focus();
  event.preventDefault();
});
namespaces.addEventListener("change", () => {
  state.namespace = namespaces.value;
  update();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input[type=search], select")) return;
  search.select();
  search.focus();
  event.preventDefault();
});

/** Selects the cell that the address names, if there is one. */
function followAddress() {
  const [name, key] = location.hash.slice(1).split("/").map(decodedOrUnchanged);
  const operator = dispatcher.operatorByName.get(name);
  if (operator) go(operator, dispatcher.byName.get(key)?.at ?? null);
}

function decodedOrUnchanged(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

update();
followAddress();
addEventListener("hashchange", followAddress);
