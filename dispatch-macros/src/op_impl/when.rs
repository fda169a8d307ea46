//! The option `when(condition)`: generates the condition as a function.

use dispatch_schema::Schema;
use proc_macro2::{Delimiter, Group, Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::op_impl::attribute::Attribute;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature;
use crate::syntax::user_tokens::at_user_span;

/// Generates the function `__holds`. Its parameters have the kernel's names or, if the kernel has none, the operator's.
pub(super) fn generate_condition(
    attribute: &Attribute,
    schema: &Schema,
    names: impl Iterator<Item = Option<Ident>>,
    types: &[RustType],
    runtime: &TokenStream,
) -> Option<TokenStream> {
    let when = attribute.when.as_ref()?;
    let condition = &when.condition;
    // The condition is the user's code, so names that the user did not write need the user's hygiene.
    let hygiene = condition.span();
    let patterns = names.zip(&schema.arguments).map(|(name, argument)| {
        name.unwrap_or_else(|| {
            let mut name = signature::rust_argument_name(&argument.name);
            name.set_span(hygiene);
            name
        })
    });
    let shared = types.iter().map(|ty| ty.to_shared().tokens(runtime));
    let signature =
        quote_spanned!(at_user_span(when.word.span())=> fn __holds(#(#patterns: #shared),*) -> ::core::primitive::bool);
    let mut body = Group::new(Delimiter::Brace, condition.clone());
    body.set_span(condition.span());
    Some(quote! {
        #[allow(unused_variables, non_snake_case)]
        #signature #body
    })
}
