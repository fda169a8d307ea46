//! A log of one call's path: the operator calls and kernels that it runs.
//!
//! This program defines three layers between those of the framework: above autocast, above autograd, and above the backends. Each layer
//! logs which kernel runs next for a call, and redispatches.

use std::cell::RefCell;
use std::fmt::Write;

use opdispatch::guard;
use opdispatch::prelude::*;
use opdispatch::{Provenance, TableCell};

/// The key of a layer that logs the calls which enter autocast.
#[dispatch_key(layer, above = Autocast)]
static Called: Key;

/// The key of a layer that logs the calls which autocast makes or passes on.
#[dispatch_key(layer, above = Autograd)]
static Cast: Key;

/// The key of a layer that logs the calls which autograd makes or passes on.
#[dispatch_key(layer, above = Backends)]
static Recorded: Key;

/// The log of this thread, and the calls that have not returned yet, innermost last.
#[derive(Default)]
struct Notes {
    text: String,
    open: Vec<String>,
}

thread_local! {
    static NOTES: RefCell<Notes> = RefCell::default();
}

/// Runs `run` and returns a log of its operator calls: a line for each call, and below it a line for each key that it reaches, with the
/// kernel. The calls that a kernel makes are below it, indented.
pub(crate) fn of(run: impl FnOnce() -> Result<()>) -> Result<String> {
    let _watching = guard::include(Called | Cast | Recorded);
    let result = run();
    let notes = NOTES.take();
    result.map(|()| notes.text)
}

#[op_fallback(Called)]
fn called(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    pass(op, keys.below(Called), stack)
}

#[op_fallback(Cast)]
fn cast(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    pass(op, keys.below(Cast), stack)
}

#[op_fallback(Recorded)]
fn recorded(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    pass(op, keys.below(Recorded), stack)
}

/// Logs the kernel that a call runs next, unless it is one of these three layers, and redispatches.
fn pass(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let Some(stop) = stop(op, keys).filter(|cell| ![Called, Cast, Recorded].contains(&cell.key)) else {
        return op.redispatch_boxed(keys, stack);
    };
    let arguments: Vec<String> = stack.top(op.argument_count()).unwrap_or_default().iter().map(brief).collect();
    let call = format!("{op}({})", arguments.join(", "));
    // A layer that redispatches with the same arguments makes no new call.
    let is_new = NOTES.with_borrow_mut(|notes| {
        let is_new = notes.open.last() != Some(&call);
        if is_new {
            _ = writeln!(notes.text, "{:1$}{call}", "", 4 * notes.open.len());
            notes.open.push(call);
        }
        _ = writeln!(notes.text, "{:3$}{} {}", "", stop.key, stop.kernels.join(" or "), 4 * notes.open.len() - 2);
        is_new
    });
    let result = op.redispatch_boxed(keys, stack);
    if is_new {
        NOTES.with_borrow_mut(|notes| notes.open.pop());
    }
    result
}

/// Returns the cell of the operator's table that a call with these keys reaches.
fn stop(op: &Operator, mut keys: KeySet) -> Option<TableCell> {
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
fn brief(value: &Value) -> String {
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
    fn a_call_is_followed_through_the_layers_to_the_backend() -> Result<()> {
        let x = Tensor::ones(&[2, 3], ())?.requires_grad_(true)?;
        let journey = of(|| x.mul(&x).map(drop))?;
        let stops: Vec<&str> = journey.lines().map(|line| line.split('`').next().unwrap_or(line)).collect();
        let expected = ["aten::mul.Tensor(float32[2, 3], float32[2, 3])", "  AutogradCPU ", "  CPU "];
        assert_eq!(stops, expected, "{journey}");
        Ok(())
    }

    #[test]
    fn autocast_comes_first_and_hands_on_what_it_has_cast() -> Result<()> {
        let x = Tensor::ones(&[2, 2], ())?;
        let _bfloat16 = autocast::enable(Device::CPU, DType::BF16)?;
        let journey = of(|| x.mm(&x).map(drop))?;
        let lines: Vec<&str> = journey.lines().collect();
        assert_eq!(lines[0], "aten::mm(float32[2, 2], float32[2, 2])", "{journey}");
        assert!(lines[1].starts_with("  AutocastCPU "), "{journey}");
        let cast = lines.iter().position(|&line| line == "    aten::mm(bfloat16[2, 2], bfloat16[2, 2])");
        assert!(cast.is_some_and(|at| lines[at + 1].starts_with("      AutogradCPU ")), "{journey}");
        assert!(lines.last().is_some_and(|line| line.starts_with("      CPU ")), "{journey}");
        Ok(())
    }

    #[test]
    fn nothing_is_noted_outside_and_notes_begin_anew() -> Result<()> {
        let x = Tensor::ones(&[2], ())?;
        assert!(of(|| x.relu().map(drop))?.contains("relu"));
        assert!(of(|| x.mm(&x).map(drop)).is_err());
        x.exp()?;
        assert_eq!(of(|| Ok(()))?, "");
        Ok(())
    }
}
