//! Inference of a schema from a Rust signature, for `#[op_def]` without a schema.

use dispatch_schema::Schema;
use syn::{ReturnType, Signature, Type};

use crate::errors::Errors;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::Parameter;
use crate::syntax::user_tokens::source_text;

/// Returns the schema of a signature: the inverse of the mapping from schema types to Rust types.
pub(crate) fn infer_schema(function: &Signature, parameters: &[Parameter], errors: &mut Errors) -> Option<Schema> {
    let mut letters = ('a'..='z').map(String::from);
    let mut arguments = Vec::new();
    for parameter in parameters {
        let Some(name) = &parameter.name else {
            errors.add_at(
                &parameter.pattern,
                "an inferred schema takes its argument names from the parameters; give this one a name",
            );
            continue;
        };
        let name = name.to_string();
        let name = if name == "this" { "self" } else { name.trim_start_matches("r#").trim_start_matches('_') };
        let ty = RustType::from_user_type(&parameter.ty);
        match schema_argument_type(ty.text(), &mut letters) {
            Some(ty) => arguments.push(format!("{ty} {name}")),
            None => errors.add_at(
                &parameter.ty,
                format!("no schema type corresponds to `{}`; write the schema", source_text(&parameter.ty)),
            ),
        }
    }
    let returns = infer_returns(function, errors)?;
    if !errors.is_empty() {
        return None;
    }
    let text =
        format!("{}({}) -> {returns}", function.ident.to_string().trim_start_matches("r#"), arguments.join(", "));
    Schema::parse(&text).map_err(|mistakes| errors.add_at(&function.ident, mistakes.render(&text))).ok()
}

fn infer_returns(function: &Signature, errors: &mut Errors) -> Option<String> {
    let ReturnType::Type(_, ty) = &function.output else {
        errors.add_at(
            &function.ident,
            "an operator must return a `Result`: a call can fail; write `-> Result<Tensor>`, for example",
        );
        return None;
    };
    let text = RustType::from_user_type(ty).text().to_owned();
    let value = text.strip_prefix("Result<").and_then(|rest| rest.strip_suffix('>'));
    let returns = value.and_then(|value| match value.strip_prefix('(') {
        Some(tuple) => {
            let parts: Option<Vec<&str>> =
                split_tuple_elements(tuple.strip_suffix(')')?).into_iter().map(schema_return_type).collect();
            Some(format!("({})", parts?.join(", ")))
        }
        None => schema_return_type(value).map(str::to_owned),
    });
    if returns.is_none() {
        errors.add_at(ty, unknown_return_message(ty));
    }
    returns
}

fn unknown_return_message(ty: &Type) -> String {
    format!(
        "no schema return corresponds to `{}`; return `Result<..>` of a type that schemas have, or write the schema",
        source_text(ty)
    )
}

fn split_tuple_elements(tuple: &str) -> Vec<&str> {
    tuple.split(", ").filter(|part| !part.is_empty()).collect()
}

fn schema_argument_type(ty: &str, letters: &mut impl Iterator<Item = String>) -> Option<String> {
    if let Some(inner) = ty.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        return schema_argument_type(inner, letters).map(|inner| format!("{inner}?"));
    }
    Some(match ty {
        "&mut Tensor" => format!("Tensor({}!)", letters.next()?),
        "&mut [Tensor]" => format!("Tensor({}!)[]", letters.next()?),
        "&Tensor" => "Tensor".to_owned(),
        "&[Tensor]" => "Tensor[]".to_owned(),
        "&[Option<Tensor>]" => "Tensor?[]".to_owned(),
        "&[i64]" => "int[]".to_owned(),
        "&[f64]" => "float[]".to_owned(),
        "&[bool]" => "bool[]".to_owned(),
        "&[Scalar]" => "Scalar[]".to_owned(),
        "&[Str]" => "str[]".to_owned(),
        "&str" => "str".to_owned(),
        "&Generator" => "Generator".to_owned(),
        "&Value" => "Any".to_owned(),
        _ => schema_value_type(ty)?.to_owned(),
    })
}

fn schema_return_type(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "Tensor" => "Tensor",
        "Option<Tensor>" => "Tensor?",
        "Vec<Tensor>" => "Tensor[]",
        "Vec<i64>" => "int[]",
        "Vec<f64>" => "float[]",
        "Vec<bool>" => "bool[]",
        "Str" => "str",
        "Generator" => "Generator",
        "Value" => "Any",
        _ => schema_value_type(ty)?,
    })
}

fn schema_value_type(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "i64" => "int",
        "f64" => "float",
        "bool" => "bool",
        "Scalar" => "Scalar",
        "Complex64" => "complex",
        "DType" => "ScalarType",
        "Layout" => "Layout",
        "MemoryFormat" => "MemoryFormat",
        "Device" => "Device",
        _ => return None,
    })
}
