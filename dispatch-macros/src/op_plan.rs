//! `#[op_plan]`: the plan of an operator.
//!
//! It takes two steps, as a kernel does: the operator's own macro calls the second one with the schema.

use dispatch_schema::{Schema, TypeKind};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, GenericArgument, Lit, Path, PathArguments, ReturnType, parse_quote};

use crate::crate_path;
use crate::errors::Errors;
use crate::op_impl::is_type_with_dtype;
use crate::schema_callback::{self, call_with_schema_for_function};
use crate::syntax::function::{Function, signature_lint_attribute};
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::{self, Parameter, match_parameters_by_name, rust_argument_name};
use crate::syntax::user_tokens::{at_user_span, source_text};

struct Attribute {
    operator: Path,
}

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self { operator: input.call(Path::parse_mod_style)? })
    }
}

pub(crate) fn expand(options: &TokenStream, item: &TokenStream) -> TokenStream {
    let check = |function: &Function, attribute: &Attribute, errors: &mut Errors| {
        let segments = &attribute.operator.segments;
        let is_here =
            segments.first().is_some_and(|first| ["crate", "self", "super"].iter().any(|word| first.ident == word));
        if segments.len() > 1 && !is_here {
            errors.add_at(
                &attribute.operator,
                "a plan must be in the crate that defines its operator; write `crate::` before a path of this crate",
            );
        }
        function.check_not_generic("a plan", errors);
    };
    let (mut function, attribute, dots) = match Function::parse_with_options(["op_plan", "plan"], options, item, check)
    {
        Ok(read) => read,
        Err(instead) => return instead,
    };
    let runtime = crate_path::runtime_path();
    function.attributes.insert(0, signature_lint_attribute());
    function.attributes.push(parse_quote!(#[inline]));
    let to = quote!(#runtime::__plan);
    call_with_schema_for_function(&attribute.operator, &to, options, (&function, &function.signature), dots)
}

pub(crate) fn expand_with_schema(input: TokenStream) -> TokenStream {
    let mut checked = match syn::parse2::<schema_callback::FunctionWithSchema<Attribute>>(input) {
        Ok(checked) => checked,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let runtime = crate_path::runtime_path();
    let function = checked.expand_elided_parameters(|_, _, ty| Some(ty.to_shared().tokens(&runtime)));
    let function = function.map_err(|error| errors.add(error)).ok().flatten();
    let tokens = check_and_expand(&checked, &mut errors);
    if errors.is_empty() {
        return quote!(#function #tokens);
    }
    // A plan with mistakes still defines a plan, or the definition would report that it has none.
    let operator = &checked.attribute.operator;
    let stub = checked.properties.has_plan.then(|| {
        quote! {
            const _: () = {
                impl #runtime::Planned for #operator {
                    type Value<'a> = ();
                    fn result_specs(_: &mut [#runtime::Value]) -> #runtime::Result<::std::vec::Vec<#runtime::Spec>> {
                        ::core::unreachable!("this program does not compile")
                    }
                }
            };
        }
    });
    quote!(#errors #function #stub)
}

fn check_and_expand(checked: &schema_callback::FunctionWithSchema<Attribute>, errors: &mut Errors) -> TokenStream {
    let schema_callback::FunctionWithSchema { schema, properties, attribute, signature, .. } = checked;
    let (operator, function) = (&attribute.operator, &signature.ident);
    if !properties.has_plan {
        let message =
            format!("the definition of operator `{}` has no option `plan`; add it to its `#[op_def(..)]`", schema.name);
        errors.add_at(operator, message);
        return TokenStream::new();
    }
    if let Some((_, ty)) = schema.new_returns().find(|(_, ty)| !is_plannable_type(ty, schema)) {
        let message =
            format!("operator `{}` returns `{ty}`, but a plan describes only tensors, or one `Tensor[]`", schema.name);
        errors.add_at(operator, message);
        return TokenStream::new();
    }
    let parameters = signature::parameters(signature);
    let types: Vec<RustType> = schema.arguments.iter().filter_map(RustType::from_argument).collect();
    let names: Vec<Ident> = schema.arguments.iter().map(|argument| rust_argument_name(&argument.name)).collect();
    let argument_indices = match_parameters_by_name("plan", function, &parameters, schema, errors);
    check_parameter_types(checked, &parameters, &argument_indices, &types, errors);
    let list = schema.new_returns().any(|(_, ty)| matches!(ty.kind, TypeKind::List(..)));
    let count = if properties.data_dependent { 0 } else { schema.new_returns().count() };
    let ReturnType::Type(_, ty) = &signature.output else {
        let operator = &schema.name;
        errors.add_at(
            function,
            format!("the plan of operator `{operator}` must return a `Plan`; write `-> Result<Plan<.., {count}>>`"),
        );
        return TokenStream::new();
    };
    if let Some((written, found)) = parse_plan_type(ty)
        && (list || found != count)
    {
        let operator = &schema.name;
        let (has, want) = match count {
            _ if list => ("a list of results".to_owned(), "PlanList<..>".to_owned()),
            0 if properties.data_dependent => ("results that depend on data".to_owned(), "Plan<.., 0>".to_owned()),
            1 => ("1 result".to_owned(), "Plan<..>".to_owned()),
            count => (format!("{count} results"), format!("Plan<.., {count}>")),
        };
        errors.add_at(written, format!("operator `{operator}` has {has}: write `{want}`"));
        return TokenStream::new();
    }
    expand_plan(checked, (list, count), ty, &argument_indices, (&types, &names))
}

/// Generates the plan as functions of the operator's type. `list` says that the operator returns a list; otherwise it returns `count`
/// tensors.
fn expand_plan(
    checked: &schema_callback::FunctionWithSchema<Attribute>,
    (list, count): (bool, usize),
    ty: &syn::Type,
    argument_indices: &[usize],
    (types, names): (&[RustType], &[Ident]),
) -> TokenStream {
    let (runtime, operator, function) =
        (crate_path::runtime_path(), &checked.attribute.operator, &checked.signature.ident);
    let (plan, bound) = if list {
        (quote!(#runtime::PlanList<__Value<'a>>), quote!(#runtime::ReturnsPlanList<#operator>))
    } else {
        (quote!(#runtime::Plan<__Value<'a>, #count>), quote!(#runtime::ReturnsPlan<#operator, #count>))
    };
    let named_lifetime = rename_lifetimes(ty.to_token_stream());
    let span = at_user_span(ty.span());
    let value = quote_spanned!(span=> <#named_lifetime as #bound>::Value);
    let planned = quote_spanned!(span=> <#named_lifetime as #bound>::into_plan);
    let shared: Vec<TokenStream> =
        types.iter().map(|ty| add_lifetime_to_references(&ty.to_shared().tokens(&runtime))).collect();
    let owned = types.iter().map(|ty| ty.to_shared().tokens(&runtime));
    let arguments = argument_indices.iter().map(|&at| &names[at]);
    let float8_checks = types.iter().zip(names).zip(&checked.schema.arguments).filter_map(|((ty, name), argument)| {
        let label = &argument.name;
        let is_checked = !checked.properties.float8 && is_type_with_dtype(ty);
        is_checked.then(|| quote!(#runtime::check_not_float8(#label, #runtime::HasDType::dtype_of(&#name))?;))
    });
    let specs: Vec<Ident> = (0..count).map(|i| format_ident!("__spec{i}")).collect();
    let positions = 0..names.len();
    let fresh = (!list).then(|| {
        quote! {
            #[doc(hidden)]
            #[inline(always)]
            pub fn __plan_and_allocate<'a>(
                __device: #runtime::Device,
                #(#names: #shared),*
            ) -> #runtime::Result<(__Value<'a>, [#runtime::Tensor; #count])> {
                let #runtime::Plan { value: __value, outputs: [#(#specs),*] } = Self::plan(#(#names),*)?;
                ::core::result::Result::Ok((__value, [#(#specs.on(__device)?),*]))
            }
        }
    });
    quote! {
        #[allow(unused_variables, unused_lifetimes, clippy::all, clippy::pedantic)]
        const _: () = {
            type __Value<'a> = #value;

            impl #operator {
                /// Checks the arguments of a call, and returns the plan: the descriptions of the results, and a value for the kernels.
                pub fn plan<'a>(#(#names: #shared),*) -> #runtime::Result<#plan> {
                    #(#float8_checks)*
                    #planned(#function(#(#arguments),*))
                }

                #fresh
            }

            impl #runtime::Planned for #operator {
                type Value<'a> = __Value<'a>;

                fn result_specs(
                    __arguments: &mut [#runtime::Value],
                ) -> #runtime::Result<::std::vec::Vec<#runtime::Spec>> {
                    let __operator = <#operator as #runtime::Operation>::operator();
                    let [#(#names),*] = __arguments else {
                        return ::core::result::Result::Err(
                            #runtime::too_few_arguments_error(__operator, __arguments.len()),
                        );
                    };
                    #(let #names = #runtime::convert_argument::<#owned>(__operator, #names, #positions)?;)*
                    ::core::result::Result::Ok(Self::plan(#(#names),*)?.outputs.into())
                }
            }
        };
    }
}

fn is_plannable_type(ty: &dispatch_schema::Type, schema: &Schema) -> bool {
    match &ty.kind {
        TypeKind::Tensor => true,
        TypeKind::List(element, _) => element.kind == TypeKind::Tensor && schema.new_returns().count() == 1,
        _ => false,
    }
}

/// Returns the value type of `Plan<.., n>` and its number of results, if the return type of a plan is written so.
fn parse_plan_type(ty: &syn::Type) -> Option<(&syn::Type, usize)> {
    let syn::Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let mut arguments = arguments.args.iter();
    match (last.ident.to_string().as_str(), arguments.next()?) {
        ("Result", GenericArgument::Type(inner)) => parse_plan_type(inner),
        ("Plan", _) => match arguments.next() {
            None => Some((ty, 1)),
            Some(GenericArgument::Const(Expr::Lit(ExprLit { lit: Lit::Int(count), .. }))) => {
                Some((ty, count.base10_parse().ok()?))
            }
            Some(_) => None,
        },
        _ => None,
    }
}

/// Reports parameters of the wrong type. A plan writes nothing, so it takes written arguments by shared reference.
fn check_parameter_types(
    checked: &schema_callback::FunctionWithSchema<Attribute>,
    parameters: &[Parameter],
    argument_indices: &[usize],
    types: &[RustType],
    errors: &mut Errors,
) {
    for (parameter, &at) in parameters.iter().zip(argument_indices) {
        let want = types[at].to_shared();
        if RustType::from_user_type(&parameter.ty) == want {
            continue;
        }
        let (name, operator) = (rust_argument_name(&checked.schema.arguments[at].name), &checked.schema.name);
        let found = source_text(&parameter.ty);
        let why = if types[at].is_mutable_reference() { ", which writes nothing" } else { "" };
        let message =
            format!("argument `{name}` of operator `{operator}` is `{}` in a plan{why}, not `{found}`", want.text());
        errors.add_at(&parameter.ty, message);
    }
}

/// Returns a type with all lifetimes replaced by `'a`.
fn rename_lifetimes(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter();
    while let Some(tree) = tokens.next() {
        match tree {
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                let Some(TokenTree::Ident(name)) = tokens.next() else { continue };
                let name = if name == "static" { name } else { Ident::new("a", name.span()) };
                out.extend([TokenTree::Punct(punct), TokenTree::Ident(name)]);
            }
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), rename_lifetimes(group.stream()));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            tree => out.extend([tree]),
        }
    }
    out
}

/// Returns the type of an argument with references of lifetime `'a`.
pub(crate) fn add_lifetime_to_references(ty: &TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    for tree in ty.clone() {
        match tree {
            TokenTree::Punct(punct) if punct.as_char() == '&' => out.extend(quote!(&'a)),
            TokenTree::Group(group) => {
                out.extend([TokenTree::Group(proc_macro2::Group::new(
                    group.delimiter(),
                    add_lifetime_to_references(&group.stream()),
                ))]);
            }
            tree => out.extend([tree]),
        }
    }
    out
}
