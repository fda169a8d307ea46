//! Rules for the number of floating-point operations of a call.

use dispatch_runtime::{Operator, ShapeWord, Tensor, Value};

/// Operators with the shape word `pointwise` that only move elements.
const DATA_MOVEMENT_OPERATORS: [&str; 4] = ["fill", "zero", "where", "masked_fill"];

/// Returns the number of operations of a call, or `None` if its parts are to be counted. An in-place or `out=` form counts as its
/// functional operator.
pub(super) fn count_flops(operator: &Operator, arguments: &[Value]) -> Option<u64> {
    let functional = operator.functional().unwrap_or(operator);
    let (name, word) = (functional.name(), functional.shape_word());
    let rule = if name.namespace == "aten" { aten_flops(name.base, arguments) } else { None };
    rule.or_else(|| match word? {
        ShapeWord::Pointwise { .. } if name.namespace == "aten" && DATA_MOVEMENT_OPERATORS.contains(&name.base) => {
            Some(0)
        }
        ShapeWord::Pointwise { .. } => {
            let inputs = &arguments[..functional.argument_count().min(arguments.len())];
            let results = functional.infer_results(&inputs.iter().cloned().collect()).ok()?;
            Some(size_product(results.values().first()?.as_tensor()?.sizes()))
        }
        ShapeWord::Reduce { .. } => argument_element_count(arguments, 0),
        ShapeWord::Product { letters } => product_flops(letters, arguments, 0),
        _ => None,
    })
}

/// Returns the number of operations of an operator of `aten` without a shape word. Arguments are in the order of the schema.
fn aten_flops(base: &str, arguments: &[Value]) -> Option<u64> {
    let with_addition = |letters: &str| {
        Some(product_flops(letters, arguments, 1)? + product_result_element_count(letters, arguments, 1)?)
    };
    match base {
        "addmm" => with_addition("mk,kn->mn"),
        "baddbmm" => with_addition("bmk,bkn->bmn"),
        "addbmm" => with_addition("bmk,bkn->mn"),
        "addmv" => with_addition("mk,k->m"),
        "addr" => with_addition("m,n->mn"),
        "_int_mm" | "_scaled_mm" | "_scaled_mm_v2" => product_flops("mk,kn->mn", arguments, 0),
        "_weight_int8pack_mm" => product_flops("mk,nk->mn", arguments, 0),
        "_weight_int4pack_mm_for_cpu" | "_dyn_quant_matmul_4bit" => {
            let columns = tensor_argument(arguments, 0)?;
            let rows = match arguments.get(4) {
                Some(Value::Int(rows)) => *rows,
                _ => *tensor_argument(arguments, 1)?.sizes().first()?,
            };
            Some(2 * size_product(columns.sizes()) * size_product(&[rows]))
        }
        "convolution" => {
            let (image, weight, transposed) =
                (tensor_argument(arguments, 0)?, tensor_argument(arguments, 1)?, bool_argument(arguments, 6)?);
            let result = conv_result_element_count(image, weight, arguments, transposed)?;
            let positions = if transposed { size_product(image.sizes()) } else { result };
            Some(2 * positions * products_per_element(weight)? + tensor_argument(arguments, 2).map_or(0, |_| result))
        }
        // Each requested gradient of image and weight costs as much as the forward convolution.
        "convolution_backward" => {
            let [out, image, weight] = [0, 1, 2].map(|i| tensor_argument(arguments, i));
            let Value::Bools(wanted) = arguments.get(10)? else { return None };
            let &[of_image, of_weight, of_bias] = &wanted[..] else { return None };
            let result = size_product(out?.sizes());
            let positions = if bool_argument(arguments, 7)? { size_product(image?.sizes()) } else { result };
            let sums = u64::from(of_image) + u64::from(of_weight);
            Some(sums * 2 * positions * products_per_element(weight?)? + u64::from(of_bias) * result)
        }
        "_scaled_dot_product_flash_attention_for_cpu" => attention_flops(arguments, 0, [1, 1]),
        // The backward pass recomputes the scores, and takes two products with the width of the keys, and two with that of the values.
        "_scaled_dot_product_flash_attention_for_cpu_backward" => attention_flops(arguments, 1, [3, 2]),
        _ => None,
    }
}

