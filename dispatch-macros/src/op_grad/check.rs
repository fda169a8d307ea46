//! The check of a gradient formula's signature against the schema of its operator.

use dispatch_schema::{Schema, Type, TypeKind};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{ReturnType, Signature};

use super::{Attribute, saved_for};
use crate::errors::Errors;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::{self, Parameter, rust_argument_name};

/// A gradient formula without mistakes.
pub(super) struct CheckedDerivative {
    /// The indices of the arguments that have gradients.
    pub(super) inputs: Vec<usize>,
    /// For each tensor result, whether it has a gradient.
    pub(super) results: Vec<bool>,
    pub(super) parameters: Vec<FormulaParameter>,
    pub(super) returns_result: bool,
}

/// The source of a parameter. Results are counted among those that are tensors.
pub(super) enum FormulaParameter {
    Gradient { result: usize, optional: bool },
    AllGradients,
    NeededGradients,
    Argument { index: usize, outline: bool, saved_for: u64 },
    Result { index: usize, outline: bool },
}

/// A result that is a tensor or a list of tensors.
struct TensorResult {
    name: Option<String>,
    ty: Type,
}

pub(super) fn check_derivative(
    schema: &Schema,
    attribute: &Attribute,
    function: &Signature,
    errors: &mut Errors,
) -> Option<CheckedDerivative> {
    let results = tensor_results(schema);
    let operator = &schema.name;
    let not_differentiable: Vec<String> = attribute.not_differentiable.iter().map(ToString::to_string).collect();
    for word in &attribute.not_differentiable {
        let names = argument_and_result_names(schema, &results);
        if !names.contains(&word.to_string()) {
            let hint = suggest_name(&word.to_string(), &names);
            errors.add_at(word, format!("operator `{operator}` has no argument or result `{word}`; {hint}"));
        }
    }
    let is_not_differentiable = |name: &str| not_differentiable.iter().any(|word| word == name);
    let inputs: Vec<usize> = schema
        .arguments
        .iter()
        .enumerate()
        .filter(|(_, argument)| {
            argument.ty.is_tensor_like()
                && !argument.is_out()
                && !is_not_differentiable(&rust_argument_name(&argument.name).to_string())
        })
        .map(|(i, _)| i)
        .collect();
    let differentiable: Vec<bool> = (0..results.len())
        .map(|i| !result_parameter_names(i, &results).iter().any(|name| is_not_differentiable(name)))
        .collect();
    if results.is_empty() {
        errors.add_at(
            &function.ident,
            format!("operator `{operator}` returns no tensor, so it has no derivative; write `not_differentiable!`"),
        );
        return None;
    }
    let parameters: Vec<Option<FormulaParameter>> = signature::parameters(function)
        .iter()
        .map(|parameter| classify_parameter(parameter, schema, &results, &differentiable, errors))
        .collect();
    let mut parameters: Vec<FormulaParameter> = parameters.into_iter().collect::<Option<_>>()?;
    // A list has as many gradients as tensors, so the gradients have no fixed positions.
    if !inputs.iter().any(|&input| is_list_type(&schema.arguments[input].ty)) {
        set_saved_for(schema, function, &mut parameters);
    }
    report_unused_gradients(schema, &results, &differentiable, &parameters, function, errors);
    let returns_result = check_gradient_count(schema, &inputs, function, errors)?;
    Some(CheckedDerivative { inputs, results: differentiable, parameters, returns_result })
}

fn set_saved_for(schema: &Schema, function: &Signature, parameters: &mut [FormulaParameter]) {
    for taken in parameters {
        if let FormulaParameter::Argument { index: at, outline: false, saved_for } = taken {
            let argument = &schema.arguments[*at];
            if argument.ty.is_tensor_like() && !is_list_type(&argument.ty) {
                *saved_for = saved_for::read_saved_for(&rust_argument_name(&argument.name), function);
            }
        }
    }
}

fn tensor_results(schema: &Schema) -> Vec<TensorResult> {
    let returned = schema.returns.iter().filter(|ret| ret.ty.is_tensor_like());
    let mut results: Vec<TensorResult> =
        returned.map(|ret| TensorResult { name: ret.name.clone(), ty: ret.ty.clone() }).collect();
    if schema.returns.is_empty() {
        // If nothing is returned, the written arguments are the results.
        let written = schema.arguments.iter().filter(|argument| argument.is_written());
        results.extend(written.map(|argument| TensorResult { name: None, ty: argument.ty.clone() }));
    }
    results
}

