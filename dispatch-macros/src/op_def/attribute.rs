//! The arguments of `#[op_def(..)]`.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, Parser};
use syn::{Ident, LitStr};

use crate::errors::Errors;
use crate::schema_source::Source;

#[derive(Default)]
pub(super) struct Attribute {
    /// None where the schema is to be inferred.
    pub(super) schema: Option<Source>,
    pub(super) claim: Option<Ident>,
}

impl Attribute {
    pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut attribute = Self::default();
        for (i, part) in split_at_commas(tokens).into_iter().enumerate() {
            match option(&part) {
                Some((name, value)) if name == "operator" => match Ident::parse.parse2(value) {
                    Ok(claim) => attribute.claim = Some(claim),
                    Err(error) => errors.add(error),
                },
                Some((name, _)) => {
                    errors.at(&name, format!("`#[op_def]` has no option `{name}`; the only one is `operator = Add`"))
                }
                None if i == 0 => attribute.schema = Some(source(part)),
                None => errors.at(part, "after the schema, `#[op_def]` takes only options such as `operator = Add`"),
            }
        }
        attribute
    }
}

fn source(part: TokenStream) -> Source {
    match syn::parse2::<LitStr>(part.clone()) {
        Ok(text) => Source::Text(text),
        Err(_) => Source::Tokens(part),
    }
}

/// `name = value`.
fn option(part: &TokenStream) -> Option<(Ident, TokenStream)> {
    let mut trees = part.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Ident(name)), Some(TokenTree::Punct(equals))) if equals.as_char() == '=' => {
            Some((name, trees.collect()))
        }
        _ => None,
    }
}

fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for tree in tokens {
        match &tree {
            TokenTree::Punct(comma) if comma.as_char() == ',' => parts.push(TokenStream::new()),
            _ => parts.last_mut().expect("there is always one").extend([tree]),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}
