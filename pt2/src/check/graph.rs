//! Calls of a graph's operators on Meta tensors, and the comparison of each result with its description.

use dispatch_runtime::{DType, Error, ErrorKind, Result, Stack, Tensor, Value, guard};

use super::assignments::Assignment;
use super::{Finding, META, values};
use crate::constraints::{InputConstraints, Symbols};
use crate::expression::Expression;
use crate::prepare::{
    DEVICE_SLOT, HigherOrder, Instruction, Operation, OperatorCall, Output, PreparedGraph, Slot, Source, VmapRegion,
};
use crate::recorded::RecordedValue;

/// The comparison of a program's nodes for one assignment.
pub(super) struct GraphCheck<'p> {
    /// The values of all symbols that are known so far. A symbol that depends on elements gets its value at its first use.
    pub(super) symbols: Symbols,
    pub(super) nodes: usize,
    pub(super) unchecked: Vec<String>,
    pub(super) findings: Vec<Finding>,
    /// The equations between symbols that the program asserts.
    equations: Vec<(Expression, Expression)>,
    /// Whether nodes get computed values also if the recorded ones differ, and an error of an operator ends the run.
    keeps_computed: bool,
    /// Whether the nodes are in a region with autocast.
    autocast: bool,
    assignment: &'p Assignment,
    constraints: &'p InputConstraints,
}

/// An assertion of the program refuses the assignment.
pub(super) struct Refused;

/// The values of a graph.
struct Frame<'g> {
    graph: &'g PreparedGraph,
    slots: Vec<Value>,
    /// The computed values that differ from the recorded ones. The slots have the recorded ones.
    doubts: Vec<(Slot, Value)>,
}

/// A node, for findings.
struct Place<'a> {
    node: &'a str,
    target: &'a str,
    module: &'a str,
}

/// The results of a node: one for each output. `None` stands for results that depend on elements.
type Results = Option<Vec<Value>>;

impl<'p> GraphCheck<'p> {
    pub(super) fn new(
        graph: &PreparedGraph,
        symbols: Symbols,
        assignment: &'p Assignment,
        constraints: &'p InputConstraints,
    ) -> Self {
        let equations = graph.recorded.iter().filter_map(|recorded| match recorded {
            RecordedValue::Number(condition) => condition.sides(),
            _ => None,
        });
        Self {
            symbols,
            nodes: 0,
            unchecked: Vec::new(),
            findings: Vec::new(),
            equations: equations.collect(),
            keeps_computed: false,
            autocast: false,
            assignment,
            constraints,
        }
    }

    /// Makes a run that finds out whether the program can run for an assignment.
    pub(super) fn with_computed_values(
        graph: &PreparedGraph,
        symbols: Symbols,
        assignment: &'p Assignment,
        constraints: &'p InputConstraints,
    ) -> Self {
        Self { keeps_computed: true, ..Self::new(graph, symbols, assignment, constraints) }
    }

    /// Compares all nodes of a graph, and returns the values of its outputs. `module` is the module of the node around the graph.
    pub(super) fn run(
        &mut self,
        graph: &PreparedGraph,
        inputs: Vec<Value>,
        module: &str,
    ) -> std::result::Result<Vec<Value>, Refused> {
        let mut frame = Frame { graph, slots: vec![Value::None; graph.slot_names.len()], doubts: Vec::new() };
        frame.set(DEVICE_SLOT, META.into());
        for (slot, value) in graph.inputs.iter().zip(inputs) {
            let Some(slot) = *slot else { continue };
            let at = Place { node: frame.name(slot), target: "", module };
            self.store(&mut frame, slot, Some(value), &at);
        }
        for instruction in &graph.instructions {
            let module = if instruction.module.is_empty() { module } else { &instruction.module };
            let at = Place { node: &instruction.name, target: &instruction.target, module };
            self.check_instruction(&mut frame, instruction, &at)?;
        }
        Ok(frame.values(&graph.outputs))
    }

