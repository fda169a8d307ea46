//! Conversion of the text of numbers to values.

use crate::error::NumberProblem;

/// The value of a number, by its form.
pub(super) enum Number {
    Int(i64),
    Float(f64),
    /// A number with a `j` after it.
    Imaginary(f64),
}

/// Parses a number with its sign. `1.5`, `1e3` and `0x1p3` are floats, `1` and `0x1F` are integers.
pub(super) fn parse_number(text: &str) -> Result<Number, NumberProblem> {
    if let Some(imaginary) = text.strip_suffix('j') {
        return parse_float(imaginary).map(Number::Imaginary);
    }
    let (_, digits) = split_sign(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty() {
        return text.parse().map(Number::Int).map_err(|_| NumberProblem::IntegerOverflow);
    }
    if let Some(hex) = strip_hex_prefix(digits).filter(|hex| !hex.is_empty() && are_hex_digits(hex)) {
        let sign = if text.starts_with('-') { "-" } else { "" };
        let value = i64::from_str_radix(&format!("{sign}{hex}"), 16);
        return value.map(Number::Int).map_err(|_| NumberProblem::IntegerOverflow);
    }
    parse_float(text).map(Number::Float)
}

/// Parses a number in any form as a float.
pub(super) fn parse_float(text: &str) -> Result<f64, NumberProblem> {
    let (sign, digits) = split_sign(text);
    let size = match digits {
        "inf" => f64::INFINITY,
        // Canonical text has only one NaN, without a sign.
        "nan" => {
            return if sign < 0.0 { Err(NumberProblem::Malformed) } else { Ok(f64::NAN) };
        }
        _ => match strip_hex_prefix(digits) {
            Some(hex) => parse_hexadecimal(hex)?,
            None => parse_decimal(digits)?,
        },
    };
    Ok(sign * size)
}

/// Returns the text after `0x`, if the number begins with it.
fn strip_hex_prefix(digits: &str) -> Option<&str> {
    digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))
}

fn are_hex_digits(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn split_sign(text: &str) -> (f64, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn parse_decimal(digits: &str) -> Result<f64, NumberProblem> {
    // Rust's parser also accepts words such as `infinity`.
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte)) {
        return Err(NumberProblem::Malformed);
    }
    let value = digits.parse::<f64>().map_err(|_| NumberProblem::Malformed)?;
    let mantissa = digits.split(['e', 'E']).next().unwrap_or(digits);
    let zero = mantissa.bytes().all(|byte| !(b'1'..=b'9').contains(&byte));
    check_float_range(value, zero)
}

/// Parses a hexadecimal float such as `1.8p3`: digits in base 16, then a power of two in base 10.
fn parse_hexadecimal(hex: &str) -> Result<f64, NumberProblem> {
    let (mantissa, exponent) = match hex.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| NumberProblem::Malformed)?),
        None => (hex, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    // `from_str_radix` would accept a sign.
    if digits.is_empty() || !are_hex_digits(&digits) {
        return Err(NumberProblem::Malformed);
    }
    // The first sixteen digits fill 64 bits, which are rounded once. Of the other digits, rounding only depends on whether one is not zero.
    // The lowest bit stores that.
    let digits = digits.trim_start_matches('0');
    let (leading, rest) = digits.split_at(digits.len().min(16));
    let value =
        if leading.is_empty() { 0 } else { u64::from_str_radix(leading, 16).map_err(|_| NumberProblem::Malformed)? };
    let value = value | u64::from(rest.bytes().any(|digit| digit != b'0'));
    let places = |digits: &str| i64::try_from(digits.len()).unwrap_or(i64::MAX / 16);
    let shift = i64::from(exponent) + 4 * (places(rest) - places(fraction));
    let shift = i32::try_from(shift.clamp(-3000, 3000)).expect("3000 is an i32");
    check_float_range(times_power_of_two(value, shift), value == 0)
}

/// Returns `value * 2^shift`, computed in steps whose factors are finite floats.
fn times_power_of_two(value: u64, shift: i32) -> f64 {
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

fn check_float_range(value: f64, zero: bool) -> Result<f64, NumberProblem> {
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
    fn all_forms_of_floats_are_parsed() {
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
            ("0x00000000000000001", 1.0),
            ("0x123456789abcdef01", 20_988_295_479_420_645_376.0),
            ("0x10000000000000800000000", 309_485_009_821_345_068_724_781_056.0),
            ("0x10000000000000800000001", 309_485_009_821_345_137_444_257_792.0),
            ("0x.00000000000000000000000000000001p128", 1.0),
            ("-inf", f64::NEG_INFINITY),
        ] {
            assert_eq!(parse_float(text).ok().map(f64::to_bits), Some(value.to_bits()), "{text}");
        }
        assert_eq!(parse_float("-0").ok().map(f64::to_bits), Some((-0.0_f64).to_bits()));
        assert!(parse_float("nan").is_ok_and(f64::is_nan));
    }

    #[test]
    fn numbers_outside_the_range_of_floats_are_errors() {
        assert_eq!(parse_float("1e400"), Err(NumberProblem::FloatOverflow));
        assert_eq!(parse_float("1e-400"), Err(NumberProblem::FloatUnderflow));
        assert_eq!(parse_float("0x1p2000"), Err(NumberProblem::FloatOverflow));
        assert_eq!(parse_float("0x1p-2000"), Err(NumberProblem::FloatUnderflow));
        for text in ["", ".", "1_0", "1f32", "1.2.3", "0x", "0x.p1", "infinity", "-nan", "1e", "0x1p"] {
            assert_eq!(parse_float(text), Err(NumberProblem::Malformed), "{text}");
        }
    }

    #[test]
    fn integers_have_64_bits() {
        assert!(matches!(parse_number("-9223372036854775808"), Ok(Number::Int(i64::MIN))));
        assert!(matches!(parse_number("9223372036854775808"), Err(NumberProblem::IntegerOverflow)));
        assert!(matches!(parse_number("010"), Ok(Number::Int(10))));
    }

    #[test]
    fn integers_in_base_16_have_64_bits() {
        for (text, value) in [
            ("0x2FFFFFF", 50_331_647),
            ("0X2ffffff", 50_331_647),
            ("-0x1F", -31),
            ("-0x0", 0),
            ("0x00000000000000000001", 1),
            ("0x7fffffffffffffff", i64::MAX),
            ("-0x8000000000000000", i64::MIN),
        ] {
            assert!(matches!(parse_number(text), Ok(Number::Int(read)) if read == value), "{text}");
        }
        for text in ["0x8000000000000000", "-0x8000000000000001", "0x123456789abcdef01"] {
            assert!(matches!(parse_number(text), Err(NumberProblem::IntegerOverflow)), "{text}");
        }
        for text in ["0x", "-0x", "0x_1", "0x1_0", "0x1g", "0x-1", "0x+1"] {
            assert!(matches!(parse_number(text), Err(NumberProblem::Malformed)), "{text}");
        }
        assert!(matches!(parse_number("0x1p3"), Ok(Number::Float(8.0))));
    }
}
