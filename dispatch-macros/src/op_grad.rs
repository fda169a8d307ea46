//! `#[op_grad]` and `not_differentiable!`: the gradient formula of an operator, or the declaration that it has none.
//!
//! As for a kernel, the operator's own macro calls the second step. A formula names what it needs: `grad` for the gradient of a result, and
//! the name of an argument or a result that is to be saved.

mod check;
mod expand;
mod saved_for;

use dispatch_schema::Schema;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Path, Token, bracketed, parenthesized};

use crate::crate_path;
use crate::errors::{Errors, move_error_to_last_token};
use crate::schema_callback::{self, FunctionWithSchema, call_with_schema, call_with_schema_for_function};
use crate::syntax::function::{Function, signature_lint_attribute};

/// The arguments of `#[op_grad(..)]`.
pub(crate) struct Attribute {
    pub(crate) operator: Path,
    /// Arguments and results that have no gradient.
    pub(crate) not_differentiable: Vec<Ident>,
}

const USAGE_TEXT: &str = "`#[op_grad(path::to::operator)]`";

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Err(syn::Error::new(Span::call_site(), format!("the operator is missing; write {USAGE_TEXT}")));
        }
        let operator = input.call(Path::parse_mod_style)?;
        let mut not_differentiable = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let word: Ident = input.parse()?;
            if word != "not_differentiable" || !input.peek(syn::token::Paren) {
                let message =
                    format!("`#[op_grad]` has no option `{word}`; it takes `not_differentiable(argument, ..)`");
                return Err(syn::Error::new(word.span(), message));
            }
            let inside;
            parenthesized!(inside in input);
            not_differentiable.extend(Punctuated::<Ident, Token![,]>::parse_terminated(&inside)?);
        }
        Ok(Self { operator, not_differentiable })
    }
}

pub(crate) fn expand(options: &TokenStream, item: &TokenStream) -> TokenStream {
    let check =
        |function: &Function, _: &Attribute, errors: &mut Errors| function.check_not_generic("a derivative", errors);
    let (mut function, attribute, dots) =
        match Function::parse_with_options(["op_grad", "derivative"], options, item, check) {
            Ok(read) => read,
            Err(instead) => return instead,
        };
    let layer = autograd_path();
    function.attributes.insert(0, signature_lint_attribute());
    let to = quote!(#layer::__grad);
    call_with_schema_for_function(
        &attribute.operator,
        &to,
        options,
        (&function, &saved_for::with_saved_for_attributes(&function)),
        dots,
    )
}

/// Expands `not_differentiable!(operator, ..)`.
pub(crate) fn expand_not_differentiable(input: &TokenStream) -> TokenStream {
    let operators = match Punctuated::<Path, Token![,]>::parse_terminated.parse2(input.clone()) {
        Ok(operators) if operators.is_empty() => {
            let error = syn::Error::new(
                Span::call_site(),
                "the operator is missing; write `not_differentiable!(path::to::operator)`",
            );
            return error.to_compile_error();
        }
        Ok(operators) => operators,
        Err(error) => return move_error_to_last_token(error, input).to_compile_error(),
    };
    let layer = autograd_path();
    let to = quote!(#layer::__not_differentiable);
    operators.iter().map(|operator| call_with_schema(operator, &to, &quote!([#operator]))).collect()
}

fn autograd_path() -> TokenStream {
    crate_path::layer_path("dispatch-autograd", "autograd")
}

/// Expands the second step of `#[op_grad]`, with the operator's schema.
pub(crate) fn expand_with_schema(input: TokenStream) -> TokenStream {
    let runtime = crate_path::runtime_path();
    let completed = syn::parse2::<FunctionWithSchema<Attribute>>(input).and_then(|mut checked| {
        // Arguments of a formula are saved, so `_: ...` stands only for those that the body mentions.
        let function = checked.expand_elided_parameters(|function, name, ty| {
            saved_for::body_needs_argument(name, function).then(|| ty.tokens(&runtime))
        })?;
        Ok((function, checked))
    });
    let (function, FunctionWithSchema { schema, attribute, mut signature, .. }) = match completed {
        Ok(completed) => completed,
        Err(error) => return error.to_compile_error(),
    };
    if let Some(function) = &function {
        signature = saved_for::with_saved_for_attributes(function);
    }
    let mut errors = Errors::default();
    match check::check_derivative(&schema, &attribute, &signature, &mut errors) {
        Some(derivative) if errors.is_empty() => {
            let derivative = expand::expand_derivative(&schema, &attribute.operator, &signature.ident, &derivative);
            quote!(#function #derivative)
        }
        _ => errors.to_token_stream(),
    }
}

/// Expands the second step of `not_differentiable!`, with the operator's schema.
pub(crate) fn expand_not_differentiable_with_schema(input: TokenStream) -> TokenStream {
    fn parse_schema_and_operator(input: ParseStream<'_>) -> syn::Result<(Schema, Path)> {
        let schema = schema_callback::parse_schema_skipping_properties(input)?;
        let operator;
        bracketed!(operator in input);
        Ok((schema, operator.parse()?))
    }
    match parse_schema_and_operator.parse2(input) {
        Ok((schema, operator)) => expand::expand_not_differentiable(&schema, &operator),
        Err(error) => error.to_compile_error(),
    }
}
