//! `#[op_def]`: the definition of an operator.
//!
//! It expands to one name in three namespaces: a function, which calls the operator; an empty enum, which carries the operator's types; and
//! a macro, which is the named form of a call and passes the schema to `#[op_impl]`.

mod attribute;
mod each;
mod expand;
mod forms;
mod plan;
mod records;
mod shape;
mod stub;

use dispatch_schema::{Argument, OperatorName, Schema, TypeKind};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Expr, ExprCall, parse_quote};

use crate::crate_path;
use crate::duplicate_definition;
use crate::errors::Errors;
use crate::syntax::function::Function;
use crate::syntax::infer_schema;
use crate::syntax::rust_type::RustType;
use crate::syntax::schema_source::SchemaSource;
use crate::syntax::signature;
use attribute::Attribute;

/// A definition without mistakes.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the attribute")]
struct Definition {
    function: Function,
    schema: Schema,
    /// Whether the schema contains the namespace. Otherwise it is the crate's name, which generated code knows better than the environment.
    has_explicit_namespace: bool,
    types: Vec<RustType>,
    /// The argument names in generated functions. They cannot clash with names that a user writes.
    names: Vec<Ident>,
    /// The Rust operator, such as `Add`, that calls the defined operator.
    rust_operator: Option<Ident>,
    shape: Option<shape::CheckedShapeWord>,
    /// The check of the arguments (`check = ..`): it adds to the shape word or, for a composite, gives a better error if the body fails.
    check: Option<Expr>,
    data_dependent: bool,
    /// Whether the operator accepts float8 dtypes.
    float8: bool,
    /// Whether the operator's plan is a function under `#[op_plan]`.
    plan: bool,
    /// The key of the body, if it is not `CompositeImplicitAutograd`.
    body_key: Option<Expr>,
    /// The call of another operator that defines this one. Forms of this operator call forms of the other one.
    defining_call: Option<ExprCall>,
    /// The call of another operator for each element of the lists. Forms of this operator call forms of the other one.
    element_call: Option<ExprCall>,
    /// The same call as `defining_call`, which is kept for forms too. It translates argument names in errors to those of this operator.
    call_for_error_names: Option<ExprCall>,
    /// The functional operator, if this is a form.
    functional: Option<Ident>,
    /// The schemas of the operator's forms.
    forms: Vec<Schema>,
    runtime: TokenStream,
}

