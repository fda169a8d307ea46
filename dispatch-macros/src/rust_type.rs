//! The Rust type of each schema type.
//!
//! One way only, and written once, as the text that messages show. Expansions turn the same text into absolute paths.

use dispatch_schema::{Argument, Schema, Type, TypeKind};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse_quote;

/// A type as a user writes it: `&[Option<Tensor>]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RustType(String);

impl RustType {
    /// What a function takes for an argument; none for a type that no operator takes.
    pub(crate) fn of_argument(argument: &Argument) -> Option<Self> {
        parameter(&argument.ty, argument.is_written()).map(Self)
    }

    /// What a predicate over the same argument takes: written arguments are only looked at.
    pub(crate) fn shared(&self) -> Self {
        Self(self.0.replace("&mut ", "&"))
    }

    /// What a function returns for the schema's returns, without `Result`.
    pub(crate) fn of_returns(schema: &Schema) -> Self {
        let returned: Vec<String> = returned(schema).map(|(_, ty)| owned(ty)).collect();
        Self(match &returned[..] {
            [one] => one.clone(),
            several => format!("({})", several.join(", ")),
        })
    }

    /// A type that a user wrote, in the form in which it can be compared: no lifetimes, no paths.
    pub(crate) fn written(ty: &syn::Type) -> Self {
        Self(squeeze(&bare(ty.to_token_stream())))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_written(&self) -> bool {
        self.0.contains("&mut ")
    }

    /// A value without anything behind it that could be written.
    pub(crate) fn is_plain(&self) -> bool {
        !self.0.contains('&')
    }

    pub(crate) fn is_optional(&self) -> bool {
        self.0.starts_with("Option<")
    }

    /// What is inside an option; anything else is itself.
    pub(crate) fn required(&self) -> Self {
        let inner = self.0.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>'));
        Self(inner.unwrap_or(&self.0).to_owned())
    }

    /// The type without its lifetime: the runtime's `Kind` of this argument.
    pub(crate) fn kind(&self, runtime: &TokenStream) -> TokenStream {
        let required = self.required();
        let (kind, inner) = match (self.is_optional(), required.0.strip_prefix("&mut "), required.0.strip_prefix('&')) {
            (false, Some(inner), _) => ("Mut", inner),
            (true, Some(inner), _) => ("OptMut", inner),
            (false, None, Some(inner)) => ("Ref", inner),
            (true, None, Some(inner)) => ("OptRef", inner),
            (false, None, None) => ("Own", required.text()),
            (true, None, None) => ("OptOwn", required.text()),
        };
        let (kind, inner) = (Ident::new(kind, Span::call_site()), Self(inner.to_owned()).tokens(runtime));
        quote!(#runtime::__private::#kind<#inner>)
    }

    /// The same with every name an absolute path.
    pub(crate) fn tokens(&self, runtime: &TokenStream) -> TokenStream {
        match self.0.parse::<TokenStream>() {
            Ok(tokens) => absolute(tokens, runtime),
            Err(_) => quote!(()),
        }
    }
}

/// The returns that are values, and their positions: a return that is a written argument is implied.
pub(crate) fn returned(schema: &Schema) -> impl Iterator<Item = (usize, &Type)> {
    let values = schema.returns.iter().enumerate().filter(|(i, _)| schema.written_return(*i).is_none());
    values.map(|(i, ret)| (i, &ret.ty))
}

fn parameter(ty: &Type, written: bool) -> Option<String> {
    let reference = if written { "&mut " } else { "&" };
    Some(match &ty.kind {
        TypeKind::Tensor => format!("{reference}Tensor"),
        TypeKind::Optional(inner) => format!("Option<{}>", parameter(inner, written)?),
        TypeKind::List(element, _) if is_list_of_lists_of_tensors(element) => return None,
        TypeKind::List(element, _) => match list_element(element) {
            Some(element) => format!("{reference}[{element}]"),
            None => "&Value".to_owned(),
        },
        TypeKind::Str => "&str".to_owned(),
        TypeKind::Generator => "&Generator".to_owned(),
        _ => plain(ty).map_or_else(|| "&Value".to_owned(), str::to_owned),
    })
}

fn is_list_of_lists_of_tensors(element: &Type) -> bool {
    matches!(&element.required().kind, TypeKind::List(inner, _) if inner.required().kind == TypeKind::Tensor)
}

fn owned(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Tensor => "Tensor".to_owned(),
        TypeKind::Optional(inner) => format!("Option<{}>", owned(inner)),
        TypeKind::List(element, _) => {
            list_element(element).map_or_else(|| "Value".to_owned(), |element| format!("Vec<{element}>"))
        }
        TypeKind::Str => "Str".to_owned(),
        TypeKind::Generator => "Generator".to_owned(),
        _ => plain(ty).unwrap_or("Value").to_owned(),
    }
}

fn list_element(ty: &Type) -> Option<&'static str> {
    Some(match &ty.kind {
        TypeKind::Tensor => "Tensor",
        TypeKind::Optional(inner) if inner.kind == TypeKind::Tensor => "Option<Tensor>",
        TypeKind::Int | TypeKind::SymInt => "i64",
        TypeKind::Float => "f64",
        TypeKind::Bool => "bool",
        TypeKind::Scalar => "Scalar",
        TypeKind::Str => "Str",
        _ => return None,
    })
}

