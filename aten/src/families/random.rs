//! Tensors filled with random numbers.
//!
//! A kernel reserves blocks of the generator's stream, and every number is a function of its place there, so that a call gives the same
//! numbers on every backend and with any number of threads: see [`Generator::GROUP`](dispatch_runtime::Generator::GROUP).

mod bernoulli;
mod distributions;
mod dropout;
mod integers;
mod multinomial;
mod rand;
mod randint;
mod rrelu;
mod tensor_parameters;

use dispatch_runtime::{BadArgument, DTypes, Expected, Plan, Scalar, Spec, Tensor};

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{
        bernoulli::*, distributions::*, dropout::*, integers::*, multinomial::*, rand::*, randint::*, rrelu::*,
        tensor_parameters::*,
    };
}

/// The plan of a tensor that is as another one, and filled.
fn filled<V>(this: &Tensor, value: V) -> Plan<V> {
    Plan::new(value, [Spec::like(this, this.dtype())])
}

/// Makes sure that a tensor holds numbers with a fraction.
fn check_fraction(this: &Tensor, complex: bool) -> Result<(), BadArgument> {
    let expected = if complex { DTypes::FloatingOrComplex } else { DTypes::Floating };
    if this.dtype().is_floating() || complex && this.dtype().is_complex() {
        Ok(())
    } else {
        Err(BadArgument::dtype("self", this.dtype(), expected))
    }
}

/// Makes sure that a number is inside of what it may be; not-a-number never is.
fn within(argument: &'static str, value: f64, fits: bool, expected: Expected<Scalar>) -> Result<(), BadArgument> {
    if fits { Ok(()) } else { Err(BadArgument::number(argument, value, expected)) }
}
