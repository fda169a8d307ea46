//! The arguments of `#[op_impl(..)]`: an operator, keys, and options of the kernel.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Lit, LitInt, Path, Token, parenthesized, token};

use crate::syntax::user_tokens::source_text;

/// The arguments, parsed and not yet checked.
pub(crate) struct Attribute {
    pub(crate) operator: Path,
    pub(crate) keys: Vec<Expr>,
    pub(crate) overrides: Option<Ident>,
    pub(crate) boxed: Option<Ident>,
    pub(crate) when: Option<WhenOption>,
    pub(crate) priority: Option<TokenStream>,
    pub(crate) dtypes: Option<DTypesOption>,
    pub(crate) by: Option<Ident>,
    /// The outputs that a planned kernel writes directly: `in_place`, `strided`, `converts`.
    pub(crate) direct_writes: Vec<Ident>,
    /// The engine of an elementwise kernel: a module with the functions `compute_fresh`, `compute_into` and `compute_in_place`.
    pub(crate) engine: Option<EngineOption>,
}

/// The option `engine = path`.
pub(crate) struct EngineOption {
    pub(crate) word: Ident,
    pub(crate) path: Path,
}

/// The option `when(condition)`.
pub(crate) struct WhenOption {
    pub(crate) word: Ident,
    pub(crate) condition: TokenStream,
}

/// The option `dtypes(words)`.
pub(crate) struct DTypesOption {
    pub(crate) word: Ident,
    pub(crate) words: Vec<Ident>,
}

/// The options, and the form of each.
const OPTION_FORMS: [(&str, &str); 10] = [
    ("engine", "engine = path"),
    ("in_place", "in_place"),
    ("strided", "strided"),
    ("converts", "converts"),
    ("override", "override"),
    ("boxed", "boxed"),
    ("when", "when(condition)"),
    ("priority", "priority = 10"),
    ("dtypes", "dtypes(floating)"),
    ("by", "by = argument"),
];

const USAGE_TEXT: &str = "`#[op_impl(path::to::operator, CPU)]`";

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Err(syn::Error::new(
                Span::call_site(),
                format!("the operator and the key are missing; write {USAGE_TEXT}"),
            ));
        }
        let mut attribute = Self {
            operator: parse_operator(input)?,
            keys: Vec::new(),
            overrides: None,
            boxed: None,
            when: None,
            priority: None,
            dtypes: None,
            by: None,
            direct_writes: Vec::new(),
            engine: None,
        };
        while !input.is_empty() {
            if !input.peek(Token![,]) {
                return Err(syn::Error::new(input.span(), format!("write a comma before this: {USAGE_TEXT}")));
            }
            input.parse::<Token![,]>()?;
            if !input.is_empty() {
                attribute.parse_option_or_key(input)?;
            }
        }
        Ok(attribute)
    }
}

fn parse_operator(input: ParseStream<'_>) -> syn::Result<Path> {
    let not_an_operator = |at: Span, what: &str| {
        Err(syn::Error::new(
            at,
            format!("{what} is not an operator; the path of the operator comes first, and then the keys: {USAGE_TEXT}"),
        ))
    };
    if input.peek(Lit) {
        let literal: Lit = input.parse()?;
        return not_an_operator(literal.span(), "a literal");
    }
    let path = input.call(Path::parse_mod_style)?;
    match path.get_ident() {
        Some(name) if name.to_string().chars().all(|c| c.is_ascii_uppercase()) => {
            not_an_operator(name.span(), &format!("`{name}`"))
        }
        _ => Ok(path),
    }
}

