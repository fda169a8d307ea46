"use strict";

// Explains which kernel a call reaches, and why. It computes keys as the dispatcher does, over the dispatcher's tables. The text is that
// of `dispatch-inspect explain`: a test compares the two.

const BACKEND_BITS = 16n;
const BACKENDS = (1n << BACKEND_BITS) - 1n;

class Dispatcher {
  constructor(data) {
    this.data = data;
    this.keys = data.keys.map((key, at) => ({ ...key, at, bits: BigInt(key.bits) }));
    this.byName = new Map(this.keys.map((key) => [key.name, key]));
    this.aliases = new Map(data.aliases.map((alias) => [alias.name, new Set(alias.covers)]));
    this.devices = new Map(data.devices.map((device) => [device.word, device]));
    this.guards = new Map(data.guards.map((guard) => [guard.word, guard]));
    this.operators = data.operators.map((entry, at) => this.operator(entry, at));
    this.operatorByName = new Map(this.operators.map((operator) => [operator.name, operator]));
    // The keys of each layer, the highest layer first. Some layers have one key per backend.
    const layers = new Map();
    for (const key of this.keys.slice(1)) {
      const layer = key.bits & ~BACKENDS;
      if (!layers.has(layer)) layers.set(layer, []);
      layers.get(layer).unshift(key);
    }
    this.layers = [...layers].sort(([a], [b]) => (a < b ? 1 : -1));
  }

  operator(entry, at) {
    const text = (place) => this.data.strings[place];
    const kernels = entry.kernels.map(([key, name, file, line, kind, active, condition]) => ({
      key: text(key),
      name: text(name),
      place: `${text(file)}:${line}`,
      kind: text(kind),
      active: active === 1,
      condition: condition === null ? null : text(condition),
    }));
    const site = (key, kernel) => `${key} \`${kernel.name}\` (${kernel.place})`;
    kernels.forEach((kernel) => (kernel.site = site(kernel.key, kernel)));
    return {
      at,
      name: entry.schema.slice(0, entry.schema.indexOf("(")),
      schema: entry.schema,
      docs: entry.docs ?? "",
      place: `${text(entry.place[0])}:${entry.place[1]}`,
      formOf: entry.form_of,
      shape: entry.shape,
      derivative: entry.derivative,
      remarks: (entry.remarks ?? []).map(([about, remark]) => [text(about), text(remark)]),
      kernels,
      rules: (entry.rules ?? []).map(([of, file, line]) => ({ of: text(of), place: `${text(file)}:${line}` })),
      arguments: entry.arguments.map(([name, is]) => ({
        name: text(name),
        isTensor: (is & 1) !== 0,
        isDevice: (is & 2) !== 0,
        mayBeAbsent: (is & 4) !== 0,
      })),
      row: entry.row,
    };
  }

  /** Returns an operator's cell, with the kernels that run from it. */
  cell(operator, at) {
    const cell = this.data.cells[this.data.rows[operator.row][at]];
    const by = cell.by === null ? null : this.data.strings[cell.by];
    const [served, meaning] = this.data.served[cell.served];
    const serves = served !== "ambiguous" && served !== "missing";
    const activeOf = (key) => operator.kernels.filter((kernel) => kernel.key === key && kernel.active);
    const own = serves && by !== null ? activeOf(by) : [];
    if (own.length && own.every((kernel) => kernel.condition !== null)) {
      const composites = ["CompositeExplicitAutograd", "CompositeImplicitAutograd"].map(activeOf);
      own.push(...(composites.find((kernels) => kernels.length === 1 && kernels[0].condition === null) ?? []));
    }
    const fallback = cell.fallback ?? [];
    const inCell = own.length || !by ? own : operator.kernels.filter((kernel) => kernel.key === by);
    const texts = fallback.length ? fallback : inCell.map((kernel) => kernel.site.slice(kernel.key.length + 1));
    return { key: this.keys[at], served, meaning, why: cell.why, by, own, fallback, texts, marks: cell.marks ?? null };
  }

