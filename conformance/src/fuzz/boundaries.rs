//! Boundary values: numbers, strings and dtypes that often reveal mistakes.

use dispatch_checks::plumbing::HOST_DEVICE;
use dispatch_runtime::{Complex64, DType, Device, Generator, Layout, MemoryFormat, Scalar, Str, Value};

use super::random::Random;

const BOUNDARY_INTEGERS: [i64; 26] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    5,
    7,
    63,
    64,
    65,
    -9,
    1 << 12,
    1 << 31,
    (1 << 31) - 1,
    -(1 << 31),
    1 << 32,
    1 << 40,
    1 << 61,
    1 << 62,
    -(1 << 62),
    i64::MAX,
    i64::MAX - 1,
    i64::MIN,
    i64::MIN + 1,
    -i64::MAX,
];

const BOUNDARY_FLOATS: [f64; 21] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    1e-300,
    -1e-300,
    1e300,
    -1e300,
    5e-324,
    1e-8,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    9_223_372_036_854_775_807.0,
    -9_223_372_036_854_775_808.0,
    2_147_483_648.0,
    1e10,
    f64::MAX,
];

/// Sizes that are too large for any memory, and sizes just below such limits.
pub(super) const HUGE_SIZES: [i64; 9] =
    [1 << 31, (1 << 31) - 1, 1 << 32, 1 << 40, 1 << 60, 1 << 62, (1 << 62) - 1, i64::MAX, i64::MAX - 1];

/// String arguments that operators accept, and some that no operator accepts.
const ARGUMENT_STRINGS: [&str; 24] = [
    "",
    "none",
    "mean",
    "sum",
    "floor",
    "trunc",
    "constant",
    "reflect",
    "replicate",
    "circular",
    "linear",
    "lower",
    "higher",
    "midpoint",
    "nearest",
    "amax",
    "amin",
    "prod",
    "tanh",
    "ij",
    "xy",
    "fro",
    "nuc",
    "µ",
];

pub(super) fn draw_integer(random: &mut Random) -> i64 {
    random.pick(&BOUNDARY_INTEGERS)
}

pub(super) fn draw_float(random: &mut Random) -> f64 {
    random.pick(&BOUNDARY_FLOATS)
}

pub(super) fn draw_scalar(random: &mut Random) -> Scalar {
    match random.draw_below(8) {
        0 => Scalar::Bool(random.true_with_percent(50)),
        1..=3 => Scalar::Int(draw_integer(random)),
        4..=6 => Scalar::Float(draw_float(random)),
        _ => Scalar::Complex(Complex64::new(draw_float(random), draw_float(random))),
    }
}

/// Draws one to four elements of a tensor.
pub(super) fn draw_elements(random: &mut Random, dtype: DType) -> Vec<Scalar> {
    let count = 1 + random.draw_below(4);
    let one = |random: &mut Random| if dtype.is_integral() { draw_integer(random).into() } else { draw_scalar(random) };
    (0..count).map(|_| one(random)).collect()
}

pub(super) fn draw_string(random: &mut Random) -> Str {
    random.pick(&ARGUMENT_STRINGS).into()
}

pub(super) fn draw_dtype(random: &mut Random) -> DType {
    random.pick(&DType::ALL)
}

pub(super) fn draw_layout(random: &mut Random) -> Value {
    let layout = Layout::from_number(if random.true_with_percent(70) { 0 } else { random.draw_between(0, 6) });
    layout.map_or(Value::None, Value::from)
}

pub(super) fn draw_memory_format(random: &mut Random) -> Value {
    MemoryFormat::from_number(random.draw_between(0, 3)).map_or(Value::None, Value::from)
}

pub(super) fn draw_device(random: &mut Random) -> Device {
    let device = if random.true_with_percent(50) { HOST_DEVICE } else { Device::META };
    if random.true_with_percent(90) { device } else { device.with_index(3).unwrap_or(device) }
}

/// Draws a value of any kind except tensors.
pub(super) fn draw_value(random: &mut Random) -> Value {
    let count = random.pick(&[0, 1, 2, 3, 4, 5, 70]);
    match random.draw_below(15) {
        0 => Value::None,
        1 => random.true_with_percent(50).into(),
        2 => draw_integer(random).into(),
        3 => draw_float(random).into(),
        4 => Value::from(draw_scalar(random)),
        5 => draw_string(random).into(),
        6 => (0..count).map(|_| draw_integer(random)).collect::<Vec<_>>().into(),
        7 => (0..count).map(|_| draw_float(random)).collect::<Vec<_>>().into(),
        8 => (0..count).map(|_| random.true_with_percent(50)).collect::<Vec<_>>().into(),
        9 => (0..count).map(|_| draw_scalar(random)).collect::<Vec<_>>().into(),
        10 => (0..count).map(|_| draw_string(random)).collect::<Vec<_>>().into(),
        11 => draw_dtype(random).into(),
        12 => draw_device(random).into(),
        13 => Generator::new(HOST_DEVICE, 0).into(),
        _ => Value::List(vec![Value::None, draw_integer(random).into()].into()),
    }
}
