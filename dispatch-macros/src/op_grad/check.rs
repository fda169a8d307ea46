//! The check of a gradient formula's signature against the schema of its operator.

use dispatch_schema::{Schema, Type, TypeKind};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{ReturnType, Signature};

use super::{Attribute, purpose};
use crate::errors::Errors;
use crate::syntax::rust_type::RustType;
use crate::syntax::signature::{self, Parameter, rust_name};

/// A gradient formula without mistakes.
pub(super) struct Derivative {
    /// The indices of the arguments that have gradients.
    pub(super) inputs: Vec<usize>,
    /// For each tensor result, whether it has a gradient.
    pub(super) results: Vec<bool>,
    pub(super) parameters: Vec<Taken>,
    pub(super) returns_result: bool,
}

/// The source of a parameter. Results are counted among those that are tensors.
pub(super) enum Taken {
    Gradient { result: usize, optional: bool },
    Gradients,
    Needs,
    Argument { at: usize, outline: bool, purpose: u64 },
    Result { at: usize, outline: bool },
}

/// A result that is a tensor or a list of tensors.
struct TensorResult {
    name: Option<String>,
    ty: Type,
}

pub(super) fn check(
    schema: &Schema,
    attribute: &Attribute,
    function: &Signature,
    errors: &mut Errors,
) -> Option<Derivative> {
    let results = tensor_results(schema);
    let operator = &schema.name;
    let fixed: Vec<String> = attribute.fixed.iter().map(ToString::to_string).collect();
    for word in &attribute.fixed {
        let names = names(schema, &results);
        if !names.contains(&word.to_string()) {
            let hint = hint(&word.to_string(), &names);
            errors.at(word, format!("operator `{operator}` has no argument or result `{word}`; {hint}"));
        }
    }
    let is_fixed = |name: &str| fixed.iter().any(|word| word == name);
    let inputs: Vec<usize> = schema
        .arguments
        .iter()
        .enumerate()
        .filter(|(_, argument)| {
            argument.ty.is_tensor_like() && !argument.is_out() && !is_fixed(&rust_name(&argument.name).to_string())
        })
        .map(|(i, _)| i)
        .collect();
    let differentiable: Vec<bool> =
        (0..results.len()).map(|i| !result_names(i, &results).iter().any(|name| is_fixed(name))).collect();
    if results.is_empty() {
        errors.at(
            &function.ident,
            format!("operator `{operator}` gives no tensor, so it has no derivative; write `not_differentiable!`"),
        );
        return None;
    }
    let parameters: Vec<Option<Taken>> = signature::parameters(function)
        .iter()
        .map(|parameter| taken(parameter, schema, &results, &differentiable, errors))
        .collect();
    let mut parameters: Vec<Taken> = parameters.into_iter().collect::<Option<_>>()?;
    // A list has as many gradients as tensors, so the gradients have no fixed positions.
    if !inputs.iter().any(|&input| is_list(&schema.arguments[input].ty)) {
        note_purposes(schema, function, &mut parameters);
    }
    check_gradients(schema, &results, &differentiable, &parameters, function, errors);
    let returns_result = check_return(schema, &inputs, function, errors)?;
    Some(Derivative { inputs, results: differentiable, parameters, returns_result })
}

