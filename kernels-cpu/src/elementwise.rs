//! The elementwise engine.
//!
//! An operator brings a small function of elements; the engine brings the rest: broadcasting, strides, type promotion, results that are
//! fresh, given or in place, threads, and the instruction set. The function is compiled for the few types that loops compute in (see
//! [`convert`](crate::convert)). Operands of other types, other strides, or that are written in place pass through a block of the
//! cache's size, so there is one loop for each operator and type, and it is always the packed one.

mod lanes;
pub(crate) mod plan;

use dispatch_runtime::{
    BadArgument, DType, Error, ErrorKind, Operands, Operation, Operator, Promotion, Result, Shape, Spec, Tensor,
};

pub(crate) use lanes::Lanes;
use plan::Plan;

/// How an operator treats elements: runs its loop for a type to compute in, or names the types that it has loops for.
pub(crate) type Loops<'a, const N: usize> = &'a dyn Fn(DType, &mut Lanes<'_, N>) -> Result<(), &'static [DType]>;

/// Computes a fresh tensor.
#[inline]
pub(crate) fn fresh<O: Operation, const N: usize>(inputs: [&Tensor; N], loops: Loops<'_, N>) -> Result<Tensor> {
    Rule::of::<O>().fresh(inputs, loops)
}

/// Computes into a tensor of the caller's.
#[inline]
pub(crate) fn into<O: Operation, const N: usize>(
    out: &mut Tensor,
    inputs: [&Tensor; N],
    loops: Loops<'_, N>,
) -> Result<()> {
    Rule::of::<O>().into(out, inputs, loops)
}

/// Computes into one of the inputs: `inputs` is given the tensor that is written.
#[inline]
pub(crate) fn in_place<'a, O: Operation, const N: usize>(
    this: &'a mut Tensor,
    inputs: impl FnOnce(&'a Tensor) -> [&'a Tensor; N],
    loops: Loops<'_, N>,
) -> Result<()> {
    let mut all = None;
    let operands = Operands::in_place("self", this, |this| numbered(*all.insert(inputs(this))));
    match all {
        Some(inputs) => Rule::of::<O>().in_place(operands, inputs, loops),
        None => Ok(()),
    }
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

    fn fresh<const N: usize>(self, inputs: [&Tensor; N], loops: Loops<'_, N>) -> Result<Tensor> {
        let computed = self.dtype.computes_in(&inputs);
        let dtype = self.dtype.gives(computed);
        let spec = if same_and_contiguous(&inputs) {
            Spec::contiguous(dtype, inputs[0].sizes())
        } else {
            self.spec(&inputs, dtype)?
        };
        let mut out = spec.on(inputs[0].device())?;
        let operands = Operands::take([("out", &mut out)], numbered(inputs)).map_err(|error| self.named(error))?;
        self.run(&operands, computed, loops)?;
        drop(operands);
        Ok(out)
    }

    fn into<const N: usize>(self, out: &mut Tensor, inputs: [&Tensor; N], loops: Loops<'_, N>) -> Result<()> {
        let computed = self.dtype.computes_in(&inputs);
        if let Some(spec) = self.misfit(&inputs, computed, out)? {
            spec.fit("out", out)?;
        }
        let operands = Operands::take([("out", out)], numbered(inputs)).map_err(|error| self.named(error))?;
        self.run(&operands, computed, loops)
    }

    fn in_place<const N: usize>(
        self,
        operands: Result<Operands<'_, 1, N>>,
        inputs: [&Tensor; N],
        loops: Loops<'_, N>,
    ) -> Result<()> {
        let operands = operands.map_err(|error| self.named(error))?;
        let computed = self.dtype.computes_in(&inputs);
        let this = operands.written()[0].tensor();
        if let Some(spec) = self.misfit(&inputs, computed, this)? {
            spec.fit("self", &mut this.clone())?;
        }
        self.run(&operands, computed, loops)
    }

    /// The result, if `out` does not obviously have its sizes and dtype.
    fn misfit(self, inputs: &[&Tensor], computed: DType, out: &Tensor) -> Result<Option<Spec>> {
        let dtype = self.dtype.gives(computed);
        let obvious = dtype == out.dtype() && inputs.iter().all(|input| input.sizes() == out.sizes());
        if obvious { Ok(None) } else { self.spec(inputs, dtype).map(Some) }
    }

    fn spec(self, inputs: &[&Tensor], dtype: DType) -> Result<Spec> {
        Spec::pointwise(inputs, dtype).map_err(|error| self.named(error.into()))
    }

    fn run<const N: usize>(self, operands: &Operands<'_, 1, N>, computed: DType, loops: Loops<'_, N>) -> Result<()> {
        let looped = crate::convert::computed_in(computed);
        match loops(looped, &mut Lanes::new(operands, looped)) {
            Ok(()) => Ok(()),
            Err(supported) => {
                let operator = (self.operator)().name();
                Err(ErrorKind::UnsupportedDType { operator, argument: "self", dtype: computed, supported }.into())
            }
        }
    }

    /// Calls an operand, which the engine knows by its number, by its name.
    #[cold]
    fn named(self, error: Error) -> Error {
        let operator = (self.operator)();
        let bad = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<BadArgument>());
        let argument = bad.and_then(|bad| {
            let Some(Shape::Pointwise { operands, .. }) = operator.shape() else { return None };
            let operand = operands.get(bad.argument.parse::<usize>().ok()?)?;
            operator.schema().arguments.get(*operand)
        });
        match (bad, argument) {
            (Some(bad), Some(argument)) => BadArgument::new(argument.name.clone(), bad.problem.clone()).into(),
            _ => error,
        }
    }
}

