//! `#[op_impl]`: the registration of a kernel.
//!
//! It takes two steps ([`schema_callback`]). The first step checks the kernel without the schema. The operator's own macro calls the second
//! step, [`expand_with_schema`], with the operator's schema.

pub(crate) mod attribute;
pub(crate) mod boxed;
mod coerce;
mod dtypes;
mod planned;
mod when;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Signature;

pub(crate) use dtypes::is_type_with_dtype;

use crate::crate_path;
use crate::errors::Errors;
use crate::op_impl::attribute::Attribute;
use crate::schema_callback;
use crate::syntax::function::{Function, signature_lint_attribute};
use crate::syntax::keys::{generate_static_keys, key_name};
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::{self, Parameter};
use crate::syntax::user_tokens::source_text;

pub(crate) fn expand(options: &TokenStream, item: &TokenStream) -> TokenStream {
    let (mut function, attribute, dots) =
        match Function::parse_with_options(["op_impl", "kernel"], options, item, check_without_schema) {
            Ok(read) => read,
            Err(instead) => return instead,
        };
    let runtime = crate_path::runtime_path();
    function.attributes.insert(0, signature_lint_attribute());
    if attribute.boxed.is_some() {
        let record = boxed::generate_kernel_record(&function.signature, &attribute, &runtime);
        return quote!(#function #record);
    }
    let to = quote!(#runtime::__kernel);
    schema_callback::call_with_schema_for_function(
        &attribute.operator,
        &to,
        options,
        (&function, &function.signature),
        dots,
    )
}

/// Reports mistakes that can be found without the operator's schema.
fn check_without_schema(function: &Function, attribute: &Attribute, errors: &mut Errors) {
    if attribute.dtypes.is_none() {
        function.check_not_generic("a kernel", errors);
    }
    if let Some(boxed) = &attribute.boxed {
        if let Some(when) = &attribute.when {
            errors.add_at(&when.word, "a boxed kernel has no typed arguments for a condition; check inside the kernel");
        }
        if let Some(dtypes) = &attribute.dtypes {
            errors.add_at(
                &dtypes.word,
                "a boxed kernel is not generic over a dtype; match on the dtype inside the kernel",
            );
        }
        boxed::check_boxed_signature(&function.signature, boxed, errors);
        return;
    }
    if let (Some(by), None) = (&attribute.by, &attribute.dtypes) {
        errors.add_at(by, "`by` selects one of several dtypes; name them with `dtypes(..)`");
    }
    if let Some(dtypes) = &attribute.dtypes {
        dtypes::check_dtypes_option(dtypes, &function.signature, errors);
    }
    check_key_of_backend_kernel(attribute, &function.signature, errors);
}

/// Reports a kernel that is written for a backend, but names no key. It would be a composite, which switches off the operator's derivative.
fn check_key_of_backend_kernel(attribute: &Attribute, signature: &Signature, errors: &mut Errors) {
    if !attribute.keys.is_empty() {
        return;
    }
    let (at, what) = match (&attribute.dtypes, &attribute.engine, attribute.direct_writes.first()) {
        (Some(dtypes), ..) => (dtypes.word.to_token_stream(), "the option `dtypes(..)`".to_owned()),
        (_, Some(engine), _) => (engine.word.to_token_stream(), "the option `engine`".to_owned()),
        (.., Some(word)) => (word.to_token_stream(), format!("the option `{word}`")),
        _ if planned::takes_plan(signature) => {
            (attribute.operator.to_token_stream(), "the parameter `plan`".to_owned())
        }
        _ => return,
    };
    let (kernel, operator) = (&signature.ident, source_text(&attribute.operator));
    let message = format!(
        "kernel `{kernel}` has {what}, but names no key; write `#[op_impl({operator}, CPU, ..)]`, or it would serve every backend as a \
         composite, and a derivative of the operator would not run"
    );
    errors.add_at(at, message);
}

type KernelWithSchema = schema_callback::FunctionWithSchema<Attribute>;

/// Expands the second step of `#[op_impl]`, with the operator's schema.
pub(crate) fn expand_with_schema(input: TokenStream) -> TokenStream {
    let mut checked = match syn::parse2::<KernelWithSchema>(input) {
        Ok(checked) => checked,
        Err(error) => return error.to_compile_error(),
    };
    let runtime = crate_path::runtime_path();
    match checked.expand_elided_parameters(|_, _, ty| Some(ty.tokens(&runtime))) {
        Ok(function) => {
            let kernel = expand_kernel(&checked);
            quote!(#function #kernel)
        }
        Err(error) => error.to_compile_error(),
    }
}

fn expand_kernel(checked: &KernelWithSchema) -> TokenStream {
    let mut errors = Errors::default();
    if checked.attribute.engine.is_some() || planned::takes_plan(&checked.signature) {
        return planned::expand(checked);
    }
    if let Some(word) = checked.attribute.direct_writes.first() {
        let operator = &checked.schema.name;
        errors.add_at(word, format!("`{word}` is an option of kernels with a plan, but kernel `{}` of operator `{operator}` takes no `plan`; leave `{word}` out, or take the plan", checked.signature.ident));
        return quote!(#errors);
    }
    if let Some(key) = checked.attribute.keys.iter().find(|key| key_name(key).is_some_and(|word| word == "Meta"))
        && checked.properties.has_plan
    {
        let (operator, kernel) = (&checked.schema.name, &checked.signature.ident);
        errors.add_at(key, format!("operator `{operator}` has a plan, which Meta uses; leave kernel `{kernel}` out"));
        return quote!(#errors);
    }
    let kernel = check_signature(checked, &mut errors);
    if errors.is_empty() { expand_typed(checked, &kernel) } else { quote!(#errors) }
}

/// A kernel with the right number and names of parameters. The compiler checks whether the types agree.
struct TypedKernel {
    parameters: Vec<Parameter>,
    takes_keys: bool,
    types: Vec<RustType>,
    output: RustType,
}

fn check_signature(checked: &KernelWithSchema, errors: &mut Errors) -> TypedKernel {
    let KernelWithSchema { schema, signature, .. } = checked;
    let mut parameters = signature::parameters(signature);
    if let [first, .., last] = &parameters[..]
        && parameters.len() == schema.arguments.len() + 1
        && is_key_set(&first.ty)
        && !is_key_set(&last.ty)
    {
        errors.add_at(&first.tokens, "a kernel takes the key set of the call last; move this to the end");
        return TypedKernel { parameters, takes_keys: true, types: Vec::new(), output: RustType::from_returns(schema) };
    }
    let takes_keys = parameters.len() == schema.arguments.len() + 1
        && parameters.last().is_some_and(|parameter| is_key_set(&parameter.ty));
    if takes_keys {
        parameters.pop();
    }
    if !schema.arguments.is_empty() && boxed::has_boxed_signature(signature) && schema.arguments.len() != 3 {
        errors.add_at(&signature.inputs, "these are the parameters of a boxed kernel; write `boxed` after the keys");
    } else if signature::check_parameter_count("kernel", signature, &parameters, schema, errors) {
        signature::check_parameter_order(&parameters, schema, errors);
    }
    for parameter in parameters.iter().filter(|parameter| has_static_lifetime(&parameter.ty)) {
        errors.add_at(&parameter.ty, "an argument lives only during the call; leave `'static` out");
    }
    // The definition reports types that no operator takes.
    let types: Vec<RustType> = schema.arguments.iter().filter_map(RustType::from_argument).collect();
    if errors.is_empty() {
        check_written_arguments(checked, &parameters, &types, errors);
    }
    if let (Some(by), true) = (&checked.attribute.by, errors.is_empty()) {
        dtypes::check_by_option(by, signature, &parameters, &types, errors);
    }
    TypedKernel { parameters, takes_keys, types, output: RustType::from_returns(schema) }
}

/// Reports parameters that would write to an argument that the schema does not mark as written.
fn check_written_arguments(
    checked: &KernelWithSchema,
    parameters: &[Parameter],
    types: &[RustType],
    errors: &mut Errors,
) {
    let KernelWithSchema { schema, signature, .. } = checked;
    for ((parameter, want), argument) in parameters.iter().zip(types).zip(&schema.arguments) {
        let found = RustType::from_user_type(&parameter.ty);
        if !found.is_mutable_reference() || found.to_shared() != *want {
            continue;
        }
        let (ty, name, operator, kernel) = (argument.ty.to_string(), &argument.name, &schema.name, &signature.ident);
        let written = if ty.contains('(') { ty.replacen(')', "!)", 1) } else { ty.replacen("Tensor", "Tensor(a!)", 1) };
        let message = format!(
            "kernel `{kernel}` takes `{}`, but the schema of operator `{operator}` says `{ty} {name}`, which is read only; take `{}`, or write `{written} {name}` in the definition",
            found.text(),
            want.text(),
        );
        errors.add_at(&parameter.ty, message);
    }
}

fn has_static_lifetime(ty: &syn::Type) -> bool {
    let spaced = ty.to_token_stream().to_string();
    spaced.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '_')).any(|word| word == "'static")
}

fn is_key_set(ty: &syn::Type) -> bool {
    RustType::from_user_type(ty).text() == "KeySet"
}

fn expand_typed(checked: &KernelWithSchema, kernel: &TypedKernel) -> TokenStream {
    let KernelWithSchema { attribute, signature, .. } = checked;
    let runtime = crate_path::runtime_path();
    let (operator, name) = (&attribute.operator, &signature.ident);
    let arguments: Vec<Ident> =
        (0..kernel.types.len()).map(|i| Ident::new(&format!("argument{i}"), Span::mixed_site())).collect();
    let keys_given = Ident::new("keys", Span::mixed_site());
    let types: Vec<TokenStream> = kernel.types.iter().map(|ty| ty.tokens(&runtime)).collect();
    let output = kernel.output.tokens(&runtime);
    let taken: Vec<TokenStream> = (0..arguments.len())
        .map(|i| coerce::generate_argument_coercion(checked, kernel, i, &arguments[i], &runtime))
        .collect();
    let keys_argument = kernel.takes_keys.then_some(&keys_given);
    let result = coerce::ResultCoercion::new(checked, kernel, &runtime);
    let returned = |function: TokenStream| {
        let call = quote_spanned!(result.span()=> #function(#(#arguments,)* #keys_argument));
        result.coerce_call(&call)
    };
    let body = match &attribute.dtypes {
        None => {
            let returned = returned(name.to_token_stream());
            quote!(#(#taken)* #returned)
        }
        Some(words) => {
            let serve = dtypes::DTypeSwitchFunction {
                signature,
                arguments: &arguments,
                types: &types,
                keys: &keys_given,
                output: &output,
            };
            let chosen = dtypes::dtype_argument(attribute, kernel.parameters.iter().zip(&kernel.types)).map(|at| {
                let name = kernel.parameters[at].name.as_ref();
                let all = kernel.types.iter().zip(&arguments).enumerate().map(|(at, (ty, name))| (at, ty, name));
                let expression = dtypes::dtype_expression(checked, &arguments[at], all);
                (expression, name.map_or_else(|| format!("argument {}", at + 1), ToString::to_string))
            });
            dtypes::generate_dtype_switch(words, operator, chosen, &serve, &runtime, &|element| {
                let returned = returned(quote!(#name::<#element>));
                quote!(#(#taken)* #returned)
            })
        }
    };
    // The plan reports a wrong argument by its name. The functions that a kernel calls do not know the names.
    let reads_only = !kernel.types.iter().any(RustType::is_mutable_reference);
    let body = if checked.properties.has_plan && reads_only {
        quote! {
            match { #body } {
                ::core::result::Result::Ok(__result) => ::core::result::Result::Ok(__result),
                ::core::result::Result::Err(__error) => ::core::result::Result::Err(#runtime::check_or_body_error(
                    <#operator as #runtime::Operation>::operator(),
                    __error,
                    <#operator>::plan(#(#arguments),*).map(|_| ()),
                )),
            }
        }
    } else {
        body
    };
    let on_meta = generate_meta_device_checks(attribute, kernel, &arguments, &runtime);
    // A kernel that takes the keys of its call may redispatch to itself by mistake; this guard detects it.
    let inside = kernel.takes_keys.then(|| {
        quote! {
            let __inside =
                #runtime::RedispatchGuard::enter(<#operator as #runtime::Operation>::operator, #keys_given)?;
        }
    });
    let keys = generate_static_keys(&attribute.keys, &runtime);
    let overriding = attribute.overrides.is_some().then(|| quote!(.overriding()));
    let priority = attribute.priority.as_ref().map(|priority| quote!(.with_priority(#priority)));
    let names = kernel.parameters.iter().map(|parameter| parameter.name.clone());
    let holds = when::generate_condition(attribute, &checked.schema, names, &kernel.types, &runtime);
    let mut record = quote! {
        #runtime::KernelRecord::typed::<#operator>(
            __kernel,
            &__KEYS,
            ::core::stringify!(#name),
            #runtime::Location::new(::core::file!(), ::core::line!()),
        ) #overriding #priority
    };
    if let Some(when) = &attribute.when {
        let text = source_text(&when.condition);
        record = quote!(unsafe { #record.when::<#operator>(__holds, #text) });
    }
    quote! {
        #[allow(clippy::all, clippy::pedantic, unused_qualifications, unused_lifetimes)]
        const _: () = {
            fn __kernel(#(#arguments: #types,)* #keys_given: #runtime::KeySet, _: #runtime::TableRef) -> #runtime::Result<#output> {
                #result
                #on_meta
                #inside
                #body
            }

            #holds
            #keys
            static __KERNEL: #runtime::KernelRecord = #record;
            #runtime::__submit! { #runtime::Record::Kernel(&__KERNEL) }
        };
    }
}

/// Generates the beginning of a kernel for Meta only: it checks that every tensor is on Meta.
fn generate_meta_device_checks(
    attribute: &Attribute,
    kernel: &TypedKernel,
    arguments: &[Ident],
    runtime: &TokenStream,
) -> TokenStream {
    let [key] = &attribute.keys[..] else { return TokenStream::new() };
    if !matches!(key, syn::Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Meta")) {
        return TokenStream::new();
    }
    let tensors = kernel.types.iter().enumerate().filter(|(_, ty)| {
        ["&Tensor", "&mut Tensor", "Option<&Tensor>", "&[Tensor]", "&[Option<Tensor>]"].contains(&ty.text())
    });
    let operator = &attribute.operator;
    let checks = tensors.map(|(position, _)| {
        let argument = &arguments[position];
        quote!(#runtime::check_argument_on_meta::<#operator>(&#argument, #position)?;)
    });
    quote!(#(#checks)*)
}
