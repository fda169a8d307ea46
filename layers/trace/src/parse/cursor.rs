//! The position of a parser in its text: looks at tokens and consumes them.

use std::ops::Range;

use super::lex::{Token, mistake};
use super::{Parsed, Parser};
use crate::error::TraceError;

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.text.len()..self.text.len(), |(_, span)| span.clone())
    }

    pub(super) fn unexpected(&self, expected: &str) -> TraceError {
        let span = self.span();
        let found = self.text.get(span.clone()).filter(|found| !found.is_empty());
        let found = found.map_or_else(|| "the end".to_owned(), |found| format!("`{found}`"));
        mistake(self.text, &span, format!("expected {expected}, found {found}"))
    }

    pub(super) fn eat(&mut self, sign: char) -> bool {
        let is = self.peek() == &Token::Sign(sign);
        self.at += usize::from(is);
        is
    }

    pub(super) fn sign(&mut self, sign: char) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Token::Word(found) if found == word);
        self.at += usize::from(is);
        is
    }

    pub(super) fn word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<String> {
        let Token::Word(name) = self.peek().clone() else { return Err(self.unexpected(what)) };
        self.at += 1;
        Ok(name)
    }

    /// Parses items separated by commas, up to the sign `end`. A comma may follow the last item.
    pub(super) fn list<T>(&mut self, end: char, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(item(self)?);
            if !self.eat(',') {
                self.sign(end)?;
                break;
            }
        }
        Ok(items)
    }
}
