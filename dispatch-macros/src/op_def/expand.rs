//! The expansion of a definition.

use dispatch_schema::OperatorName;
use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Expr, ExprLit, FnArg, Lit, Meta, Visibility, parse_quote};

use super::{Definition, records};
use crate::definition_number;
use crate::syntax::function::signature_lint_attribute;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::rust_argument_name;

pub(super) fn expand_definition(definition: &Definition) -> TokenStream {
    let function = generate_function(definition);
    let types = generate_operator_enum(definition);
    let named = generate_named_call_macro(definition);
    let body = records::generate_body_function(definition);
    let forms: Vec<Definition> =
        definition.forms.iter().map(|schema| definition.form_definition(schema.clone())).collect();
    let generate_form_functions = definition.generate_form_functions(&forms);
    let generate_form_impls = definition.generate_form_impls(&forms);
    let plan = definition.generate_shape_word_plan();
    let forms = forms.iter().map(expand_definition);
    quote!(#function #body #types #plan #named #(#forms)* #generate_form_functions #generate_form_impls)
}

/// Generates the function that users call: it unites the keys, looks up the kernel, and jumps to it.
fn generate_function(definition: &Definition) -> TokenStream {
    let Definition { function, runtime, .. } = definition;
    let visibility = &function.visibility;
    // Lint attributes of a composite belong to its body.
    let attributes = function
        .attributes
        .iter()
        .filter(|attribute| function.body.is_none() || !records::is_lint_attribute(attribute));
    let mut signature = function.signature.clone();
    // The signature shows the schema's names. The body's function has the author's patterns.
    let names: Vec<Ident> =
        definition.schema.arguments.iter().map(|argument| rust_argument_name(&argument.name)).collect();
    for (input, name) in signature.inputs.iter_mut().zip(&names) {
        if let FnArg::Typed(input) = input {
            *input.pat = parse_quote!(#name);
        }
    }
    let name = &signature.ident;
    let [keys, kernel, table] = ["keys", "kernel", "table"].map(|name| Ident::new(name, Span::mixed_site()));
    let lints = signature_lint_attribute();
    let more_docs = generate_extra_docs(definition);
    let carried = generate_key_union(definition, &names);
    quote! {
        #lints
        #[allow(dead_code, clippy::missing_errors_doc, clippy::must_use_candidate, reason = "an operator may be called only by its name")]
        #(#attributes)*
        #more_docs
        #[inline]
        #visibility #signature {
            let #keys = #runtime::call_keys(#carried);
            let (#kernel, #table) = unsafe { #runtime::lookup_kernel::<#name>(#keys) };
            #kernel(#(#names,)* #keys, #table)
        }
    }
}

/// Generates the type of the operator, an enum without variants, and its trait implementations.
fn generate_operator_enum(definition: &Definition) -> TokenStream {
    let Definition { function, types, names, schema, runtime, .. } = definition;
    let (visibility, name) = (&function.visibility, &function.signature.ident);
    let parameters: Vec<TokenStream> = types.iter().map(|ty| ty.tokens(runtime)).collect();
    let output = RustType::from_returns(schema).tokens(runtime);
    let carried_keys = generate_key_union(definition, names);
    let signature = generate_type_signature(definition, &output);
    let (composite, own) = records::generate_composite_kernel(definition, &parameters, &output).unzip();
    let static_definition =
        generate_static_operator(definition, own.into_iter().chain(definition.derived_kernel_records()));
    let (rust_operator, shape) = (records::generate_rust_operator_record(definition), definition.shape_word_tokens());
    let identity = definition_number::hash_definition(&schema.name.to_string());
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, clippy::empty_enum)]
        #visibility enum #name {}

        #[allow(clippy::all, clippy::pedantic, non_local_definitions, unused_qualifications, unused_variables, unused_mut)]
        const _: () = {
            unsafe impl #runtime::Operation for #name {
                type Signature = #signature;

                const SHAPE_WORD: ::core::option::Option<#runtime::ShapeWord> = #shape;

                #[inline(always)]
                fn operator() -> &'static #runtime::Operator {
                    &__OPERATOR
                }
            }

            impl #runtime::OperatorFunction<#identity, #name> for #runtime::OperatorFunctions {
                type Function = fn(#(#parameters),*) -> #runtime::Result<#output>;
                const FUNCTION: Self::Function = #name;
            }

            impl #name {
                /// Returns the operator.
                #[allow(dead_code)]
                #[inline(always)]
                #visibility fn operator() -> &'static #runtime::Operator {
                    &__OPERATOR
                }

                /// Calls the operator with exactly these keys; a layer redispatches a call with it.
                #[allow(dead_code)]
                #[inline]
                #visibility fn redispatch(__keys: #runtime::KeySet, #(#names: #parameters),*) -> #runtime::Result<#output> {
                    let (__kernel, __table) = unsafe { #runtime::lookup_kernel::<#name>(__keys) };
                    __kernel(#(#names,)* __keys, __table)
                }

                /// Calls the kernel for one runtime key. The keys of the arguments are ignored.
                #[allow(dead_code)]
                #[inline]
                #visibility fn call_for(__key: #runtime::Key, #(#names: #parameters),*) -> #runtime::Result<#output> {
                    let __keys = #runtime::call_keys_up_to(#carried_keys, __key)?;
                    let (__kernel, __table) = unsafe { #runtime::lookup_kernel::<#name>(__keys) };
                    __kernel(#(#names,)* __keys, __table)
                }
            }

            static __UNBOUND: #runtime::TableHeader =
                #runtime::TableHeader::unbound(::core::option::Option::Some(&__OPERATOR), __ADAPTERS.slow_path);
            const __ADAPTERS: &#runtime::TypedAdapters =
                <<#name as #runtime::Operation>::Signature as #runtime::Signature>::TYPED_ADAPTERS;
            #static_definition
            #composite
            #rust_operator
        };
    }
}