/// Types that are passed by value.
fn plain(ty: &Type) -> Option<&'static str> {
    Some(match &ty.kind {
        TypeKind::Int | TypeKind::SymInt => "i64",
        TypeKind::Float => "f64",
        TypeKind::Bool | TypeKind::SymBool => "bool",
        TypeKind::Scalar => "Scalar",
        TypeKind::Complex => "Complex64",
        TypeKind::ScalarType => "DType",
        TypeKind::Layout => "Layout",
        TypeKind::MemoryFormat => "MemoryFormat",
        TypeKind::Device => "Device",
        _ => return None,
    })
}

/// Drops lifetimes, and all of a path but its last segment.
fn bare(tokens: TokenStream) -> TokenStream {
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
            TokenTree::Group(group) => out.push(Group::new(group.delimiter(), bare(group.stream())).into()),
            tree => out.push(tree),
        }
    }
    out.into_iter().collect()
}

/// Tokens as a person would write them. The compiler breaks long types over lines, and prints spaces of its own.
pub(crate) fn squeeze(tokens: &impl ToTokens) -> String {
    const NARROW: [(&str, &str); 14] = [
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
    NARROW.iter().fold(one_line, |text, (wide, narrow)| text.replace(wide, narrow))
}

fn absolute(tokens: TokenStream, runtime: &TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .map(|tree| match tree {
            TokenTree::Ident(ident) => absolute_name(&ident, runtime),
            TokenTree::Group(group) => {
                TokenTree::from(Group::new(group.delimiter(), absolute(group.stream(), runtime))).into()
            }
            tree => tree.into(),
        })
        .collect()
}

fn absolute_name(name: &Ident, runtime: &TokenStream) -> TokenStream {
    match name.to_string().as_str() {
        "mut" | "i64" | "f64" | "bool" | "str" => name.to_token_stream(),
        "Option" => quote!(::core::option::Option),
        "Vec" => quote!(::std::vec::Vec),
        _ => quote!(#runtime::#name),
    }
}

/// A type that a user wrote, with every lifetime left to the compiler, for use inside another function.
pub(crate) fn without_lifetimes(ty: &syn::Type) -> syn::Type {
    let tokens = elide(ty.to_token_stream());
    parse_quote!(#tokens)
}

fn elide(tokens: TokenStream) -> TokenStream {
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
                let mut elided = Group::new(group.delimiter(), elide(group.stream()));
                elided.set_span(group.span());
                out.extend([TokenTree::Group(elided)]);
            }
            tree => out.extend([tree]),
        }
    }
    out
}
