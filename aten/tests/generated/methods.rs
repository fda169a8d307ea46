//! Generates the trait `Methods` from the schemas.

use std::fmt::Write;

use dispatch_runtime::schema::{Argument, Schema, Type, TypeKind};

use crate::{cargo_feature_of, operators_by_function};

/// Operators that are not methods, as Rust or `Tensor` has other methods of these names.
const NOT_METHODS: [&str; 7] = ["clone", "is_inference", "is_leaf", "item", "requires_grad_", "retain_grad", "set"];

const FILE_HEAD: &str = r#"//! Operators as methods of their first argument. Generated from the registry by the test `generated`; do not edit.

use dispatch_runtime::prelude::*;
#[allow(unused_imports, reason = "a type may occur only in families that are left out")]
use dispatch_runtime::{Complex64, Layout, MemoryFormat};

/// Every operator whose first argument is a tensor called `self`, as a method: `x.relu()?`. Two kinds are left out: names that begin with
/// an underscore, which are private to PyTorch, and names of other methods of `Tensor`, such as `clone`, `item` and `is_leaf`.
///
/// A method takes the arguments that PyTorch takes by position. Those that PyTorch takes by name alone keep their defaults. For
/// other values, call the function of the same name, which takes all arguments, or its macro, which takes them by name.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([[-1.0_f32, 2.0], [3.0, -4.0]]);
/// assert_eq!(x.relu()?.sum()?.item::<f32>()?, 5.0);
/// assert_eq!(x.mm(&x.t()?)?.sizes(), [2, 2]);
/// assert_eq!(x.sum_dims(0)?.to_vec::<f32>()?, [2.0, -2.0]);
/// assert!(x.lt(5)?.all()?.item::<bool>()?);
/// # Ok(())
/// # }
/// ```
#[allow(clippy::fn_params_excessive_bools, clippy::too_many_arguments, clippy::wrong_self_convention)]
pub trait Methods {
"#;

/// Generates the text of `methods.rs`.
pub(crate) fn methods_text() -> String {
    let (mut declared, mut implemented) = (FILE_HEAD.to_owned(), "impl Methods for Tensor {\n".to_owned());
    let is_hidden = |name: &str| name.starts_with('_') || NOT_METHODS.contains(&name);
    let functions = operators_by_function().into_iter();
    let methods = functions.filter(|(name, operator)| !is_hidden(name) && is_method(operator.schema()));
    for (i, (name, operator)) in methods.enumerate() {
        let gap = if i == 0 { "" } else { "\n" };
        let feature = cargo_feature_of(operator)
            .map_or_else(String::new, |feature| format!("#[cfg(feature = \"{feature}\")]\n    "));
        let signature = signature(&name, operator.schema());
        let doc = without_links(operator.docs().lines().next().unwrap_or_default());
        assert!(!doc.is_empty(), "{name} is not documented");
        _ = write!(declared, "{gap}    /// {doc}\n    {feature}{signature};\n");
        let call = call_expression(&name, operator.schema());
        _ = write!(implemented, "{gap}    {feature}{signature} {{\n        {call}\n    }}\n");
    }
    format!("{declared}}}\n\n{implemented}}}\n")
}

/// Removes links from a comment. They would not resolve in `methods.rs`.
fn without_links(doc: &str) -> String {
    let mut words = doc.replace("[`", "`");
    while let Some(at) = words.find("`](") {
        let end = words[at..].find(')').map_or(words.len(), |end| at + end + 1);
        words.replace_range(at + 1..end, "");
    }
    words.replace("`]", "`")
}

fn is_method(schema: &Schema) -> bool {
    schema.arguments.first().is_some_and(|first| first.name == "self" && first.ty.kind == TypeKind::Tensor)
        && schema.arguments.iter().all(|argument| parameter_type(&argument.ty, argument.is_written()).is_some())
}

/// Checks if a method omits an argument and leaves it at its default.
fn is_omitted(argument: &Argument) -> bool {
    argument.keyword_only && argument.default.is_some()
}

fn signature(name: &str, schema: &Schema) -> String {
    let first = if schema.arguments[0].is_written() { "&mut self" } else { "&self" };
    let mut parameters = vec![first.to_owned()];
    for argument in schema.arguments[1..].iter().filter(|argument| !is_omitted(argument)) {
        let ty = parameter_type(&argument.ty, argument.is_written()).unwrap_or_default();
        let ty = if ty == "Scalar" { "impl Into<Scalar>".to_owned() } else { ty };
        parameters.push(format!("{}: {ty}", rust_name(&argument.name)));
    }
    let returned = schema.returns.iter().enumerate().filter(|(i, _)| schema.written_argument_of_return(*i).is_none());
    let returned: Vec<String> = returned.map(|(_, returned)| owned_type(&returned.ty)).collect();
    let returned = match &returned[..] {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    };
    format!("fn {name}({}) -> Result<{returned}>", parameters.join(", "))
}

fn call_expression(name: &str, schema: &Schema) -> String {
    // The macro fills in omitted arguments. The function compiles faster.
    let by_macro = schema.arguments.iter().any(is_omitted);
    let mut values = vec!["self".to_owned()];
    for argument in schema.arguments[1..].iter().filter(|argument| !is_omitted(argument)) {
        let rust = rust_name(&argument.name);
        let value = if argument.ty.kind == TypeKind::Scalar { format!("{rust}.into()") } else { rust.clone() };
        values.push(if by_macro && argument.keyword_only { format!("{rust} = {value}") } else { value });
    }
    format!("crate::{name}{}({})", if by_macro { "!" } else { "" }, values.join(", "))
}

fn rust_name(name: &str) -> String {
    match name {
        "self" => "this".to_owned(),
        "type" | "where" | "in" | "ref" | "mod" | "move" | "final" => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

/// Returns the Rust type of a parameter, or `None` if methods do not support the type.
fn parameter_type(ty: &Type, written: bool) -> Option<String> {
    let reference = if written { "&mut " } else { "&" };
    Some(match &ty.kind {
        TypeKind::Tensor => format!("{reference}Tensor"),
        TypeKind::Optional(inner) => format!("Option<{}>", parameter_type(inner, written)?),
        TypeKind::List(element, _) => match &element.kind {
            TypeKind::Optional(inner) if inner.kind == TypeKind::Tensor => "&[Option<Tensor>]".to_owned(),
            TypeKind::Tensor => format!("{reference}[Tensor]"),
            _ => format!("&[{}]", plain_type(element)?),
        },
        TypeKind::Str => "&str".to_owned(),
        TypeKind::Generator => "&Generator".to_owned(),
        _ => plain_type(ty)?.to_owned(),
    })
}

fn owned_type(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Tensor => "Tensor".to_owned(),
        TypeKind::Optional(inner) => format!("Option<{}>", owned_type(inner)),
        TypeKind::List(element, _) => format!("Vec<{}>", owned_type(element)),
        TypeKind::Str => "Str".to_owned(),
        _ => plain_type(ty).unwrap_or("Value").to_owned(),
    }
}

fn plain_type(ty: &Type) -> Option<&'static str> {
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
