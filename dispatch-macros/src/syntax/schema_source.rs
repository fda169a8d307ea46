//! The schema in an attribute: a string, or plain tokens.
//!
//! One parser reads both. The compiler can only underline a whole string, so the message for a string draws its own caret. In plain tokens,
//! the mistake itself is underlined.

use dispatch_schema::{Schema, SyntaxErrors, Token, TokenKind};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::LitStr;

use crate::errors::Errors;

/// The source of a schema.
pub(crate) enum SchemaSource {
    Text(LitStr),
    Tokens(TokenStream),
}

impl SchemaSource {
    pub(crate) fn parse(&self, errors: &mut Errors) -> Option<Schema> {
        match self {
            Self::Text(text) => parse_text(text, errors),
            Self::Tokens(tokens) => parse_tokens(tokens, errors),
        }
    }
}

impl SchemaSource {
    /// Returns the tokens to underline for a word of the schema: the word, or the whole string.
    pub(crate) fn tokens_of_word(&self, word: &str) -> TokenStream {
        let tokens = match self {
            Self::Text(text) => return text.to_token_stream(),
            Self::Tokens(tokens) => tokens,
        };
        let mut flat = FlatTokens::default();
        flat.push_all(tokens.clone());
        let is_word = |tree: &&TokenTree| match tree {
            TokenTree::Ident(ident) => ident == word,
            TokenTree::Punct(punct) => word == "..." && punct.as_char() == '.',
            _ => false,
        };
        let found: TokenStream = flat.trees.iter().filter(is_word).cloned().collect();
        if found.is_empty() { tokens.clone() } else { found }
    }
}

fn parse_text(literal: &LitStr, errors: &mut Errors) -> Option<Schema> {
    let text = literal.value();
    Schema::parse(&text).map_err(|mistakes| errors.add_at(literal, mistakes.render(&text))).ok()
}

fn parse_tokens(tokens: &TokenStream, errors: &mut Errors) -> Option<Schema> {
    let mut flat = FlatTokens::default();
    flat.push_all(tokens.clone());
    let end = flat.trees.last().cloned();
    Schema::parse_tokens(&flat.tokens)
        .map_err(|mistakes| report_mistakes(&flat.trees, end.as_ref(), &mistakes, errors))
        .ok()
}

fn report_mistakes(trees: &[TokenTree], end: Option<&TokenTree>, mistakes: &SyntaxErrors, errors: &mut Errors) {
    for mistake in mistakes {
        let at: TokenStream = trees.get(mistake.span.clone()).unwrap_or_default().iter().cloned().collect();
        match (at.is_empty(), end) {
            (false, _) => errors.add_at(at, &mistake.kind),
            (true, Some(end)) => errors.add_at(end, &mistake.kind),
            (true, None) => errors.add(syn::Error::new(Span::call_site(), &mistake.kind)),
        }
    }
}

/// Tokens without groups, in the form that the schema parser reads. Their spans are indices of `trees`.
#[derive(Default)]
struct FlatTokens {
    tokens: Vec<Token>,
    trees: Vec<TokenTree>,
}

impl FlatTokens {
    fn push_all(&mut self, tokens: TokenStream) {
        for tree in tokens {
            match &tree {
                TokenTree::Group(group) => self.push_group(group),
                TokenTree::Ident(ident) => {
                    self.push(TokenKind::Ident(ident.to_string().trim_start_matches("r#").to_owned()), tree);
                }
                TokenTree::Punct(punct) => self.push(TokenKind::Punct(punct.as_char()), tree),
                TokenTree::Literal(literal) => {
                    let kind = match syn::parse_str::<LitStr>(&literal.to_string()) {
                        Ok(text) => TokenKind::Str(text.value()),
                        Err(_) => TokenKind::Number(literal.to_string()),
                    };
                    self.push(kind, tree);
                }
            }
        }
    }

    fn push_group(&mut self, group: &Group) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ('(', ')'),
            Delimiter::Bracket => ('[', ']'),
            Delimiter::Brace => ('{', '}'),
            Delimiter::None => return self.push_all(group.stream()),
        };
        let mark = |character: char, span: Span| {
            let mut ident = proc_macro2::Punct::new(',', proc_macro2::Spacing::Alone);
            ident.set_span(span);
            (TokenKind::Punct(character), TokenTree::Punct(ident))
        };
        let (kind, tree) = mark(open, group.span_open());
        self.push(kind, tree);
        self.push_all(group.stream());
        let (kind, tree) = mark(close, group.span_close());
        self.push(kind, tree);
    }

    fn push(&mut self, kind: TokenKind, tree: TokenTree) {
        let at = self.trees.len();
        self.tokens.push(Token { kind, span: at..at + 1 });
        self.trees.push(tree);
    }
}
