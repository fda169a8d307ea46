// The panel of the selected operator and cell, with explanations of calls.

class Panel {
  constructor(root, dispatcher, { onGo, onClose }) {
    [this.root, this.dispatcher, this.onGo, this.onClose] = [root, dispatcher, onGo, onClose];
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
  }

  close() {
    this.root.hidden = true;
    this.onClose();
  }

  /** Shows an operator, and one of its cells if `at` says which. */
  show(operator, at) {
    const close = element("button", { type: "button", class: "close", "aria-label": "close", onclick: () => this.close() }, "×");
    const parts = [close, element("h2", {}, ...nameOf(operator)), element("code", { class: "schema" }, operator.schema)];
    parts.push(...documentationElements(operator.docs), this.facts(operator));
    if (at !== null) parts.push(...this.cell(operator, at));
    parts.push(...this.explanation(operator, at === null ? null : this.dispatcher.keys[at]));
    parts.push(...registrationSection(operator));
    this.root.replaceChildren(...parts);
    this.root.hidden = false;
    this.root.scrollTop = 0;
  }

  facts(operator) {
    const facts = [["defined", operator.place], ["shape", operator.shape], ["derivative", operator.derivative], ...operator.remarks];
    const other = this.dispatcher.operatorByName.get(operator.formOf);
    const go = other && element("button", { type: "button", class: "link", onclick: () => this.onGo(other) }, other.name);
    facts.splice(1, 0, ["form of", go ?? operator.formOf]);
    const known = facts.filter(([, fact]) => fact);
    return element("dl", {}, ...known.flatMap(([name, fact]) => [element("dt", {}, name), element("dd", {}, ...(typeof fact === "string" ? inlineMarkup(fact) : [fact]))]));
  }

  cell(operator, at) {
    const { key, served, meaning, why, texts } = this.dispatcher.cell(operator, at);
    const badge = element("span", { class: `badge ${served}` }, served);
    const steps = stepsOf(this.dispatcher, operator, at).map(({ text, answer }) => element("li", { class: answer }, text));
    return [
      element("h3", {}, key.name, " ", badge),
      element("p", { id: "cell" }, element("strong", {}, why), ` - ${meaning}`),
      ...texts.map((text) => element("code", { class: "kernel" }, text)),
      element("ol", { class: "steps", "aria-label": "the rule of the table, step by step" }, ...steps),
    ];
  }

  explanation(operator, key) {
    const form = element("form", { id: "explain", onsubmit: (event) => event.preventDefault() });
    const start = initialChoices(this.dispatcher, key);
    const inputs = operator.arguments.map((argument, at) => this.argument(argument, at, start));
    const guards = this.dispatcher.data.guards.map(({ word }) => checkbox("guard", word, start.guards.has(word)));
    form.append(...inputs, element("fieldset", { class: "guards" }, element("legend", {}, "guards"), ...guards));
    const account = element("pre", { id: "account", tabindex: 0, role: "status", "aria-label": "where the call goes, and why" });
    const command = element("code", { id: "command" });
    const update = () => this.explain(operator, form, account, command);
    form.addEventListener("input", update);
    update();
    return [element("h3", {}, "Where does a call go?"), form, command, account];
  }

  /** Returns the form fields for one argument. */
  argument({ name, isTensor, isDevice, mayBeAbsent }, at, start) {
    const option = (word, selected) => element("option", { value: word, selected }, word);
    const word = isDevice || !mayBeAbsent ? start.device : "none";
    const offered = this.dispatcher.data.devices.filter((device) => device.used || device.word === word);
    const devices = offered.map((device) => option(device.word, device.word === word));
    const storages = this.dispatcher.keys.filter((key) => key.group === "storages").map((key) => option(key.name, key.name === word));
    const none = mayBeAbsent && !isDevice ? [option("none", word === "none")] : [];
    const label = `${name} is on`;
    const others = isTensor ? [element("optgroup", { label: "other storages" }, ...storages)] : [];
    const where = element("select", { name: `on${at}`, "aria-label": label }, ...none, ...devices, ...others);
    const marks = isTensor ? ["requires_grad", "view", "inference"].map((mark) => checkbox(`is${at}`, mark, start.marks.has(mark))) : [];
    return element("fieldset", { "data-argument": name }, element("legend", {}, name), where, ...marks);
  }

