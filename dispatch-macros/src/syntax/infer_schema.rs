//! Inference of a schema from a Rust signature, for `#[op_def]` without a schema.

use dispatch_schema::Schema;
use syn::{ReturnType, Signature, Type};

use crate::errors::Errors;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::Parameter;
use crate::syntax::user_tokens::as_written;

/// Returns the schema of a signature: the inverse of the mapping from schema types to Rust types.
pub(crate) fn schema(function: &Signature, parameters: &[Parameter], errors: &mut Errors) -> Option<Schema> {
    let mut letters = ('a'..='z').map(String::from);
    let mut arguments = Vec::new();
    for parameter in parameters {
        let Some(name) = &parameter.name else {
            errors
                .at(&parameter.pattern, "an inferred schema takes its argument names from here; give this one a name");
            continue;
        };
        let name = name.to_string();
        let name = if name == "this" { "self" } else { name.trim_start_matches("r#").trim_start_matches('_') };
        let ty = RustType::written(&parameter.ty);
        match argument(ty.text(), &mut letters) {
            Some(ty) => arguments.push(format!("{ty} {name}")),
            None => errors.at(
                &parameter.ty,
                format!("no schema type is `{}` in Rust; write the schema out", as_written(&parameter.ty)),
            ),
        }
    }
    let returns = returned(function, errors)?;
    if !errors.is_empty() {
        return None;
    }
    let text =
        format!("{}({}) -> {returns}", function.ident.to_string().trim_start_matches("r#"), arguments.join(", "));
    Schema::parse(&text).map_err(|mistakes| errors.at(&function.ident, mistakes.render(&text))).ok()
}

fn returned(function: &Signature, errors: &mut Errors) -> Option<String> {
    let ReturnType::Type(_, ty) = &function.output else {
        errors.at(
            &function.ident,
            "an operator must return a `Result`: a call can fail; write `-> Result<Tensor>`, for example",
        );
        return None;
    };
    let text = RustType::written(ty).text().to_owned();
    let value = text.strip_prefix("Result<").and_then(|rest| rest.strip_suffix('>'));
    let returns = value.and_then(|value| match value.strip_prefix('(') {
        Some(tuple) => {
            let parts: Option<Vec<&str>> = split(tuple.strip_suffix(')')?).into_iter().map(result).collect();
            Some(format!("({})", parts?.join(", ")))
        }
        None => result(value).map(str::to_owned),
    });
    if returns.is_none() {
        errors.at(ty, unknown_return(ty));
    }
    returns
}

fn unknown_return(ty: &Type) -> String {
    format!(
        "no schema return is `{}` in Rust; return `Result<..>` of a type that schemas have, or write the schema out",
        as_written(ty)
    )
}

fn split(tuple: &str) -> Vec<&str> {
    tuple.split(", ").filter(|part| !part.is_empty()).collect()
}

fn argument(ty: &str, letters: &mut impl Iterator<Item = String>) -> Option<String> {
    if let Some(inner) = ty.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        return argument(inner, letters).map(|inner| format!("{inner}?"));
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
        _ => by_value(ty)?.to_owned(),
    })
}

fn result(ty: &str) -> Option<&'static str> {
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
        _ => by_value(ty)?,
    })
}

fn by_value(ty: &str) -> Option<&'static str> {
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
