//! The values of expressions.

use std::cmp::Ordering;

use super::Term;
use super::function::Function;
use super::quantity::{Fraction, Quantity};

impl Term {
    /// Returns the value, or `None` if there is none.
    pub(super) fn evaluate(&self, symbols: &dyn Fn(&str) -> Option<Quantity>) -> Option<Quantity> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Symbol(name) => symbols(name),
            Self::Unknown => None,
            Self::Apply(function, arguments) => {
                let values = arguments.iter().map(|argument| argument.evaluate(symbols));
                function.apply(&values.collect::<Option<Vec<_>>>()?)
            }
        }
    }
}

impl Function {
    fn apply(self, arguments: &[Quantity]) -> Option<Quantity> {
        let fold = |f: fn(Quantity, Quantity) -> Option<Quantity>| {
            let (first, rest) = arguments.split_first()?;
            rest.iter().try_fold(*first, |left, right| f(left, *right))
        };
        match (self, arguments) {
            (Self::Add, _) => fold(|a, b| combine(a, b, Fraction::add, |a, b| a + b)),
            (Self::Mul, _) => fold(|a, b| combine(a, b, Fraction::multiply, |a, b| a * b)),
            (Self::Max, _) => fold(|a, b| Some(if a.compare(b)? == Ordering::Less { b } else { a })),
            (Self::Min, _) => fold(|a, b| Some(if a.compare(b)? == Ordering::Greater { b } else { a })),
            (Self::And, _) => Some(Quantity::Bool(arguments.iter().all(|argument| argument.is_true()))),
            (Self::Or, _) => Some(Quantity::Bool(arguments.iter().any(|argument| argument.is_true()))),
            (Self::IfThenElse, [condition, then, otherwise]) => {
                Some(if condition.is_true() { *then } else { *otherwise })
            }
            (Self::ModularIndex, [a, b, c]) => modulo(floor_divide(*a, *b)?, *c),
            (_, [a]) => self.apply_to_one(*a),
            (_, [a, b]) => self.apply_to_two(*a, *b),
            _ => None,
        }
    }

    fn apply_to_one(self, a: Quantity) -> Option<Quantity> {
        let float = |f: fn(f64) -> f64| Some(Quantity::Float(f(a.as_float())));
        match self {
            Self::Not => Some(Quantity::Bool(!a.is_true())),
            Self::Neg => combine(a, Quantity::integer(-1), Fraction::multiply, |a, b| a * b),
            Self::Absolute if a.as_float() < 0.0 => Self::Neg.apply_to_one(a),
            Self::Absolute => Some(a),
            Self::Floor => round(a, Fraction::floor, f64::floor),
            Self::Ceil => round(a, ceil, f64::ceil),
            Self::Truncate => round(a, truncate, f64::trunc),
            Self::Round => round(a, round_half_to_even, f64::round_ties_even),
            Self::TruncateToFloat => float(f64::trunc),
            Self::ToFloat => float(|a| a),
            Self::Sqrt => float(f64::sqrt),
            Self::Sin => float(f64::sin),
            Self::Cos => float(f64::cos),
            Self::Tan => float(f64::tan),
            Self::Sinh => float(f64::sinh),
            Self::Cosh => float(f64::cosh),
            Self::Tanh => float(f64::tanh),
            Self::Asin => float(f64::asin),
            Self::Acos => float(f64::acos),
            Self::Atan => float(f64::atan),
            Self::Asinh => float(f64::asinh),
            Self::Exp => float(f64::exp),
            Self::Log => float(f64::ln),
            Self::Log2 => float(f64::log2),
            _ => None,
        }
    }

    fn apply_to_two(self, a: Quantity, b: Quantity) -> Option<Quantity> {
        let is = |holds: fn(Ordering) -> bool| Some(Quantity::Bool(a.compare(b).is_some_and(holds)));
        match self {
            Self::Divide | Self::TrueDivide if !b.is_true() => None,
            Self::Divide => combine(a, b, Fraction::divide, |a, b| a / b),
            Self::TrueDivide => Some(Quantity::Float(a.as_float() / b.as_float())),
            Self::FloorDivide => floor_divide(a, b),
            Self::CeilDivide => Self::Neg.apply_to_one(floor_divide(Self::Neg.apply_to_one(a)?, b)?),
            Self::Modulo => modulo(a, b),
            Self::Power => power(a, b),
            Self::FloatPower => Some(Quantity::Float(a.as_float().powf(b.as_float()))),
            Self::LeftShift => combine(a, two_to_the(b)?, Fraction::multiply, |a, b| a * b),
            Self::RightShift => floor_divide(a, two_to_the(b)?),
            Self::Equal => is(Ordering::is_eq),
            Self::NotEqual => Some(Quantity::Bool(a.compare(b) != Some(Ordering::Equal))),
            Self::Less => is(Ordering::is_lt),
            Self::LessEqual => is(Ordering::is_le),
            Self::Greater => is(Ordering::is_gt),
            Self::GreaterEqual => is(Ordering::is_ge),
            Self::BitwiseAnd => bitwise(a, b, |a, b| a & b),
            Self::BitwiseOr => bitwise(a, b, |a, b| a | b),
            Self::BitwiseXor => bitwise(a, b, |a, b| a ^ b),
            Self::RoundDecimal => round_decimal(a.as_float(), b.as_int()?),
            _ => None,
        }
    }
}

