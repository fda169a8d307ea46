//! How far a number reaches.
//!
//! The lexer takes everything that could belong to a number, sound or not, so that `1_000` or `12abc` is one wrong number
//! and not a number followed by something surprising.

/// Whether a number begins here: a digit, or a point before a digit.
pub(super) fn begins(rest: &str) -> bool {
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// How many bytes belong to the number at the beginning of `rest`.
pub(super) fn length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let hex = rest.starts_with("0x") || rest.starts_with("0X");
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        let belongs = match byte {
            // `1...` is a number before dots, not a number that ends in one.
            b'.' => next != Some(&b'.'),
            b'+' | b'-' => at > 0 && is_exponent(bytes[at - 1], hex) && next.is_some_and(u8::is_ascii_digit),
            _ => byte.is_ascii_alphanumeric() || byte == b'_',
        };
        if !belongs {
            break;
        }
        at += 1;
    }
    at
}

fn is_exponent(byte: u8, hex: bool) -> bool {
    byte.eq_ignore_ascii_case(if hex { &b'p' } else { &b'e' })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_where_it_should() {
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
            assert!(begins(text));
            assert_eq!(&text[..length(text)], taken);
        }
    }
}
