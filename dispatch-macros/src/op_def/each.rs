//! Operators over lists, which call another operator for each element (`each = ..`).

use dispatch_schema::{Argument, Schema, TypeKind};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ExprCall;

use super::records::names_of_call_arguments;
use crate::crate_path;
use crate::syntax::signature::rust_argument_name;

/// Returns the expression that calls `callee` for each element of the lists of `schema`. In `call`, the name of a list stands for an
/// element of it. `form` is the function of `callee` that is called; `None` is the operator itself. `operator` is the operator over lists.
pub(super) fn call_for_each_element(
    operator: &Ident,
    schema: &Schema,
    call: &ExprCall,
    form: Option<&Ident>,
) -> TokenStream {
    let runtime = crate_path::runtime_path();
    let index = Ident::new("__index", Span::mixed_site());
    let mut lists = Vec::new();
    let mut elements = Vec::new();
    let mut common = Vec::new();
    for argument in &schema.arguments {
        let (text, name, is_written) = (&argument.name, rust_argument_name(&argument.name), argument.is_written());
        let element = match &argument.ty.kind {
            TypeKind::List(element, _) => element,
            kind => {
                match kind {
                    TypeKind::Tensor => common.push(quote!(::core::option::Option::Some(#name))),
                    TypeKind::Optional(inner) if inner.kind == TypeKind::Tensor => common.push(quote!(#name)),
                    _ => {}
                }
                continue;
            }
        };
        let is_tensor = element.kind == TypeKind::Tensor;
        let tensors = if is_tensor { quote!(&#name[..]) } else { quote!(&[]) };
        lists.push(quote! {
            #runtime::ListArgument { name: #text, len: #name.len(), tensors: #tensors, is_written: #is_written }
        });
        elements.push(match (is_tensor, is_written) {
            (true, true) => quote!(let #name = &mut #name[#index].clone();),
            (true, false) => quote!(let #name = &#name[#index];),
            (false, _) => quote!(let #name = #name[#index];),
        });
    }
    let (callee, arguments) = (&call.func, call.args.iter());
    let function = form.map(|form| quote!(::#form));
    // A form that follows from the functional operator takes the tensors to write at the end.
    let is_out = |argument: &&Argument| form.is_some() && argument.is_out();
    let outs = schema.arguments.iter().filter(is_out).map(|out| rust_argument_name(&out.name));
    let names = names_of_call_arguments(schema, call);
    let discard = schema.returns.is_empty().then(|| quote!(.map(::core::mem::drop)));
    quote! {
        #runtime::call_each(&[#(#lists),*], &[#(#common),*], &|#index| {
            #(#elements)*
            #callee #function(#(#arguments,)* #(#outs),*).map_err(|__error| {
                #runtime::into_caller_error(__error, #callee::operator(), #operator::operator(), &[#(#names),*])
            })
        })#discard
    }
}