  /** Returns the keys of a set, the lowest first. */
  members(bits) {
    return this.keys.filter((key) => key.bits !== 0n && (bits & key.bits) === key.bits);
  }

  show(bits) {
    return `{${this.members(bits).map((key) => key.name).join(", ")}}`;
  }

  /** Returns the keys of one set that another does not have. */
  without(bits, other) {
    const left = this.members(bits).filter((key) => (other & key.bits) !== key.bits);
    return left.reduce((all, key) => all | key.bits, 0n);
  }

  /** Returns the highest key of a set for which `stops` returns true. */
  highest(bits, stops = () => true) {
    for (const [layer, keys] of this.layers) {
      if ((bits & layer) === 0n) continue;
      const key = keys.find((key) => (bits & key.bits) === key.bits);
      if (key && stops(key)) return key;
    }
    return null;
  }

  /** Parses the words for one argument. Returns the keys that it adds, and its marks. */
  carried(text, isTensor) {
    let [keys, device] = [0n, null];
    const marks = new Set();
    for (const word of text.split(",").map((word) => word.trim())) {
      if (["", "none", "_"].includes(word)) continue;
      if (["requires_grad", "view", "inference"].includes(word)) marks.add(word);
      else if (this.devices.has(word)) device = word;
      else if (this.byName.has(word)) keys |= this.byName.get(word).bits;
      else throw new Error(`\`${word}\` says nothing about an argument`);
    }
    if (device === null && keys === 0n && !["", "none", "_"].includes(text.trim())) device = "cpu";
    if (device !== null) {
      const words = this.devices.get(device);
      keys |= BigInt(!isTensor ? words.device : marks.has("inference") ? words.inference : words.tensor);
      if (isTensor) words.marks.forEach((mark) => marks.add(mark));
    }
    return { keys, marks };
  }

  /** Returns the keys and marks of each argument. A tensor without words is like the one before it; an optional argument is absent. */
  carriedByEach(operator, words) {
    let last = this.carried("cpu", true);
    return operator.arguments.map((argument, at) => {
      if (words[at] !== undefined) {
        const carried = this.carried(words[at], argument.isTensor);
        if (argument.isTensor) last = carried;
        return carried;
      }
      if (argument.isDevice) return this.carried("cpu", false);
      if (argument.mayBeAbsent || !argument.isTensor) return this.carried("none", false);
      return last;
    });
  }

  /** Returns the keys that a thread under these guards adds to every call, and those that it removes. */
  thread(guards) {
    let [include, exclude] = this.data.thread.map(BigInt);
    const notes = [];
    for (const word of guards) {
      const { changes, note } = this.guards.get(word);
      const [adds, drops, removes, allows] = changes.map(BigInt);
      include = (include | adds) & ~drops;
      exclude = (exclude | removes) & ~allows;
      if (note) notes.push(note);
    }
    return { include, exclude, notes };
  }

