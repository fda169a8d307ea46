//! What is known of an elementwise kernel apart from any call: the loop over one row, and the dtypes on either side of it.
//!
//! It is the kernel's own loop, so that whoever runs it by parts, as a [pass](super::pass) does, gets what the kernel gives.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

use std::array::from_fn;

use dispatch_runtime::{DType, Key, Location, Operation, Operator, Scalar, Tensor, Value, keys};

use super::lanes::{Narrow, Way};
use super::{Cheap, Lanes, Loops, Rule};
use crate::convert::conversion;

/// The loop of a kernel, over elements that lie side by side in the dtype that it computes in.
pub(crate) struct Row {
    pub(super) results: DType,
    /// What it is for a run in registers, with its numbers.
    pub(super) cheap: Option<(Cheap, Vec<Scalar>)>,
    pub(super) run: Box<Run>,
}

/// Results, inputs, how many elements there are, and whether all inputs but the first are numbers.
type Run = dyn Fn(*mut u8, &[*const u8], usize, bool) + Send + Sync;

impl Row {
    #[cold]
    pub(super) fn new<const N: usize>(
        results: DType,
        row: impl Fn(*mut u8, [*const u8; N], usize, bool) + Send + Sync + 'static,
    ) -> Self {
        let run = move |out, inputs: &[_], count, numbers| row(out, from_fn(|i| inputs[i]), count, numbers);
        Self { results, cheap: None, run: Box::new(run) }
    }

    /// Computes `count` elements, one at least; `numbers` where all inputs but the first are one number each.
    ///
    /// # Safety
    ///
    /// There are as many inputs as the loop has, each of `count` elements unless it is a number, and room for as many results, which are
    /// in no input.
    #[inline]
    pub(super) unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize, numbers: bool) {
        (self.run)(out, inputs, count, numbers);
    }
}

/// A kernel's loop with the arguments of one call bound to it, but for elements.
pub(crate) struct Bound {
    pub(super) row: Row,
    /// How elements of each input reach the loop.
    pub(super) inputs: Vec<Way>,
    /// How results leave it.
    pub(super) out: Way,
    pub(super) dtype: DType,
}

impl Bound {
    /// The loop that a fresh result of `O` is computed by; none where it has none for these dtypes.
    pub(crate) fn of<O: Operation, const N: usize>(inputs: [&Tensor; N], loops: Loops<'_, N>) -> Option<Self> {
        Rule::of::<O>().bound(inputs, loops)
    }

    /// Elements in another dtype.
    pub(crate) fn conversion(from: DType, to: DType) -> Self {
        let convert = conversion(from, to);
        let (from_step, to_step) = (from.size().cast_signed(), to.size().cast_signed());
        // SAFETY: whoever runs a row says that there are `count` elements at either end.
        let row = move |out, [input]: [_; 1], count, _| unsafe { convert(input, from_step, out, to_step, count) };
        let (way, out) = (Way::of_input(from, from, None, false), Way::of_result(to, to, None));
        Self { row: Row::new(to, row), inputs: vec![way], out, dtype: to }
    }
}

impl Rule {
    fn bound<const N: usize>(self, inputs: [&Tensor; N], loops: Loops<'_, N>) -> Option<Bound> {
        let common = self.dtype.computes_in(&inputs);
        let dtype = self.dtype.gives(common);
        let row = |computed| {
            let (mut row, mut kept) = (None, None);
            loops(computed, &mut Lanes::Row(&mut row, &mut kept)).ok()?;
            row.map(|row| (computed, row, kept))
        };
        let are_few = super::are_few(common, inputs.iter().map(|input| input.dtype()));
        let few = if are_few { row(super::FEW) } else { None };
        let (computed, row, kept) = few.or_else(|| row(crate::convert::computed_in(common)))?;
        let narrow = Narrow::between(computed, common);
        let way = |(i, input): (usize, &&Tensor)| {
            let is_kept = kept == Some(i) && input.geometry().count() == 1;
            Way::of_input(input.dtype(), computed, narrow, is_kept)
        };
        let inputs = inputs.iter().enumerate().map(way).collect();
        let out = Way::of_result(dtype, row.results, narrow.filter(|_| row.results == computed));
        Some(Bound { row, inputs, out, dtype })
    }
}

/// What this backend knows of an operator that can be a part of a pass.
pub(crate) struct Fusible {
    /// Its kernel is in the same file.
    location: Location,
    /// The loop for these arguments, whose tensors are of the dtypes and ranks that there will be, of one element where these are, and of zeros.
    bind: fn(&mut [Value]) -> Option<Bound>,
}

impl Fusible {
    pub(crate) const fn new(location: Location, bind: fn(&mut [Value]) -> Option<Bound>) -> Self {
        Self { location, bind }
    }

    /// The loop of a call, where its kernel would be the one that is known here.
    pub(super) fn bound(operator: &Operator, arguments: &mut [Value]) -> Option<Bound> {
        const HERE: Key = keys::CPU;
        let known = operator.rule::<Self>()?;
        let active = operator.registrations().into_iter().filter(|kernel| kernel.is_active && kernel.site.key == HERE);
        let is_known = active.map(|kernel| kernel.site.location.file()).all(|file| file == known.location.file());
        if is_known { (known.bind)(arguments) } else { None }
    }
}

/// Says how arguments of an operator are bound to the loop of its kernel: `|this: &Tensor, min: Option<&Tensor>| ..`.
macro_rules! fusible {
    ($name:ident |$($argument:ident: $ty:ty),+| $body:expr) => {
        const _: () = {
            static __FUSIBLE: $crate::elementwise::Fusible = $crate::elementwise::Fusible::new(
                ::dispatch_runtime::Location::new(file!(), line!()),
                |arguments| {
                    let [$($argument),+] = arguments else { return None };
                    $(let $argument: $ty = ::dispatch_runtime::Argument::from_value($argument)?;)+
                    $body
                },
            );
            static __RULE: ::dispatch_runtime::RuleRecord = ::dispatch_runtime::RuleRecord::new(
                <aten::$name as ::dispatch_runtime::Operation>::operator,
                &__FUSIBLE,
                ::dispatch_runtime::Location::new(file!(), line!()),
            );
            ::dispatch_runtime::__submit! { ::dispatch_runtime::__private::Record::Rule(&__RULE) }
        };
    };
}
pub(crate) use fusible;
