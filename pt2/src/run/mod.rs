//! Runs of a prepared graph.

mod higher_order;
mod slices;
mod vmap;
mod zero_gradients;

use dispatch_runtime::{Device, Error, Result, Stack, Value, span};

use crate::error::Pt2Problem;
use crate::prepare::{DEVICE_SLOT, Instruction, Operation, OperatorCall, Output, PreparedGraph, Source};

/// Runs a graph on these inputs, and returns its outputs. Nodes that name a device run on `device`.
pub(crate) fn run_graph(
    graph: &PreparedGraph,
    inputs: impl IntoIterator<Item = Value>,
    device: Device,
) -> Result<Vec<Value>, Pt2Problem> {
    run_graph_observed(graph, inputs, device, &mut |_, _| {})
}

/// Runs a graph, and calls `observe` with the slots after each instruction, while its results are still there.
pub(crate) fn run_graph_observed(
    graph: &PreparedGraph,
    inputs: impl IntoIterator<Item = Value>,
    device: Device,
    observe: &mut impl FnMut(&Instruction, &[Value]),
) -> Result<Vec<Value>, Pt2Problem> {
    graph.workspaces.with(graph.slot_names.len(), |slots| {
        slots[DEVICE_SLOT] = device.into();
        for (slot, value) in graph.inputs.iter().zip(inputs) {
            if let Some(slot) = slot {
                slots[*slot] = value;
            }
        }
        for instruction in &graph.instructions {
            // Profilers and other modes see the node's name around its calls.
            span(&instruction.name, || run_instruction(instruction, slots, device))?;
            observe(instruction, slots);
            for slot in &instruction.dead_after {
                slots[*slot] = Value::None;
            }
        }
        graph.outputs.iter().map(|output| output_value(output, slots)).collect()
    })
}

fn output_value(output: &Source, slots: &[Value]) -> Result<Value, Pt2Problem> {
    let no_value = || Pt2Problem::Signature { reason: "an output of the graph has no value".to_owned() };
    output.value(slots).ok_or_else(no_value)
}

/// Runs one instruction, and stores its results in their slots.
pub(crate) fn run_instruction(
    instruction: &Instruction,
    slots: &mut [Value],
    device: Device,
) -> Result<(), Pt2Problem> {
    let refuse = |source: Error| Pt2Problem::Run {
        node: instruction.name.clone(),
        module: instruction.module.clone(),
        source,
        other_dtypes: Vec::new(),
    };
    match &instruction.operation {
        Operation::Call(call) => {
            let mut stack = Stack::new();
            run_call(call, slots, &mut stack).map_err(refuse)?;
            // A result that is a written argument can be another handle than the argument was, if the operator changed its sizes.
            for (result, slot) in &call.written {
                if let Some(value) = stack.values().get(*result) {
                    slots[*slot] = value.clone();
                }
            }
            let surplus = stack.len().saturating_sub(instruction.outputs.len());
            if surplus > 0 {
                stack.drop_top(surplus);
            }
            for output in instruction.outputs.iter().rev() {
                store_result(output, stack.pop().unwrap_or_default(), slots);
            }
        }
        Operation::Python(operator, operands) => {
            let operands = values(operands, slots).map_err(refuse)?;
            let result = operator.apply(&operands).map_err(|reason| refuse(Error::kernel(reason)))?;
            instruction.outputs.iter().for_each(|output| store_result(output, result.clone(), slots));
        }
        Operation::HigherOrder(operation) => {
            let results = higher_order::run(operation, slots, device, &refuse)?;
            for (output, result) in instruction.outputs.iter().zip(results) {
                store_result(output, result, slots);
            }
        }
    }
    Ok(())
}

/// Calls an operator, and leaves its results on the stack.
#[inline]
fn run_call(call: &OperatorCall, slots: &mut [Value], stack: &mut Stack) -> Result<()> {
    for (position, source) in call.arguments.iter().enumerate() {
        if !source.push(slots, stack) {
            return Err(no_value(call, position));
        }
    }
    call.operator.call_boxed(stack)
}

#[cold]
fn no_value(call: &OperatorCall, position: usize) -> Error {
    match call.operator.schema().arguments.get(position) {
        Some(argument) => {
            Error::kernel(format!("argument `{}` has no value of the type {}", argument.name, argument.ty))
        }
        None => Error::kernel(format!("argument {position} has no value")),
    }
}

fn values(sources: &[Source], slots: &[Value]) -> Result<Vec<Value>> {
    sources.iter().map(|source| source.value(slots).ok_or_else(|| Error::kernel("an operand has no value"))).collect()
}

/// Stores a result of a node in its slots.
#[inline]
fn store_result(output: &Output, result: Value, slots: &mut [Value]) {
    match (output, result) {
        (Output::Value(slot), value) => slots[*slot] = value,
        (Output::Values(items), Value::Tensors(tensors)) => {
            for (slot, tensor) in items.iter().zip(*tensors) {
                if let Some(slot) = slot {
                    slots[*slot] = tensor.into();
                }
            }
        }
        (Output::Values(items), Value::OptionalTensors(tensors)) => {
            for (slot, tensor) in items.iter().zip(*tensors) {
                if let (Some(slot), Some(tensor)) = (slot, tensor) {
                    slots[*slot] = tensor.into();
                }
            }
        }
        (Output::Ignored | Output::Values(_), _) => {}
    }
}
