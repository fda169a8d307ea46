//! Runs of a prepared graph.

mod higher_order;

use dispatch_runtime::{Error, Result, Stack, Value, span};

use crate::error::Pt2Problem;
use crate::prepare::{Instruction, Operation, OperatorCall, Output, PreparedGraph, Source};

/// Runs a graph on these inputs, and returns its outputs.
pub(crate) fn run_graph(
    graph: &PreparedGraph,
    inputs: impl IntoIterator<Item = Value>,
) -> Result<Vec<Value>, Pt2Problem> {
    let mut slots = vec![Value::None; graph.slot_names.len()];
    for (slot, value) in graph.inputs.iter().zip(inputs) {
        if let Some(slot) = slot {
            slots[*slot] = value;
        }
    }
    for instruction in &graph.instructions {
        // Profilers and other modes see the node's name around its calls.
        span(&instruction.name, || run_instruction(instruction, &mut slots))?;
        for slot in &instruction.dead_after {
            slots[*slot] = Value::None;
        }
    }
    let output = |source: &Source| {
        source
            .value(&slots)
            .ok_or_else(|| Pt2Problem::Signature { reason: "an output of the graph has no value".to_owned() })
    };
    graph.outputs.iter().map(output).collect()
}

fn run_instruction(instruction: &Instruction, slots: &mut [Value]) -> Result<(), Pt2Problem> {
    let refuse =
        |source: Error| Pt2Problem::Run { node: instruction.name.clone(), module: instruction.module.clone(), source };
    match &instruction.operation {
        Operation::Call(call) => {
            let stack = run_call(call, slots).map_err(refuse)?;
            // A result that is a written argument can be another handle than the argument was, if the operator changed its sizes.
            for (result, slot) in &call.written {
                if let Some(value) = stack.values().get(*result) {
                    slots[*slot] = value.clone();
                }
            }
            store_results(&instruction.outputs, stack.into_values(), slots);
        }
        Operation::Python(operator, operands) => {
            let operands = values(operands, slots).map_err(refuse)?;
            let result = operator.apply(&operands).map_err(|reason| refuse(Error::kernel(reason)))?;
            store_results(&instruction.outputs, [result], slots);
        }
        Operation::HigherOrder(operation) => {
            let results = higher_order::run(operation, slots, &refuse)?;
            store_results(&instruction.outputs, results, slots);
        }
    }
    Ok(())
}

/// Calls an operator, and returns the stack with its results.
fn run_call(call: &OperatorCall, slots: &[Value]) -> Result<Stack> {
    let mut stack = Stack::new();
    for (source, argument) in call.arguments.iter().zip(&call.operator.schema().arguments) {
        let value = source.value(slots);
        let wrong = || Error::kernel(format!("argument `{}` has no value of the type {}", argument.name, argument.ty));
        stack.push(value.ok_or_else(wrong)?);
    }
    call.operator.call_boxed(&mut stack)?;
    Ok(stack)
}

fn values(sources: &[Source], slots: &[Value]) -> Result<Vec<Value>> {
    sources.iter().map(|source| source.value(slots).ok_or_else(|| Error::kernel("an operand has no value"))).collect()
}

/// Stores the results of a node in their slots.
fn store_results(outputs: &[Output], results: impl IntoIterator<Item = Value>, slots: &mut [Value]) {
    for (output, result) in outputs.iter().zip(results) {
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
            _ => {}
        }
    }
}
