//! The Rust type of each schema type: as text for messages, and as absolute paths in expansions.

use dispatch_schema::{Argument, Schema, rust_argument_type, rust_result_type};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse_quote;

/// A type as a user writes it, such as `&[Option<Tensor>]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RustType(String);

impl RustType {
    /// Returns the parameter type for an argument; `None` for a type that no operator takes.
    pub(crate) fn from_argument(argument: &Argument) -> Option<Self> {
        rust_argument_type(argument).map(Self)
    }

    /// Returns the parameter type that only reads the argument: `&mut` becomes `&`.
    pub(crate) fn to_shared(&self) -> Self {
        Self(self.0.replace("&mut ", "&"))
    }

    /// Returns the result type for the schema's returns, without `Result`.
    pub(crate) fn from_returns(schema: &Schema) -> Self {
        Self(rust_result_type(schema))
    }

    /// Converts a type that a user wrote to a comparable form: without lifetimes, and with the last segments of paths only.
    pub(crate) fn from_user_type(ty: &syn::Type) -> Self {
        Self(text_with_usual_spacing(&strip_paths_and_lifetimes(ty.to_token_stream())))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_mutable_reference(&self) -> bool {
        self.0.contains("&mut ")
    }

    /// Returns whether the type contains no reference.
    pub(crate) fn has_no_reference(&self) -> bool {
        !self.0.contains('&')
    }

    pub(crate) fn is_optional(&self) -> bool {
        self.0.starts_with("Option<")
    }

    /// Returns the type inside of an `Option`, or the type itself.
    pub(crate) fn without_optional(&self) -> Self {
        let inner = self.0.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>'));
        Self(inner.unwrap_or(&self.0).to_owned())
    }

    /// Generates the runtime's `Kind` for this argument: the type without its lifetime.
    pub(crate) fn kind_tokens(&self, runtime: &TokenStream) -> TokenStream {
        let required = self.without_optional();
        let (kind, inner) = match (self.is_optional(), required.0.strip_prefix("&mut "), required.0.strip_prefix('&')) {
            (false, Some(inner), _) => ("Mut", inner),
            (true, Some(inner), _) => ("OptMut", inner),
            (false, None, Some(inner)) => ("Ref", inner),
            (true, None, Some(inner)) => ("OptRef", inner),
            (false, None, None) => ("Owned", required.text()),
            (true, None, None) => ("OptOwned", required.text()),
        };
        let (kind, inner) = (Ident::new(kind, Span::call_site()), Self(inner.to_owned()).tokens(runtime));
        quote!(#runtime::#kind<#inner>)
    }

    /// Returns the type as tokens, with every name as an absolute path.
    pub(crate) fn tokens(&self, runtime: &TokenStream) -> TokenStream {
        match self.0.parse::<TokenStream>() {
            Ok(tokens) => with_absolute_paths(tokens, runtime),
            Err(_) => quote!(()),
        }
    }
}

/// Removes lifetimes, and all segments of a path but the last.
fn strip_paths_and_lifetimes(tokens: TokenStream) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(tree) = tokens.next() {
        match tree {
            TokenTree::Punct(punct) if punct.as_char() == '\'' => drop(tokens.next()),
            TokenTree::Punct(punct) if punct.as_char() == ':' => {
                tokens.next();
                if matches!(out.last(), Some(TokenTree::Ident(_))) {
                    out.pop();
                }
            }
            TokenTree::Group(group) => {
                out.push(Group::new(group.delimiter(), strip_paths_and_lifetimes(group.stream())).into());
            }
            tree => out.push(tree),
        }
    }
    out.into_iter().collect()
}

/// Returns the text of tokens with the usual spacing. The compiler breaks long types into lines, and prints other spaces.
pub(crate) fn text_with_usual_spacing(tokens: &impl ToTokens) -> String {
    const SPACING_REPLACEMENTS: [(&str, &str); 14] = [
        ("& ", "&"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("[ ", "["),
        (" ]", "]"),
        ("( ", "("),
        (" )", ")"),
        (",)", ")"),
        (",>", ">"),
        (" ::", "::"),
        (":: ", "::"),
        (" !", "!"),
    ];
    let text = tokens.to_token_stream().to_string();
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    SPACING_REPLACEMENTS.iter().fold(one_line, |text, (wide, narrow)| text.replace(wide, narrow))
}

fn with_absolute_paths(tokens: TokenStream, runtime: &TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .map(|tree| match tree {
            TokenTree::Ident(ident) => absolute_path(&ident, runtime),
            TokenTree::Group(group) => {
                TokenTree::from(Group::new(group.delimiter(), with_absolute_paths(group.stream(), runtime))).into()
            }
            tree => tree.into(),
        })
        .collect()
}

fn absolute_path(name: &Ident, runtime: &TokenStream) -> TokenStream {
    match name.to_string().as_str() {
        "mut" => name.to_token_stream(),
        "i64" | "f64" | "bool" | "str" => quote!(::core::primitive::#name),
        "Option" => quote!(::core::option::Option),
        "Vec" => quote!(::std::vec::Vec),
        _ => quote!(#runtime::#name),
    }
}

/// Returns a type that a user wrote with every lifetime replaced by `'_`, for use inside another function.
pub(crate) fn with_elided_lifetimes(ty: &syn::Type) -> syn::Type {
    let tokens = elide_lifetimes(ty.to_token_stream());
    parse_quote!(#tokens)
}

fn elide_lifetimes(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter();
    let mut out = TokenStream::new();
    while let Some(tree) = tokens.next() {
        match tree {
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                if let Some(TokenTree::Ident(name)) = tokens.next() {
                    let name = if name == "static" { name } else { Ident::new("_", Span::call_site()) };
                    out.extend([TokenTree::Punct(punct), TokenTree::Ident(name)]);
                }
            }
            TokenTree::Group(group) => {
                let mut elided = Group::new(group.delimiter(), elide_lifetimes(group.stream()));
                elided.set_span(group.span());
                out.extend([TokenTree::Group(elided)]);
            }
            tree => out.extend([tree]),
        }
    }
    out
}
