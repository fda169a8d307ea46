// The table: a row for each operator and a column for each key. Only visible cells are in the document, and elements of rows that are
// scrolled out are reused, so the number of operators does not matter.

const ROW_HEIGHT = 25;
const ROWS_AROUND = 6;
// Columns are added and removed in groups of this size, so most horizontal scrolling changes nothing.
const COLUMNS_AT_ONCE = 16;
const LETTERS = { kernel: "K", composite: "C", any: "A", fallback: "F", fallthrough: "›", ambiguous: "!", missing: "" };

/** Creates an element with attributes, handlers (`onclick`) and children. Strings become text, never markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Returns the elements of a name, with its namespace and overload less prominent. */
function nameOf(operator) {
  const [, namespace, base, overload] = operator.name.match(/^(.*?::)?([^.]*)(.*)$/);
  const set = (text) => (text ? element("span", { class: "aside" }, text) : null);
  return [set(namespace), element("b", {}, base), set(overload)].filter((part) => part !== null);
}

class Grid {
  constructor(root, dispatcher, { onChoose, onColumn }) {
    [this.root, this.dispatcher, this.onChoose] = [root, dispatcher, onChoose];
    this.head = element("div", { class: "head", role: "row", "aria-rowindex": 1 });
    this.body = element("div", { class: "body", role: "rowgroup" });
    root.replaceChildren(element("div", { class: "top", role: "rowgroup" }, this.head), this.body);
    [this.operators, this.columns, this.shown, this.spare] = [[], [], new Map(), []];
    this.at = { row: 0, column: 0 };
    root.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(root);
    root.addEventListener("keydown", (event) => this.press(event));
    this.body.addEventListener("mouseover", ({ target }) => this.hover(target));
    this.body.addEventListener("click", ({ target }) => {
      const found = this.find(target);
      if (found) this.choose(found.row, found.column);
    });
    this.head.addEventListener("click", ({ target }) => {
      const column = target.closest("[data-key]");
      if (column) onColumn(Number(column.dataset.key));
    });
  }

  /** Shows these operators and keys. */
  show(operators, columns, focused) {
    const sameColumns = columns.join() === this.columns.join() && focused === this.focused;
    [this.operators, this.columns, this.focused] = [operators, columns, focused];
    this.root.setAttribute("aria-rowcount", operators.length + 1);
    this.root.setAttribute("aria-colcount", columns.length + 1);
    this.body.style.height = `${operators.length * ROW_HEIGHT}px`;
    this.root.style.setProperty("--columns", columns.length);
    if (!sameColumns) {
      this.from = -1;
      this.head.replaceChildren(element("div", { class: "corner", role: "columnheader" }), ...columns.map((at) => this.heading(at)));
      const longest = Math.max(0, ...columns.map((at) => this.dispatcher.keys[at].name.length));
      this.head.style.height = `calc(${longest} * 6.7px + 20px)`;
    }
    for (const row of this.shown.values()) row.hidden = true;
    this.spare.push(...this.shown.values());
    this.shown.clear();
    this.at.row = Math.min(this.at.row, Math.max(0, operators.length - 1));
    this.at.column = Math.min(this.at.column, columns.length - 1);
    this.draw();
  }

  /** Returns whether a key is the first of its group. A gap separates groups. */
  isFirst(at) {
    const before = this.columns[this.columns.indexOf(at) - 1];
    return before !== undefined && this.dispatcher.keys[before].group !== this.dispatcher.keys[at].group;
  }

  heading(at) {
    const { name } = this.dispatcher.keys[at];
    const pressed = at === this.focused;
    const classes = ["key", pressed && "focused", this.isFirst(at) && "first"].filter(Boolean);
    const label = element("button", { type: "button", tabindex: -1, "aria-pressed": String(pressed), title: `only ${name}` }, name);
    return element("div", { class: classes.join(" "), role: "columnheader", "data-key": at }, label);
  }

  /** Adds the visible rows to the document, and a few around them. */
  draw() {
    this.drawColumns();
    const first = Math.max(0, Math.floor(this.root.scrollTop / ROW_HEIGHT) - ROWS_AROUND);
    const count = Math.ceil(this.root.clientHeight / ROW_HEIGHT) + 2 * ROWS_AROUND;
    const end = Math.min(this.operators.length, first + count);
    for (const [at, row] of this.shown) {
      if (at >= first && at < end) continue;
      row.hidden = true;
      this.spare.push(row);
      this.shown.delete(at);
    }
    for (let at = first; at < end; at++) {
      if (!this.shown.has(at)) this.shown.set(at, this.row(at));
    }
    this.mark();
  }

  /** Adds the visible columns to the document, and a few around them. */
  drawColumns() {
    const inSight = Math.ceil(this.root.clientWidth / ROW_HEIGHT);
    const first = Math.floor(this.root.scrollLeft / ROW_HEIGHT / COLUMNS_AT_ONCE) - 1;
    const from = Math.max(0, Math.min(first * COLUMNS_AT_ONCE, this.columns.length - 1));
    const to = Math.min(this.columns.length, from + inSight + 2 * COLUMNS_AT_ONCE);
    if (from === this.from && to === this.to) return;
    [this.from, this.to, this.patterns] = [from, to, new Map()];
    const corner = this.head.firstChild;
    const start = this.columns.length ? this.head.children[from + 1].offsetLeft - corner.offsetWidth : 0;
    this.root.style.setProperty("--start", `${start}px`);
    for (const [at, row] of this.shown) this.fill(row, this.operators[at]);
  }

