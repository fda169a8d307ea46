//! Text and locations of tokens that a user wrote, for messages.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// Returns the text of tokens as a user wrote it, with a space where the source has a space or a line break.
pub(crate) fn source_text(tokens: &impl ToTokens) -> String {
    let mut text = SourceText { out: String::new(), end: None };
    text.push_all(tokens.to_token_stream());
    text.out
}

/// Returns the location of the user's token with the macro's hygiene, so that generated names resolve and messages point at the user's
/// tokens.
pub(crate) fn at_user_span(span: Span) -> Span {
    Span::call_site().located_at(span)
}

struct SourceText {
    out: String,
    /// The line and column where the last token ended.
    end: Option<(usize, usize)>,
}

impl SourceText {
    fn push_all(&mut self, tokens: TokenStream) {
        for tree in tokens {
            match tree {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::None => ("", ""),
                    };
                    // After a parser, a group has a single span, so the spans of its contents say nothing about the brackets.
                    self.push(open, group.span());
                    self.end = None;
                    self.push_all(group.stream());
                    self.end = None;
                    self.push(close, group.span());
                }
                tree => self.push(&tree.to_string(), tree.span()),
            }
        }
    }

    fn push(&mut self, token: &str, span: Span) {
        if token.is_empty() {
            return;
        }
        let (start, end) = (span.unwrap().start(), span.unwrap().end());
        if self.end.is_some_and(|end| end != (start.line(), start.column())) {
            self.out.push(' ');
        }
        self.out.push_str(token);
        self.end = Some((end.line(), end.column()));
    }
}
