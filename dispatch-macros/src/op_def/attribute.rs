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
                    Ok(_) if attribute.claim.is_some() => errors.at(name, "`operator` is given twice; leave one out"),
                    Ok(claim) => attribute.claim = Some(claim),
                    Err(_) => errors.at(name, "name one of Rust's operators: `operator = Add`"),
                },
                Some((name, _)) => {
                    errors.at(&name, format!("`#[op_def]` has no option `{name}`; the only one is `operator = Add`"));
                }
                None if i == 0 => attribute.schema = Some(source(part)),
                None => errors.at(part, "after its schema, `#[op_def]` takes only `operator = Add`"),
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
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    let parts = trees.split(is_comma).filter(|part| !part.is_empty());
    parts.map(|part| part.iter().cloned().collect()).collect()
}
