//! Records that a definition submits beside the operator: its body as a kernel, and the Rust operator that it implements.

use dispatch_schema::Schema;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Expr, ExprCall};

use super::Definition;
use crate::syntax::default_value;
use crate::syntax::function::signature_lint_attribute;
use crate::syntax::keys::generate_static_keys;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::rust_argument_name;

/// Returns the name of the function of a composite's body. The function is beside the operator's type and not inside of it, as names that
/// are generated there would hide the user's. Underscores at the start of a name are counted, because `a__b` is not in snake case.
fn body_function_name(definition: &Definition) -> Ident {
    let name = definition.function.signature.ident.unraw().to_string();
    let rest = name.trim_start_matches('_');
    format_ident!("__composite{}_{rest}", name.len() - rest.len())
}

/// Generates the function of a composite's body, with the author's lint attributes.
pub(super) fn generate_body_function(definition: &Definition) -> Option<TokenStream> {
    let function = &definition.function;
    let body = function.body.as_ref()?;
    let lints = function.attributes.iter().filter(|attribute| is_lint_attribute(attribute));
    let of_signature = signature_lint_attribute();
    let mut signature = function.signature.clone();
    signature.ident = body_function_name(definition);
    Some(quote! {
        #of_signature
        #(#lints)*
        #[doc(hidden)]
        #signature #body
    })
}

/// Returns whether an attribute sets a lint, and so concerns the function's body only.
pub(super) fn is_lint_attribute(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|lint| attribute.path().is_ident(lint))
}

/// Generates the kernel of a composite's body: a function, and the expression of its record.
pub(super) fn generate_composite_kernel(
    definition: &Definition,
    parameters: &[TokenStream],
    output: &TokenStream,
) -> Option<(TokenStream, TokenStream)> {
    let Definition { function, names, body_key, runtime, .. } = definition;
    function.body.as_ref()?;
    let (name, body) = (&function.signature.ident, body_function_name(definition));
    let mut result = quote!(#body(#(#names),*));
    if let Some((callee, renamed)) = definition.callee_and_argument_names() {
        result = quote! {
            ::core::result::Result::map_err(#result, |__error| {
                #runtime::into_caller_error(::core::convert::Into::into(__error), #callee::operator(), &__OPERATOR, &[#(#renamed),*])
            })
        };
    }
    let result = quote!(#runtime::Returns::<#name, #output>::into_result(#result));
    let reads_only = !definition.types.iter().any(RustType::is_mutable_reference);
    let result = if definition.has_plan() && body_key.is_some() && reads_only {
        quote! {
            match #name::plan(#(#names),*) {
                ::core::result::Result::Err(__plain) => ::core::result::Result::Err(#runtime::error_in_operator::<#name>(__plain)),
                ::core::result::Result::Ok(_) => #result,
            }
        }
    } else if definition.has_plan() && reads_only {
        // The plan reports an error with the names of this operator. An inner operator would use its own names.
        quote! {
            match #result {
                ::core::result::Result::Ok(__result) => ::core::result::Result::Ok(__result),
                ::core::result::Result::Err(__error) => ::core::result::Result::Err(match #name::plan(#(#names),*) {
                    ::core::result::Result::Err(__plain) => #runtime::error_in_operator::<#name>(__plain),
                    ::core::result::Result::Ok(_) => __error,
                }),
            }
        }
    } else if definition.runs_check_after_error() {
        quote! {
            match #result {
                ::core::result::Result::Ok(__result) => ::core::result::Result::Ok(__result),
                ::core::result::Result::Err(__error) => ::core::result::Result::Err(__explain_error(__error, #(#names),*)),
            }
        }
    } else {
        result
    };
    let explained = definition.generate_error_check();
    let keys = generate_static_keys(body_key.as_slice(), runtime);
    let function = quote! {
        fn __composite(#(#names: #parameters,)* _: #runtime::KeySet, _: #runtime::TableRef) -> #runtime::Result<#output> {
            #result
        }

        #explained
        #keys
    };
    let record = quote! {
        #runtime::KernelRecord::typed::<#name>(
            __composite,
            &__KEYS,
            ::core::stringify!(#name),
            #runtime::Location::new(::core::file!(), ::core::line!()),
        )
    };
    Some((function, record))
}

