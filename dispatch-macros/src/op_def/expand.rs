//! What a definition expands to.

use dispatch_schema::TypeKind;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Visibility};

use super::Definition;
use crate::default;
use crate::function::Function;
use crate::rust_type::{RustType, returned};
use crate::signature::rust_name;

/// What is left of a definition with mistakes: enough that its users get no errors of their own.
pub(super) fn stub(function: &Function) -> TokenStream {
    let (attributes, visibility, signature) = (&function.attributes, &function.visibility, &function.signature);
    let name = &signature.ident;
    let hidden = format_ident!("__op_{}", name);
    let body = match &function.body {
        Some(body) => quote!(#body),
        None => quote!({ ::core::panic!("this operator's definition has mistakes") }),
    };
    quote! {
        #(#attributes)* #[allow(unused, clippy::all, clippy::pedantic)] #visibility #signature #body
        #[doc(hidden)] #[allow(non_camel_case_types, dead_code)] #visibility enum #name {}
        #[allow(unused_macros)] macro_rules! #hidden { ($($anything:tt)*) => {}; }
        #[allow(unused_imports)] pub(crate) use #hidden as #name;
    }
}

pub(super) fn definition(definition: &Definition) -> TokenStream {
    let function = wrapper(definition);
    let types = types(definition);
    let named = named_form(definition);
    quote!(#function #types #named)
}

/// The function: unite keys, find the kernel, jump.
fn wrapper(definition: &Definition) -> TokenStream {
    let Definition { function, runtime, .. } = definition;
    let (attributes, visibility) = (&function.attributes, &function.visibility);
    let mut signature = function.signature.clone();
    let names = names(definition);
    for (input, name) in signature.inputs.iter_mut().zip(&names) {
        if let syn::FnArg::Typed(input) = input {
            *input.pat = syn::parse_quote!(#name);
        }
    }
    let name = &signature.ident;
    let carried = carried(definition, &names);
    quote! {
        #(#attributes)*
        #[inline]
        #[allow(clippy::missing_errors_doc, clippy::too_many_arguments, clippy::must_use_candidate, clippy::trivially_copy_pass_by_ref)]
        #visibility #signature {
            let __keys = #runtime::__private::keys(#carried);
            #runtime::__private::kernel::<#name>(__keys)(#(#names,)* __keys)
        }
    }
}

/// The enum, and everything that hangs on it.
fn types(definition: &Definition) -> TokenStream {
    let Definition { function, types, schema, runtime, .. } = definition;
    let (visibility, name) = (&function.visibility, &function.signature.ident);
    let names = names(definition);
    let parameters: Vec<TokenStream> = types.iter().map(|ty| ty.tokens(runtime)).collect();
    let shared: Vec<TokenStream> = types.iter().map(|ty| ty.shared().tokens(runtime)).collect();
    let output = RustType::of_returns(schema).tokens(runtime);
    let carried_keys = carried(definition, &names);
    let each_carried = (0..names.len()).map(|i| {
        let name = &names[i];
        if carries(definition, i) {
            quote!(#runtime::__private::carried(&#name))
        } else {
            quote!(#runtime::KeySet::EMPTY)
        }
    });
    let looked_at = names.iter().zip(types).map(|(name, ty)| look_at(name, ty));
    let adapters = adapters(definition, &names, &parameters, &output);
    let static_definition = static_definition(definition);
    let records = records(definition, &parameters, &output);
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, clippy::empty_enum)]
        #visibility enum #name {}

        #[allow(clippy::all, clippy::pedantic, unused_qualifications, unused_variables, unused_mut)]
        const _: () = {
            impl #runtime::Operation for #name {
                type Kernel = fn(#(#parameters,)* #runtime::KeySet) -> #runtime::Result<#output>;
                type Predicate = fn(#(#shared),*) -> bool;

                #[inline(always)]
                fn operator() -> &'static #runtime::Operator {
                    &OPERATOR
                }
            }

            impl #name {
                /// The operator itself.
                #[allow(dead_code)]
                #[inline(always)]
                pub fn operator() -> &'static #runtime::Operator {
                    &OPERATOR
                }

                /// Calls the operator with exactly these keys: how a layer hands a call on.
                #[allow(dead_code)]
                #[inline]
                pub fn redispatch(__keys: #runtime::KeySet, #(#names: #parameters),*) -> #runtime::Result<#output> {
                    #runtime::__private::kernel::<#name>(__keys)(#(#names,)* __keys)
                }

                /// Calls the kernel for one key, whatever the arguments' keys.
                #[allow(dead_code)]
                pub fn call_for(__key: #runtime::Key, #(#names: #parameters),*) -> #runtime::Result<#output> {
                    let __keys = #runtime::__private::keys_for(#carried_keys, __key);
                    #runtime::__private::kernel::<#name>(__keys)(#(#names,)* __keys)
                }
            }

            #[cold]
            fn slow(#(#names: #parameters,)* __keys: #runtime::KeySet) -> #runtime::Result<#output> {
                let (__kernel, __keys) = #runtime::__private::slow::<#name>(
                    __keys,
                    &mut |__holds| __holds(#(#looked_at),*),
                    &|| ::std::vec![#(#each_carried),*],
                )?;
                __kernel(#(#names,)* __keys)
            }

            #adapters

            static UNBOUND: #runtime::__private::Head = #runtime::__private::Head::unbound(#runtime::__private::code::<#name>(slow));
            #static_definition
            #records
        };
    }
}

/// Between the stack and the operator's types, both ways.
fn adapters(definition: &Definition, names: &[Ident], parameters: &[TokenStream], output: &TokenStream) -> TokenStream {
    let Definition { function, schema, runtime, .. } = definition;
    let name = &function.signature.ident;
    let count = names.len();
    let values: Vec<Ident> = (0..count).map(|i| format_ident!("__value{i}")).collect();
    let positions = 0..count;

    let results: Vec<Ident> = returned(schema).map(|(i, _)| format_ident!("__result{i}")).collect();
    let popped = (0..schema.returns.len()).rev().map(|i| match schema.written_return(i) {
        Some(argument) => {
            let argument = &names[argument];
            quote!(#runtime::__private::Written::write_back::<#name>(#argument, &mut __stack)?;)
        }
        None => {
            let (result, ty) =
                (format_ident!("__result{i}"), RustType::of_return(&schema.returns[i].ty).tokens(runtime));
            quote!(let #result = #runtime::__private::result::<#name, #ty>(&mut __stack)?;)
        }
    });
    let result = match &results[..] {
        [one] => quote!(#one),
        several => quote!((#(#several),*)),
    };
    let written: Vec<(usize, usize)> =
        (0..schema.returns.len()).filter_map(|i| schema.written_return(i).map(|argument| (i, argument))).collect();
    let taken = written.iter().map(|(i, argument)| {
        let value = format_ident!("__written{i}");
        quote!(let #value = #runtime::__private::take_written(__stack, #count, #argument);)
    });
    let pushed = (0..schema.returns.len()).map(|i| match schema.written_return(i) {
        Some(_) => {
            let value = format_ident!("__written{i}");
            quote!(#value)
        }
        None => {
            let result = format_ident!("__result{i}");
            quote!(#runtime::Output::into_value(#result))
        }
    });
    let returned = schema.returns.len();
    let carriers = carriers(definition);
    quote! {
        fn boxed(#(#names: #parameters,)* __keys: #runtime::KeySet) -> #runtime::Result<#output> {
            let mut __stack = #runtime::Stack::new();
            #(__stack.push(#runtime::Argument::to_value(&#names));)*
            #runtime::__private::run_boxed::<#name>(__keys, &mut __stack)?;
            #(#popped)*
            ::core::result::Result::Ok(#result)
        }

        fn unbox(
            __kernel: ::core::option::Option<#runtime::__private::Code>,
            __keys: #runtime::KeySet,
            __stack: &mut #runtime::Stack,
        ) -> #runtime::Result<()> {
            let __arguments = #runtime::__private::arguments::<#name, #count>(__stack)?;
            let (__kernel, __keys) = match __kernel {
                ::core::option::Option::Some(__kernel) => (__kernel, __keys),
                ::core::option::Option::None => {
                    let __keys = #runtime::__private::keys(#runtime::__private::carried_by::<#count, #carriers>(__arguments));
                    match #runtime::__private::typed_kernel::<#name>(__keys) {
                        ::core::option::Option::Some(__kernel) => (__kernel, __keys),
                        ::core::option::Option::None => return #runtime::__private::run_otherwise::<#name>(__keys, __stack),
                    }
                }
            };
            let __kernel = #runtime::__private::typed::<#name>(__kernel);
            let [#(#values),*] = __arguments;
            let #result = __kernel(#(#runtime::__private::argument::<#name, #parameters>(#values, #positions)?,)* __keys)?;
            #(#taken)*
            #runtime::__private::replace::<#count, #returned>(__stack, || [#(#pushed),*]);
            ::core::result::Result::Ok(())
        }
    }
}

fn static_definition(definition: &Definition) -> TokenStream {
    let Definition { function, schema, runtime, .. } = definition;
    let name = &function.signature.ident;
    let text = schema.to_string();
    let signature = text.find('(').map_or("", |at| &text[at..]);
    let namespace = match &schema.name.namespace {
        Some(namespace) if definition.spells_namespace => quote!(#namespace),
        _ => quote!(#runtime::__private::crate_of(::core::module_path!())),
    };
    let (base, overload) = (&schema.name.base, &schema.name.overload);
    let docs = docs(&function.attributes);
    let arguments = schema.arguments.len();
    let carriers = carriers(definition);
    quote! {
        static OPERATOR: #runtime::Operator = #runtime::Operator::new(&UNBOUND, #runtime::__private::Definition {
            name: #runtime::Name { namespace: #namespace, base: #base, overload: #overload },
            signature: #signature,
            docs: #docs,
            location: #runtime::Location::new(::core::file!(), ::core::line!()),
            arguments: #arguments,
            carriers: #carriers,
            typed: ::core::option::Option::Some(#runtime::__private::Typed {
                slow: #runtime::__private::code::<#name>(slow),
                boxed: #runtime::__private::code::<#name>(boxed),
                unbox,
            }),
        });
        #runtime::__submit! { #runtime::__private::Record::Operator(&OPERATOR) }
    }
}

/// What else a definition submits: its body as a kernel, and the Rust operator that it stands for.
fn records(definition: &Definition, parameters: &[TokenStream], output: &TokenStream) -> TokenStream {
    let Definition { function, schema, types, runtime, claim, .. } = definition;
    let name = &function.signature.ident;
    let composite = function.body.as_ref().map(|body| {
        let names = names(definition);
        let patterns = definition.parameters.iter().map(|parameter| &parameter.pattern);
        let result = &function.signature.output;
        let user_types =
            definition.parameters.iter().map(|parameter| crate::rust_type::without_lifetimes(&parameter.ty));
        quote! {
            const _: () = {
                #[allow(clippy::too_many_arguments, clippy::unnecessary_wraps)]
                fn body(#(#patterns: #user_types),*) #result #body

                fn composite(#(#names: #parameters,)* _: #runtime::KeySet) -> #runtime::Result<#output> {
                    #runtime::__private::Returns::<#name, #output>::returned(body(#(#names),*))
                }

                static KEYS: [&#runtime::Key; 1] = [&#runtime::keys::CompositeImplicitAutograd];
                static KERNEL: #runtime::KernelRecord = #runtime::KernelRecord::typed::<#name>(
                    composite,
                    &KEYS,
                    ::core::stringify!(#name),
                    #runtime::Location::new(::core::file!(), ::core::line!()),
                );
                #runtime::__submit! { #runtime::__private::Record::Kernel(&KERNEL) }
            };
        }
    });
    let claim = claim.as_ref().map(|claim| {
        let tensors = schema.arguments.iter().take_while(|argument| argument.default.is_none()).count();
        let names: Vec<Ident> = names(definition).into_iter().take(tensors).collect();
        let rest = schema.arguments.iter().zip(types).skip(tensors);
        let rest = rest
            .filter_map(|(argument, ty)| default::expression(argument.default.as_ref()?, &argument.ty, ty, runtime));
        let arity = if tensors == 1 { format_ident!("unary") } else { format_ident!("binary") };
        quote! {
            const _: () = {
                fn claimed(#(#names: &#runtime::Tensor),*) -> #runtime::Result<#runtime::Tensor> {
                    self::#name(#(#names,)* #(#rest),*)
                }

                static CLAIM: #runtime::__private::Claim = #runtime::__private::Claim::#arity(
                    #runtime::__private::RustOperator::#claim,
                    claimed,
                    &OPERATOR,
                );
                #runtime::__submit! { #runtime::__private::Record::Claim(&CLAIM) }
            };
        }
    });
    quote!(#composite #claim)
}

/// The macro. Public operators are found again at the root of their crate; others wherever the caller sees them.
fn named_form(definition: &Definition) -> TokenStream {
    let Definition { function, schema, runtime, .. } = definition;
    let (visibility, name) = (&function.visibility, &function.signature.ident);
    let parts = [schema.name.namespace.as_deref().unwrap_or(""), &schema.name.base, &schema.name.overload];
    let hidden = format_ident!("__op_{}", parts.join("_").replace("r#", ""));
    let text = schema.to_string();
    let dollar = proc_macro2::Punct::new('$', proc_macro2::Spacing::Alone);
    let (export, path) = match visibility {
        Visibility::Public(_) => (quote!(#[macro_export]), quote!(#dollar crate::#name)),
        _ => (quote!(), quote!(#name)),
    };
    quote! {
        #runtime::__named_form! { (#dollar) #hidden (#text) (#path) #export }

        #[doc(hidden)]
        #[allow(unused_imports)]
        #visibility use #hidden as #name;
    }
}

/// Which arguments have keys: one bit each.
fn carriers(definition: &Definition) -> u64 {
    let arguments = 0..definition.schema.arguments.len();
    arguments.filter(|&i| carries(definition, i)).fold(0, |bits, i| bits | 1 << i)
}

/// What the arguments are called in generated functions: as in the schema, unless a name would clash with generated ones.
fn names(definition: &Definition) -> Vec<Ident> {
    definition.schema.arguments.iter().map(|argument| rust_name(&argument.name)).collect()
}

fn carries(definition: &Definition, i: usize) -> bool {
    let ty = &definition.schema.arguments[i].ty;
    ty.is_tensor_like() || ty.required().kind == TypeKind::Generator
}

fn carried(definition: &Definition, names: &[Ident]) -> TokenStream {
    let runtime = &definition.runtime;
    let each = names.iter().enumerate().filter(|(i, _)| carries(definition, *i));
    let each: Vec<TokenStream> = each.map(|(_, name)| quote!(#runtime::__private::carried(&#name))).collect();
    if each.is_empty() { quote!(#runtime::KeySet::EMPTY) } else { quote!(#(#each)|*) }
}

/// An argument as a predicate takes it.
fn look_at(name: &Ident, ty: &RustType) -> TokenStream {
    match (ty.is_written(), ty.is_optional()) {
        (false, _) => quote!(#name),
        (true, false) => quote!(&*#name),
        (true, true) => quote!(#name.as_deref()),
    }
}

fn docs(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>().join("\n")
}