/// Returns the names by which a formula may refer to a result.
fn result_parameter_names(i: usize, results: &[TensorResult]) -> Vec<String> {
    let mut names = vec![if results.len() == 1 { "result".to_owned() } else { format!("result{i}") }];
    names.extend(results[i].name.as_deref().map(|name| rust_argument_name(name).to_string()));
    names
}

fn argument_and_result_names(schema: &Schema, results: &[TensorResult]) -> Vec<String> {
    let arguments = schema.arguments.iter().map(|argument| rust_argument_name(&argument.name).to_string());
    arguments.chain((0..results.len()).flat_map(|i| result_parameter_names(i, results))).collect()
}

fn suggest_name(word: &str, names: &[String]) -> String {
    match dispatch_schema::suggest(word, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    }
}

fn classify_parameter(
    parameter: &Parameter,
    schema: &Schema,
    results: &[TensorResult],
    differentiable: &[bool],
    errors: &mut Errors,
) -> Option<FormulaParameter> {
    let operator = &schema.name;
    let Some(name) = &parameter.name else {
        errors
            .add_at(&parameter.tokens, "the parameters of a derivative are found by their names; give this one a name");
        return None;
    };
    let plain = name.to_string();
    let ty = RustType::from_user_type(&parameter.ty);
    if let Some(at) = schema.arguments.iter().position(|argument| *name == rust_argument_name(&argument.name)) {
        let want = RustType::from_argument(&schema.arguments[at])?.to_shared();
        return takes_outline(parameter, &ty, want.text(), errors).map(|outline| FormulaParameter::Argument {
            index: at,
            outline,
            saved_for: saved_for::ALL_GRADIENT_BITS,
        });
    }
    if let Some(at) = (0..results.len()).find(|&i| result_parameter_names(i, results).contains(&plain)) {
        let want = if is_list_type(&results[at].ty) { "&[Tensor]" } else { "&Tensor" };
        return takes_outline(parameter, &ty, want, errors)
            .map(|outline| FormulaParameter::Result { index: at, outline });
    }
    match plain.as_str() {
        "needs" => {
            check_parameter_type(parameter, &ty, &["&[bool]"], errors).then_some(FormulaParameter::NeededGradients)
        }
        "grads" if results.len() == 1 && is_list_type(&results[0].ty) => {
            check_parameter_type(parameter, &ty, &["&[Option<Tensor>]"], errors)
                .then_some(FormulaParameter::AllGradients)
        }
        gradient if gradient.starts_with("grad") => {
            let result = result_of_gradient(name, results, differentiable, schema, errors)?;
            check_parameter_type(parameter, &ty, &["&Tensor", "Option<&Tensor>"], errors)
                .then(|| FormulaParameter::Gradient { result, optional: ty.is_optional() })
        }
        _ => {
            let hint = suggest_name(&plain, &argument_and_result_names(schema, results));
            errors
                .add_at(name, format!("`{name}` is neither an argument nor a result of operator `{operator}`; {hint}"));
            None
        }
    }
}

fn is_list_type(ty: &Type) -> bool {
    matches!(ty.without_optional().kind, TypeKind::List(..))
}

/// Returns whether only the outline of a saved tensor is requested, or of each tensor in a list.
fn takes_outline(parameter: &Parameter, ty: &RustType, want: &str, errors: &mut Errors) -> Option<bool> {
    let outline = matches!((ty.text(), want), ("&TensorOutline", "&Tensor") | ("&[TensorOutline]", "&[Tensor]"));
    (outline || check_parameter_type(parameter, ty, &[want], errors)).then_some(outline)
}

fn check_parameter_type(parameter: &Parameter, ty: &RustType, wanted: &[&str], errors: &mut Errors) -> bool {
    let fits = wanted.contains(&ty.text());
    if !fits {
        let name = parameter.name.to_token_stream();
        let wanted = wanted.iter().map(|ty| format!("`{ty}`")).collect::<Vec<_>>().join(" or ");
        errors.add_at(&parameter.ty, format!("a derivative takes `{name}` as {wanted}, not as `{}`", ty.text()));
    }
    fits
}