  /** Explains a call. Returns lines with their kinds, the key, and the kernel. */
  explain(operator, words, guards = []) {
    const carried = this.carriedByEach(operator, words);
    const marks = new Set(carried.flatMap((argument) => [...argument.marks]));
    const { include, exclude, notes } = this.thread(guards);
    const union = carried.reduce((all, argument) => all | argument.keys, 0n);
    const keys = (union | include) & ~exclude;
    const removed = this.without(union | include, keys);
    const stop = this.highest(keys, (key) => !this.passesOver(operator, key, marks));
    const here = stop ?? this.keys[0];
    const cell = this.cell(operator, here.at);
    // The keys up to the layer where the call stops, on every backend.
    const upTo = stop === null ? 0n : (((stop.bits & ~BACKENDS) << 1n) - 1n) & keys;
    const passed = this.without(keys, upTo);

    const lines = [];
    const say = (kind, text) => lines.push({ kind, text });
    const width = Math.max("guards".length, ...operator.arguments.map((argument) => argument.name.length));
    const step = (name, text) => say("step", `  ${name.padEnd(width)} -> ${text}`);
    say("head", `  ${operator.schema}    ${operator.place}`);
    operator.arguments.forEach((argument, at) => step(argument.name, this.show(carried[at].keys)));
    step("guards", `plus ${this.show(include)}` + (removed === 0n ? "" : `, minus ${this.show(removed)}`));
    if (passed !== 0n) step("skips", `${this.show(passed)}    nothing to do there`);
    step("key", stop ? stop.name : "none");

    const isChoice = cell.own.length > 1 || cell.own.some((kernel) => kernel.condition !== null);
    const sites = cell.fallback.length ? cell.fallback.map((text) => `${here.name} ${text}`) : cell.own.map((own) => own.site);
    const winner = !isChoice && sites.length === 1 ? sites[0] : null;
    const runs = winner ?? (isChoice ? "the first whose condition holds" : "nothing");
    say(winner || isChoice ? "runs" : "fails", `  runs ${runs}: ${cell.why}`);
    if (isChoice) {
      for (const kernel of cell.own) {
        say("runs", `    ${kernel.site} ${kernel.condition === null ? "otherwise" : `when ${kernel.condition}`}`);
      }
    }
    for (const kernel of operator.kernels.filter((kernel) => !cell.own.includes(kernel))) {
      say("not", `  not  ${kernel.site}: ${this.reason(kernel, keys, here, cell)}`);
    }
    notes.forEach((note) => say("note", `  note ${note}`));
    if (winner || isChoice) this.sayBelow(operator, keys, stop, say);
    return { lines, key: stop?.name ?? null, winner, runs: winner !== null || isChoice };
  }

  /** Returns whether a call skips this key, because the operator has nothing to do there. */
  passesOver(operator, key, present) {
    const { served, marks } = this.cell(operator, key.at);
    const isUnconcerned = marks !== null && !marks.some((mark) => present.has(mark));
    return served === "fallthrough" || (served === "missing" && !key.storage) || isUnconcerned;
  }

  /** Returns the reason why a kernel does not run. */
  reason(kernel, keys, here, cell) {
    if (cell.by === kernel.key) {
      const clashes = cell.own.length === 0 && cell.served !== "ambiguous";
      return `${clashes ? "clashes with" : "replaced by"} another kernel for the same key`;
    }
    const own = this.byName.get(kernel.key);
    if (own) {
      if ((keys & own.bits) !== own.bits) return "the call does not have this key";
      return own.at < here.at ? `is below ${here.name}` : `skipped before ${here.name}`;
    }
    const covers = here.at === 0 || this.aliases.get(kernel.key)?.has(here.at);
    return covers ? "a more specific kernel is registered" : `does not cover ${here.name}`;
  }

  /** Adds the cells that the call enters if each kernel redispatches below its own key. */
  sayBelow(operator, keys, stop, say) {
    const rows = [];
    const below = (key) => keys & ((key.bits & ~BACKENDS) - 1n);
    let arrived = stop !== null && stop.storage;
    for (let key = stop && this.highest(below(stop)); key; key = this.highest(below(key))) {
      const cell = this.cell(operator, key.at);
      const missing = cell.served === "missing";
      // A layer without a kernel is skipped. A backend without a kernel ends the call.
      const isStop = missing ? key.storage && !arrived : cell.served !== "fallthrough";
      arrived ||= key.storage;
      if (!isStop) continue;
      const texts = missing ? "nothing: a call fails here" : cell.texts.join(" or ");
      rows.push([key.name, missing ? "-" : cell.served, cell.by === null || cell.by === key.name ? "" : cell.by, texts]);
    }
    if (rows.length === 0) return;
    say("space", "");
    say("below", "  and below that, if each kernel redispatches");
    const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column].length)) + 2);
    for (const row of rows) {
      say("below", `  ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join("")}`.trimEnd());
    }
  }
}
