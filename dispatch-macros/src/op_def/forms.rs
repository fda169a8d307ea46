//! The forms of an operator that write: in place, and into an output tensor of the caller (`out=`).
//!
//! Both follow from the functional definition. Each is an operator with its own kernels. If a backend has no kernel for it, its default
//! kernel calls the functional operator and copies the result.

use dispatch_schema::{Alias, Argument, Return, Schema, Type, TypeKind};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Ident, parse_quote};

use super::attribute::{Attribute, OutOption};
use super::{Definition, each};
use crate::errors::Errors;
use crate::syntax::function::Function;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::rust_argument_name;

/// Returns the schemas of the forms that the attribute requests. `schema` is that of the functional operator.
pub(super) fn form_schemas(attribute: &Attribute, schema: &Schema, errors: &mut Errors) -> Vec<Schema> {
    let mut forms = Vec::new();
    let operator = &schema.name;
    let gives_tensors = !schema.returns.is_empty()
        && schema.returns.iter().all(|ret| ret.ty.kind == TypeKind::Tensor && !ret.ty.is_written());
    let gives_list = matches!(&schema.returns[..], [one] if one.ty == tensor_list_type(None));
    if let Some(word) = &attribute.inplace {
        match &schema.arguments[..] {
            [first, ..] if first.ty.kind == TypeKind::Tensor && !first.is_written() && gives_tensors && schema.returns.len() == 1 => forms.push(in_place_schema(schema)),
            [first, ..] if first.ty == tensor_list_type(None) && gives_list => forms.push(in_place_list_schema(schema)),
            _ => errors.add_at(word, format!("operator `{operator}` cannot have an in-place form, because it does not take a tensor first and return one, nor a list of tensors first and return one; leave `inplace` out")),
        }
    }
    if let Some(form) = &attribute.out {
        if !gives_tensors && !gives_list {
            errors.add_at(
                &form.overload,
                format!("operator `{operator}` cannot have an `out=` form, because it does not return tensors; leave `out` out"),
            );
        } else if !form.names.is_empty() && form.names.len() != schema.returns.len() {
            let (names, count) = (form.names.len(), schema.returns.len());
            errors.add_at(
                &form.overload,
                format!("operator `{operator}` returns {count} tensors, but the number of names is {names}; name each, or none"),
            );
        } else {
            forms.push(out_schema(schema, form));
        }
    }
    forms
}

fn written_tensor_type(alias: char) -> Type {
    Type { alias: Some(Alias::written(&alias.to_string())), kind: TypeKind::Tensor }
}

/// Returns the type `Tensor[]`, of tensors with or without an alias annotation.
fn tensor_list_type(alias: Option<Alias>) -> Type {
    let tensor = Type { alias, kind: TypeKind::Tensor };
    Type { alias: None, kind: TypeKind::List(Box::new(tensor), None) }
}

fn in_place_schema(schema: &Schema) -> Schema {
    let mut form = schema.clone();
    form.name.base.push('_');
    form.arguments[0].ty = written_tensor_type('a');
    form.returns = vec![Return { name: None, ty: written_tensor_type('a') }];
    form
}

/// Returns the schema that writes the tensors of a list and returns nothing.
fn in_place_list_schema(schema: &Schema) -> Schema {
    let mut form = schema.clone();
    form.name.base.push('_');
    form.arguments[0].ty = tensor_list_type(Some(Alias::written("a")));
    form.returns = Vec::new();
    form
}

/// The arguments of a factory that the output tensor determines. They are left out of the `out=` form only if all are there, as they
/// otherwise mean something else.
const FACTORY_OPTIONS: [&str; 4] = ["dtype", "layout", "device", "pin_memory"];

fn out_schema(schema: &Schema, OutOption { overload, names }: &OutOption) -> Schema {
    let mut form = schema.clone();
    form.name.overload = overload.value();
    if FACTORY_OPTIONS.iter().all(|option| schema.argument(option).is_some()) {
        form.arguments.retain(|argument| !FACTORY_OPTIONS.contains(&argument.name.as_str()));
    }
    let single = form.returns.len() == 1;
    for (i, (ret, alias)) in form.returns.iter_mut().zip('a'..).enumerate() {
        let name = match (names.get(i), &ret.name) {
            (Some(name), _) => name.to_string(),
            (None, Some(name)) => name.clone(),
            (None, None) if single => "out".to_owned(),
            (None, None) => format!("out{i}"),
        };
        // As in PyTorch, the results of a form with numbered arguments have no names.
        if name == format!("out{i}") {
            ret.name = None;
        }
        let is_list = ret.ty.kind != TypeKind::Tensor;
        ret.ty = if is_list {
            tensor_list_type(Some(Alias::written(&alias.to_string())))
        } else {
            written_tensor_type(alias)
        };
        form.arguments.push(Argument { name, ty: ret.ty.clone(), default: None, keyword_only: true });
    }
    form.returns.retain(|ret| ret.ty.kind == TypeKind::Tensor);
    form
}

/// Returns whether a form is the `out=` form.
pub(super) fn is_out_form(form: &Schema, functional: &Schema) -> bool {
    form.name.base == functional.name.base
}

/// Returns the name of a form's function in the operator's type. If there is no such function, the error is at `span`.
fn form_function_name(is_out: bool, span: Span) -> Ident {
    Ident::new(if is_out { "__out" } else { "__in_place" }, Span::call_site().located_at(span))
}

