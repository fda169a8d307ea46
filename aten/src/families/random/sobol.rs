//! Sobol sequences: low-discrepancy sequences of points, by Gray codes.
//!
//! The state of an engine is a matrix with a row of 30 direction numbers for each dimension of the points. Point `k` is the exclusive or of
//! the direction numbers at the bits of the Gray code of `k`.

use std::iter;

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::check_same_device;
use crate::prelude::*;

/// The number of bits of a coordinate, which is also the number of direction numbers of a dimension.
const BITS: i64 = 30;

/// The number of direction numbers of a dimension, as a size.
const DIRECTION_COUNT: usize = 30;

/// The number of primitive polynomials of each degree, from 1. There is a dimension for each polynomial, and one before them.
const POLYNOMIAL_COUNTS: [usize; 18] = [1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776];

/// The number of dimensions of a sequence.
const MAX_DIMENSION: i64 = 21_201;

/// The direction numbers of Joe and Kuo (2008), which `conformance/golden/write_sobol_directions.py` packs. For each polynomial there are its
/// inner coefficients and its direction numbers, without their last bits, which are 1.
static PACKED_DIRECTIONS: &[u8] = include_bytes!("sobol_directions.bin");

/// Writes the direction numbers of the first `dimension` dimensions to the state of an engine.
#[op_def("_sobol_engine_initialize_state_(Tensor(a!) self, int dimension) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn _sobol_engine_initialize_state_(_: ...) -> Result<()> {
    check_initial_state(this, dimension)?;
    let directions = Tensor::from(direction_numbers(usize::try_from(dimension).unwrap_or(0)));
    crate::copy_(&mut this.narrow(1, 0, BITS)?, &directions.reshape([dimension, BITS])?, false)
}

#[op_meta(_sobol_engine_initialize_state_)]
fn initialize_state_meta(_: ...) -> Result<()> {
    Ok(check_initial_state(this, dimension)?)
}

fn check_initial_state(this: &Tensor, dimension: i64) -> Result<(), BadArgument> {
    check_state("self", this, dimension)?;
    if dimension > MAX_DIMENSION || this.sizes()[0] != dimension {
        let rows = this.sizes()[0].min(MAX_DIMENSION);
        return Err(BadArgument::number("dimension", dimension, rows).because("`self` has this number of rows"));
    }
    Ok(())
}

/// Returns the direction numbers of the first dimensions.
fn direction_numbers(dimensions: usize) -> Vec<i64> {
    let degrees = POLYNOMIAL_COUNTS.iter().zip(1..).flat_map(|(&count, degree)| iter::repeat_n(degree, count));
    let mut packed = PACKED_DIRECTIONS.iter().flat_map(|byte| (0..8).rev().map(move |bit| i64::from(byte >> bit & 1)));
    let mut next_number = |bits: usize| packed.by_ref().take(bits).fold(0, |number, bit| number << 1 | bit);
    let mut rows: Vec<i64> = (0..BITS).rev().map(|bit| 1 << bit).collect();
    for degree in degrees.take(dimensions - 1) {
        let coefficients = next_number(degree - 1);
        let mut numbers: Vec<i64> = (0..degree).map(|bits| next_number(bits) << 1 | 1).collect();
        for at in degree..DIRECTION_COUNT {
            let earliest = numbers[at - degree];
            let terms = (1..degree).filter(|k| coefficients >> (degree - 1 - k) & 1 == 1);
            let number = terms.fold(earliest ^ earliest << degree, |sum, k| sum ^ numbers[at - k] << k);
            numbers.push(number);
        }
        rows.extend(numbers.into_iter().zip((0..BITS).rev()).map(|(number, bit)| number << bit));
    }
    rows
}

/// Draws the next `n` points after the first `num_generated` ones. `quasi` is the current point. Also returns the new current point.
#[op_def(
    "_sobol_engine_draw(Tensor quasi, int n, Tensor sobolstate, int dimension, int num_generated, ScalarType? dtype) -> (Tensor, Tensor)"
)]
pub fn _sobol_engine_draw(_: ...) -> Result<(Tensor, Tensor)> {
    let dtype = dtype.unwrap_or(DType::F32);
    if ![DType::F32, DType::F64].contains(&dtype) {
        return Err(BadArgument::dtype("dtype", dtype, "float32 or float64").into());
    }
    check_current_point("quasi", quasi, sobolstate, dimension)?;
    check_range_of_points(n, num_generated)?;
    if n == 0 {
        return Ok((Tensor::empty([0, dimension], (dtype, quasi.device()))?, crate::clone(quasi, None)?));
    }
    let numbers = crate::arange_start(
        (num_generated + 1).into(),
        (num_generated + n + 1).into(),
        Some(DType::I64),
        None,
        Some(quasi.device()),
        None,
    )?;
    let passed = numbers.bitwise_xor(&numbers.bitwise_right_shift(1)?)?.bitwise_xor(gray_code(num_generated))?;
    let mut points = quasi.unsqueeze(0)?.expand([n, dimension])?;
    for bit in 0..bits_up_to(num_generated + n) {
        let is_set = passed.bitwise_right_shift(bit)?.bitwise_and(1)?.unsqueeze(1)?;
        let direction = sobolstate.select(1, bit)?.narrow(0, 0, dimension)?;
        points = points.bitwise_xor(&(is_set * direction)?)?;
    }
    let current = crate::clone(&points.select(0, -1)?, None)?;
    Ok(((points.to(dtype)? * 2.0_f64.powi(-30))?, current))
}

