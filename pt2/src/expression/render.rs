//! Expressions as text, in Python's notation.

use std::fmt;

use super::function::Function;
use super::quantity::Quantity;
use super::{Expression, Term};

/// An unknown expression is `?`.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, 0)
    }
}

/// The precedence of a sign.
const SIGN: u8 = 11;

/// The precedence of an operand that is a name, a number or a call.
const ATOM: u8 = 13;

impl Term {
    /// Writes the term, in parentheses if its operator binds less tightly than `outer`.
    fn write(&self, f: &mut fmt::Formatter<'_>, outer: u8) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("?"),
            Self::Symbol(name) => write_symbol(f, name),
            Self::Number(number) => number.write(f, outer),
            Self::Apply(function, arguments) => {
                let Some((symbol, precedence)) = function.operator() else {
                    return write_call(f, function.name(), arguments);
                };
                if precedence < outer {
                    f.write_str("(")?;
                    write_operands(f, *function, symbol, precedence, arguments)?;
                    return f.write_str(")");
                }
                write_operands(f, *function, symbol, precedence, arguments)
            }
        }
    }
}

fn write_operands(
    f: &mut fmt::Formatter<'_>,
    function: Function,
    symbol: &str,
    precedence: u8,
    arguments: &[Term],
) -> fmt::Result {
    match (function, arguments) {
        (Function::Neg | Function::Not, [operand]) => {
            f.write_str(symbol)?;
            return operand.write(f, precedence);
        }
        (Function::Mul, [Term::Number(number), rest @ ..]) if !rest.is_empty() && number.as_int() == Some(-1) => {
            // `-a//b` would divide `-a`.
            f.write_str("-")?;
            return write_factors(f, rest);
        }
        _ => {}
    }
    for (at, argument) in arguments.iter().enumerate() {
        if at == 0 {
            // Python's `**` groups from the right, and the others group from the left.
            argument.write(f, precedence + u8::from(function == Function::Power))?;
            continue;
        }
        if function == Function::Add && argument.starts_with_minus() {
            let text = Operand(argument, precedence).to_string();
            write!(f, " - {}", text.strip_prefix('-').unwrap_or(&text))?;
        } else {
            f.write_str(symbol)?;
            argument.write(f, precedence + 1)?;
        }
    }
    Ok(())
}

/// Writes a product. Each factor is in parentheses if it is a quotient or a remainder.
fn write_factors(f: &mut fmt::Formatter<'_>, factors: &[Term]) -> fmt::Result {
    for (at, factor) in factors.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { "*" })?;
        factor.write(f, SIGN)?;
    }
    Ok(())
}

/// A term as text, in parentheses if its operator does not bind more tightly.
struct Operand<'a>(&'a Term, u8);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, self.1)
    }
}

impl Term {
    /// Returns whether the text begins with one minus sign, which can be the operator of a sum.
    fn starts_with_minus(&self) -> bool {
        let is_negative = |number: &Quantity| number.as_int().is_some_and(|number| number < 0);
        match self {
            Self::Number(number) => is_negative(number),
            Self::Apply(Function::Neg, _) => true,
            Self::Apply(Function::Mul, arguments) => {
                matches!(arguments.first(), Some(Self::Number(number)) if is_negative(number))
            }
            _ => false,
        }
    }
}

/// Characters that no symbol of PyTorch has are replaced.
fn write_symbol(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    if name.chars().all(|c| c.is_ascii_graphic()) && !name.is_empty() {
        f.write_str(name)
    } else {
        write!(f, "{name:?}")
    }
}

fn write_call(f: &mut fmt::Formatter<'_>, name: &str, arguments: &[Term]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (at, argument) in arguments.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { ", " })?;
        argument.write(f, 0)?;
    }
    f.write_str(")")
}

impl Quantity {
    fn write(self, f: &mut fmt::Formatter<'_>, outer: u8) -> fmt::Result {
        match self {
            Self::Exact(fraction) => match fraction.as_integer() {
                Some(value) if value < 0 && outer >= ATOM => write!(f, "({value})"),
                Some(value) => write!(f, "{value}"),
                None => write!(f, "({fraction})"),
            },
            Self::Bool(value) => f.write_str(if value { "True" } else { "False" }),
            Self::Float(value) if value.is_infinite() => f.write_str(if value > 0.0 { "inf" } else { "(-inf)" }),
            Self::Float(value) if value.is_nan() => f.write_str("nan"),
            Self::Float(value) if value < 0.0 => write!(f, "({value:?})"),
            Self::Float(value) => write!(f, "{value:?}"),
        }
    }
}

impl Function {
    /// Returns the operator and its precedence, if the function is written as one.
    const fn operator(self) -> Option<(&'static str, u8)> {
        Some(match self {
            Self::Or => (" or ", 1),
            Self::And => (" and ", 2),
            Self::Not => ("not ", 3),
            Self::Equal => (" == ", 4),
            Self::NotEqual => (" != ", 4),
            Self::Less => (" < ", 4),
            Self::LessEqual => (" <= ", 4),
            Self::Greater => (" > ", 4),
            Self::GreaterEqual => (" >= ", 4),
            Self::Add => (" + ", 9),
            Self::Mul => ("*", 10),
            Self::Divide => ("/", 10),
            Self::FloorDivide => ("//", 10),
            Self::Modulo => (" % ", 10),
            Self::Neg => ("-", SIGN),
            Self::Power => ("**", 12),
            _ => return None,
        })
    }
}
