//! Conversion between the types that a kernel writes and the types of its operator.
//!
//! The compiler compares the types, through traits of the runtime, so that an alias or a renamed import is accepted. If the text of a type
//! differs, a mistake is likely. Then the expansion uses a trait of its own instead of the runtime's, whose message names both types as
//! they are written.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

use super::{KernelWithSchema, TypedKernel};
use crate::syntax::rust_type::{RustType, with_elided_lifetimes};
use crate::syntax::signature::rust_argument_name;
use crate::syntax::user_tokens::{at_user_span, source_text};

/// Generates the conversion of an argument from the operator's type to the kernel's.
pub(super) fn generate_argument_coercion(
    checked: &KernelWithSchema,
    kernel: &TypedKernel,
    i: usize,
    argument: &Ident,
    runtime: &TokenStream,
) -> TokenStream {
    let KernelWithSchema { schema, attribute, signature, .. } = checked;
    let operator = &attribute.operator;
    let (parameter, want, number) = (&kernel.parameters[i], &kernel.types[i], i + 1);
    let (user, ty) = (with_elided_lifetimes(&parameter.ty), want.tokens(runtime));
    let span = at_user_span(parameter.ty.span());
    if RustType::from_user_type(&parameter.ty) == *want {
        return quote_spanned! {span=>
            let #argument = <#user as #runtime::KernelParameter<#operator, #number, #ty>>::convert(#argument);
        };
    }
    let name = rust_argument_name(&schema.arguments[i].name);
    let (kernel, found, want) = (&signature.ident, source_text(&parameter.ty), want.text());
    let message =
        format!("argument `{name}` of operator `{}` is `{want}`, but kernel `{kernel}` takes `{found}`", schema.name);
    let label = format!("write `{want}`");
    let coerced = quote_spanned!(span=> <#user as Takes<#ty>>::convert(#argument));
    quote! {
        let #argument = {
            #[diagnostic::on_unimplemented(message = #message, label = #label)]
            trait Takes<T> {
                fn convert(argument: T) -> Self;
            }

            #[diagnostic::do_not_recommend]
            impl<T, U: #runtime::KernelParameter<#operator, #number, T>> Takes<T> for U {
                fn convert(argument: T) -> Self {
                    #runtime::KernelParameter::convert(argument)
                }
            }

            #coerced
        };
    }
}

/// The conversion of the kernel's result to the operator's, as the trait bound that it needs.
pub(super) struct ResultCoercion {
    ty: syn::Type,
    bound: TokenStream,
    declaration: TokenStream,
}

impl ResultCoercion {
    pub(super) fn new(checked: &KernelWithSchema, kernel: &TypedKernel, runtime: &TokenStream) -> Self {
        let KernelWithSchema { schema, attribute, signature, .. } = checked;
        let ty = match &signature.output {
            ReturnType::Type(_, ty) => with_elided_lifetimes(ty),
            ReturnType::Default => syn::parse_quote_spanned!(at_user_span(signature.ident.span())=> ()),
        };
        let (operator, output, want) = (&attribute.operator, kernel.output.tokens(runtime), kernel.output.text());
        let shared = quote!(#runtime::Returns<#operator, #output>);
        let written = RustType::from_user_type(&ty);
        let agrees = written.text() == want
            || written.text() == format!("Result<{want}>")
            || written.text().starts_with(&format!("Result<{want},"));
        if agrees {
            return Self { ty, bound: shared, declaration: TokenStream::new() };
        }
        let name = &signature.ident;
        let found = match &signature.output {
            ReturnType::Type(_, ty) => format!("returns `{}`", source_text(ty)),
            ReturnType::Default => "returns nothing".to_owned(),
        };
        let implied = if schema.returns.len() > schema.new_returns().count() {
            "; a written argument is not returned"
        } else {
            ""
        };
        let message = format!("operator `{}` returns `{want}`, but kernel `{name}` {found}{implied}", schema.name);
        let label = format!("write `{want}` or `Result<{want}>`");
        let declaration = quote! {
            #[diagnostic::on_unimplemented(message = #message, label = #label)]
            trait Returns {
                fn into_result(self) -> #runtime::Result<#output>;
            }

            #[diagnostic::do_not_recommend]
            impl<R: #shared> Returns for R {
                fn into_result(self) -> #runtime::Result<#output> {
                    #runtime::Returns::into_result(self)
                }
            }
        };
        Self { ty, bound: quote!(Returns), declaration }
    }

    pub(super) fn span(&self) -> Span {
        at_user_span(self.ty.span())
    }

    pub(super) fn coerce_call(&self, call: &TokenStream) -> TokenStream {
        let Self { ty, bound, .. } = self;
        quote_spanned!(self.span()=> <#ty as #bound>::into_result(#call))
    }
}

impl ToTokens for ResultCoercion {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.declaration.clone());
    }
}