    fn check_instruction(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
        at: &Place<'_>,
    ) -> std::result::Result<(), Refused> {
        let outputs = &instruction.outputs;
        let mut results = match &instruction.operation {
            Operation::Call(call) if outputs.is_empty() => return check_assertion(call, &frame.slots),
            Operation::HigherOrder(operation) => self.check_higher_order(frame, outputs, operation, at)?,
            operation => compute(operation, &mut frame.slots),
        };
        // If an earlier recorded value is wrong, this difference may be its consequence. So the node is computed again from computed values.
        if !frame.doubts.is_empty() && !self.all_agree(frame.graph, outputs, &results) {
            let mut computed = frame.slots.clone();
            for (slot, value) in &frame.doubts {
                if let Some(place) = computed.get_mut(*slot) {
                    *place = value.clone();
                }
            }
            let second = compute(&instruction.operation, &mut computed);
            if self.all_agree(frame.graph, outputs, &second) {
                results = second;
            }
        }
        match results {
            Ok(Some(results)) => {
                self.nodes += 1;
                for (slot, value) in places(outputs, &results) {
                    self.store(frame, slot, value, at);
                }
                return Ok(());
            }
            Ok(None) => {}
            Err(error) => match error.kind() {
                ErrorKind::DataDependent { .. } | ErrorKind::NoShapeInference { .. } => {
                    self.unchecked.push(at.node.to_owned());
                }
                _ if self.keeps_computed => return Err(Refused),
                _ => self.add_finding(frame, first_slot(outputs), format!("an error ({error})"), at),
            },
        }
        // The results are as they are recorded.
        for slot in slots_of(outputs) {
            self.store(frame, slot, None, at);
        }
        Ok(())
    }

    /// Compares the nodes of the graphs in a higher-order operator.
    fn check_higher_order(
        &mut self,
        frame: &Frame<'_>,
        outputs: &[Output],
        operation: &HigherOrder,
        at: &Place<'_>,
    ) -> std::result::Result<Result<Results>, Refused> {
        let values = |sources: &[Source]| frame.values(sources);
        let module = at.module;
        Ok(Ok(match operation {
            HigherOrder::Cond { then, otherwise, operands, .. } => {
                for branch in [then, otherwise] {
                    let results = self.run(branch, values(operands), module)?;
                    self.compare(frame, outputs, &results, at);
                }
                None
            }
            HigherOrder::WhileLoop { condition, body, carried, additional } => {
                let inputs = || values(carried).into_iter().chain(values(additional)).collect::<Vec<_>>();
                self.run(condition, inputs(), module)?;
                let results = self.run(body, inputs(), module)?;
                self.compare(frame, outputs, &results, at);
                None
            }
            HigherOrder::Map { body, mapped, others } => {
                let Some((count, slices)) = slices(&values(mapped)) else { return Ok(Err(no_slices())) };
                let results = self.run(body, slices.into_iter().chain(values(others)).collect(), module)?;
                Some(results.iter().map(|result| stacked(result, count, 0)).collect())
            }
            HigherOrder::Scan { body, carried, mapped, additional } => {
                let Some((count, slices)) = slices(&values(mapped)) else { return Ok(Err(no_slices())) };
                let inputs = values(carried).into_iter().chain(slices).chain(values(additional)).collect();
                let mut results = self.run(body, inputs, module)?;
                results.iter_mut().skip(carried.len()).for_each(|result| *result = stacked(result, count, 0));
                Some(results)
            }
            HigherOrder::AssociativeScan { combine, mapped, additional } => {
                let Some((count, left)) = slices(&values(mapped)) else { return Ok(Err(no_slices())) };
                let inputs = left.clone().into_iter().chain(left).chain(values(additional)).collect();
                let results = self.run(combine, inputs, module)?;
                Some(results.iter().map(|result| stacked(result, count, 0)).collect())
            }
            HigherOrder::Vmap(region) => {
                let Some((count, samples)) = samples(region, &frame.slots) else { return Ok(Err(no_slices())) };
                let inputs = samples.into_iter().chain(values(&region.captured)).collect();
                let results = self.run(&region.body, inputs, module)?;
                let dims = region.result_dims.iter().copied().chain(std::iter::repeat(None));
                let batch = |(result, dim): (&Value, Option<i64>)| {
                    dim.map_or_else(|| result.clone(), |dim| stacked(result, count, dim))
                };
                Some(results.iter().zip(dims).map(batch).collect())
            }
            HigherOrder::WithEffects(call) => {
                // The first result is the token, which has no value.
                let results = |stack: Stack| std::iter::once(Value::None).chain(stack.into_values()).collect();
                return Ok(call_on_meta(call, &frame.slots).map(|stack| Some(results(stack))));
            }
            HigherOrder::SetGradEnabled { body, operands, .. } => Some(self.run(body, values(operands), module)?),
            HigherOrder::Autocast { dtype, enabled, body, operands, .. } => {
                let dtype = enabled.then(|| dtype.unwrap_or(DType::BF16));
                let outer = std::mem::replace(&mut self.autocast, *enabled);
                let _region = guard::autocast(META, dtype);
                let results = self.run(body, values(operands), module);
                self.autocast = outer;
                Some(results?)
            }
        }))
    }

