//! Grammar rules of lists of arguments and returns.

use std::collections::HashSet;

use super::{ParseResult, Parser};
use crate::error::SyntaxErrorKind;
use crate::schema::{Argument, Return};
use crate::token::TokenKind;
use crate::ty::TypeKind;

/// The arguments parsed so far, and the state for the following ones.
#[derive(Default)]
struct ParsedArguments {
    list: Vec<Argument>,
    names: HashSet<String>,
    keyword_only: bool,
    varargs: bool,
    /// The name and span of the first argument with a default. A later `...` makes this default an error.
    first_default: Option<(String, std::ops::Range<usize>)>,
}

impl Parser<'_> {
    /// Parses `( args )`. The second value says whether they end in `...`.
    pub(super) fn parse_arguments(&mut self) -> ParseResult<(Vec<Argument>, bool)> {
        let mut read = ParsedArguments::default();
        self.expect('(', "`(` and the arguments")?;
        self.parse_comma_separated("`,` or `)` after the argument", |parser| parser.parse_argument_item(&mut read))?;
        if let Some((name, span)) = read.first_default.filter(|_| read.varargs) {
            self.report_at(span, SyntaxErrorKind::DefaultWithVarargs { name });
        }
        Ok((read.list, read.varargs))
    }

    /// Parses `...`, one return, or a list of returns in parentheses. The second value says whether they end in `...`.
    pub(super) fn parse_returns(&mut self) -> ParseResult<(Vec<Return>, bool)> {
        if self.eat_punctuation("...") {
            return Ok((Vec::new(), true));
        }
        let (mut list, mut varreturns) = (Vec::new(), false);
        if self.eat('(') {
            self.parse_comma_separated("`,` or `)` after the return", |parser| {
                parser.parse_return_item(&mut list, &mut varreturns)
            })?;
        } else {
            list.push(self.parse_return()?);
        }
        Ok((list, varreturns))
    }

    /// Parses items between commas up to `)`. An error in an item does not affect the following ones.
    fn parse_comma_separated(
        &mut self,
        what: &'static str,
        mut item: impl FnMut(&mut Self) -> ParseResult<()>,
    ) -> ParseResult<()> {
        if self.eat(')') {
            return Ok(());
        }
        loop {
            let start = self.position;
            self.depth = 0;
            let read = if self.is_at(')') { Err(self.report(SyntaxErrorKind::TrailingComma)) } else { item(self) };
            if read.is_ok() && !self.is_at(',') && !self.is_at(')') {
                self.report_expected(what);
            }
            self.skip_item(start);
            if self.eat(')') {
                return Ok(());
            }
            if !self.eat(',') {
                // The text ends here. An error is needed only if no item reported one.
                return Err(if self.errors.is_empty() { self.report_expected(what) } else { super::ErrorReported });
            }
        }
    }

    fn parse_argument_item(&mut self, read: &mut ParsedArguments) -> ParseResult<()> {
        if read.varargs {
            return Err(self.report(SyntaxErrorKind::VarargsNotLast));
        }
        if self.eat_punctuation("...") {
            read.varargs = true;
        } else if self.eat('*') {
            read.keyword_only = true;
        } else {
            self.parse_argument(read)?;
        }
        Ok(())
    }

    fn parse_argument(&mut self, read: &mut ParsedArguments) -> ParseResult<()> {
        self.check_type_comes_first()?;
        let errors = self.errors.len();
        let ty = self.parse_outer_type()?;
        let sound = self.errors.len() == errors;
        let span = self.next_token_span();
        let name = self.parse_argument_name()?;
        let default = if self.eat('=') {
            let start = self.next_token_span().start;
            let literal = self.parse_literal()?;
            read.first_default.get_or_insert_with(|| (name.clone(), self.span_since(start)));
            // A default is not checked against a type that is itself wrong.
            if sound { self.convert_to_default(literal, &ty) } else { None }
        } else {
            let follows_default = !read.keyword_only && read.first_default.is_some();
            if follows_default && sound && !matches!(ty.kind, TypeKind::List(..)) {
                self.report_at(span.clone(), SyntaxErrorKind::PositionalAfterDefault { name: name.clone() });
            }
            None
        };
        if !read.names.insert(name.clone()) {
            self.report_at(span, SyntaxErrorKind::DuplicateArgument { name: name.clone() });
        }
        read.list.push(Argument { name, ty, default, keyword_only: read.keyword_only });
        Ok(())
    }

    fn check_type_comes_first(&mut self) -> ParseResult<()> {
        match (self.peek(), self.peek_at(1), self.peek_at(2)) {
            (_, _, Some(TokenKind::Punct(':'))) => Ok(()),
            (Some(TokenKind::Ident(name)), Some(TokenKind::Punct(':')), _) => {
                let name = name.clone();
                Err(self.report(SyntaxErrorKind::NameBeforeType { name }))
            }
            _ => Ok(()),
        }
    }

    fn parse_argument_name(&mut self) -> ParseResult<String> {
        if let Some(TokenKind::Ident(_)) = self.peek() {
            return self.parse_identifier("the argument's name");
        }
        let found = self.next_token_text();
        Err(self.report(SyntaxErrorKind::MissingArgumentName { found }))
    }

    fn parse_return_item(&mut self, list: &mut Vec<Return>, varreturns: &mut bool) -> ParseResult<()> {
        if *varreturns {
            return Err(self.report(SyntaxErrorKind::VarargsNotLast));
        }
        if self.eat_punctuation("...") {
            *varreturns = true;
        } else {
            list.push(self.parse_return()?);
        }
        Ok(())
    }

    fn parse_return(&mut self) -> ParseResult<Return> {
        let ty = self.parse_outer_type()?;
        let named = matches!(self.peek(), Some(TokenKind::Ident(_)));
        let name = if named { Some(self.parse_identifier("the return's name")?) } else { None };
        Ok(Return { name, ty })
    }
}
