// How a cell came to hold what it holds: the steps of the table's rule, and the one that decided.

const DECIDED_BY = {
  "kernel": () => "exactly",
  "backend fallback": () => "fallback",
  "missing": () => "nothing",
};

/** The steps in order, each with what came of it: "no", "yes" where it decided, or "later" where nobody asked any more. */
function stepsOf(dispatcher, operator, at) {
  const cell = dispatcher.cell(operator, at);
  const key = cell.key;
  const has = (name) => operator.kernels.some((kernel) => kernel.key === name);
  const steps = [];
  if (at !== 0) steps.push({ id: "exactly", text: `a kernel for exactly ${key.name}` });
  for (const [alias, covers] of dispatcher.aliases) {
    const composite = alias.startsWith("Composite") && !alias.endsWith("NestedTensor");
    if (covers.has(at) || (at === 0 && composite)) {
      steps.push({ id: alias, text: `a kernel for ${alias}`, note: has(alias) ? blocked(key, alias) : null });
    }
  }
  if (at !== 0) steps.push({ id: "fallback", text: `a fallback of ${key.name} for all operators` });
  steps.push({ id: "nothing", text: nothing(key, at) });
  const decided = DECIDED_BY[cell.why]?.() ?? cell.by;
  const deciding = steps.findIndex((step) => step.id === decided);
  return steps.map(({ text, note }, place) => ({
    text: place < deciding && note ? `${text} - ${note}` : text,
    answer: place < deciding ? "no" : place === deciding ? "yes" : "later",
  }));
}

/** Why an implicit composite that is there does not serve an autograd key. */
function blocked(key, alias) {
  if (alias !== "CompositeImplicitAutograd" || key.group !== "autograd") return null;
  return "there is one, but the backend below has a kernel of its own, which is not made of those parts";
}

function nothing(key, at) {
  if (at === 0) return "nothing: a call without tensors ends in an error";
  return key.storage ? "nothing: a call ends here in an error" : "nothing: calls pass over this layer";
}

/** What a word for a cell means. */
const MEANINGS = {
  kernel: "a kernel of the key's own, or of an alias made for such keys",
  composite: "other operators, each of which goes its own way",
  any: "one kernel that works on every backend",
  fallback: "what the key does for all operators",
  fallthrough: "calls pass over the key, because somebody said so",
  ambiguous: "two kernels could serve it, so a call ends in an error",
  missing: "nothing: calls pass over a layer, and end in an error at a backend",
};