fn note_purposes(schema: &Schema, function: &Signature, parameters: &mut [Taken]) {
    for taken in parameters {
        if let Taken::Argument { at, outline: false, purpose } = taken {
            let argument = &schema.arguments[*at];
            if argument.ty.is_tensor_like() && !is_list(&argument.ty) {
                *purpose = purpose::read(&rust_name(&argument.name), function);
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
fn result_names(i: usize, results: &[TensorResult]) -> Vec<String> {
    let mut names = vec![if results.len() == 1 { "result".to_owned() } else { format!("result{i}") }];
    names.extend(results[i].name.as_deref().map(|name| rust_name(name).to_string()));
    names
}

fn names(schema: &Schema, results: &[TensorResult]) -> Vec<String> {
    let arguments = schema.arguments.iter().map(|argument| rust_name(&argument.name).to_string());
    arguments.chain((0..results.len()).flat_map(|i| result_names(i, results))).collect()
}

fn hint(word: &str, names: &[String]) -> String {
    match dispatch_schema::suggest(word, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    }
}

fn taken(
    parameter: &Parameter,
    schema: &Schema,
    results: &[TensorResult],
    differentiable: &[bool],
    errors: &mut Errors,
) -> Option<Taken> {
    let operator = &schema.name;
    let Some(name) = &parameter.name else {
        errors.at(&parameter.whole, "a derivative takes what it needs by name; name this parameter");
        return None;
    };
    let plain = name.to_string();
    let ty = RustType::written(&parameter.ty);
    if let Some(at) = schema.arguments.iter().position(|argument| *name == rust_name(&argument.name)) {
        let want = RustType::of_argument(&schema.arguments[at])?.shared();
        return saved(parameter, &ty, want.text(), errors).map(|outline| Taken::Argument {
            at,
            outline,
            purpose: purpose::EVERY,
        });
    }
    if let Some(at) = (0..results.len()).find(|&i| result_names(i, results).contains(&plain)) {
        let want = if is_list(&results[at].ty) { "&[Tensor]" } else { "&Tensor" };
        return saved(parameter, &ty, want, errors).map(|outline| Taken::Result { at, outline });
    }
    match plain.as_str() {
        "needs" => expect(parameter, &ty, &["&[bool]"], errors).then_some(Taken::Needs),
        "grads" if results.len() == 1 && is_list(&results[0].ty) => {
            expect(parameter, &ty, &["&[Option<Tensor>]"], errors).then_some(Taken::Gradients)
        }
        gradient if gradient.starts_with("grad") => {
            let result = gradient_of(name, results, differentiable, schema, errors)?;
            expect(parameter, &ty, &["&Tensor", "Option<&Tensor>"], errors)
                .then(|| Taken::Gradient { result, optional: ty.is_optional() })
        }
        _ => {
            let hint = hint(&plain, &names(schema, results));
            errors.at(name, format!("`{name}` is neither an argument nor a result of operator `{operator}`; {hint}"));
            None
        }
    }
}

fn is_list(ty: &Type) -> bool {
    matches!(ty.required().kind, TypeKind::List(..))
}

/// Returns whether only the outline of a saved tensor is requested, or of each tensor in a list.
fn saved(parameter: &Parameter, ty: &RustType, want: &str, errors: &mut Errors) -> Option<bool> {
    let outline = matches!((ty.text(), want), ("&Outline", "&Tensor") | ("&[Outline]", "&[Tensor]"));
    (outline || expect(parameter, ty, &[want], errors)).then_some(outline)
}

fn expect(parameter: &Parameter, ty: &RustType, wanted: &[&str], errors: &mut Errors) -> bool {
    let fits = wanted.contains(&ty.text());
    if !fits {
        let name = parameter.name.to_token_stream();
        let wanted = wanted.iter().map(|ty| format!("`{ty}`")).collect::<Vec<_>>().join(" or ");
        errors.at(&parameter.ty, format!("a derivative takes `{name}` as {wanted}, not as `{}`", ty.text()));
    }
    fits
}

/// Returns the result whose gradient a parameter is: `grad`, `grad1`, or `grad_` and the name of the result.
fn gradient_of(
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
        Some(at) if differentiable[at] && !is_list(&results[at].ty) => Some(at),
        Some(at) if is_list(&results[at].ty) => {
            errors.at(name, format!("operator `{operator}` gives a list of tensors; take `grads: &[Option<Tensor>]`"));
            None
        }
        Some(_) => {
            errors.at(name, format!("`{name}` is the gradient of a result that is `not_differentiable`"));
            None
        }
        None => {
            let each = gradient_names(&candidates, results);
            errors.at(name, format!("operator `{operator}` has no such result; its gradients are {each}"));
            None
        }
    }
}

fn gradient_names(candidates: &[usize], results: &[TensorResult]) -> String {
    let each = candidates.iter().map(|&i| match &results[i].name {
        _ if candidates.len() == 1 => "`grad`".to_owned(),
        Some(name) => format!("`grad_{name}`"),
        None => format!("`grad{i}`"),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Reports results whose gradient no parameter takes: it would be lost.
fn check_gradients(
    schema: &Schema,
    results: &[TensorResult],
    differentiable: &[bool],
    parameters: &[Taken],
    function: &Signature,
    errors: &mut Errors,
) {
    if parameters.iter().any(|taken| matches!(taken, Taken::Gradients)) {
        return;
    }
    let lost: Vec<usize> = (0..results.len())
        .filter(|&i| differentiable[i])
        .filter(|&i| !parameters.iter().any(|taken| matches!(taken, Taken::Gradient { result, .. } if *result == i)))
        .collect();
    if lost.is_empty() || !errors.is_empty() {
        return;
    }
    let all: Vec<usize> = (0..results.len()).filter(|&i| differentiable[i]).collect();
    let operator = &schema.name;
    let missing = if results.len() == 1 && is_list(&results[0].ty) {
        "take `grads: &[Option<Tensor>]`".to_owned()
    } else if all.len() == 1 {
        "take `grad: &Tensor`".to_owned()
    } else {
        let fixed = result_names(lost[0], results).pop().unwrap_or_default();
        let lost = gradient_names(&all, results);
        format!("its gradients are {lost}; a result that has none is `not_differentiable({fixed})`")
    };
    errors.at(
        &function.ident,
        format!("the derivative of operator `{operator}` does not take every gradient; {missing}"),
    );
}

/// Reports a number of gradients that differs from the number of inputs. Returns whether the gradients are returned in a `Result`.
fn check_return(schema: &Schema, inputs: &[usize], function: &Signature, errors: &mut Errors) -> Option<bool> {
    let operator = &schema.name;
    let list = inputs.iter().map(|&i| format!("`{}`", schema.arguments[i].name)).collect::<Vec<_>>().join(", ");
    let ReturnType::Type(_, ty) = &function.output else {
        errors.at(
            &function.ident,
            format!("the derivative of operator `{operator}` gives a gradient for each of {list}"),
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
            0 => "it has no differentiable input".to_owned(),
            1 => format!("it is differentiable by {list}"),
            _ => format!("it is differentiable by {list}, in this order"),
        };
        errors.at(
            ty,
            format!(
                "the derivative of operator `{operator}` gives {gradients}, but {wanted}; an argument that has none is \
                 `not_differentiable(argument)`"
            ),
        );
        return None;
    }
    Some(returns_result)
}
