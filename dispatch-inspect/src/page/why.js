// Explains how a cell got its kernel: the steps of the table's rule, and the step that decided.

const DECIDED_BY = {
  "kernel": () => "exactly",
  "backend fallback": () => "fallback",
  "missing": () => "nothing",
};

/** Returns the steps in order, each with its answer: "no", "yes" for the step that decided, or "later" for those after it. */
function stepsOf(dispatcher, operator, at) {
  const cell = dispatcher.cell(operator, at);
  const key = cell.key;
  const has = (name) => operator.kernels.some((kernel) => kernel.key === name);
  const steps = [];
  if (at !== 0) steps.push({ id: "exactly", text: `a kernel for exactly ${key.name}` });
  for (const [alias, covers] of dispatcher.aliases) {
    const composite = alias.startsWith("Composite") && !alias.endsWith("NestedTensor");
    if (covers.has(at) || (at === 0 && composite)) {
      steps.push({ id: alias, text: `a kernel for ${alias}`, note: has(alias) ? blockedNote(key, alias) : null });
    }
  }
  if (at !== 0) steps.push({ id: "fallback", text: `a fallback of ${key.name} for all operators` });
  steps.push({ id: "nothing", text: nothingText(key, at) });
  const decided = DECIDED_BY[cell.why]?.() ?? cell.by;
  const deciding = steps.findIndex((step) => step.id === decided);
  return steps.map(({ text, note }, place) => ({
    text: place < deciding && note ? `${text} - ${note}` : text,
    answer: place < deciding ? "no" : place === deciding ? "yes" : "later",
  }));
}

/** Returns the reason why an existing implicit composite does not serve an autograd key. */
function blockedNote(key, alias) {
  if (alias !== "CompositeImplicitAutograd" || key.group !== "autograd") return null;
  return "there is one, but the backend below has a kernel of its own, which is not made of those parts";
}

function nothingText(key, at) {
  if (at === 0) return "nothing: a call without tensors ends in an error";
  return key.storage ? "nothing: a call fails here" : "nothing: calls skip this layer";
}
