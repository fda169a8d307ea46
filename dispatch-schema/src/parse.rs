//! The parser: converts tokens to a schema, and reports every error.
//!
//! There is one function per grammar rule, in the submodules. A function that cannot continue reports its error and returns
//! [`ErrorReported`]. The lists of arguments and returns catch it, and continue after the next comma. An error that does not affect the
//! structure (an unknown type, a default that does not fit) is reported without stopping.

mod alias;
mod argument;
mod default_fit;
mod literal;
mod number;
mod ty;
mod type_variable;
mod union;

use std::ops::Range;
use std::str::FromStr;

use crate::error::{SyntaxError, SyntaxErrorKind, SyntaxErrors};
use crate::name::{OperatorName, is_reserved};
use crate::schema::{Declaration, Schema};
use crate::token::{self, Token, TokenKind};
use crate::ty::Type;

/// The error value of a grammar rule that has reported its error. The caller only has to find a token to continue at.
pub(crate) struct ErrorReported;

pub(crate) type ParseResult<T> = Result<T, ErrorReported>;

/// The state of the parser: the position in the tokens, and the errors so far.
pub(crate) struct Parser<'t> {
    tokens: &'t [Token],
    position: usize,
    errors: Vec<SyntaxError>,
    depth: usize,
    /// The number of anonymous alias sets (`Tensor!`) so far.
    anonymous_sets: usize,
}

/// Parses all of `text` with `rule`.
pub(crate) fn parse_text<T>(text: &str, rule: fn(&mut Parser<'_>) -> ParseResult<T>) -> Result<T, SyntaxErrors> {
    let (tokens, mistakes) = token::lex_with_errors(text);
    parse_with_rule(&tokens, mistakes, rule)
}

/// Parses all of `tokens` with `rule`.
pub(crate) fn parse_tokens<T>(
    tokens: &[Token],
    rule: fn(&mut Parser<'_>) -> ParseResult<T>,
) -> Result<T, SyntaxErrors> {
    parse_with_rule(tokens, Vec::new(), rule)
}

/// Implements [`FromStr`] by the type's `parse` function.
macro_rules! implement_from_str {
    ($($parsed:ident)*) => {$(
        impl FromStr for $parsed {
            type Err = SyntaxErrors;

            fn from_str(text: &str) -> Result<Self, SyntaxErrors> {
                Self::parse(text)
            }
        }
    )*};
}

implement_from_str! { Schema Declaration OperatorName }

fn parse_with_rule<T>(
    tokens: &[Token],
    mistakes: Vec<SyntaxError>,
    rule: fn(&mut Parser<'_>) -> ParseResult<T>,
) -> Result<T, SyntaxErrors> {
    let mut parser = Parser { tokens, position: 0, errors: Vec::new(), depth: 0, anonymous_sets: 0 };
    let parsed = rule(&mut parser);
    let mut errors = parser.errors;
    if let Some(end) = mistakes.iter().find_map(SyntaxError::unclosed_string_end) {
        errors.retain(|error| error.span.start < end);
    }
    errors.extend(mistakes);
    match (SyntaxErrors::new(errors), parsed) {
        (None, Ok(value)) => Ok(value),
        (Some(errors), _) => Err(errors),
        (None, Err(ErrorReported)) => unreachable!("a function that returns `ErrorReported` has reported an error"),
    }
}

pub(crate) fn parse_whole_name(parser: &mut Parser<'_>) -> ParseResult<OperatorName> {
    let name = parser.parse_name()?;
    parser.expect_end()?;
    Ok(name)
}

pub(crate) fn parse_whole_type(parser: &mut Parser<'_>) -> ParseResult<Type> {
    let mut ty = parser.parse_outer_type()?;
    parser.expect_end()?;
    alias::name_anonymous_sets([&mut ty]);
    Ok(ty)
}

pub(crate) fn parse_whole_schema(parser: &mut Parser<'_>) -> ParseResult<Schema> {
    match parse_whole_declaration(parser)? {
        Declaration::Schema(schema) => Ok(schema),
        Declaration::Name(_) => Err(parser.report_at(parser.span_of_all_tokens(), SyntaxErrorKind::NameOnly)),
    }
}

pub(crate) fn parse_whole_declaration(parser: &mut Parser<'_>) -> ParseResult<Declaration> {
    let name = parser.parse_name();
    // If the name is wrong, its error explains the tokens between it and the arguments.
    if name.is_err() || (!parser.errors.is_empty() && !parser.is_at('(')) {
        parser.skip_until(|kind| *kind == TokenKind::Punct('('));
    }
    if parser.peek().is_none() {
        return Ok(Declaration::Name(name?));
    }
    let (arguments, varargs) = parser.parse_arguments()?;
    parser.expect_punctuation("->", "`->` and the returns")?;
    let (returns, varreturns) = parser.parse_returns()?;
    parser.expect_end()?;
    let mut schema = Schema { name: name?, arguments, returns, varargs, varreturns };
    if parser.anonymous_sets > 0 {
        let arguments = schema.arguments.iter_mut().map(|argument| &mut argument.ty);
        alias::name_anonymous_sets(arguments.chain(schema.returns.iter_mut().map(|ret| &mut ret.ty)));
    }
    Ok(Declaration::Schema(schema))
}

/// Rules of names.
impl Parser<'_> {
    fn parse_name(&mut self) -> ParseResult<OperatorName> {
        let first = self.parse_identifier("the operator's name")?;
        let (namespace, base) = if self.eat_punctuation("::") {
            (Some(first), self.parse_identifier("the operator's name after `::`")?)
        } else {
            (None, first)
        };
        if self.is_at_punctuation("::") {
            return Err(self.report_expected("one namespace at most"));
        }
        let overload = if self.eat('.') { self.parse_overload()? } else { String::new() };
        if self.is_at('.') {
            return Err(self.report_expected("one overload name at most"));
        }
        Ok(OperatorName { namespace, base, overload })
    }

    fn parse_overload(&mut self) -> ParseResult<String> {
        let span = self.next_token_span();
        let overload = self.parse_identifier("an overload name after `.`")?;
        if overload == "default" || overload.starts_with("__") {
            self.report_at(span, SyntaxErrorKind::BadOverload { overload: overload.clone() });
        }
        Ok(overload)
    }

    fn parse_identifier(&mut self, what: &'static str) -> ParseResult<String> {
        let Some(TokenKind::Ident(word)) = self.peek() else {
            return Err(self.report_expected(what));
        };
        let word = word.clone();
        if is_reserved(&word) {
            self.report(SyntaxErrorKind::ReservedWord { word: word.clone() });
        } else if !token::is_word(&word) {
            // Tokens of macros may be other identifiers, such as `é` and `r#type`.
            return Err(self.report_expected("a name of ASCII letters, digits and `_`"));
        }
        self.position += 1;
        Ok(word)
    }
}

/// Access to tokens.
impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t TokenKind> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<&'t TokenKind> {
        self.tokens.get(self.position + ahead).map(|token| &token.kind)
    }

    fn is_at(&self, c: char) -> bool {
        self.peek() == Some(&TokenKind::Punct(c))
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.is_at(c);
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, c: char, what: &'static str) -> ParseResult<()> {
        if self.eat(c) { Ok(()) } else { Err(self.report_expected(what)) }
    }

    /// Whether the next tokens are the characters of `joined`, such as `->`, without space between them.
    fn is_at_punctuation(&self, joined: &str) -> bool {
        let here = self.tokens.get(self.position..).unwrap_or(&[]);
        here.len() >= joined.len()
            && joined.chars().zip(here).all(|(c, token)| token.kind == TokenKind::Punct(c))
            && here[..joined.len()].windows(2).all(|pair| are_adjacent(&pair[0], &pair[1]))
    }

    fn eat_punctuation(&mut self, joined: &str) -> bool {
        let found = self.is_at_punctuation(joined);
        if found {
            self.position += joined.len();
        }
        found
    }

    fn expect_punctuation(&mut self, joined: &str, what: &'static str) -> ParseResult<()> {
        if self.eat_punctuation(joined) { Ok(()) } else { Err(self.report_expected(what)) }
    }

    /// Whether the token at distance `ahead` and the one after it have no space between them.
    fn is_adjacent_to_next(&self, ahead: usize) -> bool {
        let pair = self.tokens.get(self.position + ahead..self.position + ahead + 2);
        pair.is_some_and(|pair| are_adjacent(&pair[0], &pair[1]))
    }

    fn expect_end(&mut self) -> ParseResult<()> {
        let Some(found) = self.next_token_text() else {
            return Ok(());
        };
        let rest = self.next_token_span().start..self.span_of_all_tokens().end;
        Err(self.report_at(rest, SyntaxErrorKind::TrailingText { found }))
    }

    fn skip_until(&mut self, stop: impl Fn(&TokenKind) -> bool) {
        while self.peek().is_some_and(|kind| !stop(kind)) {
            self.position += 1;
        }
    }

    /// Skips to the comma or closing parenthesis that ends the item that began at token `start`.
    fn skip_item(&mut self, start: usize) {
        let mut open = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(start) {
            match token.kind {
                TokenKind::Punct(',' | ')') if open == 0 && at >= self.position => {
                    self.position = at;
                    return;
                }
                TokenKind::Punct('(' | '[') => open += 1,
                TokenKind::Punct(')' | ']') => open = open.saturating_sub(1),
                _ => {}
            }
        }
        self.position = self.tokens.len();
    }
}

