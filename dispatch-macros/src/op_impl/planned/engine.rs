//! Kernels of elementwise operators that return a rule for elements. An engine of the backend computes each form.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ReturnType;

use super::{Computation, PlannedKernel};
use crate::errors::Errors;
use crate::op_impl::KernelWithSchema;
use crate::op_impl::attribute::EngineOption;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::rust_argument_name;

pub(super) fn check_engine<'a>(
    checked: &'a KernelWithSchema,
    engine: &'a EngineOption,
    errors: &mut Errors,
) -> Option<Computation<'a>> {
    let KernelWithSchema { schema, properties, attribute, signature, .. } = checked;
    let (operator, kernel) = (&schema.name, &signature.ident);
    let Some(pointwise) = &properties.pointwise else {
        let message = format!(
            "an engine computes only elementwise operators, but `{operator}` has no `shape = pointwise`; leave `engine` out"
        );
        errors.add_at(&engine.word, message);
        return None;
    };
    let is_tensor =
        |at: &usize| RustType::from_argument(&schema.arguments[*at]).is_some_and(|ty| ty.text() == "&Tensor");
    if let Some(&other) = pointwise.operands.iter().find(|at| !is_tensor(at)) {
        let argument = &schema.arguments[other].name;
        let message = format!(
            "an engine takes tensors, but operand `{argument}` of operator `{operator}` has another type; leave `engine` out and take a `plan`"
        );
        errors.add_at(&engine.word, message);
    }
    if let Some(word) = attribute.direct_writes.first().or_else(|| attribute.dtypes.as_ref().map(|dtypes| &dtypes.word))
    {
        errors.add_at(word, format!("the engine of kernel `{kernel}` decides this; leave `{word}` out"));
    }
    let gives_result = match &signature.output {
        ReturnType::Type(_, ty) => ty.to_token_stream().to_string().replace(' ', "").contains("Result<"),
        ReturnType::Default => false,
    };
    if !gives_result {
        let message = format!("kernel `{kernel}` must return the rule for its engine; write `-> Result<..>`");
        errors.add_at(&signature.ident, message);
    }
    errors.is_empty().then(|| Computation::ByEngine { engine: &engine.path, operands: &pointwise.operands })
}

impl PlannedKernel<'_> {
    pub(super) fn runs_in_engine(&self) -> bool {
        matches!(self.body, Computation::ByEngine { .. })
    }

    pub(super) fn generate_functional_run(&self) -> TokenStream {
        let operator = self.checked.attribute.operator.to_token_stream();
        let operands = self.engine_operands();
        self.generate_engine_run(&operator, &quote!(compute_fresh::<#operator, _>), &quote!([#(#operands),*]))
    }

    pub(super) fn generate_out_run(&self, name: &str, out: &Ident, form: &TokenStream) -> TokenStream {
        let operator = &self.checked.attribute.operator;
        let operands = self.engine_operands();
        self.generate_engine_run(form, &quote!(compute_into::<#operator, _>), &quote!((#name, #out), [#(#operands),*]))
    }

    pub(super) fn generate_in_place_run(&self, form: &TokenStream) -> TokenStream {
        let operator = &self.checked.attribute.operator;
        let written = &self.arguments[0];
        let operands = self.engine_operands().into_iter().map(|operand| {
            if operand == written {
                quote!(::core::option::Option::None)
            } else {
                quote!(::core::option::Option::Some(#operand))
            }
        });
        self.generate_engine_run(
            form,
            &quote!(compute_in_place::<#operator, #form, _>),
            &quote!(#written, [#(#operands),*]),
        )
    }

    /// Generates code that checks the arguments, gets the kernel's rule, and runs the engine with it. Errors are reported for `form`.
    fn generate_engine_run(&self, form: &TokenStream, function: &TokenStream, operands: &TokenStream) -> TokenStream {
        let Computation::ByEngine { engine, .. } = &self.body else { return TokenStream::new() };
        let KernelWithSchema { attribute, signature, schema, .. } = self.checked;
        let (operator, kernel) = (&attribute.operator, &signature.ident);
        let mut plan_arguments = self.plan_arguments();
        if let Some(first) = plan_arguments.first_mut() {
            let written = &self.arguments[0];
            *first = if self.types[0].text() == "&Tensor" { quote!(&*#written) } else { quote!(#written) };
        }
        let mut taken = TokenStream::new();
        for (parameter, at) in &self.named {
            let (argument, ty, number) = (&self.arguments[*at], self.types[*at].tokens(&quote!(__p)), at + 1);
            let what = format!("argument `{}`", rust_argument_name(&schema.arguments[*at].name));
            let value = &plan_arguments[*at];
            taken.extend(quote!(let #argument = #value;));
            let bound = quote!(KernelParameter<#operator, #number,);
            taken.extend(self.generate_argument_coercion(
                parameter,
                self.types[*at].text(),
                &ty,
                &quote!(#argument),
                &what,
                &bound,
            ));
        }
        let arguments = self.named.iter().map(|&(_, at)| &self.arguments[at]);
        quote! {
            <#operator>::__check(#(#plan_arguments),*).map_err(__p::error_in_operator::<#form>)?;
            let __rule = {
                #taken
                #kernel(#(#arguments),*)
            };
            let __rule = ::core::result::Result::map_err(__rule, |error| __p::error_in_operator::<#form>(error.into()))?;
            #engine::#function(#operands, &__rule).map_err(__p::error_in_operator::<#form>)
        }
    }

    fn engine_operands(&self) -> Vec<&Ident> {
        match &self.body {
            Computation::ByEngine { operands, .. } => operands.iter().map(|&at| &self.arguments[at]).collect(),
            Computation::Direct { .. } => Vec::new(),
        }
    }
}