impl Definition {
    /// Returns the definition of one form.
    pub(super) fn form_definition(&self, schema: Schema) -> Self {
        let functional = &self.function.signature.ident;
        let span = functional.span();
        let dropped = schema.name.overload == "Tensor" && *functional == self.schema.name.base;
        let name = if dropped { schema.name.base.clone() } else { schema.name.rust_name() };
        let name = Ident::new(&name, span);
        let types: Vec<RustType> = schema.arguments.iter().filter_map(RustType::from_argument).collect();
        let names: Vec<Ident> = schema
            .arguments
            .iter()
            .map(|argument| {
                let mut name = rust_argument_name(&argument.name);
                name.set_span(Span::mixed_site());
                name
            })
            .collect();
        let runtime = &self.runtime;
        let parameters = types.iter().map(|ty| ty.tokens(runtime));
        let is_out = is_out_form(&schema, &self.schema);
        let what = if is_out { "into a tensor of the caller's" } else { "in place" };
        let docs = format!("[`{functional}`], {what}.");
        let visibility = self.function.visibility.clone();
        // If the definition is a call of another operator, the call uses the argument names that its author wrote.
        let seen = schema.arguments.iter().map(|argument| rust_argument_name(&argument.name));
        let mut function = Function {
            attributes: vec![parse_quote!(#[doc = #docs])],
            visibility,
            signature: parse_quote!(fn #name(#(#seen: #parameters),*) -> #runtime::Result<()>),
            body: None,
        };
        if let Some(call) = &self.defining_call {
            let (callee, form) = (&call.func, form_function_name(is_out, call.func.span()));
            let mut arguments = call.args.iter();
            let written =
                schema.arguments.iter().filter(|argument| argument.is_out()).map(|out| rust_argument_name(&out.name));
            let first = arguments.next();
            let rest: Vec<Ident> = (1..call.args.len()).map(|i| format_ident!("__argument{i}")).collect();
            // The other arguments are evaluated before the first argument is borrowed mutably, because they may be computed from it.
            function = function.with_body_expression(&quote! {
                match (#(#arguments,)*) { (#(#rest,)*) => #callee::#form(#first, #(#rest,)* #(#written),*) }
            });
        }
        if let Some(call) = &self.element_call {
            let form = form_function_name(is_out, call.func.span());
            let body = each::call_for_each_element(&function.signature.ident, &schema, call, Some(&form));
            function = function.with_body_expression(&body);
        }
        let is_defined_by_call = self.defining_call.is_some() || self.element_call.is_some();
        Self {
            function,
            schema,
            types,
            names,
            rust_operator: None,
            shape: None,
            check: None,
            defining_call: None,
            element_call: None,
            call_for_error_names: self.defining_call.clone(),
            functional: (!is_defined_by_call).then(|| functional.clone()),
            plan: false,
            body_key: self.body_key.clone(),
            forms: Vec::new(),
            has_explicit_namespace: self.has_explicit_namespace,
            data_dependent: self.data_dependent && !is_defined_by_call,
            float8: false,
            runtime: self.runtime.clone(),
        }
    }

    /// Generates functions of the operator's type that call the forms. Their names are the same for every operator.
    pub(super) fn generate_form_functions(&self, forms: &[Self]) -> TokenStream {
        if forms.is_empty() {
            return TokenStream::new();
        }
        let (name, visibility, runtime) = (&self.function.signature.ident, &self.function.visibility, &self.runtime);
        let calls = forms.iter().map(|form| {
            let (function, names) = (&form.function.signature.ident, &form.names);
            let parameters = form.types.iter().map(|ty| ty.tokens(runtime));
            let called = form_function_name(is_out_form(&form.schema, &self.schema), Span::call_site());
            quote! {
                #[doc(hidden)]
                #[allow(dead_code, clippy::too_many_arguments, clippy::missing_errors_doc)]
                #[inline(always)]
                #visibility fn #called(#(#names: #parameters),*) -> #runtime::Result<()> {
                    #function(#(#names),*)
                }
            }
        });
        quote!(#[allow(clippy::inline_always)] impl #name { #(#calls)* })
    }

    /// Returns the records of kernels that follow from the definition: the Meta kernel, and the kernel of a form.
    pub(super) fn derived_kernel_records(&self) -> impl Iterator<Item = TokenStream> {
        let meta = if self.has_plan() {
            // A composite runs on Meta as on every backend.
            let is_composite = self.function.body.is_some() && self.body_key.is_none();
            (!is_composite).then(|| self.boxed_kernel_record("planned_meta_kernel", "Meta"))
        } else {
            (self.functional.is_some() || self.data_dependent)
                .then(|| self.boxed_kernel_record("form_meta_kernel", "Meta"))
        };
        let form =
            self.functional.as_ref().map(|_| self.boxed_kernel_record("form_kernel", "CompositeExplicitAutograd"));
        [meta, form].into_iter().flatten()
    }

    fn boxed_kernel_record(&self, kernel: &str, key: &str) -> TokenStream {
        let runtime = &self.runtime;
        let name = &self.function.signature.ident;
        let (kernel, key) = (Ident::new(kernel, Span::call_site()), Ident::new(key, Span::call_site()));
        quote! {
            #runtime::KernelRecord::boxed::<#name>(
                #runtime::#kernel,
                &[&#runtime::keys::#key],
                ::core::stringify!(#kernel),
                #runtime::Location::new(::core::file!(), ::core::line!()),
            )
        }
    }
}
