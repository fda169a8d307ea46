//! Planned kernels, whose first parameter is `plan`. Such a kernel gets the plan of the call and the memory of the results, and serves
//! every form of its operator.

mod engine;
mod forms;

use dispatch_schema::TypeKind;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Path, ReturnType, Signature};

use super::{KernelWithSchema, dtypes, is_key_set};
use crate::errors::Errors;
use crate::syntax::rust_type::{RustType, with_elided_lifetimes};
use crate::syntax::signature::{self, Parameter, match_parameters_by_name, rust_argument_name};
use crate::syntax::user_tokens::{at_user_span, source_text};

/// Returns whether a kernel takes a plan.
pub(super) fn takes_plan(signature: &Signature) -> bool {
    signature::parameters(signature).first().is_some_and(|first| is_named(first, "plan"))
}

fn is_named(parameter: &Parameter, word: &str) -> bool {
    parameter.name.as_ref().is_some_and(|name| name.to_string().trim_start_matches('_') == word)
}

pub(super) fn expand(checked: &KernelWithSchema) -> TokenStream {
    let mut errors = Errors::default();
    match check_planned_kernel(checked, &mut errors) {
        Some(kernel) if errors.is_empty() => kernel.expand(),
        _ => quote!(#errors),
    }
}

/// The kind of outputs that a kernel takes.
enum OutputKind {
    /// The operator has no results, or the kernel creates them.
    None,
    Tensors(usize),
    List,
}

impl OutputKind {
    fn for_kernel(checked: &KernelWithSchema) -> Self {
        let results: Vec<_> = checked.schema.new_returns().collect();
        match &results[..] {
            [] => Self::None,
            _ if checked.properties.data_dependent => Self::None,
            [(_, ty), ..] if matches!(ty.kind, TypeKind::List(..)) => Self::List,
            tensors => Self::Tensors(tensors.len()),
        }
    }

    fn type_text(&self) -> String {
        match self {
            Self::None => "()".to_owned(),
            Self::Tensors(1) => "&mut Tensor".to_owned(),
            Self::Tensors(n) => format!("[&mut Tensor; {n}]"),
            Self::List => "&mut [Tensor]".to_owned(),
        }
    }

    fn type_tokens(&self) -> TokenStream {
        match self {
            Self::None => quote!(()),
            Self::Tensors(1) => quote!(&mut __p::Tensor),
            Self::Tensors(n) => quote!([&mut __p::Tensor; #n]),
            Self::List => quote!(&mut [__p::Tensor]),
        }
    }
}

/// A planned kernel with the right parameters. The compiler checks whether the types agree.
///
/// Generated code refers to the runtime as `__p`.
struct PlannedKernel<'a> {
    checked: &'a KernelWithSchema,
    outputs: OutputKind,
    body: Computation<'a>,
    /// The arguments that the kernel names, with their positions.
    named: Vec<(Parameter, usize)>,
    takes_keys: bool,
    /// The types of all arguments of the operator. `arguments` has their names in generated functions.
    types: Vec<RustType>,
    arguments: Vec<Ident>,
    keys: Ident,
}

/// The computation of a kernel: by itself, or by an engine.
enum Computation<'a> {
    /// The kernel computes the outputs from its plan.
    Direct { plan: Box<Parameter>, out: Option<Box<Parameter>> },
    /// The kernel returns a rule for elements, and an engine computes.
    ByEngine { engine: &'a Path, operands: &'a [usize] },
}

fn check_planned_kernel<'a>(checked: &'a KernelWithSchema, errors: &mut Errors) -> Option<PlannedKernel<'a>> {
    let KernelWithSchema { schema, signature, attribute, .. } = checked;
    let outputs = OutputKind::for_kernel(checked);
    let mut parameters = signature::parameters(signature);
    let body = match &attribute.engine {
        Some(engine) => engine::check_engine(checked, engine, errors)?,
        None => split_off_plan_and_outputs(checked, &outputs, &mut parameters, errors)?,
    };
    let takes_keys = parameters.last().is_some_and(|parameter| is_key_set(&parameter.ty));
    if takes_keys {
        parameters.pop();
    }
    let found = match_parameters_by_name("kernel", &signature.ident, &parameters, schema, errors);
    let types: Vec<RustType> = schema.arguments.iter().filter_map(RustType::from_argument).collect();
    if let (Some(by), true) = (&attribute.by, errors.is_empty()) {
        let named: Vec<RustType> = found.iter().map(|&at| types[at].clone()).collect();
        dtypes::check_by_option(by, signature, &parameters, &named, errors);
    }
    let arguments = (0..types.len()).map(|i| Ident::new(&format!("argument{i}"), Span::mixed_site())).collect();
    let named = parameters.into_iter().zip(found).collect();
    let keys = Ident::new("keys", Span::mixed_site());
    Some(PlannedKernel { checked, outputs, body, named, takes_keys, types, arguments, keys })
}

