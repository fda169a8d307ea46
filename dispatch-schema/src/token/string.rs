//! The lexer's rule of string literals: `'..'`, `".."`, and both with triple quotes, which may span lines.

use std::ops::Range;

use crate::error::StringProblem;

/// A parsed string literal, valid or not.
pub(super) struct StringLiteral {
    pub(super) value: String,
    /// The length in bytes, including the quotes.
    pub(super) length: usize,
    pub(super) problems: Vec<(StringProblem, Range<usize>)>,
}

/// Parses the string literal at the beginning of `rest`, which begins with a quote.
pub(super) fn read_string_literal(rest: &str) -> StringLiteral {
    let quote = &rest[..1];
    let triple = quote.repeat(3);
    let delimiter = if rest.starts_with(&triple) { triple.as_str() } else { quote };
    let mut reader = StringReader { rest, position: delimiter.len(), value: Vec::new(), problems: Vec::new() };
    reader.read_body(delimiter);
    let (at, mut problems) = (reader.position, reader.problems);
    let value = String::from_utf8(reader.value).unwrap_or_else(|_| {
        problems.push((StringProblem::NotUtf8, 0..at));
        String::new()
    });
    StringLiteral { value, length: at, problems }
}

struct StringReader<'s> {
    rest: &'s str,
    position: usize,
    /// The content as bytes, because octal escapes are bytes: `\303\251` is one character.
    value: Vec<u8>,
    problems: Vec<(StringProblem, Range<usize>)>,
}

impl StringReader<'_> {
    fn read_body(&mut self, delimiter: &str) {
        loop {
            let here = &self.rest[self.position..];
            if here.starts_with(delimiter) {
                self.position += delimiter.len();
                return;
            }
            match here.chars().next() {
                Some('\\') => self.read_escape(),
                Some(c) if c != '\n' || delimiter.len() == 3 => {
                    self.position += c.len_utf8();
                    self.value.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => {
                    self.problems.push((StringProblem::NotClosed, 0..self.position));
                    return;
                }
            }
        }
    }

    fn read_escape(&mut self) {
        let start = self.position;
        let after = &self.rest[start + 1..];
        let (byte, length) = match after.chars().next() {
            Some(c @ ('\\' | '\'' | '"')) => (Some(c as u8), 1),
            Some('a') => (Some(0x07), 1),
            Some('b') => (Some(0x08), 1),
            Some('f') => (Some(0x0c), 1),
            Some('n') => (Some(b'\n'), 1),
            Some('t') => (Some(b'\t'), 1),
            Some('v') => (Some(0x0b), 1),
            Some('0'..='7') if parse_three_octal_digits(after).is_some() => (parse_three_octal_digits(after), 3),
            Some(c) => (None, c.len_utf8()),
            None => (None, 0),
        };
        self.position += 1 + length;
        match byte {
            Some(byte) => self.value.push(byte),
            None => self.problems.push((StringProblem::UnknownEscape, start..self.position)),
        }
    }
}

/// Parses three octal digits, at most `377`.
fn parse_three_octal_digits(after: &str) -> Option<u8> {
    let digits = after.get(..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    u8::from_str_radix(digits, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_is_resolved() {
        let read = read_string_literal(r#""\\\'\"\a\b\f\n\t\v\101\303\251" rest"#);
        assert!(read.problems.is_empty());
        assert_eq!(read.value, "\\'\"\u{7}\u{8}\u{c}\n\t\u{b}Aé");
        assert_eq!(read.length, 32);
    }

    #[test]
    fn single_double_and_triple_quotes_delimit_strings() {
        for (text, value) in
            [("'a\"#b'", "a\"#b"), ("\"a'b\"", "a'b"), ("'''a\n'b'''", "a\n'b"), ("\"\"\"\"\"\"", ""), ("''", "")]
        {
            let read = read_string_literal(text);
            assert_eq!((read.value.as_str(), read.length), (value, text.len()));
            assert!(read.problems.is_empty());
        }
    }

    #[test]
    fn each_invalid_escape_is_reported_at_its_position() {
        for escape in [r"\r", r"\0", r"\x41", r"\u0041", r"\N", r"\q", r"\400", r"\1", r"\é"] {
            let text = format!("'a{escape}'");
            let problems = read_string_literal(&text).problems;
            assert_eq!(problems[0].0, StringProblem::UnknownEscape, "{text}");
            assert_eq!(problems[0].1.start, 2, "{text}");
        }
        assert_eq!(read_string_literal(r"'\r \x'").problems.len(), 2);
    }

    #[test]
    fn an_unclosed_string_ends_with_its_line() {
        let read = read_string_literal("'abc\ndef'");
        assert_eq!(read.problems, [(StringProblem::NotClosed, 0..4)]);
        assert_eq!(read_string_literal(r"'abc\").problems.len(), 2);
    }

    #[test]
    fn escapes_that_are_not_utf8_are_errors() {
        assert_eq!(read_string_literal(r"'\377'").problems, [(StringProblem::NotUtf8, 0..6)]);
    }
}
