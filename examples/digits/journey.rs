//! What becomes of one call on its way down.
//!
//! Three layers of this program's own stand between those of the framework: one above autocast, one above autograd, one above the
//! backends. Each sees the calls that come by, says where they go next, and lets them go on.

use std::cell::Cell;

use opdispatch::guard;
use opdispatch::prelude::*;
use opdispatch::{Provenance, TableCell};

use crate::network::Network;

/// Sees what is called.
#[dispatch_key(layer, above = Autocast)]
static Called: Key;

/// Sees what autocast hands on.
#[dispatch_key(layer, above = Autograd)]
static Cast: Key;

/// Sees what autograd hands on.
#[dispatch_key(layer, above = Backends)]
static Recorded: Key;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Prints what the arguments of one call carry, and the way that it goes.
pub(crate) fn show(network: &Network, pictures: &Tensor) -> Result<()> {
    let [(_, weight), (_, bias), ..] = network.parameters();
    println!("\nWhat the dispatcher does with linear(pictures, weight, bias):\n");
    for (name, argument) in [("pictures", pictures), ("weight", &weight), ("bias", &bias)] {
        println!("{name:8} carries {}", argument.keys());
    }
    println!();
    let _watching = guard::include(Called | Cast | Recorded);
    aten::linear(pictures, &weight, Some(&bias))?;
    Ok(())
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

/// Prints where a call goes next, unless that is to another of these layers.
fn pass(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let stop = stop(op, keys).filter(|cell| ![Called, Cast, Recorded].contains(&cell.key));
    if let Some(stop) = &stop {
        let arguments: Vec<String> = stack.top(op.argument_count()).unwrap_or_default().iter().map(brief).collect();
        let depth = 2 * DEPTH.get();
        println!("{:depth$}{op}({})", "", arguments.join(", "));
        println!("{:depth$}  {} {}", "", stop.key, stop.kernels.join(" or "));
    }
    let deeper = usize::from(stop.is_some());
    DEPTH.set(DEPTH.get() + deeper);
    let result = op.redispatch_boxed(keys, stack);
    DEPTH.set(DEPTH.get() - deeper);
    result
}

/// The cell of the operator's table that a call with these keys reaches.
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

fn brief(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => format!("{}{:?}", tensor.dtype(), tensor.sizes()),
        other => format!("{other:?}"),
    }
}
