//! Calls of a graph's operators on Meta tensors, and the comparison of each result with its description.

use dispatch_runtime::{Error, ErrorKind, Result, Stack, Tensor, Value, guard};

use super::assignments::Assignment;
use super::{Finding, META, values};
use crate::constraints::{InputConstraints, Symbols};
use crate::prepare::{HigherOrder, Instruction, Operation, OperatorCall, Output, PreparedGraph, Slot, Source};
use crate::recorded::RecordedValue;

/// The comparison of a program's nodes for one assignment.
pub(super) struct GraphCheck<'p> {
    /// The values of all symbols that are known so far. A symbol that depends on elements gets its value at its first use.
    pub(super) symbols: Symbols,
    pub(super) nodes: usize,
    pub(super) unchecked: Vec<String>,
    pub(super) findings: Vec<Finding>,
    assignment: &'p Assignment,
    constraints: &'p InputConstraints,
}

/// An assertion of the program refuses the assignment.
pub(super) struct Refused;

/// The results of a node.
enum Outcome {
    /// The values of the results, one for each output.
    Computed(Vec<Value>),
    /// The results depend on elements, or the operator has no plan.
    Unknown,
}

impl<'p> GraphCheck<'p> {
    pub(super) fn new(symbols: Symbols, assignment: &'p Assignment, constraints: &'p InputConstraints) -> Self {
        Self { symbols, nodes: 0, unchecked: Vec::new(), findings: Vec::new(), assignment, constraints }
    }

    /// Compares all nodes of a graph, and returns the values of its outputs. `module` is the module of the node around the graph.
    pub(super) fn run(
        &mut self,
        graph: &PreparedGraph,
        inputs: Vec<Value>,
        module: &str,
    ) -> std::result::Result<Vec<Value>, Refused> {
        let mut slots = vec![Value::None; graph.slot_names.len()];
        for (slot, value) in graph.inputs.iter().zip(inputs) {
            let Some(slot) = *slot else { continue };
            let at = Place { node: name_of(graph, slot), target: "", module };
            self.store(graph, slot, Some(value), &at, &mut slots);
        }
        for instruction in &graph.instructions {
            self.check_instruction(graph, instruction, module, &mut slots)?;
        }
        Ok(graph.outputs.iter().map(|output| output.value(&slots).unwrap_or(Value::None)).collect())
    }

    fn check_instruction(
        &mut self,
        graph: &PreparedGraph,
        instruction: &Instruction,
        outer: &str,
        slots: &mut [Value],
    ) -> std::result::Result<(), Refused> {
        let module = if instruction.module.is_empty() { outer } else { &instruction.module };
        let at = Place { node: &instruction.name, target: &instruction.target, module };
        let outcome = match &instruction.operation {
            Operation::Call(call) if instruction.outputs.is_empty() => return check_assertion(call, slots),
            Operation::Call(call) => call_on_meta(call, slots).map(|stack| {
                // A result that is a written argument can be another handle than the argument was, if the operator changed its sizes.
                for (result, slot) in &call.written {
                    if let (Some(value), Some(slot)) = (stack.values().get(*result), slots.get_mut(*slot)) {
                        *slot = value.clone();
                    }
                }
                Outcome::Computed(stack.into_values().into_iter().collect())
            }),
            Operation::Python(operator, operands) => {
                let operands = operands.iter().map(|operand| operand.value(slots).unwrap_or(Value::None));
                let result = operator.apply(&operands.collect::<Vec<_>>());
                result.map(|value| Outcome::Computed(vec![value])).map_err(Error::kernel)
            }
            Operation::HigherOrder(operation) => {
                self.check_higher_order(graph, instruction, operation, module, slots)?
            }
        };
        match outcome {
            Ok(Outcome::Computed(results)) => {
                self.nodes += 1;
                self.store_results(graph, &instruction.outputs, results, &at, slots);
            }
            Ok(Outcome::Unknown) => self.store_unknown(graph, &instruction.outputs, &at, slots),
            Err(error) => {
                let is_unknown =
                    matches!(error.kind(), ErrorKind::DataDependent { .. } | ErrorKind::NoShapeInference { .. });
                if is_unknown {
                    self.unchecked.push(instruction.name.clone());
                } else {
                    self.add_failure(graph, &instruction.outputs, &error, &at);
                }
                self.store_unknown(graph, &instruction.outputs, &at, slots);
            }
        }
        Ok(())
    }

