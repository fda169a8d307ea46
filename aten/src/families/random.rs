//! Random numbers: distributions, permutations, dropout.
//!
//! A kernel reserves blocks of the generator's stream, and each number is a function of its index in the stream. So a call returns the same
//! numbers on every backend and with any number of threads: see
//! [`Generator::BLOCKS_PER_GROUP`](dispatch_runtime::Generator::BLOCKS_PER_GROUP).

mod bernoulli;
mod distributions;
mod dropout;
mod integers;
mod keyed;
mod multinomial;
mod rand;
mod randint;
mod rrelu;
mod sobol;
mod tensor_parameters;

use dispatch_runtime::{BadArgument, DTypes, Expected, Plan, Scalar, Spec, Tensor};

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{
        bernoulli::*, distributions::*, dropout::*, integers::*, keyed::*, multinomial::*, rand::*, randint::*,
        rrelu::*, sobol::*, tensor_parameters::*,
    };
}

/// Returns the plan of a result that has the sizes, strides and dtype of another tensor.
fn plan_with_output_like<V>(this: &Tensor, value: V) -> Plan<V> {
    Plan::new(value, [Spec::like(this, this.dtype())])
}

/// Checks that the dtype is floating, or complex if `allow_complex` allows it.
fn check_floating(this: &Tensor, allow_complex: bool) -> Result<(), BadArgument> {
    let expected = if allow_complex { DTypes::FloatingOrComplex } else { DTypes::Floating };
    if this.dtype().is_floating() || allow_complex && this.dtype().is_complex() {
        Ok(())
    } else {
        Err(BadArgument::dtype("self", this.dtype(), expected))
    }
}

/// Refuses `value` if `fits`, the result of comparing it with the bounds, is false. NaN is refused, as its comparisons are false.
fn check_in_range(
    argument: &'static str,
    value: f64,
    fits: bool,
    expected: Expected<Scalar>,
) -> Result<(), BadArgument> {
    if fits { Ok(()) } else { Err(BadArgument::number(argument, value, expected)) }
}
