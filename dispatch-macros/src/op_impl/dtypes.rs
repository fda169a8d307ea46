//! The option `dtypes(..)`: one generic kernel that serves several dtypes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{GenericParam, Path, Signature};

use crate::errors::Errors;
use crate::op_impl::KernelWithSchema;
use crate::op_impl::attribute::{Attribute, DTypesOption};
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::Parameter;
use crate::syntax::user_tokens::{at_user_span, source_text};

/// The dtypes: the names of their Rust types, and the variants of `DType`.
const DTYPE_NAMES: [(&str, &str); 12] = [
    ("u8", "U8"),
    ("i8", "I8"),
    ("i16", "I16"),
    ("i32", "I32"),
    ("i64", "I64"),
    ("f16", "F16"),
    ("bf16", "BF16"),
    ("f32", "F32"),
    ("f64", "F64"),
    ("c64", "C64"),
    ("c128", "C128"),
    ("bool", "Bool"),
];

/// The words that stand for several dtypes.
const DTYPE_GROUPS: [(&str, &[&str]); 4] = [
    ("floating", &["f16", "bf16", "f32", "f64"]),
    ("integral", &["u8", "i8", "i16", "i32", "i64"]),
    ("complex", &["c64", "c128"]),
    ("all", &["u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128", "bool"]),
];

/// PyTorch's names of dtypes, with the names here, for suggestions.
const PYTORCH_DTYPE_NAMES: [(&str, &str); 16] = [
    ("uint8", "u8"),
    ("int8", "i8"),
    ("int16", "i16"),
    ("short", "i16"),
    ("int32", "i32"),
    ("int", "i32"),
    ("int64", "i64"),
    ("long", "i64"),
    ("float16", "f16"),
    ("half", "f16"),
    ("bfloat16", "bf16"),
    ("float32", "f32"),
    ("float64", "f64"),
    ("double", "f64"),
    ("complex64", "c64"),
    ("complex128", "c128"),
];

pub(super) fn check_dtypes_option(dtypes: &DTypesOption, signature: &Signature, errors: &mut Errors) {
    let params: Vec<&GenericParam> =
        signature.generics.params.iter().filter(|param| !matches!(param, GenericParam::Lifetime(_))).collect();
    if !matches!(params[..], [GenericParam::Type(_)]) {
        let name = &signature.ident;
        let found = match params[..] {
            [] => "is not generic".to_owned(),
            _ => format!(
                "is generic over {}",
                params.iter().map(|p| format!("`{}`", source_text(p))).collect::<Vec<_>>().join(" and ")
            ),
        };
        let at = if params.is_empty() { name.to_token_stream() } else { quote!(#(#params),*) };
        let message = format!(
            "`dtypes(..)` generates one kernel for each element type, but `{name}` {found}; write `fn {name}<T: Element>(..)`"
        );
        errors.add_at(at, message);
    }
    if dtypes.words.is_empty() {
        errors.add_at(&dtypes.word, "`dtypes(..)` names no dtype; write `dtypes(floating)`, for example");
    }
    for word in &dtypes.words {
        if dtypes_for_word(word).is_empty() {
            let known = || DTYPE_GROUPS.iter().map(|(name, _)| *name).chain(DTYPE_NAMES.map(|(name, _)| name));
            let written = word.to_string();
            let pytorch = PYTORCH_DTYPE_NAMES.iter().find(|(name, _)| *name == written).map(|(_, own)| *own);
            let hint = match pytorch.or_else(|| dispatch_schema::suggest(&written, known())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the dtypes are {}", known().collect::<Vec<_>>().join(", ")),
            };
            errors.add_at(word, format!("there is no dtype `{written}`; {hint}"));
        }
    }
}

/// Reports a `by` that names no argument, or an argument without a dtype.
pub(super) fn check_by_option(
    by: &Ident,
    signature: &Signature,
    parameters: &[Parameter],
    types: &[RustType],
    errors: &mut Errors,
) {
    let kernel = &signature.ident;
    match parameters.iter().position(|parameter| parameter.name.as_ref() == Some(by)) {
        None => {
            let names: Vec<String> =
                parameters.iter().filter_map(|p| p.name.as_ref()).map(|name| format!("`{name}`")).collect();
            let hint = if names.is_empty() {
                "take it as a parameter".to_owned()
            } else {
                format!("it has {}", names.join(", "))
            };
            errors.add_at(by, format!("kernel `{kernel}` has no argument `{by}`; {hint}"));
        }
        Some(at) if !types.get(at).is_some_and(is_type_with_dtype) => {
            let ty = types.get(at).map_or("", RustType::text);
            errors.add_at(by, format!("argument `{by}` is `{ty}`, which has no dtype; name a tensor or a `DType`"));
        }
        Some(_) => {}
    }
}

/// Returns whether an argument of this type has a dtype.
pub(crate) fn is_type_with_dtype(ty: &RustType) -> bool {
    let plain = ty.text().replace("&mut ", "&");
    matches!(plain.as_str(), "&Tensor" | "&[Tensor]" | "Option<&Tensor>" | "DType" | "Option<DType>")
}

/// Returns the dtypes for which a word stands.
fn dtypes_for_word(word: &Ident) -> Vec<(&'static str, &'static str)> {
    let group = DTYPE_GROUPS.iter().find(|(name, _)| word == name).map(|(_, members)| *members);
    DTYPE_NAMES.into_iter().filter(|(name, _)| group.map_or(word == name, |group| group.contains(name))).collect()
}

/// The generic kernel, and the arguments, types, keys and output of the generated function that selects the dtype and calls the kernel.
pub(super) struct DTypeSwitchFunction<'a> {
    pub(super) signature: &'a Signature,
    pub(super) arguments: &'a [Ident],
    pub(super) types: &'a [TokenStream],
    pub(super) keys: &'a Ident,
    pub(super) output: &'a TokenStream,
}

/// Returns the argument that selects the element type: the one that `by` names, or the first tensor.
pub(super) fn dtype_argument<'a>(
    attribute: &Attribute,
    mut arguments: impl Iterator<Item = (&'a Parameter, &'a RustType)>,
) -> Option<usize> {
    match &attribute.by {
        Some(by) => arguments.position(|(parameter, _)| parameter.name.as_ref() == Some(by)),
        None => arguments.position(|(_, ty)| ty.text().contains("Tensor") && is_type_with_dtype(ty)),
    }
}

