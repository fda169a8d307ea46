//! The properties of a definition that concern its plan.

use proc_macro2::TokenStream;
use quote::quote;

use super::Definition;
use super::forms::is_out;

impl Definition {
    /// The tokens that the macro of the operator passes beside the schema.
    pub(super) fn contract(&self) -> TokenStream {
        let plan = self.plan.then(|| quote!(plan));
        let data_dependent = self.data_dependent.then(|| quote!(data_dependent));
        // The forms of an operator that is a call of another one are calls of that one's forms.
        let forms = self.forms.iter().filter(|_| self.plan && self.calls.is_none()).map(|form| {
            let text = form.to_string();
            if is_out(form, &self.schema) { quote!(out #text) } else { quote!(in_place #text) }
        });
        quote!(#plan #data_dependent #(#forms)*)
    }

    /// The types of the forms, by the type of the operator.
    pub(super) fn form_types(&self, forms: &[Self]) -> TokenStream {
        let Self { runtime, function, schema, .. } = self;
        let name = &function.signature.ident;
        let forms = forms.iter().filter(|_| self.plan).map(|form| {
            let form_name = &form.function.signature.ident;
            let has = if is_out(&form.schema, schema) { quote!(HasOut) } else { quote!(HasInPlace) };
            quote!(#[allow(non_local_definitions)] impl #runtime::#has for #name { type Form = #form_name; })
        });
        quote!(#(#forms)*)
    }

    /// `Option<Outline>`, which describes the results of a boxed call.
    pub(super) fn outline_tokens(&self) -> TokenStream {
        let Self { runtime, function, .. } = self;
        let name = &function.signature.ident;
        if self.plan {
            quote!(::core::option::Option::Some(<#name as #runtime::Planned>::outline))
        } else {
            quote!(::core::option::Option::None)
        }
    }
}
