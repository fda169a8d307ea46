//! The function under an attribute: its signature parsed, its body left alone.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Signature, Token, Visibility};

use crate::errors::Errors;

/// A function. The body is opaque, so that a half-typed one still reaches the compiler and the editor.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// None where a semicolon stands in its place.
    pub(crate) body: Option<TokenTree>,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        let body = if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            None
        } else {
            Some(input.parse::<TokenTree>()?)
        };
        Ok(Self { attributes, visibility, signature, body })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.attributes.iter().for_each(|attribute| attribute.to_tokens(tokens));
        self.visibility.to_tokens(tokens);
        self.signature.to_tokens(tokens);
        match &self.body {
            Some(body) => body.to_tokens(tokens),
            None => tokens.extend(quote::quote!(;)),
        }
    }
}

impl Function {
    /// The function under `attribute`, or an error that says what the attribute stands over.
    pub(crate) fn parse_under(attribute: &str, item: TokenStream) -> syn::Result<Self> {
        let first = item.clone().into_iter().next();
        Self::parse.parse2(item).map_err(|error| {
            let is_function = first.as_ref().is_some_and(|tree| {
                matches!(tree, TokenTree::Ident(word) if ["pub", "fn", "async", "unsafe", "extern", "const"].contains(&word.to_string().as_str()))
                    || matches!(tree, TokenTree::Punct(hash) if hash.as_char() == '#')
            });
            match first {
                Some(first) if !is_function => syn::Error::new_spanned(first, format!("`#[{attribute}]` stands over a function")),
                _ => error,
            }
        })
    }

    /// Notes everything about the signature that no operator and no kernel can have.
    pub(crate) fn check_plain(&self, what: &str, allow_generics: bool, errors: &mut Errors) {
        let signature = &self.signature;
        if let Some(asyncness) = &signature.asyncness {
            errors.at(
                asyncness,
                format!("{what} cannot be `async`: a call returns when its result is there; write a plain `fn`"),
            );
        }
        let unsafety = signature
            .to_token_stream()
            .into_iter()
            .take_while(|tree| !is_word(tree, "fn"))
            .find(|tree| is_word(tree, "unsafe"));
        if let Some(unsafety) = unsafety {
            errors.at(
                unsafety,
                format!("{what} cannot be `unsafe`: anybody may call it; check what it needs and return an error"),
            );
        }
        if let Some(abi) = &signature.abi {
            errors.at(abi, format!("{what} cannot be `extern`: it is called as a Rust function; write a plain `fn`"));
        }
        if let Some(variadic) = &signature.variadic {
            errors.at(variadic, format!("{what} cannot be variadic"));
        }
        if let Some(receiver) = signature.receiver() {
            errors.at(receiver, format!("{what} is a free function and not a method; call the argument `this`"));
        }
        if !allow_generics {
            let types =
                signature.generics.params.iter().filter(|param| !matches!(param, syn::GenericParam::Lifetime(_)));
            if let Some(param) = types.into_iter().next() {
                errors.at(param, format!("{what} cannot be generic over `{}`", crate::rust_type::squeeze(param)));
            }
        }
    }
}

fn is_word(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == word)
}
