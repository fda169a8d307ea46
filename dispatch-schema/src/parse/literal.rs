//! Grammar rules of literals: defaults, before they are checked against a type.

use std::ops::Range;

use super::{ParseResult, Parser};
use crate::token::TokenKind;

/// A literal and its span.
#[derive(Clone)]
pub(super) struct Literal {
    pub(super) kind: LiteralKind,
    pub(super) span: Range<usize>,
}

#[derive(Clone)]
pub(super) enum LiteralKind {
    /// A number with its sign: `-1.5e3`, `inf`, `2j`.
    Number(String),
    /// A complex number as two numbers, the second with an explicit sign: `1.` and `+2.j`.
    Complex(String, String),
    Str(String),
    /// A word: `True`, `None`, `Mean`.
    Word(String),
    List(Vec<Literal>),
}

impl Parser<'_> {
    /// Parses a constant or a list of constants.
    pub(super) fn parse_literal(&mut self) -> ParseResult<Literal> {
        let start = self.next_token_span().start;
        if !self.eat('[') {
            return self.parse_constant();
        }
        let mut elements = Vec::new();
        if !self.eat(']') {
            loop {
                elements.push(self.parse_constant()?);
                if self.eat(']') {
                    break;
                }
                self.expect(',', "`,` or `]` after the element")?;
            }
        }
        Ok(Literal { kind: LiteralKind::List(elements), span: self.span_since(start) })
    }

    fn parse_constant(&mut self) -> ParseResult<Literal> {
        let start = self.next_token_span().start;
        let kind = match self.peek() {
            Some(TokenKind::Str(text)) => {
                self.position += 1;
                LiteralKind::Str(text.clone())
            }
            Some(TokenKind::Ident(word)) if !is_special_number(word) => {
                self.position += 1;
                LiteralKind::Word(word.clone())
            }
            _ => self.parse_number_or_complex()?,
        };
        Ok(Literal { kind, span: self.span_since(start) })
    }

    /// Parses a number, or a complex number as a sum.
    fn parse_number_or_complex(&mut self) -> ParseResult<LiteralKind> {
        let sign = if self.eat('-') { "-" } else { "" };
        let first = format!("{sign}{}", self.parse_unsigned_number()?);
        let sign = if self.eat('+') {
            '+'
        } else if self.eat('-') {
            '-'
        } else {
            return Ok(LiteralKind::Number(first));
        };
        Ok(LiteralKind::Complex(first, format!("{sign}{}", self.parse_unsigned_number()?)))
    }

    /// Parses a number without a sign. Rust's tokens split `.5`, `1.e3` and `1.j`, so this joins them.
    fn parse_unsigned_number(&mut self) -> ParseResult<String> {
        let mut text = String::new();
        if self.is_at('.') && matches!(self.peek_at(1), Some(TokenKind::Number(_))) && self.is_adjacent_to_next(0) {
            self.position += 1;
            text.push('.');
        }
        match self.peek() {
            Some(TokenKind::Number(digits)) => text.push_str(digits),
            Some(TokenKind::Ident(word)) if is_special_number(word) => text.push_str(word),
            _ => {
                return Err(
                    self.report_expected("a default: a literal such as `1`, `\"text\"`, `True`, `None` or `[0, 1]`")
                );
            }
        }
        self.position += 1;
        self.append_fraction(&mut text);
        Ok(text)
    }

    fn append_fraction(&mut self, text: &mut String) {
        let whole = text.bytes().all(|byte| byte.is_ascii_digit());
        if !(whole
            && self.is_at('.')
            && self.position > 0
            && super::are_adjacent(&self.tokens[self.position - 1], &self.tokens[self.position]))
        {
            return;
        }
        let follows = match self.peek_at(1) {
            Some(TokenKind::Ident(word) | TokenKind::Number(word)) if self.is_adjacent_to_next(0) => word.as_str(),
            _ => "",
        };
        text.push('.');
        text.push_str(follows);
        self.position += if follows.is_empty() { 1 } else { 2 };
    }
}

fn is_special_number(word: &str) -> bool {
    matches!(word, "inf" | "nan" | "infj" | "nanj")
}
