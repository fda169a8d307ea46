//! Text of floats: 17 significant digits as C prints them, with a decimal point if the text would be an integer.

/// Returns the canonical text of a float.
pub(super) fn canonical_text(value: f64) -> String {
    if !value.is_finite() {
        return shortest_text(value);
    }
    let mut text = format_17_digits(value);
    if !text.contains(['.', 'e']) {
        text.push('.');
    }
    text
}

/// Returns the shortest text that parses as the same float.
pub(super) fn shortest_text(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") }
}

/// Formats a float as C's `%.17g`.
fn format_17_digits(value: f64) -> String {
    let scientific = format!("{value:.16e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent of a float is small");
    if (-4..17).contains(&exponent) {
        let decimals = usize::try_from(16 - exponent).expect("at most 16 digits stand before the point");
        trim_zeros(&format!("{value:.decimals$}")).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim_zeros(mantissa), exponent.abs())
    }
}

/// Removes zeros at the end of the fraction, and a decimal point at the end.
fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::canonical_text;

    #[test]
    fn floats_print_as_pytorch_prints_them() {
        for (value, text) in [
            (0.1, "0.10000000000000001"),
            (1.0, "1."),
            (1e10, "10000000000."),
            (1e-5, "1.0000000000000001e-05"),
            (0.001, "0.001"),
            (1e-8, "1e-08"),
            (0.333_333_333_333_333_3, "0.33333333333333331"),
            (-0.0, "-0."),
            (1e16, "10000000000000000."),
            (1e17, "1e+17"),
            (1.5e300, "1.5000000000000001e+300"),
            (123_456.5, "123456.5"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(canonical_text(value), text);
        }
    }
}
