//! Tokens of the operator language, from text or from a procedural macro, and the lexer.
//!
//! A punctuation token is one character. The parser joins `->`, `::` and `...` from tokens whose spans touch. So a procedural macro can
//! pass its own tokens, with `i..i + 1` as the span of token `i`; the errors then have such spans. An error at the end of the input has the
//! empty span after the last token.

mod number;
mod string;

use std::ops::Range;

use crate::error::{SyntaxError, SyntaxErrorKind, SyntaxErrors};

/// A token and its span.
///
/// ```
/// use dispatch_schema::{TokenKind, lex};
///
/// let tokens = lex("x = 1.5").unwrap();
/// assert_eq!(tokens[2].kind, TokenKind::Number("1.5".into()));
/// assert_eq!(tokens[2].span, 4..7);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// The kind and content of the token.
    pub kind: TokenKind,
    /// The span of the token: a byte range of the text, or a range of the caller's positions.
    pub span: Range<usize>,
}

/// The kind of a token.
///
/// ```
/// use dispatch_schema::{TokenKind, lex};
///
/// let kinds: Vec<_> = lex("a -> 'b'").unwrap().into_iter().map(|token| token.kind).collect();
/// assert_eq!(
///     kinds,
///     [TokenKind::Ident("a".into()), TokenKind::Punct('-'), TokenKind::Punct('>'), TokenKind::Str("b".into())],
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A word: `Tensor`, `self`, `while`.
    Ident(String),
    /// The text of a number, without a sign: `1`, `1.5e-3`, `2j`. The parser checks whether it is valid.
    Number(String),
    /// A string, with its escapes resolved.
    Str(String),
    /// Any other character.
    Punct(char),
}

/// Splits text into tokens. White space, newlines and `#` comments only separate tokens.
///
/// ```
/// use dispatch_schema::lex;
///
/// assert_eq!(lex("f ( ) # nothing\n").unwrap().len(), 3);
/// assert!(lex("'never closed").is_err());
/// ```
pub fn lex(source: &str) -> Result<Vec<Token>, SyntaxErrors> {
    let (tokens, errors) = lex_with_errors(source);
    match SyntaxErrors::new(errors) {
        Some(errors) => Err(errors),
        None => Ok(tokens),
    }
}

/// Splits text into tokens and returns the errors separately, so that the parser can report its own errors too.
pub(crate) fn lex_with_errors(source: &str) -> (Vec<Token>, Vec<SyntaxError>) {
    let mut lexer = Lexer { source, position: 0, errors: Vec::new() };
    let mut tokens = Vec::new();
    while let Some(first) = lexer.skip_white_space() {
        tokens.push(lexer.next_token(first));
    }
    (tokens, lexer.errors)
}

/// Whether `text` has the shape of an identifier.
pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(is_word_start) && text.chars().all(is_word_continue)
}

fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_word_continue(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

struct Lexer<'s> {
    source: &'s str,
    position: usize,
    errors: Vec<SyntaxError>,
}

impl<'s> Lexer<'s> {
    fn remaining_text(&self) -> &'s str {
        &self.source[self.position..]
    }

    /// Moves to the next token and returns its first character.
    fn skip_white_space(&mut self) -> Option<char> {
        loop {
            let rest = self.remaining_text();
            let first = rest.chars().next()?;
            self.position += if first.is_whitespace() {
                first.len_utf8()
            } else if first == '#' {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") {
                1
            } else {
                return Some(first);
            };
        }
    }

    fn next_token(&mut self, first: char) -> Token {
        let start = self.position;
        let rest = self.remaining_text();
        let kind = if is_word_start(first) {
            self.position += rest.find(|c| !is_word_continue(c)).unwrap_or(rest.len());
            TokenKind::Ident(self.source[start..self.position].to_owned())
        } else if number::is_number_start(rest) && !(first == '.' && self.follows_word()) {
            self.position += number::number_literal_length(rest);
            TokenKind::Number(self.source[start..self.position].to_owned())
        } else if first == '"' || first == '\'' {
            TokenKind::Str(self.lex_string())
        } else {
            self.position += first.len_utf8();
            TokenKind::Punct(first)
        };
        Token { kind, span: start..self.position }
    }

    /// Whether a word ends before this position. The point of `add.2` then begins an overload name and not a number.
    fn follows_word(&self) -> bool {
        self.source[..self.position].ends_with(is_word_continue)
    }

    fn lex_string(&mut self) -> String {
        let read = string::read_string_literal(self.remaining_text());
        let start = self.position;
        self.position += read.length;
        self.errors.extend(read.problems.into_iter().map(|(problem, span)| SyntaxError {
            kind: SyntaxErrorKind::BadString { problem },
            span: start + span.start..start + span.end,
        }));
        read.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_texts(source: &str) -> Vec<&str> {
        lex(source).unwrap().into_iter().map(|token| &source[token.span]).collect()
    }

    #[test]
    fn comments_and_line_continuations_are_white_space() {
        assert_eq!(token_texts("\n # one\n a\t\\\n b # two\r\n c \\\r\n d#"), ["a", "b", "c", "d"]);
    }

    #[test]
    fn punctuation_is_one_character_each() {
        assert_eq!(token_texts("a::b->..."), ["a", ":", ":", "b", "-", ">", ".", ".", "."]);
    }

    #[test]
    fn spans_are_bytes_of_the_source() {
        assert_eq!(token_texts("é 'ü' ½"), ["é", "'ü'", "½"]);
    }
}