/// Generates the static `__OPERATOR` and the static array of the kernels that belong to its definition.
fn generate_static_operator(definition: &Definition, kernels: impl Iterator<Item = TokenStream>) -> TokenStream {
    let kernels: Vec<TokenStream> = kernels.collect();
    let count = kernels.len();
    let Definition { function, schema, runtime, .. } = definition;
    let name = &function.signature.ident;
    let text = schema.to_string();
    let signature = text.find('(').map_or("", |at| &text[at..]);
    let namespace = match &schema.name.namespace {
        Some(namespace) if definition.has_explicit_namespace => quote!(#namespace),
        _ => quote!(#runtime::crate_name(::core::module_path!())),
    };
    let (base, overload) = (&schema.name.base, &schema.name.overload);
    let docs = author_docs_text(&function.attributes);
    let arguments = schema.arguments.len();
    let tensor_result_count =
        schema.tensor_return_count().and_then(|count| u8::try_from(count).ok()).unwrap_or(u8::MAX);
    let key_arguments = key_argument_bits(definition);
    let device = match schema.device_argument() {
        Some(device) => quote!(::core::option::Option::Some(#device)),
        None => quote!(::core::option::Option::None),
    };
    let (aliasing, viewing) = (schema.is_aliasing(), !schema.views().is_empty());
    let data_dependent = definition.data_dependent;
    let plan = definition.result_specs_tokens();
    let identity = definition_number::hash_definition(&schema.name.to_string());
    let functional = match &definition.functional {
        Some(functional) => quote!(::core::option::Option::Some(#functional::operator)),
        None => quote!(::core::option::Option::None),
    };
    quote! {
        static __KERNELS: [#runtime::KernelRecord; #count] = [#(#kernels),*];
        static __OPERATOR: #runtime::Operator = unsafe { #runtime::Operator::new(&__UNBOUND, #runtime::Definition {
            name: #runtime::Name { namespace: #namespace, base: #base, overload: #overload },
            signature: #signature,
            docs: #docs,
            location: #runtime::Location::new(::core::file!(), ::core::line!()),
            argument_count: #arguments,
            tensor_result_count: #tensor_result_count,
            key_arguments: #key_arguments,
            aliasing: #aliasing,
            returns_views: #viewing,
            device_argument: #device,
            shape: <#name as #runtime::Operation>::SHAPE_WORD,
            plan: #plan,
            data_dependent: #data_dependent,
            functional: #functional,
            typed: ::core::option::Option::Some(__ADAPTERS),
            function: ::core::option::Option::Some(#runtime::operator_function_pointer::<#identity, #name>()),
            kernels: &__KERNELS,
        }) };
        #runtime::__submit! { #runtime::Record::Operator(&__OPERATOR) }
    }
}

/// Generates the macro: the named form of a call.
fn generate_named_call_macro(definition: &Definition) -> TokenStream {
    let Definition { function, schema, runtime, .. } = definition;
    let (visibility, name) = (&function.visibility, &function.signature.ident);
    let hidden = named_call_macro_name(&schema.name);
    let text = schema.to_string();
    let dollar = Punct::new('$', Spacing::Alone);
    let identity = definition_number::hash_definition(&schema.name.to_string());
    let properties = definition.properties_tokens();
    // Only an exported macro can be used outside of the crate.
    let (export, inner) = match visibility {
        Visibility::Public(_) => (Some(quote!(#[macro_export])), quote!(pub)),
        _ => (None, quote!(pub(crate))),
    };
    // In the module of the definition, `use crate::*` would import an exported macro a second time, and the name would be ambiguous.
    quote! {
        #[doc(hidden)]
        #[allow(non_snake_case, unreachable_pub, unused_imports)]
        mod #hidden {
            #runtime::__define_operator_macro! { (#dollar) #hidden (#text) ({ #properties }) (#identity) #export }

            #inner use #hidden as #name;
        }

        #[doc(hidden)]
        #[allow(unused_imports)]
        #visibility use #hidden::#name;
    }
}

/// Returns the name under which the operator's macro is exported at the root of the crate. The lengths distinguish `sum_dim.IntList` from
/// `sum.dim_IntList`.
fn named_call_macro_name(operator: &OperatorName) -> Ident {
    let OperatorName { namespace, base, overload } = operator;
    let namespace = namespace.as_deref().unwrap_or("");
    format_ident!("__op_{namespace}_{base}_{overload}_{}_{}", base.len(), overload.len())
}

/// Returns a bit set of the arguments that have keys.
fn key_argument_bits(definition: &Definition) -> u64 {
    let arguments = 0..definition.schema.arguments.len();
    arguments.filter(|&i| argument_carries_keys(definition, i)).fold(0, |bits, i| bits | 1 << i)
}

fn argument_carries_keys(definition: &Definition, i: usize) -> bool {
    definition.schema.arguments[i].ty.carries_keys()
}

fn generate_key_union(definition: &Definition, names: &[Ident]) -> TokenStream {
    let runtime = &definition.runtime;
    let each = names.iter().enumerate().filter(|(i, _)| argument_carries_keys(definition, *i));
    let mut each: Vec<TokenStream> = each.map(|(_, name)| quote!(#runtime::argument_keys(&#name))).collect();
    if let Some(device) = definition.schema.device_argument() {
        let name = &names[device];
        each.push(quote!(#runtime::HasDeviceKeys::device_keys(&#name)));
    }
    if each.is_empty() { quote!(#runtime::KeySet::EMPTY) } else { quote!(#(#each)|*) }
}

/// Generates the operator's argument and result types without lifetimes.
fn generate_type_signature(definition: &Definition, output: &TokenStream) -> TokenStream {
    let Definition { schema, types, runtime, .. } = definition;
    let device = schema.device_argument();
    let kinds = types.iter().enumerate().map(|(i, ty)| {
        if device == Some(i) {
            let ty = ty.tokens(runtime);
            quote!(#runtime::DeviceArgument<#ty>)
        } else {
            ty.kind_tokens(runtime)
        }
    });
    let origins: Vec<Option<usize>> = (0..schema.returns.len()).map(|i| schema.written_argument_of_return(i)).collect();
    let origin = |origin: &Option<usize>| match origin {
        Some(argument) => quote!(#runtime::WrittenArgument<#argument>),
        None => quote!(#runtime::NewResult),
    };
    let origins = if origins.iter().all(Option::is_none) { Vec::new() } else { origins.iter().map(origin).collect() };
    quote!(#runtime::Sig<(#(#kinds,)*), #output, (#(#origins,)*)>)
}

/// Generates documentation that rustdoc does not show for a function: the schema, and the other items with its name. Only if the author
/// wrote documentation, or `missing_docs` would not report operators without.
fn generate_extra_docs(definition: &Definition) -> Option<TokenStream> {
    let Definition { function, schema, .. } = definition;
    let is_docs = |attribute: &Attribute| matches!(&attribute.meta, Meta::NameValue(pair) if pair.path.is_ident("doc"));
    if !function.attributes.iter().any(is_docs) {
        return None;
    }
    let name = &function.signature.ident;
    let section = format!(
        "\n\n # Operator\n\n ```text\n {schema:#}\n ```\n\n `{name}!(..)` is the named form, with the schema's defaults. \
         `{name}::redispatch` calls with given keys, `{name}::call_for` the kernel for one key."
    );
    Some(quote!(#[doc = #section]))
}

/// Returns the author's documentation as one text. A line may be an expression, if a macro wrote it.
fn author_docs_text(attributes: &[Attribute]) -> TokenStream {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.value().trim().to_token_stream(),
            other => other.to_token_stream(),
        }),
        _ => None,
    });
    let lines = lines.enumerate().map(|(i, line)| if i == 0 { line } else { quote!("\n", #line) });
    quote!(::core::concat!(#(#lines),*))
}
