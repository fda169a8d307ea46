//! The lexer's rule of numbers: where a number begins and ends.
//!
//! The lexer includes every character that could belong to a number, valid or not. So `1_000` or `12abc` is one invalid number.

/// Whether `rest` begins with a number: a digit, or a decimal point before a digit.
pub(super) fn is_number_start(rest: &str) -> bool {
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the length in bytes of the number at the beginning of `rest`.
pub(super) fn number_literal_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let hex = rest.starts_with("0x") || rest.starts_with("0X");
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        let belongs = match byte {
            // `1...` is the number `1` before `...`, not a number that ends in a point.
            b'.' => next != Some(&b'.'),
            b'+' | b'-' => at > 0 && is_exponent_letter(bytes[at - 1], hex) && next.is_some_and(u8::is_ascii_digit),
            _ => byte.is_ascii_alphanumeric() || byte == b'_',
        };
        if !belongs {
            break;
        }
        at += 1;
    }
    at
}

fn is_exponent_letter(byte: u8, hex: bool) -> bool {
    byte.eq_ignore_ascii_case(if hex { &b'p' } else { &b'e' })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_length_ends_before_the_next_token() {
        for (text, taken) in [
            ("1,", "1"),
            ("1.5e-3)", "1.5e-3"),
            (".5 ", ".5"),
            ("1.e3", "1.e3"),
            ("0x1p-3", "0x1p-3"),
            ("0x1e-3", "0x1e"),
            ("1-2", "1"),
            ("0.+1.j", "0."),
            ("1j]", "1j"),
            ("1...", "1"),
            ("1_000", "1_000"),
            ("1e+", "1e"),
        ] {
            assert!(is_number_start(text));
            assert_eq!(&text[..number_literal_length(text)], taken);
        }
    }
}