/// Operands that errors know by number.
#[inline(always)]
fn numbered<const N: usize>(inputs: [&Tensor; N]) -> [(&'static str, &Tensor); N] {
    const NUMBERS: [&str; 6] = ["0", "1", "2", "3", "4", "5"];
    let mut i = 0;
    inputs.map(|input| {
        i += 1;
        (NUMBERS[i - 1], input)
    })
}

#[inline]
fn same_and_contiguous(inputs: &[&Tensor]) -> bool {
    let [first, rest @ ..] = inputs else { return false };
    first.geometry().is_contiguous()
        && rest.iter().all(|input| input.geometry().is_contiguous() && input.sizes() == first.sizes())
}

/// Elementwise operators, a line each: the names of its three forms, the types that it has a loop for, its arguments - tensors, then
/// numbers - and what it does with elements.
macro_rules! elementwise {
    ($($name:ident $in_place:ident $out:ident $types:tt $arguments:tt => |$elements:pat_param| $body:expr;)*) => {
        $($crate::elementwise::elementwise! { @one $name $in_place $out $types $arguments $arguments $elements, $body })*
    };
    (@one
        $name:ident $in_place:ident $out:ident [$($ty:ident)+] $arguments:tt
        ($first:ident $(, $rest:ident)* $(; $($number:ident: $number_ty:ty),+)?) $elements:pat_param, $body:expr
    ) => {
        const _: () = {
            use ::dispatch_runtime::{DType, Element, Result, Tensor, op_impl};

            const INPUTS: usize = [stringify!($first) $(, stringify!($rest))*].len();

            fn loops(
                $($($number: $number_ty),+)?
            ) -> impl Fn(DType, &mut $crate::elementwise::Lanes<'_, INPUTS>) -> Result<(), &'static [DType]> {
                move |dtype, lanes| {
                    $(if dtype == <$ty as Element>::DTYPE {
                        $crate::elementwise::elementwise! { @numbers $ty $arguments }
                        lanes.run::<$ty, _>(#[inline(always)] move |$elements: [$ty; INPUTS]| $body);
                        return Ok(());
                    })+
                    Err(&[$(<$ty as Element>::DTYPE),+])
                }
            }

            #[op_impl(aten::$name, CPU)]
            fn $name($first: &Tensor $(, $rest: &Tensor)* $($(, $number: $number_ty)+)?) -> Result<Tensor> {
                $crate::elementwise::fresh::<aten::$name, _>([$first $(, $rest)*], &loops($($($number),+)?))
            }

            #[op_impl(aten::$in_place, CPU)]
            fn $in_place($first: &mut Tensor $(, $rest: &Tensor)* $($(, $number: $number_ty)+)?) -> Result<()> {
                $crate::elementwise::in_place::<aten::$name, _>($first, |$first| [$first $(, $rest)*], &loops($($($number),+)?))
            }

            #[op_impl(aten::$out, CPU)]
            fn $out($first: &Tensor $(, $rest: &Tensor)* $($(, $number: $number_ty)+)?, out: &mut Tensor) -> Result<()> {
                $crate::elementwise::into::<aten::$name, _>(out, [$first $(, $rest)*], &loops($($($number),+)?))
            }
        };
    };
    (@numbers $ty:ident ($($tensor:ident),+)) => {};
    (@numbers $ty:ident ($($tensor:ident),+; $($number:ident: $number_ty:ty),+)) => {
        $(let $number = <$ty as $crate::compute::Compute>::from_scalar($number.into());)+
    };
}
pub(crate) use elementwise;
