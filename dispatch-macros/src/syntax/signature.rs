//! Checks of a Rust signature against a schema.

use dispatch_schema::{Argument, Schema};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{FnArg, Pat, ReturnType, Signature, Token, Type, parse_quote};

use crate::errors::Errors;
use crate::syntax::rust_type::RustType;
use crate::syntax::user_tokens::source_text;

/// A parameter that a user wrote.
#[derive(Clone)]
pub(crate) struct Parameter {
    /// `None` for `_` and for patterns.
    pub(crate) name: Option<Ident>,
    pub(crate) pattern: TokenStream,
    pub(crate) ty: Type,
    pub(crate) tokens: TokenStream,
}

/// Returns the parameters of a signature, without a receiver, which is reported elsewhere.
pub(crate) fn parameters(signature: &Signature) -> Vec<Parameter> {
    let typed =
        signature.inputs.iter().filter_map(|input| if let FnArg::Typed(typed) = input { Some(typed) } else { None });
    let parameter = |typed: &syn::PatType| Parameter {
        name: if let Pat::Ident(pattern) = &*typed.pat { Some(pattern.ident.clone()) } else { None },
        pattern: typed.pat.to_token_stream(),
        ty: (*typed.ty).clone(),
        tokens: {
            let syn::PatType { pat, colon_token, ty, .. } = typed;
            quote!(#pat #colon_token #ty)
        },
    };
    typed.map(parameter).collect()
}

/// Returns the name of a parameter, if it has one.
pub(crate) fn parameter_name(input: &FnArg) -> Option<&Ident> {
    let FnArg::Typed(typed) = input else { return None };
    if let Pat::Ident(pattern) = &*typed.pat { Some(&pattern.ident) } else { None }
}

/// Returns a parameter for each argument of a schema, with the span of `dots` and the type that `of_type` returns.
pub(crate) fn parameters_for_schema(
    schema: &Schema,
    dots: Token![...],
    of_type: impl Fn(&Ident, RustType) -> Option<TokenStream>,
) -> impl Iterator<Item = FnArg> {
    schema.arguments.iter().filter_map(move |argument| {
        let mut name = rust_argument_name(&argument.name);
        name.set_span(dots.span());
        let ty = of_type(&name, RustType::from_argument(argument)?)?;
        // An author who does not write the parameters cannot mark one as unused.
        Some(parse_quote!(#[allow(unused_variables)] #name: #ty))
    })
}

/// Returns the Rust name of an argument. A definition reports arguments that [have none](is_valid_rust_name).
pub(crate) fn rust_argument_name(argument: &str) -> Ident {
    match argument {
        "self" => format_ident!("this"),
        name if !is_valid_rust_name(name) => format_ident!("{name}_"),
        // `gen` is a keyword since edition 2024. `syn` does not distinguish editions.
        "gen" => Ident::new_raw("gen", Span::call_site()),
        name => syn::parse_str(name).unwrap_or_else(|_| Ident::new_raw(name, Span::call_site())),
    }
}

/// Returns whether an argument's name can be used in Rust. Some words cannot, not even as `r#word`.
pub(crate) fn is_valid_rust_name(argument: &str) -> bool {
    !matches!(argument, "_" | "Self" | "crate" | "super")
}

/// Returns the function that a schema requires, as its author would write it.
pub(crate) fn expected_signature_text(name: &Ident, schema: &Schema, returns_result: bool) -> String {
    let parameter = |argument: &Argument| {
        let ty = RustType::from_argument(argument).map_or_else(|| "?".to_owned(), |ty| ty.text().to_owned());
        format!("{}: {ty}", rust_argument_name(&argument.name))
    };
    let parameters: Vec<String> = schema.arguments.iter().map(parameter).collect();
    let returned = RustType::from_returns(schema);
    let returned = if returns_result { format!("Result<{}>", returned.text()) } else { returned.text().to_owned() };
    format!("fn {}({}) -> {returned}", name, parameters.join(", "))
}

/// Formats a number of arguments.
pub(crate) fn argument_count_text(n: usize) -> String {
    if n == 1 { "1 argument".to_owned() } else { format!("{n} arguments") }
}

/// Reports a wrong number of parameters, and names those that are missing or too many. `found` excludes a trailing key set.
pub(crate) fn check_parameter_count(
    item: &str,
    function: &Signature,
    found: &[Parameter],
    schema: &Schema,
    errors: &mut Errors,
) -> bool {
    let wanted = schema.arguments.len();
    if found.len() == wanted {
        return true;
    }
    let expected = expected_signature_text(&function.ident, schema, true);
    let listed = |names: Vec<String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let difference = if found.len() < wanted {
        let missing = schema.arguments[found.len()..].iter().map(|argument| {
            let ty = RustType::from_argument(argument).map_or_else(String::new, |ty| ty.text().to_owned());
            format!("{}: {ty}", rust_argument_name(&argument.name))
        });
        format!("missing {}", listed(missing.collect()))
    } else {
        format!("remove {}", listed(found[wanted..].iter().map(|parameter| source_text(&parameter.tokens)).collect()))
    };
    let operator = &schema.name;
    let message = format!(
        "{item} `{}` takes {}, but operator `{operator}` has {}; {difference}\n\nexpected: {expected}",
        function.ident,
        argument_count_text(found.len()),
        argument_count_text(wanted)
    );
    let at = match found.get(wanted..) {
        Some(extra) if !extra.is_empty() => extra.iter().map(|parameter| parameter.tokens.clone()).collect(),
        _ if found.is_empty() => function.ident.to_token_stream(),
        _ => function.inputs.to_token_stream(),
    };
    errors.add_at(at, message);
    false
}

/// Reports parameters that have the name of another argument: the compiler would not notice a wrong order if the types agree.
pub(crate) fn check_parameter_order(found: &[Parameter], schema: &Schema, errors: &mut Errors) {
    let names: Vec<String> =
        schema.arguments.iter().map(|argument| rust_argument_name(&argument.name).to_string()).collect();
    let mut misplaced = Vec::new();
    for (i, parameter) in found.iter().enumerate() {
        let Some(name) = &parameter.name else { continue };
        let plain = name.to_string();
        let plain = if names.contains(&plain) { plain.as_str() } else { plain.trim_start_matches('_') };
        let own = names.get(i).map(String::as_str);
        let elsewhere = names.iter().position(|other| other == plain);
        if let (Some(own), Some(position)) = (own, elsewhere)
            && own != plain
            && own.trim_start_matches('_') != plain
        {
            misplaced.push((name, i, own, plain.to_owned(), position));
        }
    }
    let operator = &schema.name;
    match &misplaced[..] {
        [] => {}
        [(name, here, own, plain, there)] => {
            let (here, there) = (here + 1, there + 1);
            errors.add_at(
                name,
                format!(
                    "argument {here} of operator `{operator}` is `{own}`, and `{plain}` is argument {there}; \
                     write `{own}`, or `_` to leave it unnamed"
                ),
            );
        }
        [(_, first, ..), .., (_, last, ..)] => {
            let order = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let whole: Punctuated<&TokenStream, Token![,]> =
                found[*first..=*last].iter().map(|parameter| &parameter.tokens).collect();
            errors.add_at(whole, format!("the arguments of operator `{operator}` have another order; write {order}"));
        }
    }
}

/// Reports parameters of a definition whose names are not those of the arguments, because callers read these names. A capital letter in a
/// schema is a small letter in Rust.
pub(crate) fn check_parameter_names(found: &[Parameter], schema: &Schema, errors: &mut Errors) {
    let plain = |name: &str| name.trim_start_matches('_').to_lowercase();
    let names: Vec<String> =
        schema.arguments.iter().map(|argument| rust_argument_name(&argument.name).to_string()).collect();
    for (position, (parameter, own)) in (1..).zip(found.iter().zip(&names)) {
        let Some(name) = &parameter.name else { continue };
        let written = name.to_string();
        if !names.iter().any(|name| plain(name) == plain(&written)) {
            let operator = &schema.name;
            let message = format!(
                "argument {position} of operator `{operator}` is `{own}`, not `{written}`; write `{own}`, or `_` to leave it unnamed"
            );
            errors.add_at(name, message);
        }
    }
}

/// Reports parameter and result types of a definition whose text is not that of the schema's types.
pub(crate) fn check_parameter_types(
    function: &Signature,
    found: &[Parameter],
    types: &[RustType],
    schema: &Schema,
    errors: &mut Errors,
) {
    for ((parameter, want), argument) in found.iter().zip(types).zip(&schema.arguments) {
        let got = RustType::from_user_type(&parameter.ty);
        if got != *want {
            let (operator, name, ty) = (&schema.name, &argument.name, &argument.ty);
            let hint = match want.text() {
                "&Tensor" if got.text() == "&mut Tensor" => {
                    "; an argument that is written is `Tensor(a!)` in the schema"
                }
                "&[Tensor]" if got.text() == "&mut [Tensor]" => {
                    "; a list that is written is `Tensor(a!)[]` in the schema"
                }
                _ => "",
            };
            let (want, got) = (want.text(), source_text(&parameter.ty));
            errors.add_at(
                &parameter.ty,
                format!(
                    "argument `{name}` of operator `{operator}` is `{ty}`, which is `{want}` in Rust, not `{got}`{hint}"
                ),
            );
        }
    }
    check_return_type(function, schema, errors);
}

/// Reports a result type that is not the schema's.
pub(crate) fn check_return_type(function: &Signature, schema: &Schema, errors: &mut Errors) {
    let want = RustType::from_returns(schema);
    let instead = format!("Result<{}>", want.text());
    let operator = &schema.name;
    match &function.output {
        ReturnType::Default => {
            errors.add_at(
                &function.ident,
                format!("operator `{operator}` must return `{instead}`: a call can fail; write `-> {instead}`"),
            );
        }
        ReturnType::Type(_, ty) => {
            let got = RustType::from_user_type(ty);
            let accepted = got.text() == instead || got.text().starts_with(&format!("Result<{},", want.text()));
            if !accepted {
                let implied = schema.returns.len() - schema.new_returns().count();
                let note = if implied > 0 { "; a written argument is not returned" } else { "" };
                errors.add_at(
                    ty,
                    format!("operator `{operator}` must return `{instead}`, found `{}`{note}", source_text(ty)),
                );
            }
        }
    }
}

/// Returns the arguments that a plan or a planned kernel names: any of them, in the schema's order.
pub(crate) fn match_parameters_by_name(
    what: &str,
    function: &Ident,
    found: &[Parameter],
    schema: &Schema,
    errors: &mut Errors,
) -> Vec<usize> {
    let names: Vec<String> =
        schema.arguments.iter().map(|argument| rust_argument_name(&argument.name).to_string()).collect();
    let operator = &schema.name;
    let mut found_at: Vec<usize> = Vec::new();
    for parameter in found {
        let Some(name) = &parameter.name else {
            errors.add_at(
                &parameter.pattern,
                format!("a {what} takes the arguments that it names; name this one, or leave it out"),
            );
            continue;
        };
        let plain = name.to_string();
        let plain = if names.contains(&plain) { plain.as_str() } else { plain.trim_start_matches('_') };
        let Some(at) = names.iter().position(|other| other == plain || other.trim_start_matches("r#") == plain) else {
            let hint = match dispatch_schema::suggest(plain, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!("it has {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
                }
            };
            errors.add_at(
                name,
                format!("operator `{operator}` has no argument `{plain}`, which {what} `{function}` names; {hint}"),
            );
            continue;
        };
        if let Some(&before) = found_at.iter().find(|&&before| before >= at) {
            let order = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let message = if before == at {
                format!("{what} `{function}` names argument `{plain}` twice; leave one out")
            } else {
                format!(
                    "{what} `{function}` names argument `{plain}` after `{}`; operator `{operator}` has them in this order: {order}",
                    names[before]
                )
            };
            errors.add_at(name, message);
        }
        found_at.push(at);
    }
    found_at
}
