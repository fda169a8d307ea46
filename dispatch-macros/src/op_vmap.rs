//! `#[op_vmap]`: the batch rule of an operator.
//!
//! As for a gradient formula, the operator's own macro calls the second step. The vmap layer converts each argument to the type of its
//! parameter.

use dispatch_schema::Schema;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{FnArg, Path, ReturnType, Signature, Type};

use crate::crate_path;
use crate::errors::Errors;
use crate::schema_callback::{FunctionWithSchema, call_with_schema_for_function};
use crate::syntax::function::{Function, signature_lint_attribute};
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::{self, Parameter, rust_argument_name};
use crate::syntax::user_tokens::source_text;

/// The argument of `#[op_vmap(..)]`.
struct Attribute {
    operator: Path,
}

const USAGE_TEXT: &str = "`#[op_vmap(path::to::operator)]`";

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Err(syn::Error::new(Span::call_site(), format!("the operator is missing; write {USAGE_TEXT}")));
        }
        let operator = input.call(Path::parse_mod_style)?;
        if !input.is_empty() {
            return Err(input.error(format!("`#[op_vmap]` has no options; write {USAGE_TEXT}")));
        }
        Ok(Self { operator })
    }
}

pub(crate) fn expand(options: &TokenStream, item: &TokenStream) -> TokenStream {
    let check =
        |function: &Function, _: &Attribute, errors: &mut Errors| function.check_not_generic("a batch rule", errors);
    let (mut function, attribute, dots) =
        match Function::parse_with_options(["op_vmap", "batch rule"], options, item, check) {
            Ok(read) => read,
            Err(instead) => return instead,
        };
    let layer = vmap_path();
    function.attributes.insert(0, signature_lint_attribute());
    let to = quote!(#layer::__vmap);
    call_with_schema_for_function(&attribute.operator, &to, options, (&function, &function.signature), dots)
}

fn vmap_path() -> TokenStream {
    crate_path::layer_path("dispatch-vmap", "vmap")
}

/// Expands the second step of `#[op_vmap]`, with the operator's schema.
pub(crate) fn expand_with_schema(input: TokenStream) -> TokenStream {
    let (runtime, layer) = (crate_path::runtime_path(), vmap_path());
    let batch_rule_type = |_: &Function, _: &Ident, ty: RustType| {
        Some(mapped_type(&ty, &layer).map_or_else(|| ty.tokens(&runtime), |(_, tokens)| tokens))
    };
    let completed = syn::parse2::<FunctionWithSchema<Attribute>>(input)
        .and_then(|mut checked| Ok((checked.expand_elided_parameters(batch_rule_type)?, checked)));
    let (function, FunctionWithSchema { schema, attribute, signature, .. }) = match completed {
        Ok(completed) => completed,
        Err(error) => return error.to_compile_error(),
    };
    let parameters = signature::parameters(&signature);
    let (found, expected) = (parameters.len(), schema.arguments.len() + 1);
    if found != expected {
        let message = format!(
            "a batch rule takes the batch and the {} arguments of `{schema:#}`, but `{}` has {found} parameters{}",
            expected - 1,
            signature.ident,
            missing_parameters_text(&schema, &parameters, &layer),
        );
        return syn::Error::new_spanned(&signature.inputs, message).to_compile_error();
    }
    let mut errors = Errors::default();
    check_parameter_types(&schema, &signature, &layer, &mut errors);
    if !errors.is_empty() {
        return quote!(#errors #function);
    }
    let rule = generate_batch_rule(&attribute.operator, &signature);
    quote!(#function #rule)
}

/// Returns the end of a message: the missing parameters, if the names of the others show which ones are missing.
fn missing_parameters_text(schema: &Schema, parameters: &[Parameter], layer: &TokenStream) -> String {
    let arguments: Vec<Ident> = schema.arguments.iter().map(|argument| rust_argument_name(&argument.name)).collect();
    let is_argument =
        |parameter: &Parameter| parameter.name.as_ref().is_some_and(|name| arguments.iter().any(|other| other == name));
    let (batch, rest) = match parameters {
        [first, ..] if is_argument(first) => (Some("`batch: &Batch`".to_owned()), parameters),
        [_, rest @ ..] => (None, rest),
        [] => return String::new(),
    };
    if !rest.iter().all(is_argument) {
        return String::new();
    }
    let is_missing = |name: &Ident| !rest.iter().any(|parameter| parameter.name.as_ref() == Some(name));
    let of_arguments = schema.arguments.iter().zip(&arguments).filter(|(_, name)| is_missing(name));
    let of_arguments = of_arguments.filter_map(|(argument, name)| {
        let ty = RustType::from_argument(argument)?;
        let text = mapped_type(&ty, layer).map_or_else(|| ty.text().to_owned(), |(text, _)| text.to_owned());
        Some(format!("`{name}: {text}`"))
    });
    let missing: Vec<String> = batch.into_iter().chain(of_arguments).collect();
    if missing.is_empty() { String::new() } else { format!("; missing: {}", missing.join(", ")) }
}

/// Returns the type of a tensor argument in a batch rule, as text and as tokens; `None` for other arguments.
fn mapped_type(ty: &RustType, layer: &TokenStream) -> Option<(&'static str, TokenStream)> {
    Some(match ty.text() {
        "&Tensor" | "&mut Tensor" => ("Mapped", quote!(#layer::Mapped)),
        "Option<&Tensor>" | "Option<&mut Tensor>" => ("Option<Mapped>", quote!(::core::option::Option<#layer::Mapped>)),
        "&[Tensor]" | "&mut [Tensor]" => ("Vec<Mapped>", quote!(::std::vec::Vec<#layer::Mapped>)),
        "&[Option<Tensor>]" => ("Vec<Option<Mapped>>", quote!(::std::vec::Vec<::core::option::Option<#layer::Mapped>>)),
        _ => return None,
    })
}

/// Reports parameter types that belong to another argument or to a kernel. The compiler reports types that are not known here.
fn check_parameter_types(schema: &Schema, signature: &Signature, layer: &TokenStream, errors: &mut Errors) {
    const KNOWN_TYPES: [&str; 19] = [
        "Tensor",
        "Mapped",
        "Option",
        "Vec",
        "i64",
        "f64",
        "i32",
        "f32",
        "usize",
        "bool",
        "Scalar",
        "Complex64",
        "DType",
        "Layout",
        "MemoryFormat",
        "Device",
        "Generator",
        "str",
        "Str",
    ];
    let operator = &schema.name;
    let words = |ty: &Type| -> Vec<String> {
        let text = RustType::from_user_type(ty).text().to_owned();
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let is_known = |ty: &Type| words(ty).iter().all(|word| KNOWN_TYPES.contains(&word.as_str()));
    for (argument, input) in schema.arguments.iter().zip(signature.inputs.iter().skip(1)) {
        let want = RustType::from_argument(argument);
        let want = want.as_ref().map(|ty| mapped_type(ty, layer).map_or_else(|| ty.text(), |(text, _)| text));
        if let (Some(want), Some(ty)) = (want, parameter_type(input))
            && is_known(ty)
            && RustType::from_user_type(ty).text() != want
        {
            let (name, found) = (rust_argument_name(&argument.name), source_text(ty));
            let message =
                format!("argument `{name}` of operator `{operator}` is `{want}` in a batch rule, not `{found}`");
            errors.add_at(ty, message);
        }
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && (is_known(ty) || words(ty).iter().any(|word| word == "Tensor"))
    {
        let found = source_text(ty);
        let want = found.replace("Tensor", "Mapped");
        let want = if is_known(ty) { format!("Result<{want}>") } else { want };
        let message = format!("a batch rule of operator `{operator}` returns `{want}`, not `{found}`");
        errors.add_at(ty, message);
    }
}

fn parameter_type(input: &FnArg) -> Option<&Type> {
    match input {
        FnArg::Typed(parameter) => Some(&parameter.ty),
        FnArg::Receiver(_) => None,
    }
}

fn generate_batch_rule(operator: &Path, signature: &Signature) -> TokenStream {
    let (runtime, layer, name) = (crate_path::runtime_path(), vmap_path(), &signature.ident);
    let types: Vec<&Type> = signature.inputs.iter().skip(1).filter_map(parameter_type).collect();
    let arguments: Vec<_> = (0..types.len()).map(|i| format_ident!("__argument{i}")).collect();
    // If a type cannot be converted, the compiler reports it at the parameter.
    let taken = types.iter().zip(&arguments).map(|(ty, argument)| {
        let take = quote_spanned!(ty.span()=> #layer::unpack_argument::<#ty>);
        quote!(#take(__batch, #argument)?)
    });
    let give = match &signature.output {
        ReturnType::Type(_, ty) => quote_spanned!(ty.span()=> #layer::pack_results),
        ReturnType::Default => quote!(#layer::pack_results),
    };
    quote! {
        #[allow(clippy::all, clippy::pedantic, unused_qualifications)]
        const _: () = {
            fn __run_batch_rule(
                __batch: &#layer::Batch,
                __values: &mut [#runtime::Value],
            ) -> #runtime::Result<::core::option::Option<::std::vec::Vec<#runtime::Value>>> {
                let [#(#arguments),*] = __values else { return ::core::result::Result::Err(#layer::rule_arguments_error()) };
                let __results = #name(__batch, #(#taken),*)?;
                #give(__batch, __results)
            }
            static __BATCH_RULE: #layer::BatchRule = #layer::BatchRule::new(__run_batch_rule);
            static __RULE: #runtime::RuleRecord = #runtime::RuleRecord::new(
                <#operator as #runtime::Operation>::operator,
                &__BATCH_RULE,
                #runtime::Location::new(::core::file!(), ::core::line!()),
            );
            #runtime::__submit! { #runtime::Record::Rule(&__RULE) }
        };
    }
}
