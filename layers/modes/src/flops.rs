//! `Flops`, the mode that counts floating-point operations.

mod rules;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::{Name, Result};

use crate::call::Call;
use crate::mode::Mode;
use crate::text_table::{format_percent, format_scaled, write_table};

/// Counts the floating-point operations of calls, by operator. It prints as a table.
///
/// The count follows from the operator's shape word. A pointwise operator counts one operation per element of its result, a reduction one
/// per element of its input, and a product two (a multiplication and an addition) per combination of its letters. Operators of `aten` that
/// have no shape word and compute much have rules: `addmm` and similar, convolution, attention, and their backward operators. All others
/// count as the operators that they call: a composite as its parts, and a kernel that calls no operators as nothing. Operators that only
/// move elements count nothing. A backward pass is counted where it runs.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Flops, enter};
/// use dispatch_runtime::{Result, Tensor};
///
/// # fn main() -> Result<()> {
/// let flops = enter(Flops::new());
/// let (x, w) = (Tensor::zeros([10, 20], ())?, Tensor::zeros([30, 20], ())?);
/// aten::linear(&x, &w, None)?.relu()?;
/// assert_eq!((flops.of_operator("aten::mm"), flops.total()), (2 * 10 * 20 * 30, 12_000 + 300));
/// println!("{}", *flops);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Flops {
    counts: Mutex<BTreeMap<Name<'static>, OperatorFlops>>,
}

#[derive(Clone, Copy, Default)]
struct OperatorFlops {
    calls: u64,
    flops: u64,
}

impl Flops {
    /// Creates a mode that has counted nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of operations of all calls.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.lock_counts().values().map(|count| count.flops).sum()
    }

    /// Returns the number of operations of the calls of one operator, such as `aten::mm`.
    #[must_use]
    pub fn of_operator(&self, operator: &str) -> u64 {
        Name::parse(operator).and_then(|name| self.lock_counts().get(&name).copied()).map_or(0, |count| count.flops)
    }

    fn lock_counts(&self) -> MutexGuard<'_, BTreeMap<Name<'static>, OperatorFlops>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mode for Flops {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        let Some(flops) = rules::count_flops(call.operator(), call.arguments()) else { return call.pass_on() };
        call.pass_on_hiding_inner_calls()?;
        let mut counts = self.lock_counts();
        let count = counts.entry(call.operator().name()).or_default();
        count.calls += 1;
        count.flops = count.flops.saturating_add(flops);
        Ok(())
    }
}

impl fmt::Display for Flops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let mut counts: Vec<_> = self.lock_counts().iter().map(|(name, count)| (*name, *count)).collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(count.flops));
        let row = |name: String, OperatorFlops { calls, flops }: OperatorFlops| {
            vec![name, calls.to_string(), format_scaled(flops, "FLOP"), format_percent(flops, total)]
        };
        let calls = counts.iter().map(|(_, count)| count.calls).sum();
        let rows = counts.iter().map(|(name, count)| row(name.to_string(), *count));
        let rows: Vec<_> = rows.chain([row("total".to_owned(), OperatorFlops { calls, flops: total })]).collect();
        write_table(f, &["operator", "calls", "FLOP", "share"], &rows)
    }
}