/// Takes the plan and the outputs out of the parameters of a planned kernel.
fn split_off_plan_and_outputs<'a>(
    checked: &KernelWithSchema,
    outputs: &OutputKind,
    parameters: &mut Vec<Parameter>,
    errors: &mut Errors,
) -> Option<Computation<'a>> {
    let KernelWithSchema { schema, signature, properties, .. } = checked;
    let (operator, name) = (&schema.name, &signature.ident);
    let plan = Box::new(parameters.remove(0));
    if !properties.has_plan {
        let message = format!(
            "kernel `{name}` takes a plan, but operator `{operator}` has none; take its arguments alone, or add `plan` to its \
             `#[op_def(..)]` and write an `#[op_plan]`"
        );
        errors.add_at(&plan.tokens, message);
        return None;
    }
    let out = match (outputs, parameters.first()) {
        (OutputKind::None, _) => None,
        // A pattern names several outputs: `[values, indices]: [&mut Tensor; 2]`.
        (_, Some(out)) if is_named(out, "out") || out.name.is_none() => Some(Box::new(parameters.remove(0))),
        (outputs, first) => {
            let at = first.map_or_else(|| name.to_token_stream(), |first| first.tokens.clone());
            let message = format!(
                "after its plan, a kernel of operator `{operator}` takes the memory of the results: write `out: {}`",
                outputs.type_text()
            );
            errors.add_at(at, message);
            return None;
        }
    };
    Some(Computation::Direct { plan, out })
}

