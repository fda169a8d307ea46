//! Boundary values: numbers, strings and dtypes that often reveal mistakes.

use dispatch_runtime::{Complex64, DType, Device, Generator, Layout, MemoryFormat, Scalar, Str, Value};

use super::random::Random;
use crate::tensors::HOST;

const INTEGERS: [i64; 26] = [
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

const FLOATS: [f64; 21] = [
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
const STRINGS: [&str; 24] = [
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

pub(super) fn integer(random: &mut Random) -> i64 {
    random.pick(&INTEGERS)
}

pub(super) fn float(random: &mut Random) -> f64 {
    random.pick(&FLOATS)
}

pub(super) fn scalar(random: &mut Random) -> Scalar {
    match random.below(8) {
        0 => Scalar::Bool(random.percent(50)),
        1..=3 => Scalar::Int(integer(random)),
        4..=6 => Scalar::Float(float(random)),
        _ => Scalar::Complex(Complex64::new(float(random), float(random))),
    }
}

/// Draws one to four elements of a tensor.
pub(super) fn elements(random: &mut Random, dtype: DType) -> Vec<Scalar> {
    let count = 1 + random.below(4);
    let one = |random: &mut Random| if dtype.is_integral() { integer(random).into() } else { scalar(random) };
    (0..count).map(|_| one(random)).collect()
}

pub(super) fn string(random: &mut Random) -> Str {
    random.pick(&STRINGS).into()
}

pub(super) fn dtype(random: &mut Random) -> DType {
    random.pick(&DType::ALL)
}

pub(super) fn layout(random: &mut Random) -> Value {
    let layout = Layout::from_number(if random.percent(70) { 0 } else { random.between(0, 6) });
    layout.map_or(Value::None, Value::from)
}

pub(super) fn memory_format(random: &mut Random) -> Value {
    MemoryFormat::from_number(random.between(0, 3)).map_or(Value::None, Value::from)
}

pub(super) fn device(random: &mut Random) -> Device {
    let device = if random.percent(50) { HOST } else { Device::META };
    if random.percent(90) { device } else { device.with_index(3).unwrap_or(device) }
}

/// Draws a value of any kind except tensors.
pub(super) fn any_value(random: &mut Random) -> Value {
    let count = random.pick(&[0, 1, 2, 3, 4, 5, 70]);
    match random.below(15) {
        0 => Value::None,
        1 => random.percent(50).into(),
        2 => integer(random).into(),
        3 => float(random).into(),
        4 => Value::from(scalar(random)),
        5 => string(random).into(),
        6 => (0..count).map(|_| integer(random)).collect::<Vec<_>>().into(),
        7 => (0..count).map(|_| float(random)).collect::<Vec<_>>().into(),
        8 => (0..count).map(|_| random.percent(50)).collect::<Vec<_>>().into(),
        9 => (0..count).map(|_| scalar(random)).collect::<Vec<_>>().into(),
        10 => (0..count).map(|_| string(random)).collect::<Vec<_>>().into(),
        11 => dtype(random).into(),
        12 => device(random).into(),
        13 => Generator::new(HOST, 0).into(),
        _ => Value::List(vec![Value::None, integer(random).into()].into()),
    }
}
