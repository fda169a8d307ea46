//! The arguments of `#[op_fallback(..)]`: a key, and which calls the fallback is for.

use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, Token, token};

/// Parsed, not yet checked.
pub(super) struct Attribute {
    pub(super) key: Expr,
    pub(super) aliasing: Option<Ident>,
}

/// The options and how they are written.
const OPTIONS: [(&str, &str); 1] = [("aliasing", "aliasing")];

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let first = input.fork().call(Ident::parse_any);
        if let Ok(word) = first
            && let Some((_, form)) = OPTIONS.iter().find(|(option, _)| word == option)
        {
            let message = format!("the key comes before `{form}`: `#[op_fallback(Tracer, {form})]`");
            return Err(syn::Error::new(word.span(), message));
        }
        let mut attribute = Self { key: input.parse()?, aliasing: None };
        while !input.is_empty() {
            let comma: Token![,] = input.parse()?;
            if !input.is_empty() {
                attribute.parse_option(input, comma)?;
            }
        }
        Ok(attribute)
    }
}

impl Attribute {
    fn parse_option(&mut self, input: ParseStream<'_>, comma: Token![,]) -> syn::Result<()> {
        let ahead = input.fork();
        let Ok(word) = ahead.call(Ident::parse_any) else {
            return Err(another_key(comma));
        };
        let alone = ahead.is_empty() || ahead.peek(Token![,]);
        let again = match word.to_string().as_str() {
            "aliasing" if alone => self.aliasing.replace(input.parse()?).is_some(),
            _ => return Err(misused(&word, alone || ahead.peek(token::Paren) || ahead.peek(Token![=]), comma)),
        };
        if again {
            return Err(syn::Error::new(word.span(), format!("`{word}` is given twice; leave one out")));
        }
        Ok(())
    }
}

/// What is wrong with a word after the key: an option that is written otherwise, one that there is not, or another key.
fn misused(word: &Ident, is_option: bool, comma: Token![,]) -> syn::Error {
    let written = word.to_string();
    let form = |name: &str| OPTIONS.iter().find(|(option, _)| *option == name).map(|(_, form)| *form);
    if let Some(form) = form(&written) {
        let message = if form == written {
            format!("`{written}` has no value; write it alone")
        } else {
            format!("`{written}` is written `{form}`")
        };
        return syn::Error::new(word.span(), message);
    }
    if !is_option || !written.starts_with(|c: char| c.is_lowercase()) {
        return another_key(comma);
    }
    let hint = match dispatch_schema::suggest(&written, OPTIONS.map(|(option, _)| option)).and_then(form) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("after the key it takes {}", OPTIONS.map(|(_, form)| format!("`{form}`")).join(" and ")),
    };
    syn::Error::new(word.span(), format!("`#[op_fallback]` has no option `{written}`; {hint}"))
}

fn another_key(comma: Token![,]) -> syn::Error {
    let message = "a fallback serves one key; write another `#[op_fallback]` function for another key";
    syn::Error::new(comma.span, message)
}
