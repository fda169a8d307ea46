//! `#[derive(TensorTree)]`: a struct whose fields are trees of tensors.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields, Member, parse_quote};

use crate::crate_path;
use crate::syntax::user_tokens::at_user_span;

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    match &input.data {
        Data::Struct(data) => generate_impls(&input, &data.fields),
        Data::Enum(data) => not_a_struct_error(data.enum_token.span(), "an enum"),
        Data::Union(data) => not_a_struct_error(data.union_token.span(), "a union"),
    }
}

fn not_a_struct_error(at: proc_macro2::Span, item: &str) -> TokenStream {
    let message = format!(
        "`TensorTree` is for structs, and this is {item}, whose tensors would depend on the variant; use a struct, with an `Option` for each \
         tensor that may be missing"
    );
    syn::Error::new(at, message).to_compile_error()
}

fn generate_impls(input: &DeriveInput, fields: &Fields) -> TokenStream {
    let (runtime, name) = (crate_path::runtime_path(), &input.ident);
    let private = quote!(#runtime::__private);
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#private::TensorTree));
    }
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let members = fields.members().zip(fields).map(|(member, field)| {
        let (ty, path) = (
            &field.ty,
            match &member {
                Member::Named(name) => name.to_string().trim_start_matches("r#").to_owned(),
                Member::Unnamed(index) => index.index.to_string(),
            },
        );
        // A field that is no tree is an error at its type.
        let map = quote_spanned!(at_user_span(ty.span())=> <#ty as #private::TensorTree>::map_tensors);
        quote!(#member: #map(&self.#member, &__at.field(#path), __f)?)
    });
    quote! {
        #[automatically_derived]
        impl #parameters #private::TensorTree for #name #arguments #bounds {
            type Map<__L> = #private::Leaves<__L>;

            #[allow(unused_variables, reason = "a struct may have no fields")]
            fn map_tensors(
                &self,
                __at: &#private::TreePath<'_>,
                __f: &mut #private::LeafFn<'_, #private::Tensor>,
            ) -> #private::Result<Self> {
                ::core::result::Result::Ok(Self { #(#members,)* })
            }

            fn map_leaves<__L>(
                &self,
                __at: &#private::TreePath<'_>,
                __f: &mut #private::LeafFn<'_, __L>,
            ) -> #private::Result<#private::Leaves<__L>> {
                #private::Leaves::from_tree(self, __at, __f)
            }
        }

        #[automatically_derived]
        impl #parameters #private::IntoTensorTree for #name #arguments #bounds {
            type Tree = Self;

            fn into_tensor_tree(self) -> #private::Result<Self> {
                ::core::result::Result::Ok(self)
            }
        }
    }
}
