//! Operators of Python's numbers, which compute sizes.

use dispatch_runtime::Value;

use crate::error::NodeProblem;

/// An operator of numbers: `_operator.add`, `math.trunc`, `torch.sym_max` and their like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PythonOperator {
    Add,
    Sub,
    Mul,
    FloorDiv,
    Mod,
    TrueDiv,
    Pow,
    Neg,
    Pos,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Xor,
    LeftShift,
    RightShift,
    Trunc,
    Floor,
    Ceil,
    Not,
    ToInt,
    ToFloat,
    IfThenElse,
    Max,
    Min,
    Sqrt,
}

/// A number of Python.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Number {
    Int(i64),
    Float(f64),
    Bool(bool),
}

/// The reason why an operation has no result.
pub(crate) type Refusal = &'static str;

impl PythonOperator {
    pub(crate) fn from_target(target: &str) -> Option<Self> {
        let (module, name) = target.split_once('.')?;
        Some(match (module, name) {
            ("_operator", "add") => Self::Add,
            ("_operator", "sub") => Self::Sub,
            ("_operator", "mul") => Self::Mul,
            ("_operator", "floordiv") => Self::FloorDiv,
            ("_operator", "mod") => Self::Mod,
            ("_operator", "truediv") => Self::TrueDiv,
            ("_operator", "pow") => Self::Pow,
            ("_operator", "neg") => Self::Neg,
            ("_operator", "pos") => Self::Pos,
            ("_operator", "eq") => Self::Eq,
            ("_operator", "ne") => Self::Ne,
            ("_operator", "lt") => Self::Lt,
            ("_operator", "le") => Self::Le,
            ("_operator", "gt") => Self::Gt,
            ("_operator", "ge") => Self::Ge,
            ("_operator", "and_") => Self::And,
            ("_operator", "or_") => Self::Or,
            ("_operator", "xor") => Self::Xor,
            ("_operator", "lshift") => Self::LeftShift,
            ("_operator", "rshift") => Self::RightShift,
            ("math", "trunc") => Self::Trunc,
            ("math", "floor") => Self::Floor,
            ("math", "ceil") => Self::Ceil,
            ("torch", "sym_not") => Self::Not,
            ("torch", "sym_int") => Self::ToInt,
            ("torch", "sym_float") => Self::ToFloat,
            ("torch", "sym_ite") => Self::IfThenElse,
            ("torch", "sym_max") => Self::Max,
            ("torch", "sym_min") => Self::Min,
            ("math", "sqrt") | ("torch", "sym_sqrt" | "_sym_sqrt") => Self::Sqrt,
            _ => return None,
        })
    }

    const fn operand_count(self) -> usize {
        match self {
            Self::Neg
            | Self::Pos
            | Self::Trunc
            | Self::Floor
            | Self::Ceil
            | Self::Not
            | Self::ToInt
            | Self::ToFloat
            | Self::Sqrt => 1,
            Self::IfThenElse => 3,
            _ => 2,
        }
    }

    pub(super) fn check_operand_count(self, found: usize) -> Result<(), NodeProblem> {
        let expected = self.operand_count();
        if found == expected {
            return Ok(());
        }
        Err(NodeProblem::Other(format!("the operator has {expected} operands, and the node {found}")))
    }

    /// Computes the result as Python does: integers do not overflow silently, and division rounds down.
    pub(crate) fn apply(self, operands: &[Value]) -> Result<Value, Refusal> {
        let numbers = operands.iter().map(|value| Number::from_value(value).ok_or("an operand is no number"));
        let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
        let result = match numbers.as_slice() {
            [a] => self.apply_to_one(*a),
            [a, b] => self.apply_to_two(*a, *b),
            [condition, a, b] if self == Self::IfThenElse => Ok(if condition.is_true() { *a } else { *b }),
            _ => Err("the number of operands is wrong"),
        };
        result.map(Number::into_value)
    }

    fn apply_to_one(self, a: Number) -> Result<Number, Refusal> {
        Ok(match (self, a) {
            (Self::Not, a) => Number::Bool(!a.is_true()),
            (Self::ToFloat, a) => Number::Float(a.as_float()),
            (Self::Sqrt, a) if a.as_float() < 0.0 => return Err("the square root of a negative number"),
            (Self::Sqrt, a) => Number::Float(a.as_float().sqrt()),
            (Self::Neg, Number::Float(a)) => Number::Float(-a),
            (Self::Neg, a) => Number::Int(a.as_int().checked_neg().ok_or(OVERFLOW)?),
            (Self::Pos, Number::Float(a)) => Number::Float(a),
            (Self::Trunc | Self::ToInt, Number::Float(a)) => Number::from_integral(a.trunc())?,
            (Self::Floor, Number::Float(a)) => Number::from_integral(a.floor())?,
            (Self::Ceil, Number::Float(a)) => Number::from_integral(a.ceil())?,
            (_, a) => Number::Int(a.as_int()),
        })
    }

