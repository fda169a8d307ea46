//! A log of one call's path: the operator calls and kernels that it runs.
//!
//! This program defines three layers between those of the framework: above autocast, above autograd, and above the backends. Each layer
//! logs which kernel runs next for a call, and redispatches.

use std::cell::RefCell;
use std::fmt::Write;

use opdispatch::backend::{
    Key, KeySet, Operator, Provenance, Stack, TableCell, Value, dispatch_key, guard, op_fallback,
};
use opdispatch::prelude::*;

/// The key of a layer that logs the calls which enter autocast.
#[dispatch_key(layer, above = Autocast)]
static AboveAutocast: Key;

/// The key of a layer that logs the calls which autocast makes or passes on.
#[dispatch_key(layer, above = Autograd)]
static AboveAutograd: Key;

/// The key of a layer that logs the calls which autograd makes or passes on.
#[dispatch_key(layer, above = Backends)]
static AboveBackends: Key;

/// The log of this thread, and the calls that have not returned yet, innermost last.
#[derive(Default)]
struct CallLog {
    text: String,
    running_calls: Vec<String>,
}

thread_local! {
    static CALL_LOG: RefCell<CallLog> = RefCell::default();
}

/// Runs `run` and returns a log of its operator calls: a line for each call, and below it a line for each key that it reaches, with the
/// kernel. The calls that a kernel makes are below it, indented.
pub(crate) fn log_calls(run: impl FnOnce() -> Result<()>) -> Result<String> {
    let _watching = guard::include(AboveAutocast | AboveAutograd | AboveBackends);
    let result = run();
    let log = CALL_LOG.take();
    result.map(|()| log.text)
}

#[op_fallback(AboveAutocast)]
fn log_above_autocast(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    log_and_redispatch(op, keys.below(AboveAutocast), stack)
}

#[op_fallback(AboveAutograd)]
fn log_above_autograd(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    log_and_redispatch(op, keys.below(AboveAutograd), stack)
}

#[op_fallback(AboveBackends)]
fn log_above_backends(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    log_and_redispatch(op, keys.below(AboveBackends), stack)
}

/// Logs the kernel that a call runs next, unless it is one of these three layers, and redispatches.
fn log_and_redispatch(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let Some(cell) =
        reached_cell(op, keys).filter(|cell| ![AboveAutocast, AboveAutograd, AboveBackends].contains(&cell.key))
    else {
        return op.redispatch_boxed(keys, stack);
    };
    let arguments: Vec<String> = stack.top(op.argument_count()).unwrap_or_default().iter().map(argument_text).collect();
    let text = format!("{op}({})", arguments.join(", "));
    // A layer that redispatches with the same arguments makes no new call.
    let is_new = CALL_LOG.with_borrow_mut(|log| {
        let is_new = log.running_calls.last() != Some(&text);
        if is_new {
            _ = writeln!(log.text, "{:1$}{text}", "", 4 * log.running_calls.len());
            log.running_calls.push(text);
        }
        _ = writeln!(log.text, "{:3$}{} {}", "", cell.key, cell.kernels.join(" or "), 4 * log.running_calls.len() - 2);
        is_new
    });
    let result = op.redispatch_boxed(keys, stack);
    if is_new {
        CALL_LOG.with_borrow_mut(|log| log.running_calls.pop());
    }
    result
}

/// Returns the cell of the operator's table that a call with these keys reaches.
fn reached_cell(op: &Operator, mut keys: KeySet) -> Option<TableCell> {
    let table = op.table();
    loop {
        let key = keys.highest()?;
        let cell = table.iter().find(|cell| cell.key == key)?;
        if !cell.falls_through && cell.provenance != Provenance::Missing {
            return Some(cell.clone());
        }
        keys = keys.below(key);
    }
}

/// Formats an argument: for a tensor, dtype and sizes.
fn argument_text(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => format!("{}{:?}", tensor.dtype(), tensor.sizes()),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use opdispatch::autocast;

    use super::*;

    #[test]
    fn the_log_has_each_kernel_down_to_the_backend() -> Result<()> {
        let x = Tensor::ones((2, 3), ())?.requires_grad_(true)?;
        let log = log_calls(|| (&x * &x).map(drop))?;
        let keys_and_calls: Vec<&str> = log.lines().map(|line| line.split('`').next().unwrap_or(line)).collect();
        let expected = ["aten::mul.Tensor(float32[2, 3], float32[2, 3])", "  AutogradCPU ", "  CPU "];
        assert_eq!(keys_and_calls, expected, "{log}");
        Ok(())
    }

    #[test]
    fn the_log_has_the_call_that_autocast_makes() -> Result<()> {
        let x = Tensor::ones((2, 2), ())?;
        let _bfloat16 = autocast::enable(Device::CPU, DType::BF16)?;
        let log = log_calls(|| x.mm(&x).map(drop))?;
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines[0], "aten::mm(float32[2, 2], float32[2, 2])", "{log}");
        assert!(lines[1].starts_with("  AutocastCPU "), "{log}");
        let cast = lines.iter().position(|&line| line == "    aten::mm(bfloat16[2, 2], bfloat16[2, 2])");
        assert!(cast.is_some_and(|at| lines[at + 1].starts_with("      AutogradCPU ")), "{log}");
        assert!(lines.last().is_some_and(|line| line.starts_with("      CPU ")), "{log}");
        Ok(())
    }

    #[test]
    fn each_log_starts_empty() -> Result<()> {
        let x = Tensor::ones(2, ())?;
        assert!(log_calls(|| x.relu().map(drop))?.contains("relu"));
        assert!(log_calls(|| x.mm(&x).map(drop)).is_err());
        x.exp()?;
        assert_eq!(log_calls(|| Ok(()))?, "");
        Ok(())
    }
}
