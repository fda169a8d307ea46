//! The Rust type of each schema type: one way only, as a text without paths.

use crate::{Argument, Schema, Type, TypeKind};

/// What a function takes for an argument; none for a type that no operator takes.
///
/// ```
/// let schema = dispatch_schema::Schema::parse("scale(Tensor(a!) self, float[] by) -> Tensor(a!)").unwrap();
/// assert_eq!(dispatch_schema::rust_argument(&schema.arguments[0]).unwrap(), "&mut Tensor");
/// assert_eq!(dispatch_schema::rust_argument(&schema.arguments[1]).unwrap(), "&[f64]");
/// ```
#[must_use]
pub fn rust_argument(argument: &Argument) -> Option<String> {
    parameter(&argument.ty, argument.is_written())
}

/// What a function returns for the schema's returns, without `Result`. A return that is a written argument is implied.
///
/// ```
/// let schema = dispatch_schema::Schema::parse("split(Tensor self) -> (Tensor, int[])").unwrap();
/// assert_eq!(dispatch_schema::rust_result(&schema), "(Tensor, Vec<i64>)");
/// ```
#[must_use]
pub fn rust_result(schema: &Schema) -> String {
    let returned: Vec<String> = schema.new_returns().map(|(_, ty)| owned(ty)).collect();
    match &returned[..] {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}

/// The type of an operator's function.
///
/// ```
/// let schema = dispatch_schema::Schema::parse("item(Tensor self, int at) -> Scalar").unwrap();
/// assert_eq!(dispatch_schema::rust_function(&schema), "fn(&Tensor, i64) -> Result<Scalar>");
/// ```
#[must_use]
pub fn rust_function(schema: &Schema) -> String {
    let arguments: Vec<String> = schema.arguments.iter().filter_map(rust_argument).collect();
    format!("fn({}) -> Result<{}>", arguments.join(", "), rust_result(schema))
}

fn parameter(ty: &Type, written: bool) -> Option<String> {
    let reference = if written { "&mut " } else { "&" };
    Some(match &ty.kind {
        TypeKind::Tensor => format!("{reference}Tensor"),
        TypeKind::Optional(inner) => format!("Option<{}>", parameter(inner, written)?),
        TypeKind::List(element, _) if is_list_of_lists_of_tensors(element) => return None,
        TypeKind::List(element, _) => match list_element(element) {
            Some(element) => format!("{reference}[{element}]"),
            None => "&Value".to_owned(),
        },
        TypeKind::Str => "&str".to_owned(),
        TypeKind::Generator => "&Generator".to_owned(),
        _ => plain(ty).map_or_else(|| "&Value".to_owned(), str::to_owned),
    })
}

fn is_list_of_lists_of_tensors(element: &Type) -> bool {
    matches!(&element.required().kind, TypeKind::List(inner, _) if inner.required().kind == TypeKind::Tensor)
}

fn owned(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Tensor => "Tensor".to_owned(),
        TypeKind::Optional(inner) => format!("Option<{}>", owned(inner)),
        TypeKind::List(element, _) => {
            list_element(element).map_or_else(|| "Value".to_owned(), |element| format!("Vec<{element}>"))
        }
        TypeKind::Str => "Str".to_owned(),
        TypeKind::Generator => "Generator".to_owned(),
        _ => plain(ty).unwrap_or("Value").to_owned(),
    }
}

fn list_element(ty: &Type) -> Option<&'static str> {
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

/// Types that are passed by value.
fn plain(ty: &Type) -> Option<&'static str> {
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