/// Computes exactly, or with floating-point numbers if one of the operands is one.
fn combine(
    a: Quantity,
    b: Quantity,
    exact: fn(Fraction, Fraction) -> Option<Fraction>,
    float: fn(f64, f64) -> f64,
) -> Option<Quantity> {
    match (a.as_fraction(), b.as_fraction()) {
        (Some(a), Some(b)) => exact(a, b).map(Quantity::Exact),
        _ => Some(Quantity::Float(float(a.as_float(), b.as_float()))),
    }
}

fn floor_divide(a: Quantity, b: Quantity) -> Option<Quantity> {
    if !b.is_true() {
        return None;
    }
    combine(a, b, |a, b| Some(Fraction::integer(a.divide(b)?.floor())), |a, b| (a / b).floor())
}

/// Returns the remainder with the sign of the divisor.
fn modulo(a: Quantity, b: Quantity) -> Option<Quantity> {
    if !b.is_true() {
        return None;
    }
    let exact = |a: Fraction, b: Fraction| {
        let whole = b.multiply(Fraction::integer(a.divide(b)?.floor()))?;
        a.add(whole.negate()?)
    };
    combine(a, b, exact, |a, b| a - b * (a / b).floor())
}

fn power(a: Quantity, b: Quantity) -> Option<Quantity> {
    if let (Some(base), Some(exponent)) = (a.as_fraction(), b.as_fraction())
        && let Some(exponent) = exponent.as_integer()
    {
        return base.power(exponent).map(Quantity::Exact);
    }
    Some(Quantity::Float(a.as_float().powf(b.as_float())))
}

fn two_to_the(exponent: Quantity) -> Option<Quantity> {
    let exponent = u32::try_from(exponent.as_int()?).ok()?;
    Some(Quantity::Exact(Fraction::integer(2_i128.checked_pow(exponent)?)))
}

/// Rounds to an integer.
fn round(a: Quantity, exact: fn(Fraction) -> i128, float: fn(f64) -> f64) -> Option<Quantity> {
    match a.as_fraction() {
        Some(fraction) => Some(Quantity::Exact(Fraction::integer(exact(fraction)))),
        None => integral(float(a.as_float())),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn integral(value: f64) -> Option<Quantity> {
    // 2^63 is the first float above the range of the sizes.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    fits.then(|| Quantity::integer(value as i64))
}

fn ceil(value: Fraction) -> i128 {
    value.floor() + i128::from(value.as_integer().is_none())
}

fn truncate(value: Fraction) -> i128 {
    let floor = value.floor();
    if floor < 0 { ceil(value) } else { floor }
}

fn round_half_to_even(value: Fraction) -> i128 {
    let floor = value.floor();
    let rest = value.add(Fraction::integer(floor).negate().unwrap_or(value));
    let half = Fraction::new(1, 2);
    let compared = rest.zip(half).and_then(|(rest, half)| Quantity::Exact(rest).compare(Quantity::Exact(half)));
    match compared {
        Some(Ordering::Less) | None => floor,
        Some(Ordering::Greater) => floor + 1,
        Some(Ordering::Equal) => floor + floor.rem_euclid(2),
    }
}

fn bitwise(a: Quantity, b: Quantity, f: fn(i64, i64) -> i64) -> Option<Quantity> {
    if let (Quantity::Bool(a), Quantity::Bool(b)) = (a, b) {
        return Some(Quantity::Bool(f(a.into(), b.into()) != 0));
    }
    let int = |value: Quantity| i64::try_from(value.as_fraction()?.as_integer()?).ok();
    Some(Quantity::integer(f(int(a)?, int(b)?)))
}

/// Rounds to a number of decimal digits as Python does: the exact value of the number decides.
fn round_decimal(value: f64, digits: i64) -> Option<Quantity> {
    let digits = usize::try_from(digits).ok().filter(|digits| *digits <= 22)?;
    format!("{value:.digits$}").parse().ok().map(Quantity::Float)
}
