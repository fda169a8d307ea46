//! `#[op_def]`: an operator's definition.
//!
//! One name in three namespaces comes out: a function, which is the hot path; an empty enum, which carries the operator's types; and
//! a macro, which is the named form of a call and hands the schema to `#[op_impl]`.

mod attribute;
mod expand;

use dispatch_schema::{OperatorName, Schema};
use proc_macro2::TokenStream;
use quote::quote;

use crate::crate_path;
use crate::errors::Errors;
use crate::function::Function;
use crate::infer;
use crate::rust_type::RustType;
use crate::signature::{self, Parameter};
use attribute::Attribute;

/// A definition without mistakes.
struct Definition {
    function: Function,
    parameters: Vec<Parameter>,
    schema: Schema,
    /// Otherwise the namespace is the crate, which generated code knows better than the environment does.
    spells_namespace: bool,
    types: Vec<RustType>,
    /// The Rust operator that calls it, such as `Add`.
    claim: Option<syn::Ident>,
    runtime: TokenStream,
}

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = match Function::parse_under("op_def", item) {
        Ok(function) => function,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let attribute = Attribute::parse(attribute, &mut errors);
    let definition = check(&function, attribute, &mut errors);
    match definition {
        Some(definition) if errors.is_empty() => expand::definition(&definition),
        _ => {
            let stub = expand::stub(&function);
            quote!(#errors #stub)
        }
    }
}

fn check(function: &Function, attribute: Attribute, errors: &mut Errors) -> Option<Definition> {
    function.check_plain("an operator", false, errors);
    if !errors.is_empty() {
        return None;
    }
    let signature = &function.signature;
    let parameters = signature::parameters(signature);
    let schema = match &attribute.schema {
        Some(source) => source.parse(errors)?,
        None => infer::schema(signature, &parameters, errors)?,
    };
    let mut schema = schema;
    let spells_namespace = schema.name.namespace.is_some();
    if !spells_namespace {
        schema.name.namespace = crate_path::this_crate();
    }
    let at = &signature.ident;
    if schema.varargs || schema.varreturns {
        errors.at(at, format!("operator `{}` has `...`: its arguments and results must be counted", schema.name));
    }
    if schema.arguments.len() > 64 {
        errors.at(at, format!("operator `{}` has more than 64 arguments", schema.name));
    }
    check_name(at, &schema.name, errors);
    let types = signature::argument_types(&schema, at, errors);
    if errors.is_empty() && signature::check_count("function", signature, &parameters, &schema, errors) {
        signature::check_names(&parameters, &schema, errors);
        signature::check_types(signature, &parameters, &types, &schema, errors);
    }
    if let Some(claim) = &attribute.claim {
        check_claim(claim, &schema, errors);
    }
    let function = Function {
        attributes: function.attributes.clone(),
        visibility: function.visibility.clone(),
        signature: function.signature.clone(),
        body: function.body.clone(),
    };
    Some(Definition {
        function,
        parameters,
        schema,
        spells_namespace,
        types,
        claim: attribute.claim,
        runtime: crate_path::runtime(),
    })
}

/// The Rust path is the operator's name.
fn check_name(function: &syn::Ident, name: &OperatorName, errors: &mut Errors) {
    let written = function.to_string();
    let written = written.trim_start_matches("r#");
    let whole = name.rust_name();
    let drops_tensor = name.overload == "Tensor" && written == name.base;
    if written != whole && !drops_tensor {
        errors.at(
            function,
            format!("operator `{name}` is `{whole}` in Rust, not `{written}`: rename the function or the operator"),
        );
    }
}

/// Rust's operators that an operator can stand for, and how many tensors they take.
const CLAIMS: [(&str, usize); 12] = [
    ("Add", 2),
    ("Sub", 2),
    ("Mul", 2),
    ("Div", 2),
    ("Rem", 2),
    ("BitAnd", 2),
    ("BitOr", 2),
    ("BitXor", 2),
    ("Shl", 2),
    ("Shr", 2),
    ("Neg", 1),
    ("Not", 1),
];

fn check_claim(claim: &syn::Ident, schema: &Schema, errors: &mut Errors) {
    let Some((_, tensors)) = CLAIMS.iter().find(|(name, _)| claim == name) else {
        let names = CLAIMS.map(|(name, _)| name);
        errors.at(
            claim,
            format!("`{claim}` is not an operator of Rust's that tensors have; they are {}", names.join(", ")),
        );
        return;
    };
    let tensor =
        |argument: &dispatch_schema::Argument| RustType::of_argument(argument).is_some_and(|ty| ty.text() == "&Tensor");
    let required = schema.arguments.iter().take_while(|argument| argument.default.is_none());
    let fits = required.clone().count() == *tensors && required.into_iter().all(tensor);
    let rest_has_defaults = schema.arguments.iter().skip(*tensors).all(|argument| argument.default.is_some());
    if !fits || !rest_has_defaults || RustType::of_returns(schema).text() != "Tensor" {
        let count = if *tensors == 1 { "one tensor" } else { "two tensors" };
        errors.at(claim, format!("`{claim}` takes {count} and gives one; operator `{}` does not", schema.name));
    }
}