  row(at) {
    const operator = this.operators[at];
    const row = this.spare.pop() ?? this.body.appendChild(this.empty());
    row.hidden = false;
    row.setAttribute("aria-rowindex", at + 2);
    row.style.transform = `translateY(${at * ROW_HEIGHT}px)`;
    row.firstChild.replaceChildren(...nameOf(operator));
    row.firstChild.title = operator.schema;
    this.fill(row, operator);
    return row;
  }

  /** Fills a row with cells. Many operators have equal rows, so a row that has the right cells already is not changed. */
  fill(row, operator) {
    const pattern = this.pattern(operator.row);
    if (row.pattern !== pattern) row.lastChild.replaceChildren(pattern.cloneNode(true));
    row.pattern = pattern;
  }

  empty() {
    const name = element("div", { class: "name", role: "rowheader" });
    return element("div", { class: "row", role: "row" }, name, element("div", { class: "cells", role: "presentation" }));
  }

  pattern(row) {
    if (!this.patterns.has(row)) {
      const { rows, cells, served } = this.dispatcher.data;
      const pattern = document.createDocumentFragment();
      this.columns.slice(this.from, this.to).forEach((column, place) => {
        const [word] = served[cells[rows[row][column]].served];
        const first = place > 0 && this.isFirst(column);
        const attributes = { class: first ? `${word} first` : word, role: "gridcell", "aria-colindex": this.from + place + 2 };
        pattern.append(element("i", attributes, LETTERS[word]));
      });
      this.patterns.set(row, pattern);
    }
    return this.patterns.get(row);
  }

  /** Returns the row and the column of an element; column -1 is the name. */
  find(target) {
    const row = target.closest(".row");
    if (!row) return null;
    const column = target.matches(".cells > i") ? Number(target.getAttribute("aria-colindex")) - 2 : -1;
    return { row: Number(row.getAttribute("aria-rowindex")) - 2, column };
  }

  describe(row, column) {
    const operator = this.operators[row];
    if (column < 0) return operator.name;
    const { key, served, texts } = this.dispatcher.cell(operator, this.columns[column]);
    return `${operator.name}, ${key.name}: ${served} ${texts.join(" or ")}`.trimEnd();
  }

  hover(target) {
    const found = this.find(target);
    this.hot?.classList.remove("hot");
    this.hot = found && found.column >= 0 ? this.head.children[found.column + 1] : null;
    this.hot?.classList.add("hot");
    if (found && found.column >= 0) target.title = this.describe(found.row, found.column);
  }

  /** Marks the current cell, which the keyboard moves. */
  mark() {
    const before = this.body.querySelector("#here");
    before?.removeAttribute("id");
    before?.classList.remove("here");
    const row = this.shown.get(this.at.row);
    const cell = row && (this.at.column < 0 ? row.firstChild : row.lastChild.children[this.at.column - this.from]);
    if (!cell) return this.root.removeAttribute("aria-activedescendant");
    cell.id = "here";
    cell.classList.add("here");
    cell.setAttribute("aria-label", this.describe(this.at.row, this.at.column));
    this.root.setAttribute("aria-activedescendant", "here");
  }

  press(event) {
    const page = Math.max(1, Math.floor(this.root.clientHeight / ROW_HEIGHT) - 8);
    const far = event.ctrlKey || event.metaKey ? this.operators.length : 0;
    const steps = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      PageUp: [-page, 0],
      PageDown: [page, 0],
      Home: [-far, far ? 0 : -this.columns.length],
      End: [far, far ? 0 : this.columns.length],
    };
    if (event.target !== this.root) return;
    if (event.key === "Enter" || event.key === " ") this.choose(this.at.row, this.at.column);
    else if (steps[event.key]) this.move(...steps[event.key]);
    else return;
    event.preventDefault();
  }

  move(rows, columns) {
    const within = (value, low, high) => Math.max(low, Math.min(high, value));
    this.at.row = within(this.at.row + rows, 0, Math.max(0, this.operators.length - 1));
    this.at.column = within(this.at.column + columns, -1, this.columns.length - 1);
    this.reveal();
  }

  /** Scrolls just enough to show the marked cell, beside the names and below the keys. */
  reveal() {
    const [corner, key] = [this.head.firstChild, this.head.children[this.at.column + 1]];
    const [top, left] = [this.at.row * ROW_HEIGHT, this.at.column < 0 ? 0 : key.offsetLeft - corner.offsetWidth];
    const height = this.root.clientHeight - this.head.offsetHeight - ROW_HEIGHT;
    const width = this.root.clientWidth - corner.offsetWidth - key.offsetWidth;
    this.root.scrollTop = Math.max(top - height, Math.min(top, this.root.scrollTop));
    this.root.scrollLeft = Math.max(left - width, Math.min(left, this.root.scrollLeft));
    this.draw();
  }

  choose(row, column) {
    if (!this.operators[row]) return;
    this.at = { row, column };
    this.mark();
    this.onChoose(this.operators[row], column < 0 ? null : this.columns[column]);
  }
}
