//! Trials of graphs as untrusted text.

use dispatch_checks::plumbing::replace_tensors;
use dispatch_runtime::{Operator, Result, Storage, Tensor, Value};
use dispatch_trace::{Graph, trace};

use super::mutate::change_number_text;
use super::random::Random;
use super::run::{Outcome, check_result_geometries};
use super::trial::Call;

/// Traces the call on Meta and returns the text of the graph. Returns `None` if the call cannot be traced, or if the graph has constants.
pub(super) fn trace_to_text(call: &Call) -> Option<String> {
    let mut call = call.clone();
    call.descriptions_mut().for_each(|description| description.is_meta = true);
    let operator = Operator::find(&call.operator).ok()?;
    let values = call.create_values().ok()?;
    let inputs: Vec<Tensor> = values.iter().flat_map(Value::tensors).cloned().collect();
    let function = |inputs: &[Tensor]| {
        let results = operator.call(replace_tensors(&values, inputs))?;
        Ok(results.iter().flat_map(Value::tensors).cloned().collect::<Vec<_>>())
    };
    let graph = trace(function, &inputs).ok()?;
    graph.constants().is_empty().then(|| graph.to_string())
}

/// Changes one to three of the numbers in the text.
pub(super) fn change_numbers(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..random.pick(&[1, 1, 2, 3]) {
        let numbers = integer_ranges(&text);
        if numbers.is_empty() {
            break;
        }
        let place = random.pick(&numbers);
        let new = change_number_text(&text[place.clone()], random);
        text.replace_range(place, &new);
    }
    text
}

/// Returns the byte ranges of integers that are not part of a word.
fn integer_ranges(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        if end > at && bytes[at..end].iter().all(u8::is_ascii_digit) {
            let sign = usize::from(at > 0 && bytes[at - 1] == b'-');
            found.push(at - sign..end);
        }
        at = end.max(at + 1);
    }
    found
}

/// Parses the text, prints and parses it again, and runs it on Meta.
pub(super) fn run_graph_text(text: &str) -> Outcome {
    let graph = match Graph::parse(text, &[]) {
        Ok(graph) => graph,
        Err(error) => return Outcome::from_error(&error),
    };
    let printed = graph.to_string();
    match Graph::parse(&printed, &[]) {
        Ok(again) if again.to_string() == printed => {}
        Ok(_) => return Outcome::Finding("the graph prints differently after printing and parsing".to_owned()),
        Err(error) => return Outcome::Finding(format!("the printed graph cannot be parsed: {error}")),
    }
    match create_meta_inputs(&graph).and_then(|inputs| graph.run(&inputs)) {
        Ok(results) => check_result_geometries(results.iter()),
        Err(error) => Outcome::from_error(&error),
    }
}

fn create_meta_inputs(graph: &Graph) -> Result<Vec<Tensor>> {
    let input = |id| {
        let shown = graph.value(id);
        let bytes = shown.geometry.count().saturating_mul(i64::try_from(shown.dtype.size()).unwrap_or(1));
        let storage = Storage::new_meta(usize::try_from(bytes).unwrap_or(usize::MAX));
        Ok(Tensor::new(storage, shown.dtype, shown.geometry.clone())?)
    };
    graph.inputs().map(input).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_inside_words_are_skipped() {
        let text = "let v3: f32[2, 10; 1, -2] = aten::conv2d(&v0, 1.5);";
        let found: Vec<&str> = integer_ranges(text).into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["2", "10", "1", "-2", "1", "5"]);
    }
}
