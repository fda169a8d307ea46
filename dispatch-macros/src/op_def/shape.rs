//! The shape word of a definition: its check against the schema, and its expansion to data of the operator.

use dispatch_schema::{Argument, Schema, TypeKind};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

use super::Definition;
use super::attribute::{Attribute, ShapeWord};
use crate::errors::Errors;
use crate::syntax::signature::rust_argument_name;

/// The words for the dtype of a result, and the variant of `Promotion` for each.
const RESULT_DTYPE_WORDS: [(&str, &str); 7] = [
    ("common", "Common"),
    ("float", "Float"),
    ("first", "First"),
    ("real", "Real"),
    ("sum", "Sum"),
    ("bool", "Bool"),
    ("index", "Index"),
];

/// The words for the dtypes in which an operator computes, and their dtypes.
const COMPUTE_DTYPE_WORDS: [(&str, &[&str]); 4] = [
    ("floating", &["f32", "f64"]),
    ("integral", &["i64"]),
    ("complex", &["c64", "c128"]),
    ("all", &["f32", "f64", "i64", "c64", "c128"]),
];

/// A shape word without mistakes.
#[derive(Clone)]
pub(super) enum CheckedShapeWord {
    Pointwise { operands: Vec<usize>, dtype: &'static str, dtypes: Vec<&'static str> },
    Reduce { dims: Option<usize>, keepdim: Option<usize>, dtype: &'static str },
    Product(String),
}

pub(super) fn check_shape_word(
    attribute: &Attribute,
    schema: &Schema,
    is_composite: bool,
    errors: &mut Errors,
) -> Option<CheckedShapeWord> {
    let dtype = match &attribute.dtype {
        None => "Common",
        Some(word) => match RESULT_DTYPE_WORDS.iter().find(|(name, _)| word == name) {
            Some((_, variant)) => variant,
            None => {
                let known = RESULT_DTYPE_WORDS.map(|(name, _)| name);
                let hint = match dispatch_schema::suggest(&word.to_string(), known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the words are {}", known.join(", ")),
                };
                errors.add_at(word, format!("`{word}` is not a dtype of results; {hint}"));
                return None;
            }
        },
    };
    let Some(shape) = &attribute.shape else {
        if let Some(word) = attribute.float8.as_ref().filter(|_| attribute.plan.is_none()) {
            errors.add_at(word, "`float8` needs a plan or a shape word; write `plan` too");
        }
        let options = [
            attribute.dtype.as_ref().map(|word| ("dtype", word)),
            attribute.dtypes.as_ref().map(|dtypes| ("dtypes", &dtypes.option)),
            attribute.check.as_ref().filter(|_| !is_composite).map(|check| ("check", &check.option)),
        ];
        for (option, word) in options.into_iter().flatten() {
            let or = if option == "check" { " or a body" } else { "" };
            errors.add_at(word, format!("`{option}` needs a shape word{or}; write `shape = pointwise` too"));
        }
        return None;
    };
    if let ShapeWord::Reduce { .. } | ShapeWord::Product(_) = shape {
        for word in
            [attribute.dtypes.as_ref().map(|dtypes| &dtypes.option), attribute.float8.as_ref()].into_iter().flatten()
        {
            errors.add_at(word, format!("`{word}` is an option of elementwise operators; leave it out"));
        }
    }
    let dtypes =
        attribute.dtypes.as_ref().map(|dtypes| dtypes_of_compute_words(&dtypes.words, errors)).unwrap_or_default();
    if let [ret] = &schema.returns[..]
        && ret.ty.kind == TypeKind::Tensor
    {
    } else {
        let operator = &schema.name;
        errors.add_at(tokens_to_underline(shape), format!("a shape word describes one tensor, but operator `{operator}` returns something else; write an `#[op_meta]` kernel"));
        return None;
    }
    Some(match shape {
        ShapeWord::Pointwise { operands } if operands.is_empty() => {
            let tensors = (0..schema.arguments.len()).filter(|&i| is_read_tensor(&schema.arguments[i]));
            CheckedShapeWord::Pointwise { operands: tensors.collect(), dtype, dtypes }
        }
        ShapeWord::Pointwise { operands } => {
            let operands: Option<Vec<usize>> =
                operands.iter().map(|name| find_argument(name, schema, errors)).collect();
            CheckedShapeWord::Pointwise { operands: operands?, dtype, dtypes }
        }
        ShapeWord::Reduce { dims } => {
            let keepdim = schema.arguments.iter().position(|argument| argument.name == "keepdim");
            let dims = match dims {
                Some(dims) => Some(find_argument(dims, schema, errors)?),
                None => None,
            };
            CheckedShapeWord::Reduce { dims, keepdim, dtype }
        }
        ShapeWord::Product(letters) => {
            let text = letters.value();
            check_product_letters(letters, &text, schema, errors)?;
            CheckedShapeWord::Product(text)
        }
    })
}

/// Returns the dtypes for which the words stand, by their names in Rust.
fn dtypes_of_compute_words(words: &[Ident], errors: &mut Errors) -> Vec<&'static str> {
    let mut dtypes = Vec::new();
    for word in words {
        match COMPUTE_DTYPE_WORDS.iter().find(|(name, _)| word == name) {
            Some((_, all)) => dtypes.extend(*all),
            None => {
                let known = COMPUTE_DTYPE_WORDS.map(|(name, _)| name);
                let hint = match dispatch_schema::suggest(&word.to_string(), known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the groups are {}", known.join(", ")),
                };
                errors.add_at(word, format!("`{word}` is not a group of dtypes; {hint}"));
            }
        }
    }
    dtypes
}

