//! Lexer: splits a graph's text into words, numbers and signs.

use std::ops::Range;

use crate::error::TraceError;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    /// A name, or a path of names.
    Word(String),
    Int(i64),
    Float(f64),
    StringLiteral(String),
    Punctuation(char),
    End,
}

pub(super) type SpannedToken = (Token, Range<usize>);

/// Creates the error for a mistake at a position of a text.
pub(super) fn syntax_error(text: &str, span: &Range<usize>, problem: impl Into<String>) -> TraceError {
    let start = span.start.min(text.len());
    let before = &text[..start];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let source = text[line_start..].lines().next().unwrap_or_default().to_owned();
    let column = text[line_start..start].chars().count() + 1;
    let length = text.get(start..span.end).map_or(1, |part| part.lines().next().unwrap_or_default().chars().count());
    TraceError::SyntaxError { line: before.matches('\n').count() + 1, column, source, length, problem: problem.into() }
}

pub(super) fn lex(text: &str) -> Result<Vec<SpannedToken>, TraceError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length_while = |holds: &dyn Fn(char) -> bool| rest.find(|c| !holds(c)).unwrap_or(rest.len());
        let (token, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = length_while(&|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.'));
            // A single colon separates a value from its kind.
            let word = rest[..length].find(':').filter(|&colon| !rest[colon..].starts_with("::")).unwrap_or(length);
            let word = &rest[..word];
            (as_float(word).map_or_else(|| Token::Word(word.to_owned()), Token::Float), word.len())
        } else if first.is_ascii_digit() || (first == '-' && !rest[1..].starts_with(char::is_whitespace)) {
            let mut previous = ' ';
            let mut length = 0;
            for c in rest.chars() {
                let in_exponent = matches!(c, '+' | '-') && (length == 0 || matches!(previous, 'e' | 'E'));
                if !(c.is_ascii_alphanumeric() || c == '.' || in_exponent) {
                    break;
                }
                previous = c;
                length += c.len_utf8();
            }
            let number = &rest[..length];
            let token = number.parse().map(Token::Int).or_else(|_| number.parse().map(Token::Float));
            (token.map_err(|_| syntax_error(text, &(at..at + length), format!("`{number}` is not a number")))?, length)
        } else if first == '"' {
            let (value, length) = parse_string(text, at)?;
            (Token::StringLiteral(value), length)
        } else if "(){}[]<>,;:=&'#".contains(first) {
            (Token::Punctuation(first), 1)
        } else {
            return Err(syntax_error(
                text,
                &(at..at + first.len_utf8()),
                format!("`{first}` is not a valid character here"),
            ));
        };
        tokens.push((token, at..at + length));
        at += length;
    }
    tokens.push((Token::End, text.trim_end().len()..text.trim_end().len()));
    Ok(tokens)
}

fn as_float(word: &str) -> Option<f64> {
    match word {
        "inf" => Some(f64::INFINITY),
        "NaN" => Some(f64::NAN),
        _ => None,
    }
}

/// Parses a string in quotes with Rust's escapes. Returns it with its length in the text.
fn parse_string(text: &str, start: usize) -> Result<(String, usize), TraceError> {
    let mut value = String::new();
    let mut rest = text[start + 1..].char_indices();
    while let Some((at, c)) = rest.next() {
        let here = start + 1 + at;
        match c {
            '"' => return Ok((value, here + 1 - start)),
            '\\' => {
                let escape = rest.next().map(|(_, escape)| escape);
                let wrong = || syntax_error(text, &(here..here + 2), "unknown escape sequence");
                value.push(match escape {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some('0') => '\0',
                    Some(c @ ('"' | '\\' | '\'')) => c,
                    Some('u') => {
                        let digits: String = rest.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                        u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).ok_or_else(wrong)?
                    }
                    _ => return Err(wrong()),
                });
            }
            c => value.push(c),
        }
    }
    Err(syntax_error(text, &(start..start + 1), "this string has no closing quote"))
}