/// Moves the current point of an engine over `n` points, after the first `num_generated` ones.
#[op_def(
    "_sobol_engine_ff_(Tensor(a!) self, int n, Tensor sobolstate, int dimension, int num_generated) -> Tensor(a!)"
)]
pub fn _sobol_engine_ff_(_: ...) -> Result<()> {
    check_current_point("self", this, sobolstate, dimension)?;
    check_range_of_points(n, num_generated)?;
    let passed = gray_code(num_generated) ^ gray_code(num_generated + n);
    for bit in (0..BITS).filter(|bit| passed >> bit & 1 == 1) {
        let direction = sobolstate.select(1, bit)?.narrow(0, 0, dimension)?;
        crate::bitwise_xor_(this, &direction)?;
    }
    Ok(())
}

/// Scrambles the direction numbers of each dimension by a matrix of bits of `ltm`, whose diagonal is replaced by ones.
#[op_def("_sobol_engine_scramble_(Tensor(a!) self, Tensor ltm, int dimension) -> Tensor(a!)")]
pub fn _sobol_engine_scramble_(_: ...) -> Result<()> {
    check_state("self", this, dimension)?;
    check_same_device([("self", &*this), ("ltm", ltm)])?;
    if ltm.sizes() != [dimension, BITS, BITS] {
        return Err(BadArgument::sizes("ltm", ltm.sizes(), &[dimension, BITS, BITS][..]).into());
    }
    let options = (DType::I64, this.device());
    let shifts = Tensor::arange(0..BITS, options)?.flip(0)?;
    let unit = Tensor::eye(BITS, (DType::Bool, this.device()))?;
    // A row of the matrix is a number, whose first bit is the highest one.
    let rows = (ltm.to(DType::I64)?.masked_fill(&unit, 1)?.bitwise_left_shift(&shifts)?).sum_dims(-1)?;
    let bits = |numbers: &Tensor| {
        let bits = numbers.unsqueeze(-1)?.bitwise_right_shift(&shifts)?.bitwise_and(1)?;
        bits.to(DType::F32)
    };
    let directions = this.narrow(0, 0, dimension)?.narrow(1, 0, BITS)?;
    // Sums of 30 bits are exact.
    let products = (bits(&directions)?.unsqueeze(2)? * bits(&rows)?.unsqueeze(1)?)?.sum_dims(-1)?;
    let scrambled = products.to(DType::I64)?.bitwise_and(1)?.bitwise_left_shift(&shifts)?;
    crate::copy_(&mut directions.clone(), &scrambled.sum_dims(-1)?, false)
}

fn check_state(name: &'static str, state: &Tensor, dimension: i64) -> Result<(), BadArgument> {
    if state.dtype() != DType::I64 {
        return Err(BadArgument::dtype(name, state.dtype(), DType::I64));
    }
    if dimension < 1 {
        return Err(BadArgument::number("dimension", dimension, 1..));
    }
    match state.sizes() {
        &[rows, columns] if rows >= dimension && columns >= BITS => Ok(()),
        other => Err(BadArgument::sizes(name, other, format!("at least [{dimension}, {BITS}]"))),
    }
}

/// Checks the current point of an engine, and the engine's state.
fn check_current_point(name: &'static str, point: &Tensor, state: &Tensor, dimension: i64) -> Result<(), BadArgument> {
    check_state("sobolstate", state, dimension)?;
    check_same_device([(name, point), ("sobolstate", state)])?;
    if point.dtype() != DType::I64 {
        return Err(BadArgument::dtype(name, point.dtype(), DType::I64));
    }
    if point.sizes() != [dimension] {
        return Err(BadArgument::sizes(name, point.sizes(), &[dimension][..]));
    }
    Ok(())
}

/// Checks that the numbers of the points have at most 30 bits.
fn check_range_of_points(n: i64, num_generated: i64) -> Result<(), BadArgument> {
    let end = 1 << BITS;
    if !(0..end).contains(&num_generated) {
        return Err(BadArgument::number("num_generated", num_generated, 0..=end - 1));
    }
    if !(0..end - num_generated).contains(&n) {
        return Err(BadArgument::number("n", n, 0..=end - 1 - num_generated).because("a sequence has 2^30 points"));
    }
    Ok(())
}

const fn gray_code(number: i64) -> i64 {
    number ^ number >> 1
}

/// Returns the number of bits of the numbers up to `number`.
fn bits_up_to(number: i64) -> i64 {
    i64::from(i64::BITS - number.leading_zeros())
}
