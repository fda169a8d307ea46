//! The function under an attribute. Its signature is parsed, its body is not.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, LitStr, Pat, Safety, Signature, Token, Variadic, Visibility, parse_quote};

use crate::errors::{Errors, move_error_to_last_token};
use crate::syntax::user_tokens::source_text;

/// A parsed function. Its body is opaque tokens, so that a half-typed body still reaches the compiler and the editor.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// `None` if the function ends with a semicolon.
    pub(crate) body: Option<TokenTree>,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !starts_with_function(input) {
            return Err(syn::Error::new(input.span(), NOT_A_FUNCTION_MESSAGE));
        }
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
            None => tokens.extend(quote!(;)),
        }
    }
}

impl Function {
    /// Parses the function under `attribute`. If that fails, returns the tokens to expand to: the unchanged item with an error.
    pub(crate) fn parse_under_attribute(attribute: &str, item: &TokenStream) -> Result<Self, TokenStream> {
        Self::parse.parse2(item.clone()).map_err(|error| {
            if error.to_string() != NOT_A_FUNCTION_MESSAGE {
                return error.to_compile_error();
            }
            let error = syn::Error::new(error.span(), format!("`#[{attribute}]` can only be applied to a function"));
            let error = error.to_compile_error();
            quote!(#item #error)
        })
    }

    /// Parses the function under `#[attribute(options)]`; messages call it a `noun`, such as a kernel. Returns it with the options and the
    /// `_: ...` that may stand for its parameters. If there are mistakes, returns the tokens to expand to: the unchanged item with errors,
    /// to which `check` may add.
    pub(crate) fn parse_with_options<Options: Parse>(
        [attribute, noun]: [&str; 2],
        options: &TokenStream,
        item: &TokenStream,
        check: impl FnOnce(&Self, &Options, &mut Errors),
    ) -> Result<(Self, Options, Option<Token![...]>), TokenStream> {
        let mut function = Self::parse_under_attribute(attribute, item)?;
        let mut errors = Errors::default();
        let read = syn::parse2::<Options>(options.clone())
            .map_err(|error| errors.add(move_error_to_last_token(error, options)));
        let dots = function.take_elided_parameters();
        function.check_no_qualifiers(&format!("a {noun}"), &mut errors);
        if function.body.is_none() {
            errors.add_at(&function.signature, format!("{noun} `{}` has no body; write one", function.signature.ident));
        }
        if let Ok(options) = &read {
            check(&function, options, &mut errors);
        }
        match read {
            Ok(options) if errors.is_empty() => Ok((function, options, dots)),
            _ => {
                let function = function.with_stub_body();
                Err(quote!(#errors #[allow(dead_code, unused_variables)] #function))
            }
        }
    }

    /// Adds a body that panics to a function without body, for the stub of a function with mistakes.
    pub(crate) fn with_stub_body(mut self) -> Self {
        self.body.get_or_insert_with(|| {
            let panics = quote!(::core::panic!("this function has mistakes"));
            TokenTree::from(Group::new(Delimiter::Brace, panics))
        });
        self
    }

    /// Replaces the body by an expression.
    pub(crate) fn with_body_expression(mut self, expression: &impl ToTokens) -> Self {
        self.body = Some(Group::new(Delimiter::Brace, expression.to_token_stream()).into());
        self
    }

    /// Removes the `_: ...` that stands for the arguments of the schema, and returns its dots.
    pub(crate) fn take_elided_parameters(&mut self) -> Option<Token![...]> {
        let elided =
            |variadic: &mut Variadic| variadic.pat.as_ref().is_some_and(|(name, _)| matches!(**name, Pat::Wild(_)));
        self.signature.variadic.take_if(elided).map(|variadic| variadic.dots)
    }

    /// Reports qualifiers of the signature that no operator and no kernel can have.
    pub(crate) fn check_no_qualifiers(&self, what: &str, errors: &mut Errors) {
        let signature = &self.signature;
        if let Some(asyncness) = &signature.asyncness {
            errors.add_at(
                asyncness,
                format!("{what} cannot be `async`: a call returns when its result is ready; write a plain `fn`"),
            );
        }
        if let Some(constness) = &signature.constness {
            errors.add_at(
                constness,
                format!("{what} cannot be `const`: it is called while the program runs; write a plain `fn`"),
            );
        }
        if let Safety::Unsafe(unsafety) = &signature.safety {
            errors.add_at(
                unsafety,
                format!("{what} cannot be `unsafe`: any code may call it; check its requirements and return an error"),
            );
        }
        if let Some(abi) = &signature.abi {
            errors
                .add_at(abi, format!("{what} cannot be `extern`: it is called as a Rust function; write a plain `fn`"));
        }
        if let Some(variadic) = &signature.variadic {
            let instead =
                if what == "an operator" { "; `_: ...` alone stands for all arguments of the schema" } else { "" };
            errors.add_at(variadic, format!("{what} cannot be variadic{instead}"));
        }
        if let Some(receiver) = signature.receiver() {
            errors.add_at(
                receiver,
                format!("{what} is a free function and not a method; move it out of the `impl`, and name the argument `this`"),
            );
        }
    }

    /// Reports generic parameters of a function, except for lifetimes.
    pub(crate) fn check_not_generic(&self, what: &str, errors: &mut Errors) {
        let mut params =
            self.signature.generics.params.iter().filter(|param| !matches!(param, syn::GenericParam::Lifetime(_)));
        if let Some(param) = params.next() {
            let instead = match (what, param) {
                ("a kernel", syn::GenericParam::Type(_)) => "; name its element types: `dtypes(floating)`",
                (_, syn::GenericParam::Type(_)) => "; write a concrete type",
                _ => "; leave it out",
            };
            errors.add_at(param, format!("{what} cannot be generic over `{}`{instead}", source_text(param)));
        }
    }
}

/// Returns lint attributes for a generated signature. The author's own attributes follow, and take precedence.
pub(crate) fn signature_lint_attribute() -> Attribute {
    parse_quote! {
        #[allow(
            clippy::extra_unused_type_parameters,
            clippy::many_single_char_names,
            clippy::needless_pass_by_ref_mut,
            clippy::needless_pass_by_value,
            clippy::ptr_arg,
            clippy::ref_option,
            clippy::similar_names,
            clippy::too_many_arguments,
            clippy::trivially_copy_pass_by_ref,
            clippy::type_complexity,
            clippy::unnecessary_wraps
        )]
    }
}

const NOT_A_FUNCTION_MESSAGE: &str = "not a function";

/// Returns whether the next token is `fn`, possibly after qualifiers.
fn starts_with_function(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    while !ahead.peek(Token![fn]) {
        let qualifier = ahead.peek(Token![const])
            || ahead.peek(Token![async])
            || ahead.peek(Token![unsafe])
            || ahead.peek(Token![extern]);
        if !(qualifier || ahead.peek(LitStr)) || ahead.parse::<TokenTree>().is_err() {
            return false;
        }
    }
    true
}