/// Returns the expression whose dtype selects the element type: the chosen argument, or all operands of an elementwise operator if the
/// first of them is chosen by default. The dtype of several operands is the one that they promote to.
///
/// `arguments` are the kernel's arguments that are single tensors: their positions in the schema, and their names in generated code.
pub(super) fn dtype_expression<'a>(
    checked: &KernelWithSchema,
    chosen: &Ident,
    arguments: impl Iterator<Item = (usize, &'a RustType, &'a Ident)>,
) -> TokenStream {
    let (Some(pointwise), None) = (&checked.properties.pointwise, &checked.attribute.by) else {
        return chosen.to_token_stream();
    };
    let operands: Vec<&Ident> = arguments
        .filter(|(at, ty, _)| ty.text() == "&Tensor" && pointwise.operands.contains(at))
        .map(|(.., name)| name)
        .collect();
    if operands.len() > 1 && operands[0] == chosen { quote!([#(#operands),*]) } else { chosen.to_token_stream() }
}

/// Generates the switch on the dtype of the expression `chosen`, with the label that messages use for it.
pub(super) fn generate_dtype_switch(
    dtypes: &DTypesOption,
    operator: &Path,
    chosen: Option<(TokenStream, String)>,
    serve: &DTypeSwitchFunction<'_>,
    runtime: &TokenStream,
    call: &dyn Fn(&TokenStream) -> TokenStream,
) -> TokenStream {
    let DTypeSwitchFunction { signature, arguments, types, keys, output } = serve;
    let (implemented, _, bounded) = signature.generics.split_for_impl();
    let generic = signature.generics.type_params().next();
    let param = generic.map(|generic| &generic.ident);
    let bounds = generic.map(source_text).unwrap_or_default();
    let Some((argument, label)) = chosen else {
        let message = "no argument is a tensor that selects the dtype; name an argument with `by = ..`";
        return syn::Error::new_spanned(&dtypes.word, message).to_compile_error();
    };
    let mut seen: Vec<&str> = Vec::new();
    let mut arms = TokenStream::new();
    let mut supported = Vec::new();
    let mut checks = TokenStream::new();
    let kernel_name = &signature.ident;
    for word in &dtypes.words {
        for (name, variant) in dtypes_for_word(word) {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let variant = Ident::new(variant, Span::call_site());
            supported.push(variant.clone());
            let element = element_type_tokens(name, word, runtime);
            arms.extend(quote! {
                ::core::option::Option::Some(#runtime::DType::#variant) => __KernelForType::<#element>::call_kernel(#(#arguments,)* #keys),
            });
            let unsupported =
                format!("`{name}` does not satisfy `{bounds}` of kernel `{kernel_name}`; leave it out of `dtypes(..)`");
            checks.extend(
                quote_spanned!(at_user_span(word.span())=> ::core::assert!(__KernelForType::<#element>::ACCEPTS_TYPE, #unsupported);),
            );
        }
    }
    let param = quote!(#param);
    let call = call(&param);
    quote! {
        struct __KernelForType<T>(::core::marker::PhantomData<T>);

        // If the bounds hold, this inherent item takes precedence over the trait's.
        #[allow(dead_code)]
        impl #implemented __KernelForType<#param> #bounded {
            const ACCEPTS_TYPE: ::core::primitive::bool = true;

            fn call_kernel(#(#arguments: #types,)* #keys: #runtime::KeySet) -> #runtime::Result<#output> {
                #call
            }
        }

        trait __Unsupported: ::core::marker::Sized {
            const ACCEPTS_TYPE: ::core::primitive::bool = false;

            fn call_kernel(#(_: #types,)* _: #runtime::KeySet) -> #runtime::Result<#output> {
                ::core::unreachable!()
            }
        }

        impl<T> __Unsupported for __KernelForType<T> {}

        const _: () = { #checks };

        match #runtime::HasDType::dtype_of(&#argument) {
            #arms
            __other => ::core::result::Result::Err(#runtime::unsupported_dtype_error::<#operator>(
                #label,
                __other,
                &[#(#runtime::DType::#supported),*],
            )),
        }
    }
}

fn element_type_tokens(name: &str, word: &Ident, runtime: &TokenStream) -> TokenStream {
    let span = at_user_span(word.span());
    let of_runtime = |name: &str| {
        let (runtime, name) = (respan_tokens(runtime, span), Ident::new(name, span));
        quote_spanned!(span=> #runtime::#name)
    };
    match name {
        "bool" => of_runtime("Bool"),
        "c64" => of_runtime("Complex32"),
        "c128" => of_runtime("Complex64"),
        "f16" | "bf16" => of_runtime(name),
        name => {
            let name = Ident::new(name, span);
            quote_spanned!(span=> ::core::primitive::#name)
        }
    }
}

fn respan_tokens(tokens: &TokenStream, span: Span) -> TokenStream {
    let each = tokens.clone().into_iter().map(|mut tree| {
        tree.set_span(span);
        tree
    });
    each.collect()
}
