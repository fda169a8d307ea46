//! Kernels of elementwise operators that return a rule for elements. An engine of the backend computes each form.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ReturnType;

use super::{Body, Kernel};
use crate::errors::Errors;
use crate::op_impl::Checked;
use crate::op_impl::attribute::Engine;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::rust_name;

pub(super) fn check<'a>(checked: &'a Checked, engine: &'a Engine, errors: &mut Errors) -> Option<Body<'a>> {
    let Checked { schema, contract, attribute, signature, .. } = checked;
    let (operator, kernel) = (&schema.name, &signature.ident);
    let Some(pointwise) = &contract.pointwise else {
        let message = format!(
            "an engine computes elementwise operators, and `{operator}` has no `shape = pointwise`; leave `engine` out"
        );
        errors.at(&engine.word, message);
        return None;
    };
    let is_tensor = |at: &usize| RustType::of_argument(&schema.arguments[*at]).is_some_and(|ty| ty.text() == "&Tensor");
    if let Some(&other) = pointwise.operands.iter().find(|at| !is_tensor(at)) {
        let argument = &schema.arguments[other].name;
        let message = format!(
            "an engine takes tensors, but operand `{argument}` of operator `{operator}` is another type; leave `engine` out and take a `plan`"
        );
        errors.at(&engine.word, message);
    }
    if let Some(word) = attribute.writes.first().or_else(|| attribute.dtypes.as_ref().map(|dtypes| &dtypes.word)) {
        errors.at(
            word,
            format!("the engine of kernel `{kernel}` decides this for all of its kernels; leave `{word}` out"),
        );
    }
    let gives_result = match &signature.output {
        ReturnType::Type(_, ty) => ty.to_token_stream().to_string().replace(' ', "").contains("Result<"),
        ReturnType::Default => false,
    };
    if !gives_result {
        let message = format!("kernel `{kernel}` returns the rule for its engine; write `-> Result<..>`");
        errors.at(&signature.ident, message);
    }
    errors.is_empty().then(|| Body::Engine { engine: &engine.path, operands: &pointwise.operands })
}

impl Kernel<'_> {
    pub(super) fn runs_in_engine(&self) -> bool {
        matches!(self.body, Body::Engine { .. })
    }

    pub(super) fn run_fresh(&self) -> TokenStream {
        let operator = self.checked.attribute.operator.to_token_stream();
        let operands = self.operands();
        self.run(&operator, &quote!(fresh::<#operator, _>), &quote!([#(#operands),*]))
    }

    pub(super) fn run_into(&self, name: &str, out: &Ident, form: &TokenStream) -> TokenStream {
        let operator = &self.checked.attribute.operator;
        let operands = self.operands();
        self.run(form, &quote!(into::<#operator, _>), &quote!((#name, #out), [#(#operands),*]))
    }

    pub(super) fn run_in_place(&self, form: &TokenStream) -> TokenStream {
        let operator = &self.checked.attribute.operator;
        let written = &self.arguments[0];
        let operands = self.operands().into_iter().map(|operand| {
            if operand == written {
                quote!(::core::option::Option::None)
            } else {
                quote!(::core::option::Option::Some(#operand))
            }
        });
        self.run(form, &quote!(in_place::<#operator, #form, _>), &quote!(#written, [#(#operands),*]))
    }

    /// Generates code that checks the arguments, gets the kernel's rule, and runs the engine with it. Errors are reported for `form`.
    fn run(&self, form: &TokenStream, function: &TokenStream, operands: &TokenStream) -> TokenStream {
        let Body::Engine { engine, .. } = &self.body else { return TokenStream::new() };
        let Checked { attribute, signature, schema, .. } = self.checked;
        let (operator, kernel) = (&attribute.operator, &signature.ident);
        let mut looked_at = self.looked_at();
        if let Some(first) = looked_at.first_mut() {
            let written = &self.arguments[0];
            *first = if self.types[0].text() == "&Tensor" { quote!(&*#written) } else { quote!(#written) };
        }
        let mut taken = TokenStream::new();
        for (parameter, at) in &self.named {
            let (argument, ty, number) = (&self.arguments[*at], self.types[*at].tokens(&quote!(__r)), at + 1);
            let what = format!("argument `{}`", rust_name(&schema.arguments[*at].name));
            let value = &looked_at[*at];
            taken.extend(quote!(let #argument = #value;));
            let bound = quote!(KernelParameter<#operator, #number,);
            taken.extend(self.taken(parameter, self.types[*at].text(), &ty, &quote!(#argument), &what, &bound));
        }
        let arguments = self.named.iter().map(|&(_, at)| &self.arguments[at]);
        quote! {
            <#operator>::__check(#(#looked_at),*).map_err(__p::error_in_operator::<#form>)?;
            let __rule = {
                #taken
                #kernel(#(#arguments),*)
            };
            let __rule = ::core::result::Result::map_err(__rule, |error| __p::error_in_operator::<#form>(error.into()))?;
            #engine::#function(#operands, &__rule).map_err(__p::error_in_operator::<#form>)
        }
    }

    fn operands(&self) -> Vec<&Ident> {
        match &self.body {
            Body::Engine { operands, .. } => operands.iter().map(|&at| &self.arguments[at]).collect(),
            Body::Serves { .. } => Vec::new(),
        }
    }
}