  /** Returns the words for the arguments, as a command line takes them. */
  words(operator, form) {
    const chosen = new FormData(form);
    return operator.arguments.map((_, at) => {
      const where = chosen.get(`on${at}`);
      return where === "none" ? where : [where, ...chosen.getAll(`is${at}`)].join(",");
    });
  }

  explain(operator, form, account, command) {
    let words = this.words(operator, form);
    const guards = new FormData(form).getAll("guard");
    const told = this.dispatcher.explain(operator, words, guards);
    // Words at the end are left out if the call stays the same without them.
    const meaning = (words) => this.dispatcher.carriedByEach(operator, words).map(({ keys, marks }) => `${keys} ${[...marks]}`).join();
    while (words.length > 0 && meaning(words.slice(0, -1)) === meaning(words)) words = words.slice(0, -1);
    const line = ["dispatch-inspect explain", operator.name, ...words, ...guards.map((word) => `--${word}`)];
    command.textContent = line.join(" ");
    account.replaceChildren(...told.lines.map(({ kind, text }) => element("span", { "data-kind": kind }, `${text}\n`)));
    account.dataset.winner = told.winner ?? "";
  }
}

/** Returns the device, marks and guards of a call that reaches this key, as far as words can describe one. */
function initialChoices(dispatcher, key) {
  const start = { device: dispatcher.data.devices[0]?.word ?? "cpu", marks: new Set(), guards: new Set() };
  if (dispatcher.devices.has("cpu")) start.device = "cpu";
  if (!key) return start;
  const on = (device) => (BigInt(device.device) & key.bits & BACKENDS) !== 0n;
  if (key.group === "storages") start.device = key.name;
  else start.device = dispatcher.data.devices.find(on)?.word ?? start.device;
  if (key.group === "autograd" || key.name === "ADInplaceOrView") start.marks.add("requires_grad");
  if (key.group === "autocast") start.guards.add("autocast");
  for (const { word, changes } of dispatcher.data.guards) {
    if (BigInt(changes[0]) & key.bits & ~BACKENDS) start.guards.add(word);
  }
  return start;
}

function checkbox(name, value, checked) {
  return element("label", {}, element("input", { type: "checkbox", name, value, checked }), value);
}

function registrationSection({ kernels, rules }) {
  const cells = (texts, tag = "td") => texts.map((text) => element(tag, {}, text));
  const rows = kernels.map(({ key, name, kind, place, active, condition }) => {
    const remark = [condition === null ? "" : `when ${condition}`, active ? "" : "displaced"].filter(Boolean).join(", ");
    return element("tr", {}, ...cells([key, name, kind, remark ? `${place}  ${remark}` : place]));
  });
  const none = element("p", {}, "none");
  const table = element("table", { id: "kernels" }, element("tr", {}, ...cells(["key", "kernel", "kind", "where"], "th")), ...rows);
  const parts = [element("h3", {}, "Kernels"), kernels.length ? table : none];
  if (rules.length) {
    const known = rules.map(({ of, place }) => element("tr", {}, ...cells([of, place])));
    parts.push(element("h3", {}, "Rules of layers"), element("table", { id: "rules" }, ...known));
  }
  return parts;
}

/** Converts a line of text to elements, with code between backticks. */
function inlineMarkup(text) {
  const pieces = text.replace(/\[(`[^`]*`)\](\([^)]*\))?/g, "$1").split("`");
  return pieces.map((piece, at) => (at % 2 ? element("code", {}, piece) : piece));
}

/** Converts an author's documentation to elements: paragraphs, and code between backticks and fences. Links to items become names. */
function documentationElements(docs) {
  return docs.split("```").flatMap((part, at) => {
    if (at % 2) return [element("pre", { class: "example" }, part.replace(/^[^\n]*\n/, ""))];
    const paragraphs = part.split(/\n\s*\n/).filter((text) => text.trim());
    return paragraphs.map((text) => {
      const [, title] = text.match(/^\s*#+ +(.*)$/) ?? [];
      return title ? element("h4", { class: "docs" }, ...inlineMarkup(title)) : element("p", { class: "docs" }, ...inlineMarkup(text));
    });
  });
}