pub(crate) fn expand(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let mut function = match Function::parse_under_attribute("op_def", item) {
        Ok(function) => function,
        Err(item) => return item,
    };
    let mut errors = Errors::default();
    let attribute = Attribute::parse(attribute, &mut errors);
    match check_definition(&mut function, &attribute, &mut errors) {
        Some(checked) if errors.is_empty() => {
            let (operator, name) = (&checked.schema.name, &function.signature.ident);
            if let Some(location) = duplicate_definition::record_and_find_duplicate(&operator.to_string(), name.span())
            {
                // The first definition is kept, and this one is reported. A second one, or a stub of it, would clash with it.
                errors.add_at(
                    name,
                    format!("operator `{operator}` is defined twice in this crate; remove one definition; the other one is at {location}"),
                );
                return quote!(#errors);
            }
            expand::expand_definition(&checked.into_definition(function, attribute))
        }
        _ => {
            let stub = stub::expand(function);
            quote!(#errors #stub)
        }
    }
}

/// A schema that matches the function under it.
struct CheckedSchema {
    schema: Schema,
    has_explicit_namespace: bool,
    types: Vec<RustType>,
    shape: Option<shape::CheckedShapeWord>,
    forms: Vec<Schema>,
}

impl CheckedSchema {
    fn into_definition(self, function: Function, attribute: Attribute) -> Definition {
        let Self { schema, has_explicit_namespace, types, shape, forms } = self;
        let hygienic = |argument: &Argument| {
            let mut name = signature::rust_argument_name(&argument.name);
            name.set_span(Span::mixed_site());
            name
        };
        let names = schema.arguments.iter().map(hygienic).collect();
        let runtime = crate_path::runtime_path();
        let (rust_operator, data_dependent) = (attribute.rust_operator, attribute.data_dependent.is_some());
        let float8 = attribute.float8.is_some();
        let (plan, check) = (attribute.plan.is_some(), attribute.check.map(|check| check.condition));
        let call = |call: Expr| match call {
            Expr::Call(call) => call,
            other => {
                let same = schema.arguments.iter().map(|argument| signature::rust_argument_name(&argument.name));
                parse_quote!(#other(#(#same),*))
            }
        };
        let (calls, body_key) = (attribute.calls.map(call), attribute.body.map(|body| body.key));
        let each = attribute.each;
        let function = match (&calls, &each) {
            (Some(call), _) => function.with_body_expression(call),
            (None, Some(call)) => {
                let body = each::call_for_each_element(&function.signature.ident, &schema, call, None);
                function.with_body_expression(&body)
            }
            (None, None) => function,
        };
        Definition {
            function,
            schema,
            has_explicit_namespace,
            types,
            names,
            rust_operator,
            shape,
            check,
            data_dependent,
            float8,
            plan,
            body_key,
            call_for_error_names: calls.clone(),
            defining_call: calls,
            element_call: each,
            functional: None,
            forms,
            runtime,
        }
    }
}

fn check_definition(function: &mut Function, attribute: &Attribute, errors: &mut Errors) -> Option<CheckedSchema> {
    let elided = function.take_elided_parameters();
    function.check_no_qualifiers("an operator", errors);
    function.check_not_generic("an operator", errors);
    if !errors.is_empty() {
        return None;
    }
    let mut schema = match (&attribute.schema, elided) {
        (Some(source), _) => source.parse(errors)?,
        (None, None) => {
            infer_schema::infer_schema(&function.signature, &signature::parameters(&function.signature), errors)?
        }
        (None, Some(dots)) => {
            errors.add_at(dots, "`_: ...` stands for the arguments of the schema; write the schema, or the parameters");
            return None;
        }
    };
    if let Some(dots) = elided {
        if !function.signature.inputs.is_empty() {
            errors.add_at(dots, "`_: ...` stands for all arguments of the schema; leave out the others");
            return None;
        }
        let runtime = crate_path::runtime_path();
        function
            .signature
            .inputs
            .extend(signature::parameters_for_schema(&schema, dots, |_, ty| Some(ty.tokens(&runtime))));
    }
    let signature = &function.signature;
    let parameters = signature::parameters(signature);
    let has_explicit_namespace = schema.name.namespace.is_some();
    if !has_explicit_namespace {
        schema.name.namespace = crate_path::current_crate_name();
    }
    check_schema(&schema, attribute.schema.as_ref(), &signature.ident, errors);
    check_function_name(&signature.ident, &schema.name, errors);
    let types: Vec<RustType> = schema.arguments.iter().filter_map(RustType::from_argument).collect();
    if elided.is_some() {
        signature::check_return_type(signature, &schema, errors);
    } else if errors.is_empty() && signature::check_parameter_count("function", signature, &parameters, &schema, errors)
    {
        signature::check_parameter_order(&parameters, &schema, errors);
        signature::check_parameter_names(&parameters, &schema, errors);
        if errors.is_empty() {
            signature::check_parameter_types(signature, &parameters, &types, &schema, errors);
        }
    }
    if let Some(rust_operator) = &attribute.rust_operator {
        check_rust_operator(rust_operator, &schema, errors);
    }
    if let (Some(call), Some(_)) = (&attribute.calls, &function.body) {
        errors.add_at(call, "`calls` and a body exclude each other; leave one out");
    }
    if let Some(body) = &attribute.body
        && function.body.is_none()
        && attribute.calls.is_none()
        && attribute.each.is_none()
    {
        errors.add_at(
            &body.option,
            "`body` is the key of the body, but the function has no body; write one, or leave `body` out",
        );
    }
    if let (Some(word), Some(_)) = (&attribute.plan, &attribute.shape) {
        errors.add_at(word, "`shape` and `plan` exclude each other; leave one out");
    }
    if let Some(call) = &attribute.each {
        if function.body.is_some() || attribute.calls.is_some() {
            errors.add_at(call, "`each` is a body, so `calls` or another body excludes it; leave one out");
        }
        if !schema.arguments.iter().any(|argument| matches!(argument.ty.kind, TypeKind::List(..))) {
            let message = format!("operator `{}` takes no list, so `each` has no elements; write `calls`", schema.name);
            errors.add_at(call, message);
        }
    }
    let has_body = function.body.is_some() || attribute.calls.is_some() || attribute.each.is_some();
    let is_composite = has_body && attribute.plan.is_none();
    let shape = shape::check_shape_word(attribute, &schema, is_composite, errors);
    let forms = forms::form_schemas(attribute, &schema, errors);
    Some(CheckedSchema { schema, has_explicit_namespace, types, shape, forms })
}

/// The largest numbers of arguments and results for which the runtime has adapters. PyTorch's operators have up to 30 arguments.
const MAX_ARGUMENTS: usize = 32;
const MAX_RESULTS: usize = 16;

/// Reports parts of a schema that the schema language allows and no operator can have.
fn check_schema(schema: &Schema, source: Option<&SchemaSource>, function: &Ident, errors: &mut Errors) {
    let operator = &schema.name;
    let mut at = |word: &str, message: String| match source {
        Some(source) => errors.add_at(source.tokens_of_word(word), message),
        None => errors.add_at(function, message),
    };
    if schema.varargs || schema.varreturns {
        let message = format!(
            "operator `{operator}` has `...`, but a function has fixed numbers of arguments and results; write each"
        );
        at("...", message);
    }
    if let Some(one_more) = schema.arguments.get(MAX_ARGUMENTS) {
        at(
            &one_more.name,
            format!("operator `{operator}` has more than {MAX_ARGUMENTS} arguments; combine some into lists"),
        );
    }
    if schema.returns.len() > MAX_RESULTS {
        at("->", format!("operator `{operator}` has more than {MAX_RESULTS} results; combine some into a list"));
    }
    for (i, ret) in schema.returns.iter().enumerate() {
        if ret.ty.is_written() && schema.written_argument_of_return(i).is_none() {
            let message = format!(
                "operator `{operator}` returns a written `{}`, but no argument has that alias; annotate one",
                ret.ty
            );
            at("->", message);
        }
        if let Some(written) = schema.written_argument_of_return(i)
            && (0..i).any(|before| schema.written_argument_of_return(before) == Some(written))
        {
            let name = &schema.arguments[written].name;
            let message = format!(
                "operator `{operator}` returns its written argument `{name}` twice; leave one out, \
                 or give it the alias of another argument"
            );
            at("->", message);
        }
    }
    for (i, argument) in schema.arguments.iter().enumerate() {
        let (name, ty) = (&argument.name, &argument.ty);
        let in_rust = signature::rust_argument_name(name);
        if !signature::is_valid_rust_name(name) {
            let instead = if name == "_" { "give it a name".to_owned() } else { format!("rename it to `{in_rust}`") };
            at(name, format!("argument `{name}` of operator `{operator}` cannot have this name in Rust; {instead}"));
        } else if let Some(before) =
            schema.arguments[..i].iter().find(|before| signature::rust_argument_name(&before.name) == in_rust)
        {
            let before = &before.name;
            let message = format!(
                "arguments `{before}` and `{name}` of operator `{operator}` are both `{in_rust}` in Rust; rename one"
            );
            at(name, message);
        }
        if RustType::from_argument(argument).is_none() {
            let message = format!(
                "argument `{name}` of operator `{operator}` is `{ty}`, but dispatch does not read nested lists; \
                 write `Tensor[]`, or one argument for each list"
            );
            at(name, message);
        } else if argument.is_written() && RustType::from_argument(argument).is_some_and(|ty| ty.has_no_reference()) {
            let message = format!(
                "argument `{name}` of operator `{operator}` is `{ty}`, which is passed by value and cannot be written; \
                 leave the alias annotation out"
            );
            at(name, message);
        }
    }
}

/// Reports a function that does not have the Rust name of its operator.
fn check_function_name(function: &Ident, name: &OperatorName, errors: &mut Errors) {
    let written = function.to_string();
    let written = written.trim_start_matches("r#");
    let rust_name = name.rust_name();
    let drops_tensor = name.overload == "Tensor" && written == name.base;
    if written != rust_name && !drops_tensor {
        errors.add_at(
            function,
            format!("operator `{name}` is `{rust_name}` in Rust, not `{written}`; rename the function or the operator"),
        );
    }
}

/// The Rust operators that an operator can implement, and their numbers of tensors.
const RUST_OPERATORS: [(&str, usize); 13] = [
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
    ("Assign", 2),
];

fn check_rust_operator(rust_operator: &Ident, schema: &Schema, errors: &mut Errors) {
    let Some((_, tensors)) = RUST_OPERATORS.iter().find(|(name, _)| rust_operator == name) else {
        let names = RUST_OPERATORS.map(|(name, _)| name);
        let hint = match dispatch_schema::suggest(&rust_operator.to_string(), names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the operators are {}", names.map(|name| format!("`{name}`")).join(", ")),
        };
        errors.add_at(rust_operator, format!("`{rust_operator}` is not a Rust operator of tensors; {hint}"));
        return;
    };
    if rust_operator == "Assign" {
        let fits = matches!(&schema.arguments[..], [to, from, rest @ ..]
            if RustType::from_argument(to).is_some_and(|ty| ty.text() == "&mut Tensor")
                && RustType::from_argument(from).is_some_and(|ty| ty.text() == "&Tensor")
                && rest.iter().all(|argument| argument.default.is_some()));
        if !fits || RustType::from_returns(schema).text() != "()" {
            errors.add_at(
                rust_operator,
                format!(
                    "`Assign` writes one tensor and reads another, but operator `{}` does not; leave `operator` out",
                    schema.name
                ),
            );
        }
        return;
    }
    let tensor = |argument: &Argument| RustType::from_argument(argument).is_some_and(|ty| ty.text() == "&Tensor");
    let required = schema.arguments.iter().take_while(|argument| argument.default.is_none());
    let fits = required.clone().count() == *tensors && required.into_iter().all(tensor);
    let rest_has_defaults = schema.arguments.iter().skip(*tensors).all(|argument| argument.default.is_some());
    if !fits || !rest_has_defaults || RustType::from_returns(schema).text() != "Tensor" {
        let count = if *tensors == 1 { "one tensor" } else { "two tensors" };
        errors.add_at(
            rust_operator,
            format!(
                "`{rust_operator}` takes {count} and returns one, but operator `{}` does not; leave `operator` out",
                schema.name
            ),
        );
    }
}
