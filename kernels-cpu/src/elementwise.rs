//! The elementwise engine.
//!
//! An operator brings a small function of elements; the engine brings the rest: broadcasting, strides, type promotion, results that are
//! fresh, given or in place, threads, and the instruction set. The function is compiled for the few types that loops compute in (see
//! [`convert`](crate::convert)). Operands of other types, other strides, or that are written in place pass through a block of the
//! cache's size, so there is one loop for each operator and type, and it is always the packed one.

mod lanes;
mod plan;

use dispatch_runtime::{BadArgument, DType, Error, ErrorKind, Operation, Operator, Promotion, Result, Shape, Spec, Tensor, operands};

pub(crate) use lanes::Lanes;
use plan::Plan;

/// How an operator treats elements: runs its loop for a type to compute in, and says whether it has one.
pub(crate) type Loops<'a, const N: usize> = &'a dyn Fn(DType, &mut Lanes<'_, N>) -> bool;

/// Computes a fresh tensor.
#[inline]
pub(crate) fn fresh<O: Operation, const N: usize>(inputs: [&Tensor; N], loops: Loops<'_, N>) -> Result<Tensor> {
    let rule = Rule::of::<O>();
    let spec = rule.spec(&inputs)?;
    let mut out = spec.on(inputs[0].device())?;
    rule.run(&mut out, "out", inputs, loops)?;
    Ok(out)
}

/// Computes into a tensor of the caller's.
#[inline]
pub(crate) fn into<O: Operation, const N: usize>(out: &mut Tensor, inputs: [&Tensor; N], loops: Loops<'_, N>) -> Result<()> {
    let rule = Rule::of::<O>();
    rule.check(&inputs, "out", out)?;
    rule.run(out, "out", inputs, loops)
}

/// Computes into the first input.
#[inline]
pub(crate) fn in_place<O: Operation, const N: usize>(this: &mut Tensor, inputs: [&Tensor; N], loops: Loops<'_, N>) -> Result<()> {
    let rule = Rule::of::<O>();
    rule.check(&inputs, "self", this)?;
    rule.run(this, "self", inputs, loops)
}

/// What an operator says about its result.
#[derive(Clone, Copy)]
struct Rule {
    dtype: Promotion,
    operator: fn() -> &'static Operator,
}

impl Rule {
    #[inline(always)]
    fn of<O: Operation>() -> Self {
        let dtype = const {
            match O::SHAPE {
                Some(Shape::Pointwise { dtype, .. }) => dtype,
                _ => panic!("an elementwise kernel serves an operator with `shape = pointwise`"),
            }
        };
        Self { dtype, operator: O::operator }
    }

    fn spec(self, inputs: &[&Tensor]) -> Result<Spec> {
        let dtype = self.dtype.of(inputs);
        if same_and_contiguous(inputs) {
            return Ok(Spec::contiguous(dtype, inputs[0].sizes()));
        }
        Spec::pointwise(inputs, dtype).map_err(|error| self.named(error))
    }

    /// Makes sure that the result fits into `out`.
    fn check(self, inputs: &[&Tensor], argument: &'static str, out: &mut Tensor) -> Result<()> {
        let dtype = self.dtype.of(inputs);
        if dtype == out.dtype() && inputs.iter().all(|input| input.sizes() == out.sizes()) {
            return Ok(());
        }
        Spec::pointwise(inputs, dtype).map_err(|error| self.named(error))?.fit(argument, out)
    }

    /// Calls an operand, which the shape rule knows by its number, by its name.
    #[cold]
    fn named(self, error: BadArgument) -> Error {
        let operator = (self.operator)();
        let operand = error.argument.parse().ok().and_then(|i: usize| match operator.shape() {
            Some(Shape::Pointwise { operands, .. }) => operator.schema().arguments.get(*operands.get(i)?),
            _ => None,
        });
        match operand {
            Some(argument) => BadArgument::new(argument.name.clone(), error.problem).into(),
            None => error.into(),
        }
    }

    fn run<const N: usize>(self, out: &mut Tensor, name: &'static str, inputs: [&Tensor; N], loops: Loops<'_, N>) -> Result<()> {
        let computed = crate::convert::computed_in(self.dtype.computes_in(&inputs));
        let operands = dispatch_runtime::Operands::take([(name, out)], inputs.map(|input| ("self", input)))?;
        let mut lanes = Lanes::new(&operands, computed);
        if loops(computed, &mut lanes) { Ok(()) } else { Err(self.unsupported(inputs[0], loops)) }
    }

    #[cold]
    fn unsupported<const N: usize>(self, first: &Tensor, _: Loops<'_, N>) -> Error {
        let operator = (self.operator)().name();
        ErrorKind::UnsupportedDType { operator, argument: "self", dtype: first.dtype(), supported: &[] }.into()
    }
}

#[inline]
fn same_and_contiguous(inputs: &[&Tensor]) -> bool {
    let [first, rest @ ..] = inputs else { return false };
    first.geometry().is_contiguous()
        && rest.iter().all(|input| input.geometry().is_contiguous() && input.sizes() == first.sizes())
}