    /// Compares the nodes of the graphs in a higher-order operator.
    fn check_higher_order(
        &mut self,
        graph: &PreparedGraph,
        instruction: &Instruction,
        operation: &HigherOrder,
        module: &str,
        slots: &[Value],
    ) -> std::result::Result<Result<Outcome>, Refused> {
        let at = Place { node: &instruction.name, target: &instruction.target, module };
        let values = |sources: &[Source]| -> Vec<Value> {
            sources.iter().map(|source| source.value(slots).unwrap_or(Value::None)).collect()
        };
        Ok(Ok(match operation {
            HigherOrder::Cond { then, otherwise, operands, .. } => {
                for branch in [then, otherwise] {
                    let results = self.run(branch, values(operands), module)?;
                    self.compare_results(graph, &instruction.outputs, &results, &at);
                }
                Outcome::Unknown
            }
            HigherOrder::WhileLoop { condition, body, carried, additional } => {
                let inputs = || values(carried).into_iter().chain(values(additional)).collect::<Vec<_>>();
                self.run(condition, inputs(), module)?;
                let results = self.run(body, inputs(), module)?;
                self.compare_results(graph, &instruction.outputs, &results, &at);
                Outcome::Unknown
            }
            HigherOrder::Map { body, mapped, others } => {
                let Some((count, slices)) = slices(&values(mapped)) else { return Ok(Err(no_slices())) };
                let results = self.run(body, slices.into_iter().chain(values(others)).collect(), module)?;
                Outcome::Computed(results.iter().map(|result| stacked(result, count)).collect())
            }
            HigherOrder::Scan { body, carried, mapped, additional } => {
                let Some((count, slices)) = slices(&values(mapped)) else { return Ok(Err(no_slices())) };
                let carried = values(carried);
                let count_of_carried = carried.len();
                let inputs = carried.into_iter().chain(slices).chain(values(additional)).collect();
                let results = self.run(body, inputs, module)?;
                let stack = |(place, result): (usize, &Value)| {
                    if place < count_of_carried { result.clone() } else { stacked(result, count) }
                };
                Outcome::Computed(results.iter().enumerate().map(stack).collect())
            }
            HigherOrder::WithEffects(call) => {
                let results = call_on_meta(call, slots);
                return Ok(results.map(|stack| {
                    // The first result is the token, which has no value.
                    Outcome::Computed(std::iter::once(Value::None).chain(stack.into_values()).collect())
                }));
            }
            HigherOrder::SetGradEnabled { body, operands, .. } => {
                Outcome::Computed(self.run(body, values(operands), module)?)
            }
            HigherOrder::Autocast { dtype, enabled, body, operands, .. } => {
                let dtype = enabled.then(|| dtype.unwrap_or(dispatch_runtime::DType::BF16));
                let _region = guard::autocast(META, dtype);
                Outcome::Computed(self.run(body, values(operands), module)?)
            }
        }))
    }

    /// Stores the results of a node.
    fn store_results(
        &mut self,
        graph: &PreparedGraph,
        outputs: &[Output],
        results: Vec<Value>,
        at: &Place<'_>,
        slots: &mut [Value],
    ) {
        for (slot, value) in places(outputs, &results) {
            self.store(graph, slot, value, at, slots);
        }
    }

    /// Stores results that nothing computes, as they are recorded.
    fn store_unknown(&mut self, graph: &PreparedGraph, outputs: &[Output], at: &Place<'_>, slots: &mut [Value]) {
        outputs.iter().for_each(|output| output.for_each_slot(|slot| self.store(graph, slot, None, at, slots)));
    }

    /// Compares a computed value with its description, and stores it. If they differ, the recorded value is stored, so that one mistake is
    /// one finding.
    fn store(
        &mut self,
        graph: &PreparedGraph,
        slot: Slot,
        computed: Option<Value>,
        at: &Place<'_>,
        slots: &mut [Value],
    ) {
        let (Some(recorded), Some(place)) = (graph.recorded.get(slot), slots.get_mut(slot)) else { return };
        if let Some(computed) = &computed
            && !matches!(computed, Value::None)
        {
            let mut symbols = self.symbols.clone();
            if values::agrees(recorded, computed, &mut symbols) {
                self.symbols = symbols;
                *place = computed.clone();
                return;
            }
            self.add_finding(graph, slot, values::computed_text(computed), at);
        }
        self.choose_symbols(recorded);
        *place = values::recorded_value(recorded, &self.symbols).or(computed).unwrap_or(Value::None);
    }

    /// Compares results with their descriptions. The symbols that only the description has can differ between branches and iterations.
    fn compare_results(&mut self, graph: &PreparedGraph, outputs: &[Output], results: &[Value], at: &Place<'_>) {
        for (slot, value) in places(outputs, results) {
            if let (Some(recorded), Some(value)) = (graph.recorded.get(slot), value)
                && !values::agrees(recorded, &value, &mut self.symbols.clone())
            {
                self.add_finding(graph, slot, values::computed_text(&value), at);
            }
        }
    }

