//! The Rust type of each schema type, as text without paths.

use crate::{Argument, Schema, Type, TypeKind};

/// Returns the Rust parameter type of an argument, or `None` for a list of lists of tensors, which operators cannot have.
///
/// ```
/// let schema = dispatch_schema::Schema::parse("scale(Tensor(a!) self, float[] by) -> Tensor(a!)").unwrap();
/// assert_eq!(dispatch_schema::rust_argument_type(&schema.arguments[0]).unwrap(), "&mut Tensor");
/// assert_eq!(dispatch_schema::rust_argument_type(&schema.arguments[1]).unwrap(), "&[f64]");
/// ```
#[must_use]
pub fn rust_argument_type(argument: &Argument) -> Option<String> {
    parameter_type(&argument.ty, argument.is_written())
}

/// Returns the Rust return type of the schema's function, without `Result`. Returns that are written arguments are omitted.
///
/// ```
/// let schema = dispatch_schema::Schema::parse("split(Tensor self) -> (Tensor, int[])").unwrap();
/// assert_eq!(dispatch_schema::rust_result_type(&schema), "(Tensor, Vec<i64>)");
/// ```
#[must_use]
pub fn rust_result_type(schema: &Schema) -> String {
    let returned: Vec<String> = schema.new_returns().map(|(_, ty)| owned_type(ty)).collect();
    match &returned[..] {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}

/// Returns the function type of an operator in Rust.
///
/// ```
/// let schema = dispatch_schema::Schema::parse("item(Tensor self, int at) -> Scalar").unwrap();
/// assert_eq!(dispatch_schema::rust_function_type(&schema), "fn(&Tensor, i64) -> Result<Scalar>");
/// ```
#[must_use]
pub fn rust_function_type(schema: &Schema) -> String {
    let arguments: Vec<String> = schema.arguments.iter().filter_map(rust_argument_type).collect();
    format!("fn({}) -> Result<{}>", arguments.join(", "), rust_result_type(schema))
}

fn parameter_type(ty: &Type, written: bool) -> Option<String> {
    let reference = if written { "&mut " } else { "&" };
    Some(match &ty.kind {
        TypeKind::Tensor => format!("{reference}Tensor"),
        TypeKind::Optional(inner) => format!("Option<{}>", parameter_type(inner, written)?),
        TypeKind::List(element, _) if is_list_of_tensors(element) => return None,
        TypeKind::List(element, _) => match list_element_type(element) {
            Some(element) => format!("{reference}[{element}]"),
            None => "&Value".to_owned(),
        },
        TypeKind::Str => "&str".to_owned(),
        TypeKind::Generator => "&Generator".to_owned(),
        _ => value_type(ty).map_or_else(|| "&Value".to_owned(), str::to_owned),
    })
}

fn is_list_of_tensors(element: &Type) -> bool {
    matches!(&element.without_optional().kind, TypeKind::List(inner, _) if inner.without_optional().kind == TypeKind::Tensor)
}

fn owned_type(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Tensor => "Tensor".to_owned(),
        TypeKind::Optional(inner) => format!("Option<{}>", owned_type(inner)),
        TypeKind::List(element, _) => {
            list_element_type(element).map_or_else(|| "Value".to_owned(), |element| format!("Vec<{element}>"))
        }
        TypeKind::Str => "Str".to_owned(),
        TypeKind::Generator => "Generator".to_owned(),
        _ => value_type(ty).unwrap_or("Value").to_owned(),
    }
}

fn list_element_type(ty: &Type) -> Option<&'static str> {
    Some(match &ty.kind {
        TypeKind::Tensor => "Tensor",
        TypeKind::Optional(inner) if inner.kind == TypeKind::Tensor => "Option<Tensor>",
        TypeKind::Int | TypeKind::SymInt => "i64",
        TypeKind::Float => "f64",
        TypeKind::Bool => "bool",
        TypeKind::Scalar => "Scalar",
        TypeKind::Str => "Str",
        _ => return None,
    })
}

/// Returns the Rust type of a schema type that is passed by value, or `None` for other types.
fn value_type(ty: &Type) -> Option<&'static str> {
    Some(match &ty.kind {
        TypeKind::Int | TypeKind::SymInt => "i64",
        TypeKind::Float => "f64",
        TypeKind::Bool | TypeKind::SymBool => "bool",
        TypeKind::Scalar => "Scalar",
        TypeKind::Complex => "Complex64",
        TypeKind::ScalarType => "DType",
        TypeKind::Layout => "Layout",
        TypeKind::MemoryFormat => "MemoryFormat",
        TypeKind::Device => "Device",
        _ => return None,
    })
}
