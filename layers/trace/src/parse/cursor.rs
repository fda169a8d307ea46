//! The position of a parser in its text: looks at tokens and consumes them.

use std::ops::Range;

use super::lex::{Token, syntax_error};
use super::{ParseResult, Parser};
use crate::error::TraceError;

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Token {
        self.tokens.get(self.position).map_or(&Token::End, |(token, _)| token)
    }

    pub(super) fn current_span(&self) -> Range<usize> {
        self.tokens.get(self.position).map_or(self.text.len()..self.text.len(), |(_, span)| span.clone())
    }

    pub(super) fn unexpected_token(&self, expected: &str) -> TraceError {
        let span = self.current_span();
        let found = self.text.get(span.clone()).filter(|found| !found.is_empty());
        let found = found.map_or_else(|| "the end".to_owned(), |found| format!("`{found}`"));
        syntax_error(self.text, &span, format!("expected {expected}, found {found}"))
    }

    pub(super) fn eat_punctuation(&mut self, sign: char) -> bool {
        let is = self.peek() == &Token::Punctuation(sign);
        self.position += usize::from(is);
        is
    }

    pub(super) fn expect_punctuation(&mut self, sign: char) -> ParseResult<()> {
        if self.eat_punctuation(sign) { Ok(()) } else { Err(self.unexpected_token(&format!("`{sign}`"))) }
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Token::Word(found) if found == word);
        self.position += usize::from(is);
        is
    }

    pub(super) fn expect_word(&mut self, word: &str) -> ParseResult<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected_token(&format!("`{word}`"))) }
    }

    pub(super) fn parse_name(&mut self, what: &str) -> ParseResult<String> {
        let Token::Word(name) = self.peek().clone() else { return Err(self.unexpected_token(what)) };
        self.position += 1;
        Ok(name)
    }

    /// Parses items separated by commas, up to the sign `end`. A comma may follow the last item.
    pub(super) fn parse_list<T>(
        &mut self,
        end: char,
        mut item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat_punctuation(end) {
            items.push(item(self)?);
            if !self.eat_punctuation(',') {
                self.expect_punctuation(end)?;
                break;
            }
        }
        Ok(items)
    }
}