/// Returns the result whose gradient a parameter is: `grad`, `grad1`, or `grad_` and the name of the result.
fn result_of_gradient(
    name: &Ident,
    results: &[TensorResult],
    differentiable: &[bool],
    schema: &Schema,
    errors: &mut Errors,
) -> Option<usize> {
    let operator = &schema.name;
    let plain = name.to_string();
    let rest = &plain["grad".len()..];
    let candidates: Vec<usize> = (0..results.len()).filter(|&i| differentiable[i]).collect();
    let found = match rest {
        "" if candidates.len() == 1 => Some(candidates[0]),
        "" => None,
        rest => rest.parse().ok().filter(|&i: &usize| i < results.len()).or_else(|| {
            let named = rest.strip_prefix('_')?;
            results.iter().position(|result| result.name.as_deref() == Some(named))
        }),
    };
    match found {
        Some(at) if differentiable[at] && !is_list_type(&results[at].ty) => Some(at),
        Some(at) if is_list_type(&results[at].ty) => {
            errors.add_at(
                name,
                format!("operator `{operator}` returns a list of tensors; take `grads: &[Option<Tensor>]`"),
            );
            None
        }
        Some(_) => {
            errors.add_at(
                name,
                format!("`{name}` is the gradient of a result that is `not_differentiable`; leave it out"),
            );
            None
        }
        None => {
            let each = list_gradient_names(&candidates, results);
            errors.add_at(
                name,
                format!("`{name}` is not the gradient of a result of operator `{operator}`; its gradients are {each}"),
            );
            None
        }
    }
}

fn list_gradient_names(candidates: &[usize], results: &[TensorResult]) -> String {
    let each = candidates.iter().map(|&i| match &results[i].name {
        _ if candidates.len() == 1 => "`grad`".to_owned(),
        Some(name) => format!("`grad_{name}`"),
        None => format!("`grad{i}`"),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Reports results whose gradients no parameter takes: these gradients would be lost.
fn report_unused_gradients(
    schema: &Schema,
    results: &[TensorResult],
    differentiable: &[bool],
    parameters: &[FormulaParameter],
    function: &Signature,
    errors: &mut Errors,
) {
    if parameters.iter().any(|taken| matches!(taken, FormulaParameter::AllGradients)) {
        return;
    }
    let lost: Vec<usize> = (0..results.len())
        .filter(|&i| differentiable[i])
        .filter(|&i| {
            !parameters.iter().any(|taken| matches!(taken, FormulaParameter::Gradient { result, .. } if *result == i))
        })
        .collect();
    if lost.is_empty() || !errors.is_empty() {
        return;
    }
    let all: Vec<usize> = (0..results.len()).filter(|&i| differentiable[i]).collect();
    let operator = &schema.name;
    let missing = if results.len() == 1 && is_list_type(&results[0].ty) {
        "take `grads: &[Option<Tensor>]`".to_owned()
    } else if all.len() == 1 {
        // An argument that is called `grad` takes this name.
        let name = if schema.argument("grad").is_some() { "grad0" } else { "grad" };
        format!("take `{name}: &Tensor`")
    } else {
        let name = result_parameter_names(lost[0], results).pop().unwrap_or_default();
        let lost = list_gradient_names(&all, results);
        format!("its gradients are {lost}; declare a result without gradient as `not_differentiable({name})`")
    };
    errors.add_at(
        &function.ident,
        format!("the derivative of operator `{operator}` does not take every gradient; {missing}"),
    );
}

/// Adds an error if the derivative does not return one gradient for each differentiable input. Returns whether the gradients are returned
/// in a `Result`.
fn check_gradient_count(schema: &Schema, inputs: &[usize], function: &Signature, errors: &mut Errors) -> Option<bool> {
    let operator = &schema.name;
    let list = inputs.iter().map(|&i| format!("`{}`", schema.arguments[i].name)).collect::<Vec<_>>().join(", ");
    let ReturnType::Type(_, ty) = &function.output else {
        errors.add_at(
            &function.ident,
            format!("the derivative of operator `{operator}` must return a gradient for each of {list}"),
        );
        return None;
    };
    let (ty, returns_result) = match &**ty {
        syn::Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Result") => {
            let arguments = &path.path.segments.last()?.arguments;
            let syn::PathArguments::AngleBracketed(arguments) = arguments else { return Some(true) };
            match arguments.args.first() {
                Some(syn::GenericArgument::Type(ty)) => (ty, true),
                _ => return Some(true),
            }
        }
        ty => (ty, false),
    };
    let found = if let syn::Type::Tuple(tuple) = ty { tuple.elems.len() } else { 1 };
    if found != inputs.len() {
        let gradients = if found == 1 { "1 gradient".to_owned() } else { format!("{found} gradients") };
        let wanted = match inputs.len() {
            0 => "the operator has no differentiable input".to_owned(),
            1 => format!("the operator is differentiable with respect to {list}"),
            _ => format!("the operator is differentiable with respect to {list}, in this order"),
        };
        errors.add_at(
            ty,
            format!(
                "the derivative of operator `{operator}` returns {gradients}, but {wanted}; declare an argument without gradient as \
                 `not_differentiable(argument)`"
            ),
        );
        return None;
    }
    Some(returns_result)
}