/// Returns the dtypes of operands that are computed in this dtype, as variants of `DType`.
fn accepted_dtypes(compute_dtype: &str) -> &'static [&'static str] {
    match compute_dtype {
        "f32" => &["F16", "BF16", "F32"],
        "f64" => &["F64"],
        "c64" => &["C64"],
        "c128" => &["C128"],
        _ => &["U8", "I8", "I16", "I32", "I64", "Bool"],
    }
}

fn tokens_to_underline(shape: &ShapeWord) -> TokenStream {
    match shape {
        ShapeWord::Pointwise { operands } => quote!(#(#operands)*),
        ShapeWord::Reduce { dims } => dims.to_token_stream(),
        ShapeWord::Product(letters) => letters.to_token_stream(),
    }
}

fn is_read_tensor(argument: &Argument) -> bool {
    argument.ty.without_optional().kind == TypeKind::Tensor && !argument.is_written()
}

fn find_argument(name: &Ident, schema: &Schema, errors: &mut Errors) -> Option<usize> {
    let found = schema
        .arguments
        .iter()
        .position(|argument| *name == argument.name || *name == rust_argument_name(&argument.name));
    if found.is_none() {
        let names: Vec<&str> = schema.arguments.iter().map(|argument| argument.name.as_str()).collect();
        let hint = match dispatch_schema::suggest(&name.to_string(), names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has {}", names.join(", ")),
        };
        errors.add_at(name, format!("operator `{}` has no argument `{name}`; {hint}", schema.name));
    }
    found
}

fn check_product_letters(at: impl ToTokens, text: &str, schema: &Schema, errors: &mut Errors) -> Option<()> {
    let tensors = schema.arguments.iter().take_while(|argument| is_read_tensor(argument)).count();
    let Some((inputs, output)) = text.split_once("->") else {
        errors.add_at(at, format!("`{text}` has no result; write `->` and the letters of the result"));
        return None;
    };
    let words: Vec<&str> = inputs.split(',').collect();
    if let Some(odd) = text.replace("->", "").chars().find(|c| *c != ',' && !c.is_ascii_lowercase()) {
        errors
            .add_at(at, format!("`{odd}` in `{text}` is not a lower-case letter; write one letter for each dimension"));
    } else if words.len() != tensors {
        let operator = &schema.name;
        errors.add_at(
            at,
            format!(
                "`{text}` has the letters of {} tensors, but operator `{operator}` begins with {tensors}; write the letters of each tensor",
                words.len()
            ),
        );
    } else if let Some(new) = output.chars().find(|c| !inputs.contains(*c)) {
        errors.add_at(at, format!("dimension `{new}` of the result of `{text}` is in no argument, so its size is unknown; use a letter of the arguments"));
    } else {
        return Some(());
    }
    None
}

impl Definition {
    /// Generates the `Option<ShapeWord>` of the operator.
    pub(super) fn shape_word_tokens(&self) -> TokenStream {
        let runtime = &self.runtime;
        let option = |position: &Option<usize>| match position {
            Some(position) => quote!(::core::option::Option::Some(#position)),
            None => quote!(::core::option::Option::None),
        };
        let promotion = |dtype: &str| {
            let dtype = Ident::new(dtype, Span::call_site());
            quote!(#runtime::Promotion::#dtype)
        };
        let shape = match &self.shape {
            None => return quote!(::core::option::Option::None),
            Some(CheckedShapeWord::Pointwise { operands, dtype, dtypes }) => {
                let dtype = promotion(dtype);
                let dtypes = dtypes.iter().flat_map(|name| accepted_dtypes(name));
                let dtypes = dtypes.map(|name| Ident::new(name, Span::call_site()));
                let float8 = self.float8;
                let names = operands.iter().map(|&at| &self.schema.arguments[at].name);
                quote! {
                    Pointwise {
                        operands: &[#(#operands),*],
                        names: &[#(#names),*],
                        dtype: #dtype,
                        dtypes: &[#(#runtime::DType::#dtypes),*],
                        float8: #float8,
                    }
                }
            }
            Some(CheckedShapeWord::Reduce { dims, keepdim, dtype }) => {
                let (dims, keepdim, dtype) = (option(dims), option(keepdim), promotion(dtype));
                quote!(Reduce { dims: #dims, keepdim: #keepdim, dtype: #dtype })
            }
            Some(CheckedShapeWord::Product(letters)) => quote!(Product { letters: #letters }),
        };
        quote!(::core::option::Option::Some(#runtime::ShapeWord::#shape))
    }
}