    fn apply_to_two(self, a: Number, b: Number) -> Result<Number, Refusal> {
        use std::cmp::Ordering;
        let order = || a.compare(b);
        Ok(match self {
            Self::Eq => Number::Bool(order() == Some(Ordering::Equal)),
            Self::Ne => Number::Bool(order() != Some(Ordering::Equal)),
            Self::Lt => Number::Bool(order() == Some(Ordering::Less)),
            Self::Le => Number::Bool(order().is_some_and(Ordering::is_le)),
            Self::Gt => Number::Bool(order() == Some(Ordering::Greater)),
            Self::Ge => Number::Bool(order().is_some_and(Ordering::is_ge)),
            Self::Max => {
                if order() == Some(Ordering::Less) {
                    b
                } else {
                    a
                }
            }
            Self::Min => {
                if order() == Some(Ordering::Greater) {
                    b
                } else {
                    a
                }
            }
            Self::TrueDiv if b.as_float() == 0.0 => return Err(BY_ZERO),
            Self::TrueDiv => Number::Float(a.as_float() / b.as_float()),
            Self::And | Self::Or | Self::Xor => return a.combine_bits(b, self),
            _ => match (a, b) {
                (Number::Float(_), _) | (_, Number::Float(_)) => {
                    return self.apply_to_floats(a.as_float(), b.as_float());
                }
                _ => return self.apply_to_ints(a.as_int(), b.as_int()),
            },
        })
    }

    fn apply_to_floats(self, a: f64, b: f64) -> Result<Number, Refusal> {
        Ok(Number::Float(match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Pow => a.powf(b),
            Self::FloorDiv | Self::Mod if b == 0.0 => return Err(BY_ZERO),
            Self::FloorDiv => (a / b).floor(),
            Self::Mod => {
                let rest = a % b;
                if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
            }
            _ => return Err("the operands must be integers"),
        }))
    }

    fn apply_to_ints(self, a: i64, b: i64) -> Result<Number, Refusal> {
        let shift = || u32::try_from(b).map_err(|_| "a shift by a negative or too large number");
        let result = match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::FloorDiv | Self::Mod if b == 0 => return Err(BY_ZERO),
            Self::FloorDiv => a.checked_div(b).map(|quotient| quotient - i64::from(a % b != 0 && (a < 0) != (b < 0))),
            Self::Mod => a.checked_rem(b).map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }),
            #[expect(clippy::cast_precision_loss, reason = "Python computes a float for a negative exponent")]
            Self::Pow if b < 0 => return Ok(Number::Float((a as f64).powf(b as f64))),
            Self::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            Self::LeftShift => {
                let shifted = i128::from(a) << shift()?.min(64);
                i64::try_from(shifted).ok()
            }
            Self::RightShift => Some(a >> shift()?.min(63)),
            _ => return Err("the operator does not take two numbers"),
        };
        result.map(Number::Int).ok_or(OVERFLOW)
    }
}

const OVERFLOW: Refusal = "the result has more than 64 bits";
const BY_ZERO: Refusal = "a division by zero";

impl Number {
    const fn from_value(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Int(value) => Self::Int(*value),
            Value::Float(value) => Self::Float(*value),
            Value::Bool(value) => Self::Bool(*value),
            _ => return None,
        })
    }

    fn into_value(self) -> Value {
        match self {
            Self::Int(value) => value.into(),
            Self::Float(value) => value.into(),
            Self::Bool(value) => value.into(),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    fn from_integral(value: f64) -> Result<Self, Refusal> {
        // 2^63 is the first float above the range.
        if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value) {
            return Ok(Self::Int(value as i64));
        }
        Err("the number is no integer of 64 bits")
    }

    #[expect(clippy::cast_precision_loss, reason = "Python converts an int to a float in the same way")]
    fn as_float(self) -> f64 {
        match self {
            Self::Float(value) => value,
            other => other.as_int() as f64,
        }
    }

    /// Returns an integer or a boolean as an integer.
    #[expect(clippy::cast_possible_truncation, reason = "only called for integers and booleans")]
    fn as_int(self) -> i64 {
        match self {
            Self::Int(value) => value,
            Self::Bool(value) => i64::from(value),
            Self::Float(value) => value as i64,
        }
    }

    fn is_true(self) -> bool {
        self.as_float() != 0.0
    }

    fn compare(self, other: Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Float(_), _) | (_, Self::Float(_)) => self.as_float().partial_cmp(&other.as_float()),
            _ => Some(self.as_int().cmp(&other.as_int())),
        }
    }

    fn combine_bits(self, other: Self, operator: PythonOperator) -> Result<Self, Refusal> {
        let bits = |a: i64, b: i64| match operator {
            PythonOperator::And => a & b,
            PythonOperator::Or => a | b,
            _ => a ^ b,
        };
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Ok(Self::Bool(bits(i64::from(a), i64::from(b)) != 0)),
            (Self::Float(_), _) | (_, Self::Float(_)) => Err("the operands must be integers"),
            _ => Ok(Self::Int(bits(self.as_int(), other.as_int()))),
        }
    }
}
