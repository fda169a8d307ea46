//! The named form of a call, `sum_dim!(&x, dim = [0], keepdim = true)`, which fills in the schema's defaults.
//!
//! Values are evaluated in the order in which they are written, as in other Rust calls.

use dispatch_schema::{Argument, Schema, TypeKind};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Lit, Token, bracketed};

use crate::errors::Errors;
use crate::schema_callback;
use crate::syntax::default_value;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::{argument_count_text, rust_argument_name};
use crate::syntax::user_tokens::at_user_span;

struct NamedCall {
    /// The path of the runtime, as the operator's macro passes it.
    runtime: TokenStream,
    schema: Schema,
    function: TokenStream,
    positional: Vec<Expr>,
    named: Vec<(Ident, Expr)>,
}

impl Parse for NamedCall {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (runtime, function);
        bracketed!(runtime in input);
        let schema = schema_callback::parse_schema_skipping_properties(input)?;
        bracketed!(function in input);
        let mut call = Self {
            runtime: runtime.parse()?,
            schema,
            function: function.parse()?,
            positional: Vec::new(),
            named: Vec::new(),
        };
        while !input.is_empty() {
            call.parse_argument(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(call)
    }
}

impl NamedCall {
    fn parse_argument(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let ahead = input.fork();
        let is_named = ahead.call(Ident::parse_any).is_ok() && ahead.peek(Token![=]) && !ahead.peek(Token![==]);
        if is_named {
            let name = input.call(Ident::parse_any)?;
            input.parse::<Token![=]>()?;
            if input.is_empty() || input.peek(Token![,]) {
                return Err(syn::Error::new(
                    name.span(),
                    format!("argument `{name}` has no value; write `{name} = ..`"),
                ));
            }
            self.named.push((name, parse_argument_value(input)?));
        } else {
            let value = parse_argument_value(input)?;
            if !self.named.is_empty() {
                return Err(syn::Error::new_spanned(
                    value,
                    "a positional argument follows a named one; move it before the named arguments, or write its name",
                ));
            }
            self.positional.push(value);
        }
        Ok(())
    }
}

/// Parses one value. A half-typed value is passed on unchanged, to the compiler and to the editor's completion.
fn parse_argument_value(input: ParseStream<'_>) -> syn::Result<Expr> {
    let ahead = input.fork();
    if ahead.parse::<Expr>().is_ok() {
        if !(ahead.is_empty() || ahead.peek(Token![,])) {
            return Err(syn::Error::new(ahead.span(), "write a comma before this"));
        }
        return input.parse();
    }
    let mut rest = TokenStream::new();
    while !(input.is_empty() || input.peek(Token![,])) {
        rest.extend([input.parse::<TokenTree>()?]);
    }
    Ok(Expr::Verbatim(rest))
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let call = match syn::parse2::<NamedCall>(input) {
        Ok(call) => call,
        Err(error) => return error.to_compile_error(),
    };
    let schema = &call.schema;
    let mut errors = Errors::default();
    let given = values_by_argument(&call, &mut errors);
    let mut arguments = Vec::new();
    let mut missing = Vec::new();
    for (argument, given) in schema.arguments.iter().zip(given) {
        let Some(rust) = RustType::from_argument(argument) else { continue };
        let default = argument
            .default
            .as_ref()
            .and_then(|value| default_value::default_expression(value, &argument.ty, &rust, &call.runtime));
        match (given, default) {
            (Some((source_index, value)), _) => {
                let value = convert_to_parameter_type(value, argument, &rust, &call.runtime);
                arguments.push(ArgumentValue { source_index: Some(source_index), value, ty: rust });
            }
            (None, Some(value)) => arguments.push(ArgumentValue { source_index: None, value, ty: rust }),
            (None, None) => missing.push(format!("`{}: {}`", rust_argument_name(&argument.name), rust.text())),
        }
    }
    // If a name is wrong, it is probably that of the missing argument, so only the wrong name is reported.
    if !missing.is_empty() && errors.is_empty() {
        let message = format!("operator `{}` also needs {}", schema.name, missing.join(", "));
        errors.add(syn::Error::new(Span::call_site(), message));
    }
    if errors.is_empty() { generate_call(&call, arguments) } else { errors.into_token_stream() }
}

/// The value of an argument of the call.
struct ArgumentValue {
    /// The index of the value among the values of the call; `None` for a default, whose evaluation has no effect.
    source_index: Option<usize>,
    value: TokenStream,
    ty: RustType,
}

/// Builds the call. If the values are written in another order than the function takes them, a closure with the function's parameter types
/// takes them in the order as written.
fn generate_call(call: &NamedCall, mut arguments: Vec<ArgumentValue>) -> TokenStream {
    let NamedCall { function, runtime, .. } = call;
    if arguments.iter().filter_map(|argument| argument.source_index).is_sorted() {
        let values = arguments.iter().map(|argument| &argument.value);
        return quote!(#function(#(#values),*));
    }
    let mut written = Vec::new();
    for (i, argument) in arguments.iter_mut().enumerate() {
        let Some(source_index) = argument.source_index else { continue };
        let name = Ident::new(&format!("value{i}"), Span::mixed_site());
        let ty = argument.ty.tokens(runtime);
        written.push((
            source_index,
            quote!(#name: #ty),
            std::mem::replace(&mut argument.value, name.to_token_stream()),
        ));
    }
    written.sort_by_key(|(source_index, ..)| *source_index);
    let parameters = written.iter().map(|(_, parameter, _)| parameter);
    let given = written.iter().map(|(.., value)| value);
    let values = arguments.iter().map(|argument| &argument.value);
    quote!((|#(#parameters),*| #function(#(#values),*))(#(#given),*))
}

/// Returns the value of each argument in the schema's order, with its position in the call, or `None` if the call leaves it out.
fn values_by_argument<'a>(call: &'a NamedCall, errors: &mut Errors) -> Vec<Option<(usize, &'a Expr)>> {
    let schema = &call.schema;
    let operator = &schema.name;
    let mut given: Vec<Option<(usize, &Expr)>> = vec![None; schema.arguments.len()];
    let positional = schema.arguments.iter().take_while(|argument| !argument.keyword_only).count();
    for (i, value) in call.positional.iter().enumerate() {
        match given.get_mut(i) {
            Some(slot) if i < positional => *slot = Some((i, value)),
            Some(_) => {
                let name = rust_argument_name(&schema.arguments[i].name);
                errors.add_at(
                    value,
                    format!("argument `{name}` of operator `{operator}` is keyword-only; write `{name} = ..`"),
                );
            }
            None => break,
        }
    }
    if let Some(extra) = call.positional.get(schema.arguments.len()..).filter(|extra| !extra.is_empty()) {
        let (given, takes) = (call.positional.len(), argument_count_text(schema.arguments.len()));
        errors.add_at(
            quote!(#(#extra),*),
            format!("operator `{operator}` takes {takes}, but {given} are given; leave this out"),
        );
    }
    for (source_index, (name, value)) in (call.positional.len()..).zip(&call.named) {
        let plain = name.unraw();
        let at = schema
            .arguments
            .iter()
            .position(|argument| plain == argument.name || plain == rust_argument_name(&argument.name).unraw());
        match at {
            Some(at) if given[at].is_some() => {
                errors
                    .add_at(name, format!("argument `{name}` of operator `{operator}` is given twice; leave one out"));
            }
            Some(at) => given[at] = Some((source_index, value)),
            None => {
                let names: Vec<String> =
                    schema.arguments.iter().map(|argument| rust_argument_name(&argument.name).to_string()).collect();
                let hint = match dispatch_schema::suggest(&plain.to_string(), names.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "it has {}",
                        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
                    ),
                };
                errors.add_at(name, format!("operator `{operator}` has no argument `{name}`; {hint}"));
            }
        }
    }
    given
}

/// Converts a value to the function's parameter type: lists by reference, a number for a list of fixed size repeated, optional arguments
/// with or without `Some`.
fn convert_to_parameter_type(value: &Expr, argument: &Argument, rust: &RustType, runtime: &TokenStream) -> TokenStream {
    let inner = argument.ty.without_optional();
    let plain = match &inner.kind {
        TypeKind::Scalar if !rust.is_optional() => quote!(#runtime::Scalar::from(#value)),
        TypeKind::List(..) if matches!(value, Expr::Array(_)) => quote!(&#value),
        TypeKind::List(_, Some(count)) if is_number_literal(value) => {
            let count = *count as usize;
            quote!(&[#value; #count])
        }
        _ => value.to_token_stream(),
    };
    if !rust.is_optional() || is_none_or_some(value) {
        return plain;
    }
    let inner = rust.without_optional().tokens(runtime);
    quote_spanned!(at_user_span(value.span())=> #runtime::OptionalArgument::<#inner>::into_option(#plain))
}

fn is_number_literal(value: &Expr) -> bool {
    match value {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_) | Lit::Float(_)),
        Expr::Unary(negated) => matches!(negated.op, syn::UnOp::Neg(_)) && is_number_literal(&negated.expr),
        _ => false,
    }
}

fn is_none_or_some(value: &Expr) -> bool {
    match value {
        Expr::Path(path) => path.path.is_ident("None"),
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Some")),
        _ => false,
    }
}