/// Returns the operations of attention: `by_keys` products of every query with every key over the width of a key, and `by_values` over that
/// of a value.
fn attention_flops(arguments: &[Value], first: usize, [by_keys, by_values]: [u64; 2]) -> Option<u64> {
    let [query, key, value] = [0, 1, 2].map(|i| tensor_argument(arguments, first + i));
    let (&[batch, heads, queries, width], &[.., keys, _], &[.., value_width]) =
        (query?.sizes(), key?.sizes(), value?.sizes())
    else {
        return None;
    };
    Some(
        2 * size_product(&[batch, heads, queries, keys])
            * (by_keys * size_product(&[width]) + by_values * size_product(&[value_width])),
    )
}

/// Returns the number of products per element of the result (of the image if transposed): the weight's elements over its first dimension.
fn products_per_element(weight: &Tensor) -> Option<u64> {
    size_product(weight.sizes()).checked_div(size_product(weight.sizes().get(..1)?))
}

/// Returns the number of elements of a convolution's result.
fn conv_result_element_count(image: &Tensor, weight: &Tensor, arguments: &[Value], transposed: bool) -> Option<u64> {
    let at = |list: usize, i: usize| match arguments.get(list)? {
        Value::Ints(list) => list.get(i).or_else(|| list.first()).copied(),
        _ => None,
    };
    let Value::Int(groups) = arguments.get(8)? else { return None };
    let mut sizes = vec![
        *image.sizes().first()?,
        if transposed { weight.sizes().get(1)? * groups } else { *weight.sizes().first()? },
    ];
    for (i, (size, kernel)) in image.sizes().get(2..)?.iter().zip(weight.sizes().get(2..)?).enumerate() {
        let (stride, padding, reach) = (at(3, i)?, 2 * at(4, i)?, at(5, i)? * (kernel - 1));
        sizes.push(if transposed {
            (size - 1) * stride - padding + reach + at(7, i)? + 1
        } else {
            (size + padding - reach - 1).checked_div(stride)? + 1
        });
    }
    Some(size_product(&sizes))
}

/// Returns the number of operations of a product with the dimensions `letters`: two for every combination of indices. The first group of
/// letters is the dimensions of the argument at index `first`.
fn product_flops(letters: &str, arguments: &[Value], first: usize) -> Option<u64> {
    Some(2 * size_product(&letter_sizes(letters, arguments, first)?.iter().map(|&(_, size)| size).collect::<Vec<_>>()))
}

fn product_result_element_count(letters: &str, arguments: &[Value], first: usize) -> Option<u64> {
    let sizes = letter_sizes(letters, arguments, first)?;
    let result = letters.split("->").nth(1)?;
    let kept = sizes.iter().filter(|(letter, _)| result.contains(*letter)).map(|&(_, size)| size);
    Some(size_product(&kept.collect::<Vec<_>>()))
}

/// Returns every dimension letter of a product once, with the size of that dimension.
fn letter_sizes(letters: &str, arguments: &[Value], first: usize) -> Option<Vec<(char, i64)>> {
    let mut known: Vec<(char, i64)> = Vec::new();
    for (i, word) in letters.split("->").next()?.split(',').enumerate() {
        for (letter, &size) in word.chars().zip(tensor_argument(arguments, first + i)?.sizes()) {
            if known.iter().all(|&(other, _)| other != letter) {
                known.push((letter, size));
            }
        }
    }
    Some(known)
}

fn tensor_argument(arguments: &[Value], at: usize) -> Option<&Tensor> {
    arguments.get(at)?.as_tensor()
}

fn bool_argument(arguments: &[Value], at: usize) -> Option<bool> {
    if let Value::Bool(flag) = arguments.get(at)? { Some(*flag) } else { None }
}

fn argument_element_count(arguments: &[Value], at: usize) -> Option<u64> {
    Some(size_product(tensor_argument(arguments, at)?.sizes()))
}

fn size_product(sizes: &[i64]) -> u64 {
    sizes.iter().fold(1, |product: u64, size| product.saturating_mul(size.unsigned_abs()))
}
