//! The arguments of `#[op_impl(..)]`: an operator, keys, and what else there is to say about a kernel.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitInt, Path, Token, parenthesized};

/// Parsed, not yet checked.
pub(crate) struct Flags {
    pub(crate) operator: Path,
    pub(crate) keys: Vec<Expr>,
    pub(crate) overrides: Option<Ident>,
    pub(crate) boxed: Option<Ident>,
    pub(crate) when: Option<When>,
    pub(crate) priority: Option<TokenStream>,
    pub(crate) dtypes: Option<DTypes>,
    pub(crate) by: Option<Ident>,
}

/// `when(condition)`.
pub(crate) struct When {
    pub(crate) word: Ident,
    pub(crate) condition: TokenStream,
}

/// `dtypes(words)`.
pub(crate) struct DTypes {
    pub(crate) word: Ident,
    pub(crate) words: Vec<Ident>,
}

/// The options, for messages.
const OPTIONS: &str = "`override`, `boxed`, `when(..)`, `priority = ..`, `dtypes(..)`, `by = ..`";

impl Parse for Flags {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Err(input.error("name the operator and the key: `#[op_impl(path::to::operator, CPU)]`"));
        }
        let mut flags = Self {
            operator: input.call(Path::parse_mod_style)?,
            keys: Vec::new(),
            overrides: None,
            boxed: None,
            when: None,
            priority: None,
            dtypes: None,
            by: None,
        };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if !input.is_empty() {
                flags.parse_one(input)?;
            }
        }
        Ok(flags)
    }
}

impl Flags {
    fn parse_one(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let ahead = input.fork();
        let word = ahead.call(Ident::parse_any).ok();
        let (call, assign) = (ahead.peek(syn::token::Paren), ahead.peek(Token![=]));
        match word {
            Some(word) if word == "override" => self.overrides = Some(input.call(Ident::parse_any)?),
            Some(word) if word == "boxed" => self.boxed = Some(input.parse()?),
            Some(word) if word == "when" && call => {
                input.parse::<Ident>()?;
                let condition;
                parenthesized!(condition in input);
                self.when = Some(When { word, condition: condition.parse()? });
            }
            Some(word) if word == "dtypes" && call => {
                input.parse::<Ident>()?;
                let words;
                parenthesized!(words in input);
                let words = Punctuated::<Ident, Token![,]>::parse_terminated(&words)?;
                self.dtypes = Some(DTypes { word, words: words.into_iter().collect() });
            }
            Some(word) if word == "priority" && assign => {
                input.parse::<Ident>()?;
                input.parse::<Token![=]>()?;
                let minus: Option<Token![-]> = input.parse()?;
                let number: LitInt = input.parse()?;
                number.base10_parse::<i32>()?;
                self.priority = Some(quote::quote!(#minus #number));
            }
            Some(word) if word == "by" && assign => {
                input.parse::<Ident>()?;
                input.parse::<Token![=]>()?;
                self.by = Some(input.parse()?);
            }
            Some(word) if assign || call && word.to_string().starts_with(|c: char| c.is_lowercase()) => {
                return Err(syn::Error::new_spanned(
                    &word,
                    format!("`#[op_impl]` has no option `{word}`; after the keys it takes {OPTIONS}"),
                ));
            }
            _ => self.keys.push(input.parse()?),
        }
        Ok(())
    }
}

/// The last word of a key, for checks that need no types.
pub(crate) fn key_word(key: &impl ToTokens) -> Option<String> {
    let words = key
        .to_token_stream()
        .into_iter()
        .filter_map(|tree| if let TokenTree::Ident(word) = tree { Some(word) } else { None });
    words.last().map(|word| word.to_string())
}

/// Every key of the list, as a reference to a static or a promoted constant, resolved in the user's scope with the built-in keys in sight.
pub(crate) fn key_references(keys: &[Expr], runtime: &TokenStream) -> TokenStream {
    if keys.is_empty() {
        return quote::quote!(&#runtime::keys::CompositeImplicitAutograd);
    }
    quote::quote!(#(&#keys),*)
}

/// Keys that name many runtime keys.
pub(crate) const ALIASES: [&str; 7] = [
    "Autograd",
    "Autocast",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutogradNestedTensor",
    "FuncTorchBatchedDecomposition",
];