    /// Gives a value to each symbol that has none.
    fn choose_symbols(&mut self, recorded: &RecordedValue) {
        let expressions = match recorded {
            RecordedValue::Tensor { sizes, .. } => sizes.as_slice(),
            RecordedValue::Number(expression) => std::slice::from_ref(expression),
            RecordedValue::Absent => &[],
        };
        for name in expressions.iter().flat_map(crate::expression::Expression::symbols) {
            if self.symbols.get(name).is_none() {
                self.symbols.set(name, self.assignment.choose(name, self.constraints));
            }
        }
    }

    fn add_finding(&mut self, graph: &PreparedGraph, slot: Slot, computed: String, at: &Place<'_>) {
        let recorded = graph.recorded.get(slot).map(|recorded| values::recorded_text(recorded, &self.symbols));
        self.findings.push(Finding {
            node: at.node.to_owned(),
            target: at.target.to_owned(),
            module: at.module.to_owned(),
            value: name_of(graph, slot).to_owned(),
            recorded: recorded.unwrap_or_default(),
            computed,
            assignment: String::new(),
        });
    }

    /// Adds the error of an operator as a finding about the first result.
    fn add_failure(&mut self, graph: &PreparedGraph, outputs: &[Output], error: &Error, at: &Place<'_>) {
        let mut first = None;
        outputs.iter().for_each(|output| {
            output.for_each_slot(|slot| {
                first.get_or_insert(slot);
            });
        });
        self.add_finding(graph, first.unwrap_or(usize::MAX), format!("an error ({error})"), at);
    }
}

/// A node, for findings.
struct Place<'a> {
    node: &'a str,
    target: &'a str,
    module: &'a str,
}

fn name_of(graph: &PreparedGraph, slot: Slot) -> &str {
    graph.slot_names.get(slot).map_or("", String::as_str)
}

/// Returns the slot of each result that is used, and its value.
fn places(outputs: &[Output], results: &[Value]) -> Vec<(Slot, Option<Value>)> {
    let mut places = Vec::new();
    for (output, result) in outputs.iter().zip(results) {
        match (output, result) {
            (Output::Ignored, _) => {}
            (Output::Value(slot), value) => places.push((*slot, Some(value.clone()))),
            (Output::Values(items), value) => {
                let tensors: Vec<Option<&Tensor>> = match value {
                    Value::Tensors(tensors) => tensors.iter().map(Some).collect(),
                    Value::OptionalTensors(tensors) => tensors.iter().map(Option::as_ref).collect(),
                    _ => Vec::new(),
                };
                for (at, slot) in items.iter().enumerate() {
                    let tensor = tensors.get(at).copied().flatten().cloned().map(Value::from);
                    places.extend(slot.map(|slot| (slot, tensor)));
                }
            }
        }
    }
    places
}

/// Calls an operator with all devices replaced by Meta.
fn call_on_meta(call: &OperatorCall, slots: &[Value]) -> Result<Stack> {
    let mut stack = Stack::new();
    for (source, argument) in call.arguments.iter().zip(&call.operator.schema().arguments) {
        let wrong = || Error::kernel(format!("argument `{}` has no value of the type {}", argument.name, argument.ty));
        stack.push(match source.value(slots).ok_or_else(wrong)? {
            Value::Device(_) => META.into(),
            value => value,
        });
    }
    call.operator.call_boxed(&mut stack)?;
    Ok(stack)
}

/// Checks a node without results. Only an assertion about numbers is of interest: the assignment may not satisfy it.
fn check_assertion(call: &OperatorCall, slots: &[Value]) -> std::result::Result<(), Refused> {
    if call.operator.name().to_string() != "aten::_assert_scalar" {
        return Ok(());
    }
    match call.arguments.first().and_then(|condition| condition.value(slots)) {
        Some(Value::Bool(false) | Value::Int(0)) => Err(Refused),
        _ => Ok(()),
    }
}

/// Returns the number of slices over dimension 0, and a slice of each tensor.
fn slices(mapped: &[Value]) -> Option<(i64, Vec<Value>)> {
    let slice = |value: &Value| {
        let tensor = value.as_tensor()?;
        let (sizes, strides) = (tensor.sizes().get(1..)?, tensor.strides().get(1..)?);
        values::meta_tensor(tensor.dtype(), sizes, strides).ok().map(Value::from)
    };
    let count = *mapped.first()?.as_tensor()?.sizes().first()?;
    Some((count, mapped.iter().map(slice).collect::<Option<_>>()?))
}

/// Returns the stack of a result over `count` runs of a graph.
fn stacked(result: &Value, count: i64) -> Value {
    let Some(tensor) = result.as_tensor() else { return Value::None };
    let sizes: Vec<i64> = std::iter::once(count).chain(tensor.sizes().iter().copied()).collect();
    values::meta_tensor(tensor.dtype(), &sizes, &[]).map_or(Value::None, Value::from)
}

#[cold]
fn no_slices() -> Error {
    Error::kernel("a mapped value is no tensor with a dimension")
}
