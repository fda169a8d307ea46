//! Reader of `dtypes.txt`: recorded calls, and the dtypes that PyTorch returns for them under autocast.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

/// An operator with its recorded calls, and its policies in PyTorch's lists, if any.
pub(crate) struct ListedOperator {
    pub(crate) operator: &'static Operator,
    /// The policies of the operator on the CPU and on CUDA.
    pub(crate) policies: [&'static str; 2],
    pub(crate) calls: Vec<Call>,
}

/// One call with the dtypes of its arguments.
pub(crate) struct Call {
    pub(crate) arguments: &'static str,
    /// The result dtypes on the CPU with `bf16` and `f16`, and on CUDA with `f16` and `bf16`.
    pub(crate) results: [&'static str; 4],
}

pub(crate) fn load_recorded_operators() -> Vec<ListedOperator> {
    let mut listed: Vec<ListedOperator> = Vec::new();
    for line in include_str!("dtypes.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('|').map(str::trim);
        let first = fields.next().unwrap();
        let rest: Vec<&str> = fields.collect();
        if line.starts_with(' ') {
            let call = Call { arguments: first, results: rest.try_into().unwrap() };
            listed.last_mut().unwrap().calls.push(call);
        } else {
            let operator = Operator::find(first).unwrap();
            listed.push(ListedOperator { operator, policies: rest.try_into().unwrap(), calls: Vec::new() });
        }
    }
    listed
}

/// Parses the arguments of a call: `f32[2,3]` is a tensor, `(..)` a list of tensors, `?(..)` a list of optional tensors.
pub(crate) fn parse_arguments(operator: &Operator, text: &str, device: Device) -> Vec<Value> {
    let words = split_arguments(text);
    let schema = operator.schema();
    assert_eq!(words.len(), schema.arguments.len(), "{operator} {text}");
    words
        .into_iter()
        .zip(&schema.arguments)
        .map(|(word, argument)| parse_value(word, &argument.ty.to_string(), device))
        .collect()
}

fn split_arguments(text: &str) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let end = match rest.find('(').filter(|&at| at < 2) {
            Some(_) => rest.find(')').unwrap() + 1,
            None => rest.find(' ').unwrap_or(rest.len()),
        };
        words.push(&rest[..end]);
        rest = rest[end..].trim();
    }
    words
}

fn parse_value(word: &str, ty: &str, device: Device) -> Value {
    if let Some(list) = word.strip_prefix("?(") {
        let list = split_arguments(list.trim_end_matches(')'))
            .into_iter()
            .map(|word| Some(parse_tensor(word, device).unwrap()));
        return list.collect::<Vec<_>>().into();
    }
    if let Some(list) = word.strip_prefix('(') {
        let list =
            split_arguments(list.trim_end_matches(')')).into_iter().map(|word| parse_tensor(word, device).unwrap());
        return list.collect::<Vec<_>>().into();
    }
    if let Some(tensor) = parse_tensor(word, device) {
        return tensor.into();
    }
    match word {
        "none" => Value::None,
        "true" | "false" => (word == "true").into(),
        _ if word.starts_with('[') => parse_sizes(word).into(),
        _ if word.starts_with('"') => word.trim_matches('"').into(),
        _ if word.parse::<DType>().is_ok() => word.parse::<DType>().unwrap().into(),
        _ if word.contains('.') || ty.starts_with("float") => word.parse::<f64>().unwrap().into(),
        _ => word.parse::<i64>().unwrap().into(),
    }
}

fn parse_sizes(word: &str) -> Vec<i64> {
    word.trim_matches(['[', ']']).split(',').map(|size| size.parse().unwrap()).collect()
}

/// Creates the tensor of a recorded argument such as `f32[2,3]`. Integers are zeros, so they are valid indices. Other elements are between
/// 0 and 1, where every listed operator is defined.
fn parse_tensor(word: &str, device: Device) -> Option<Tensor> {
    let (dtype, sizes) = (word.split('[').next()?.parse::<DType>().ok()?, parse_sizes(word.get(word.find('[')?..)?));
    let count: i64 = sizes.iter().product();
    let cycle = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(|x| if dtype.is_floating() { x / 16.0 } else { 0.0 });
    let elements: Vec<f64> = cycle.into_iter().cycle().take(usize::try_from(count).ok()?).collect();
    Some(Tensor::from_vec(elements, &sizes).unwrap().to((dtype, device)).unwrap())
}

/// Returns the dtypes of the tensors among the results, in the recording's format.
pub(crate) fn dtype_names(results: &[Value]) -> String {
    let dtypes: Vec<&str> =
        results.iter().filter_map(Value::as_tensor).map(|tensor| tensor.dtype().short_name()).collect();
    dtypes.join(" ")
}