impl Attribute {
    fn parse_option_or_key(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let ahead = input.fork();
        let Ok(word) = ahead.call(Ident::parse_any) else {
            return self.parse_key(input);
        };
        let (call, assign) = (ahead.peek(token::Paren), ahead.peek(Token![=]));
        let alone = ahead.is_empty() || ahead.peek(Token![,]);
        let again = match word.to_string().as_str() {
            "override" if alone => self.overrides.replace(input.call(Ident::parse_any)?).is_some(),
            "in_place" | "strided" | "converts" if alone => {
                let word: Ident = input.parse()?;
                let twice = self.direct_writes.contains(&word);
                self.direct_writes.push(word);
                twice
            }
            "boxed" if alone => self.boxed.replace(input.parse()?).is_some(),
            "when" if call => {
                let inside = parse_parentheses(input)?;
                if inside.is_empty() {
                    return Err(syn::Error::new(
                        word.span(),
                        "`when()` has no condition; write one: `when(this.is_contiguous())`",
                    ));
                }
                self.when.replace(WhenOption { word: word.clone(), condition: inside }).is_some()
            }
            "dtypes" if call => {
                let words = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(parse_parentheses(input)?)?;
                self.dtypes.replace(DTypesOption { word: word.clone(), words: words.into_iter().collect() }).is_some()
            }
            "priority" if assign => {
                parse_name_and_equals(input)?;
                self.priority.replace(parse_priority(input)?).is_some()
            }
            "engine" if assign => {
                parse_name_and_equals(input)?;
                let path = input.call(Path::parse_mod_style)?;
                self.engine.replace(EngineOption { word: word.clone(), path }).is_some()
            }
            "by" if assign => {
                parse_name_and_equals(input)?;
                self.by.replace(input.parse()?).is_some()
            }
            _ if call || assign || alone => match option_error(&word, assign || call) {
                Some(message) => return Err(syn::Error::new(word.span(), message)),
                None => return self.parse_key(input),
            },
            _ => return self.parse_key(input),
        };
        if again {
            return Err(syn::Error::new(word.span(), format!("`{word}` is given twice; leave one out")));
        }
        Ok(())
    }

    fn parse_key(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let key: Expr = input.parse()?;
        match &key {
            Expr::Lit(_) => return Err(syn::Error::new_spanned(key, "a key is a constant; write its name: `CPU`")),
            Expr::Array(_) | Expr::Tuple(_) => {
                return Err(syn::Error::new_spanned(
                    key,
                    "keys are separated by commas, without brackets: `CPU, CUDA`",
                ));
            }
            _ => {}
        }
        let text = key.to_token_stream().to_string();
        if self.keys.iter().any(|other| other.to_token_stream().to_string() == text) {
            return Err(syn::Error::new_spanned(
                &key,
                format!("key `{}` is named twice; leave one out", source_text(&key)),
            ));
        }
        self.keys.push(key);
        Ok(())
    }
}

/// Parses the parentheses after a word, and returns their contents.
fn parse_parentheses(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    input.call(Ident::parse_any)?;
    let inside;
    parenthesized!(inside in input);
    inside.parse()
}

/// Parses a word and the `=` after it.
fn parse_name_and_equals(input: ParseStream<'_>) -> syn::Result<Token![=]> {
    input.call(Ident::parse_any)?;
    input.parse()
}

fn parse_priority(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let minus: Option<Token![-]> = input.parse()?;
    let wanted = "a priority is a 32-bit integer: `priority = 10`";
    if input.is_empty() {
        return Err(input.error(wanted));
    }
    let number: LitInt = input.parse().map_err(|error| syn::Error::new(error.span(), wanted))?;
    number.base10_parse::<i32>().map_err(|error| syn::Error::new(error.span(), wanted))?;
    Ok(quote!(#minus #number))
}

/// Returns the mistake in an option, or in a word that looks like one. A word alone may be a key, unless it is similar to an option.
fn option_error(word: &Ident, with_value: bool) -> Option<String> {
    let written = word.to_string();
    let form = |name: &str| OPTION_FORMS.iter().find(|(option, _)| *option == name).map(|(_, form)| *form);
    if let Some(form) = form(&written) {
        return Some(format!("write `{written}` as `{form}`"));
    }
    let near = dispatch_schema::suggest(&written, OPTION_FORMS.map(|(option, _)| option)).and_then(form);
    let is_lower = written.starts_with(|c: char| c.is_lowercase());
    match near {
        Some(form) if is_lower => Some(format!("`#[op_impl]` has no option `{written}`; did you mean `{form}`?")),
        None if is_lower && with_value => {
            let forms = OPTION_FORMS.map(|(_, form)| format!("`{form}`")).join(", ");
            Some(format!("`#[op_impl]` has no option `{written}`; after the keys it takes {forms}"))
        }
        _ => None,
    }
}
