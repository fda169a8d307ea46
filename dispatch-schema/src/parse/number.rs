//! The values of numbers.

use crate::error::NumberProblem;

/// What a number is, by how it is written.
pub(super) enum Number {
    Int(i64),
    Float(f64),
    /// With a `j` after it.
    Imaginary(f64),
}

/// Reads a number with its sign; `1.5` and `1e3` are floats, `1` is an integer.
pub(super) fn number(text: &str) -> Result<Number, NumberProblem> {
    if let Some(imaginary) = text.strip_suffix('j') {
        return float(imaginary).map(Number::Imaginary);
    }
    let (_, digits) = split_sign(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty() {
        return text.parse().map(Number::Int).map_err(|_| NumberProblem::IntegerOverflow);
    }
    float(text).map(Number::Float)
}

/// Reads a number as a float, however it is written.
pub(super) fn float(text: &str) -> Result<f64, NumberProblem> {
    let (sign, digits) = split_sign(text);
    let size = match digits {
        "inf" => f64::INFINITY,
        // The sign of a number that is none is lost in print; there is only one.
        "nan" => {
            return if sign < 0.0 { Err(NumberProblem::Malformed) } else { Ok(f64::NAN) };
        }
        _ => match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => hexadecimal(hex)?,
            None => decimal(digits)?,
        },
    };
    Ok(sign * size)
}

/// Whether the text is a whole number in base 16, which only a float can be.
pub(super) fn is_hex_integer(text: &str) -> bool {
    let digits = split_sign(text).1.to_ascii_lowercase();
    digits.strip_prefix("0x").is_some_and(|hex| !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn split_sign(text: &str) -> (f64, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn decimal(digits: &str) -> Result<f64, NumberProblem> {
    // Rust's own parser also takes words such as `infinity`.
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte)) {
        return Err(NumberProblem::Malformed);
    }
    let value = digits.parse::<f64>().map_err(|_| NumberProblem::Malformed)?;
    let mantissa = digits.split(['e', 'E']).next().unwrap_or(digits);
    let zero = mantissa.bytes().all(|byte| !(b'1'..=b'9').contains(&byte));
    in_range(value, zero)
}

/// `1.8p3`: digits in base 16, then a power of two in base 10.
fn hexadecimal(hex: &str) -> Result<f64, NumberProblem> {
    let (mantissa, exponent) = match hex.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| NumberProblem::Malformed)?),
        None => (hex, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    // Sixteen digits fill the 64 bits that are rounded once; `from_str_radix` would take a sign.
    if digits.is_empty() || digits.len() > 16 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(NumberProblem::Malformed);
    }
    let value = u64::from_str_radix(&digits, 16).map_err(|_| NumberProblem::Malformed)?;
    let shift = exponent.saturating_sub(4 * i32::try_from(fraction.len()).unwrap_or(0)).clamp(-3000, 3000);
    in_range(scale(value, shift), value == 0)
}

/// `value * 2^shift`, in steps that are each a float.
fn scale(value: u64, shift: i32) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "rounding to the nearest float is what reading a number means")]
    let mut result = value as f64;
    let mut left = shift;
    while left != 0 {
        let step = left.clamp(-1000, 1000);
        result *= 2.0_f64.powi(step);
        left -= step;
    }
    result
}

fn in_range(value: f64, zero: bool) -> Result<f64, NumberProblem> {
    if value.is_infinite() {
        Err(NumberProblem::FloatOverflow)
    } else if value == 0.0 && !zero {
        Err(NumberProblem::FloatUnderflow)
    } else {
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_float_is_read() {
        for (text, value) in [
            (".5", 0.5),
            ("1.", 1.0),
            ("1.e3", 1000.0),
            ("1E5", 1e5),
            ("-1e-3", -1e-3),
            ("0x1p3", 8.0),
            ("0x1.8p1", 3.0),
            ("0x10", 16.0),
            ("010", 10.0),
            ("0e999", 0.0),
            ("5e-324", 5e-324),
            ("0x1p-1074", 5e-324),
            ("-inf", f64::NEG_INFINITY),
        ] {
            assert_eq!(float(text).ok().map(f64::to_bits), Some(value.to_bits()), "{text}");
        }
        assert_eq!(float("-0").ok().map(f64::to_bits), Some((-0.0_f64).to_bits()));
        assert!(float("nan").is_ok_and(f64::is_nan));
    }

    #[test]
    fn what_no_float_can_hold_is_refused() {
        assert_eq!(float("1e400"), Err(NumberProblem::FloatOverflow));
        assert_eq!(float("1e-400"), Err(NumberProblem::FloatUnderflow));
        assert_eq!(float("0x1p2000"), Err(NumberProblem::FloatOverflow));
        assert_eq!(float("0x1p-2000"), Err(NumberProblem::FloatUnderflow));
        for text in ["", ".", "1_0", "1f32", "1.2.3", "0x", "0x.p1", "infinity", "-nan", "1e", "0x1p"] {
            assert_eq!(float(text), Err(NumberProblem::Malformed), "{text}");
        }
    }

    #[test]
    fn integers_have_64_bits() {
        assert!(matches!(number("-9223372036854775808"), Ok(Number::Int(i64::MIN))));
        assert!(matches!(number("9223372036854775808"), Err(NumberProblem::IntegerOverflow)));
        assert!(matches!(number("010"), Ok(Number::Int(10))));
        assert!(is_hex_integer("-0x1F") && !is_hex_integer("0x1p3"));
    }
}