/// Returns, for each argument of a call, the name of the schema's argument from which it is computed, or an empty text.
pub(super) fn names_of_call_arguments<'a>(schema: &'a Schema, call: &ExprCall) -> Vec<&'a str> {
    let arguments = &schema.arguments;
    let names: Vec<Ident> = arguments.iter().map(|argument| rust_argument_name(&argument.name)).collect();
    let name_of = |argument: &Expr| {
        index_of_last_mentioned_name(argument.to_token_stream(), &names).map_or("", |at| arguments[at].name.as_str())
    };
    call.args.iter().map(name_of).collect()
}

/// Returns the index of the name that an expression mentions last. Names before it are only used to compute the value.
fn index_of_last_mentioned_name(expression: TokenStream, names: &[Ident]) -> Option<usize> {
    expression
        .into_iter()
        .filter_map(|tree| match tree {
            TokenTree::Ident(word) => names.iter().position(|name| *name == word),
            TokenTree::Group(group) => index_of_last_mentioned_name(group.stream(), names),
            _ => None,
        })
        .last()
}

impl Definition {
    /// Returns the called operator and, for each argument of the call, the name of this operator's argument from which it is computed.
    fn callee_and_argument_names(&self) -> Option<(&Expr, Vec<&str>)> {
        let call = self.call_for_error_names.as_ref()?;
        Some((&call.func, names_of_call_arguments(&self.schema, call)))
    }

    /// Returns whether the option `check` runs only after an error of the body. It does if the operator has no plan.
    fn runs_check_after_error(&self) -> bool {
        self.check.is_some() && !self.has_plan()
    }

    /// Generates the function that runs the check after an error of the body. Its parameters have the schema's names, which the check uses.
    fn generate_error_check(&self) -> Option<TokenStream> {
        let Self { runtime, types, schema, .. } = self;
        let check = self.check.as_ref().filter(|_| self.runs_check_after_error())?;
        let names = schema.arguments.iter().map(|argument| rust_argument_name(&argument.name));
        let shared = types.iter().map(|ty| ty.to_shared().tokens(runtime));
        Some(quote! {
            #[cold]
            #[inline(never)]
            fn __explain_error(__error: #runtime::Error, #(#names: #shared),*) -> #runtime::Error {
                let __check = ::core::result::Result::map_err(#check, ::core::convert::Into::into);
                #runtime::check_or_body_error(&__OPERATOR, __error, ::core::result::Result::map(__check, |_| ()))
            }
        })
    }
}

/// Generates the record that makes the operator implement a Rust operator, such as `&a + &b`.
pub(super) fn generate_rust_operator_record(definition: &Definition) -> Option<TokenStream> {
    let Definition { function, names, schema, types, runtime, rust_operator, .. } = definition;
    let (name, rust_operator) = (&function.signature.ident, rust_operator.as_ref()?);
    let tensors = schema.arguments.iter().take_while(|argument| argument.default.is_none()).count();
    let names = &names[..tensors];
    let rest = schema.arguments.iter().zip(types).skip(tensors);
    let rest = rest.filter_map(|(argument, ty)| {
        default_value::default_expression(argument.default.as_ref()?, &argument.ty, ty, runtime)
    });
    let parameters = types[..tensors].iter().map(|ty| ty.tokens(runtime));
    let output = RustType::from_returns(schema).tokens(runtime);
    let arity = match tensors {
        _ if rust_operator == "Assign" => format_ident!("new_assign"),
        1 => format_ident!("new_unary"),
        _ => format_ident!("new_binary"),
    };
    Some(quote! {
        fn __rust_operator(#(#names: #parameters),*) -> #runtime::Result<#output> {
            #name(#(#names,)* #(#rest),*)
        }

        static __RUST_OPERATOR: #runtime::RustOperatorImpl = #runtime::RustOperatorImpl::#arity(
            #runtime::RustOperator::#rust_operator,
            __rust_operator,
            &__OPERATOR,
        );
        const _: () = { #runtime::__submit! { #runtime::Record::RustOperator(&__RUST_OPERATOR) } };
    })
}