/// Spans and errors.
impl Parser<'_> {
    /// Returns the span of the next token, or an empty span after the last one.
    fn next_token_span(&self) -> Range<usize> {
        match self.tokens.get(self.position) {
            Some(token) => token.span.clone(),
            None => self.span_of_all_tokens().end..self.span_of_all_tokens().end,
        }
    }

    /// Returns the span from byte `start` to the end of the last consumed token.
    fn span_since(&self, start: usize) -> Range<usize> {
        start..self.tokens[..self.position].last().map_or(start, |token| token.span.end.max(start))
    }

    fn span_of_all_tokens(&self) -> Range<usize> {
        match self.tokens {
            [first, .., last] => first.span.start..last.span.end,
            [only] => only.span.clone(),
            [] => 0..0,
        }
    }

    /// Returns the text of the next token.
    fn next_token_text(&self) -> Option<String> {
        for joined in ["->", "::", "..."] {
            if self.is_at_punctuation(joined) {
                return Some(joined.to_owned());
            }
        }
        self.peek().map(|kind| match kind {
            TokenKind::Ident(text) | TokenKind::Number(text) => text.clone(),
            TokenKind::Str(text) => crate::print::Quoted(text).to_string(),
            TokenKind::Punct(c) => c.to_string(),
        })
    }

    fn report_expected(&mut self, expected: &'static str) -> ErrorReported {
        let found = self.next_token_text();
        self.report(SyntaxErrorKind::Expected { expected, found })
    }

    fn report(&mut self, kind: SyntaxErrorKind) -> ErrorReported {
        self.report_at(self.next_token_span(), kind)
    }

    fn report_at(&mut self, span: Range<usize>, kind: SyntaxErrorKind) -> ErrorReported {
        self.errors.push(SyntaxError { kind, span });
        ErrorReported
    }
}

fn are_adjacent(first: &Token, second: &Token) -> bool {
    first.span.end == second.span.start
}
