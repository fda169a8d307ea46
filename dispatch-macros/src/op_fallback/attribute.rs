//! The arguments of `#[op_fallback(..)]`: a key, and the calls that the fallback serves.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Path, Token, parenthesized, token};

/// The arguments, parsed and not yet checked.
pub(super) struct Attribute {
    pub(super) key: Expr,
    aliasing: Option<Ident>,
    /// The names of marks.
    marked: Option<Vec<Ident>>,
}

/// The options, and the form of each.
const OPTION_FORMS: [(&str, &str); 2] = [("aliasing", "aliasing"), ("marked", "marked(REQUIRES_GRAD)")];

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let first = input.fork().call(Ident::parse_any);
        if let Ok(word) = first
            && let Some((_, form)) = OPTION_FORMS.iter().find(|(option, _)| word == option)
        {
            let message = format!("the key comes before the options: `#[op_fallback(Tracer, {form})]`");
            return Err(syn::Error::new(word.span(), message));
        }
        let mut attribute = Self { key: input.parse()?, aliasing: None, marked: None };
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
    /// Generates the method calls that set the options of the fallback's record.
    pub(super) fn option_method_calls(&self, runtime: &TokenStream) -> TokenStream {
        let aliasing = self.aliasing.as_ref().map(|_| quote!(.for_aliasing_operators()));
        let marked = self.marked.as_ref().map(|marks| quote!(.for_marks(&[#(#runtime::Marks::#marks),*])));
        quote!(#aliasing #marked)
    }

    fn parse_option(&mut self, input: ParseStream<'_>, comma: Token![,]) -> syn::Result<()> {
        let ahead = input.fork();
        let Ok(word) = ahead.call(Ident::parse_any) else {
            return Err(second_key_error(comma));
        };
        let alone = ahead.is_empty() || ahead.peek(Token![,]);
        let again = match word.to_string().as_str() {
            "aliasing" if alone => self.aliasing.replace(input.parse()?).is_some(),
            "marked" if ahead.peek(token::Paren) => self.marked.replace(parse_marks(input)?).is_some(),
            _ => return Err(option_error(&word, alone || ahead.peek(token::Paren) || ahead.peek(Token![=]), comma)),
        };
        if again {
            return Err(syn::Error::new(word.span(), format!("`{word}` is given twice; leave one out")));
        }
        Ok(())
    }
}

/// Parses `marked(NAME, ..)`.
fn parse_marks(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    let word: Ident = input.parse()?;
    let inside;
    parenthesized!(inside in input);
    let mut marks = Vec::new();
    for path in Punctuated::<Path, Token![,]>::parse_terminated(&inside)? {
        let Some(mark) = path.get_ident() else {
            let name = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
            return Err(syn::Error::new_spanned(&path, format!("a mark is named without a path; write `{name}`")));
        };
        if marks.contains(mark) {
            return Err(syn::Error::new(mark.span(), format!("mark `{mark}` is named twice; leave one out")));
        }
        marks.push(mark.clone());
    }
    if marks.is_empty() {
        let message =
            "`marked()` names no mark; name the marks of tensors that need the fallback: `marked(REQUIRES_GRAD)`";
        return Err(syn::Error::new(word.span(), message));
    }
    Ok(marks)
}

/// Returns the error for a word after the key: an option in the wrong form, an unknown option, or another key.
fn option_error(word: &Ident, is_option: bool, comma: Token![,]) -> syn::Error {
    let written = word.to_string();
    let form = |name: &str| OPTION_FORMS.iter().find(|(option, _)| *option == name).map(|(_, form)| *form);
    if let Some(form) = form(&written) {
        let message = if form == written {
            format!("`{written}` takes no value; write it alone")
        } else {
            format!("write `{written}` as `{form}`")
        };
        return syn::Error::new(word.span(), message);
    }
    if !is_option || !written.starts_with(|c: char| c.is_lowercase()) {
        return second_key_error(comma);
    }
    let hint = match dispatch_schema::suggest(&written, OPTION_FORMS.map(|(option, _)| option)).and_then(form) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("after the key it takes {}", OPTION_FORMS.map(|(_, form)| format!("`{form}`")).join(" and ")),
    };
    syn::Error::new(word.span(), format!("`#[op_fallback]` has no option `{written}`; {hint}"))
}

fn second_key_error(comma: Token![,]) -> syn::Error {
    let message = "a fallback serves one key; write another `#[op_fallback]` function for another key";
    syn::Error::new(comma.span, message)
}