    /// Compares a computed value with its description, and stores it. If they differ, or if nothing is computed, the recorded value is
    /// stored, so that one difference is one finding.
    fn store(&mut self, frame: &mut Frame<'_>, slot: Slot, computed: Option<Value>, at: &Place<'_>) {
        let Some(recorded) = frame.graph.recorded.get(slot) else { return };
        let computed = computed.filter(|computed| !matches!(computed, Value::None));
        if let Some(computed) = &computed {
            let mut symbols = self.symbols.clone();
            let agrees = values::agrees(recorded, computed, &mut symbols)
                || self.autocast && values::agrees_in_size(recorded, computed, &mut symbols)
                || is_unused(frame.name(slot));
            if agrees {
                self.symbols = symbols;
                frame.set(slot, self.with_recorded_strides(recorded, computed));
                return;
            }
            if self.keeps_computed {
                frame.set(slot, computed.clone());
                return;
            }
            self.add_finding(frame, Some(slot), values::computed_text(computed), at);
            frame.doubts.push((slot, computed.clone()));
        }
        self.choose_symbols(recorded);
        let value = values::recorded_value(recorded, &self.symbols).or(computed).unwrap_or(Value::None);
        frame.set(slot, value);
    }

    /// Returns a value with the strides that PyTorch's kernel chose, because the nodes after it may need them. A number that is a tensor
    /// stays one.
    fn with_recorded_strides(&self, recorded: &RecordedValue, computed: &Value) -> Value {
        match computed {
            Value::Tensor(tensor) if !tensor.is_number() => {
                values::recorded_value(recorded, &self.symbols).unwrap_or_else(|| computed.clone())
            }
            other => other.clone(),
        }
    }

    /// Returns whether all results have the recorded dtypes and sizes.
    fn all_agree(&self, graph: &PreparedGraph, outputs: &[Output], results: &Result<Results>) -> bool {
        let Ok(Some(results)) = results else { return false };
        places(outputs, results).into_iter().all(|(slot, value)| self.agrees(graph, slot, value.as_ref()))
    }

    /// Returns whether a value agrees with its description. Symbols keep their values: those that only the description has can differ
    /// between branches and iterations.
    fn agrees(&self, graph: &PreparedGraph, slot: Slot, value: Option<&Value>) -> bool {
        let known = graph.recorded.get(slot).zip(value);
        known.is_none_or(|(recorded, value)| values::agrees(recorded, value, &mut self.symbols.clone()))
    }

    /// Compares the results of a branch or an iteration with the descriptions of the node's results.
    fn compare(&mut self, frame: &Frame<'_>, outputs: &[Output], results: &[Value], at: &Place<'_>) {
        for (slot, value) in places(outputs, results) {
            if let Some(value) = value.filter(|value| !self.agrees(frame.graph, slot, Some(value))) {
                self.add_finding(frame, Some(slot), values::computed_text(&value), at);
            }
        }
    }

    /// Gives a value to each symbol that has none.
    fn choose_symbols(&mut self, recorded: &RecordedValue) {
        for name in recorded.symbols() {
            if self.symbols.get(name).is_some() {
                continue;
            }
            for (left, right) in &self.equations {
                if let Some(value) = self.symbols.evaluate(right) {
                    self.symbols.unify(left, value);
                }
            }
            if self.symbols.get(name).is_none() {
                self.symbols.set(name, self.assignment.choose(name, self.constraints));
            }
        }
    }