impl PlannedKernel<'_> {
    /// Generates the function `__call_kernel`, which checks the kernel's types and calls the kernel. The kernels of all forms share it.
    fn generate_shared_function(&self) -> TokenStream {
        let Self { checked, keys, .. } = self;
        let Computation::Direct { plan, out } = &self.body else { return TokenStream::new() };
        let KernelWithSchema { attribute, signature, .. } = checked;
        let operator = &attribute.operator;
        let plan_type = quote!(&<#operator as __p::Planned>::Value<'_>);
        let (user, span) = (with_elided_lifetimes(&plan.ty), at_user_span(plan.ty.span()));
        let mut taken =
            quote_spanned!(span=> let __plan = <#user as __p::PlanParameter<#operator, #plan_type>>::convert(__plan););
        let out_type = self.outputs.type_tokens();
        if let Some(out) = out {
            let want = self.outputs.type_text();
            taken.extend(self.generate_argument_coercion(
                out,
                &want,
                &out_type,
                &quote!(__out),
                "the output",
                &quote!(OutputParameter<#operator,),
            ));
        }
        for (parameter, at) in &self.named {
            let (argument, ty, number) = (&self.arguments[*at], self.types[*at].tokens(&quote!(__p)), at + 1);
            let what = format!("argument `{}`", rust_argument_name(&checked.schema.arguments[*at].name));
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
        let mut arguments = vec![Ident::new("__plan", Span::call_site()), Ident::new("__out", Span::call_site())];
        let mut types = vec![plan_type, out_type];
        for &(_, at) in &self.named {
            arguments.push(self.arguments[at].clone());
            types.push(self.types[at].tokens(&quote!(__p)));
        }
        let result = self.kernel_result_type();
        let body = match &attribute.dtypes {
            None => {
                let call = self.generate_kernel_call(&signature.ident.to_token_stream(), &result);
                quote!(#taken #call)
            }
            Some(words) => {
                let named = self.named.iter().map(|(parameter, at)| (parameter, &self.types[*at]));
                let chosen = dtypes::dtype_argument(attribute, named).map(|at| {
                    let (parameter, argument) = &self.named[at];
                    let all = self.named.iter().map(|&(_, at)| (at, &self.types[at], &self.arguments[at]));
                    let expression = dtypes::dtype_expression(checked, &self.arguments[*argument], all);
                    (expression, parameter.name.as_ref().map(ToString::to_string).unwrap_or_default())
                });
                let serve = dtypes::DTypeSwitchFunction {
                    signature,
                    arguments: &arguments,
                    types: &types,
                    keys,
                    output: &result,
                };
                let name = &signature.ident;
                dtypes::generate_dtype_switch(words, operator, chosen, &serve, &quote!(__p), &|element| {
                    let call = self.generate_kernel_call(&quote!(#name::<#element>), &result);
                    quote!(#taken #call)
                })
            }
        };
        // A kernel that takes the keys of its call may redispatch to itself by mistake; this guard detects it.
        let inside = self.takes_keys.then(
            || quote!(let __inside = __p::RedispatchGuard::enter(<#operator as __p::Operation>::operator, #keys)?;),
        );
        quote! {
            #[inline(always)]
            fn __call_kernel(#(#arguments: #types,)* #keys: __p::KeySet) -> __p::Result<#result> {
                #inside
                #body
            }
        }
    }

    /// Returns the type that the kernel itself returns.
    fn kernel_result_type(&self) -> TokenStream {
        match self.outputs {
            OutputKind::None => RustType::from_returns(&self.checked.schema).tokens(&quote!(__p)),
            _ => quote!(()),
        }
    }

    fn generate_kernel_call(&self, function: &TokenStream, result: &TokenStream) -> TokenStream {
        let Self { checked, keys, .. } = self;
        let operator = &checked.attribute.operator;
        let out = matches!(self.body, Computation::Direct { out: Some(_), .. }).then(|| quote!(__out,));
        let arguments = self.named.iter().map(|&(_, at)| &self.arguments[at]);
        let keys = self.takes_keys.then_some(keys);
        let returns = match &checked.signature.output {
            ReturnType::Type(_, ty) => with_elided_lifetimes(ty),
            ReturnType::Default => syn::parse_quote_spanned!(at_user_span(checked.signature.ident.span())=> ()),
        };
        let span = at_user_span(returns.span());
        let call = quote!(#function(__plan, #out #(#arguments,)* #keys));
        quote_spanned!(span=> <#returns as __p::Returns<#operator, #result>>::into_result(#call))
    }

    /// Generates `let value = value`, converted to the kernel's type. If the text of the types differs, the message names both as they are
    /// written.
    fn generate_argument_coercion(
        &self,
        parameter: &Parameter,
        want: &str,
        ty: &TokenStream,
        value: &TokenStream,
        what: &str,
        bound: &TokenStream,
    ) -> TokenStream {
        let KernelWithSchema { schema, signature, .. } = self.checked;
        let (user, span) = (with_elided_lifetimes(&parameter.ty), at_user_span(parameter.ty.span()));
        let written = RustType::from_user_type(&parameter.ty).text().replace(" ;", ";");
        if written == want {
            return quote_spanned!(span=> let #value = <#user as __p::#bound #ty>>::convert(#value););
        }
        let (kernel, found) = (&signature.ident, source_text(&parameter.ty));
        let message =
            format!("{what} of operator `{}` is `{want}`, but kernel `{kernel}` takes `{found}`", schema.name);
        let label = format!("write `{want}`");
        let coerced = quote_spanned!(span=> <#user as Takes<#ty>>::convert(#value));
        quote! {
            let #value = {
                #[diagnostic::on_unimplemented(message = #message, label = #label)]
                trait Takes<T> {
                    fn convert(argument: T) -> Self;
                }

                #[diagnostic::do_not_recommend]
                impl<T, U: __p::#bound T>> Takes<T> for U {
                    fn convert(argument: T) -> Self {
                        <U as __p::#bound T>>::convert(argument)
                    }
                }

                #coerced
            };
        }
    }
}