    fn add_finding(&mut self, frame: &Frame<'_>, slot: Option<Slot>, computed: String, at: &Place<'_>) {
        let recorded = slot.and_then(|slot| frame.graph.recorded.get(slot));
        self.findings.push(Finding {
            node: at.node.to_owned(),
            target: at.target.to_owned(),
            module: at.module.to_owned(),
            value: slot.map_or_else(String::new, |slot| frame.name(slot).to_owned()),
            recorded: recorded.map_or_else(String::new, |recorded| values::recorded_text(recorded, &self.symbols)),
            computed,
            assignment: String::new(),
        });
    }
}

/// Returns whether torch.export gave the value this name because nothing uses it.
fn is_unused(name: &str) -> bool {
    name.rsplit_once("_unused_").is_some_and(|(_, index)| index.parse::<u32>().is_ok())
}

impl<'g> Frame<'g> {
    fn name(&self, slot: Slot) -> &'g str {
        self.graph.slot_names.get(slot).map_or("", String::as_str)
    }

    fn set(&mut self, slot: Slot, value: Value) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = value;
        }
    }

    fn values(&self, sources: &[Source]) -> Vec<Value> {
        values_of(sources, &self.slots)
    }
}

fn values_of(sources: &[Source], slots: &[Value]) -> Vec<Value> {
    sources.iter().map(|source| source.value(slots).unwrap_or(Value::None)).collect()
}

/// Computes the results of an operator. An operator that changes the sizes of an argument changes the slot.
fn compute(operation: &Operation, slots: &mut [Value]) -> Result<Results> {
    match operation {
        Operation::Call(call) => {
            let stack = call_on_meta(call, slots)?;
            for (result, slot) in &call.written {
                if let (Some(value), Some(place)) = (stack.values().get(*result), slots.get_mut(*slot)) {
                    *place = value.clone();
                }
            }
            Ok(Some(stack.into_values().into_iter().collect()))
        }
        Operation::Python(operator, operands) => {
            let result = operator.apply(&values_of(operands, slots)).map_err(Error::kernel)?;
            Ok(Some(vec![result]))
        }
        Operation::HigherOrder(_) => Ok(None),
    }
}

/// Returns the slots of the results that are used.
fn slots_of(outputs: &[Output]) -> Vec<Slot> {
    let mut slots = Vec::new();
    for output in outputs {
        output.for_each_slot(|slot| slots.push(slot));
    }
    slots
}

fn first_slot(outputs: &[Output]) -> Option<Slot> {
    slots_of(outputs).first().copied()
}

/// Returns the slot of each result that is used, and its value.
fn places(outputs: &[Output], results: &[Value]) -> Vec<(Slot, Option<Value>)> {
    let mut places = Vec::new();
    for (output, result) in outputs.iter().zip(results) {
        match output {
            Output::Ignored => {}
            Output::Value(slot) => places.push((*slot, Some(result.clone()))),
            Output::Values(items) => {
                let tensors: Vec<Option<&Tensor>> = match result {
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

/// Returns the number of samples of a region of vmap, and a sample of each mapped input.
fn samples(region: &VmapRegion, slots: &[Value]) -> Option<(i64, Vec<Value>)> {
    let Some(Value::Int(count)) = region.size.value(slots) else { return None };
    let sample = |(source, dim): &(Source, i64)| {
        let value = source.value(slots)?;
        let (tensor, dim) = (value.as_tensor()?, usize::try_from(*dim).ok()?);
        let without_dim = |numbers: &[i64]| -> Option<Vec<i64>> {
            let (before, after) = numbers.split_at_checked(dim)?;
            Some(before.iter().chain(after.get(1..)?).copied().collect())
        };
        let (sizes, strides) = (without_dim(tensor.sizes())?, without_dim(tensor.strides())?);
        values::meta_tensor(tensor.dtype(), &sizes, &strides).ok().map(Value::from)
    };
    Some((count, region.mapped.iter().map(sample).collect::<Option<_>>()?))
}

/// Returns the stack of a result over `count` runs of a graph, with the new dimension at `dim`.
fn stacked(result: &Value, count: i64, dim: i64) -> Value {
    let Some(tensor) = result.as_tensor() else { return Value::None };
    let mut sizes = tensor.sizes().to_vec();
    sizes.insert(usize::try_from(dim).unwrap_or(0).min(sizes.len()), count);
    values::meta_tensor(tensor.dtype(), &sizes, &[]).map_or(Value::None, Value::from)
}

#[cold]
fn no_slices() -> Error {
    Error::kernel("a mapped value is no tensor with a dimension")
}
