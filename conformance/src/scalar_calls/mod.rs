//! Checks of scalar arguments at the limits of dtypes. Each recorded scalar is passed to each operator with scalar arguments, in each
//! dtype. The operator must refuse the scalars that PyTorch refuses to convert, and return PyTorch's results for the others.

mod intended_differences;

use dispatch_checks::plumbing::{
    Array, CallError, ComparedProperties, Datum, call_and_check_aliasing, compare_properties, copy_outcome_to_host,
    create_values,
};
use dispatch_checks::{Difference, Failure, Verdict};
use dispatch_runtime::{DType, Device, Operator};
use flate2::read::GzDecoder;
use serde_json::{Map, Value as Json, json};

use crate::decode::{self, decode_element};
use crate::error::{Error, Result};
use crate::recording::{Call, read_nonempty_lines};
use crate::suite::TestTarget;

use intended_differences::{differs_on_devices, is_intended_difference};

/// The recorded scalars, and the calls of all operators with them.
pub(crate) struct RecordedScalarCalls {
    scalars: Vec<Json>,
    lines: Vec<RecordedScalarLine>,
}

/// The calls of an operator in one dtype, with each scalar for one argument.
struct RecordedScalarLine {
    operator: String,
    /// The name of the argument that gets the scalars.
    argument: String,
    dtype: String,
    /// All arguments of the calls, by name.
    named: Map<String, Json>,
    /// For each scalar: the results, `"overflow"`, `"error"`, or null for a call that was not made.
    cells: Vec<Json>,
    /// The arguments that change with the scalar, by its index.
    varying: Map<String, Json>,
}

impl RecordedScalarCalls {
    pub(crate) fn read() -> Result<Self> {
        let lines = read_nonempty_lines(GzDecoder::new(&include_bytes!("../../golden/scalars.jsonl.gz")[..]));
        let lines = lines.map_err(|source| Error::Io { file: "scalars.jsonl".to_owned(), source })?;
        let mut lines = lines.iter().enumerate();
        let first = lines.next().ok_or(Error::MissingField { field: "a line with the scalars" })?.1;
        let Some(Json::Array(numbers)) = parse_json_object(first, 1)?.remove("numbers") else {
            return Err(Error::MissingField { field: "`numbers`" });
        };
        Ok(Self {
            scalars: numbers,
            lines: lines.map(|(at, line)| RecordedScalarLine::parse(line, at + 1)).collect::<Result<_>>()?,
        })
    }

    /// Returns the names of the operators with recorded scalar arguments.
    pub(crate) fn operator_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.lines.iter().map(|line| &*line.operator).collect();
        names.dedup();
        names
    }

    /// Runs the recorded calls of an operator with each scalar, in the dtypes of the device, and checks the outcomes. A sampled target uses every third scalar.
    pub(crate) fn check_operator(&self, operator: &'static Operator, target: TestTarget<'_>) -> Vec<Verdict> {
        let TestTarget { without, is_sampled, .. } = target;
        let name = operator.name().to_string();
        let is_missing = |line: &RecordedScalarLine| without.iter().any(|dtype| line.uses_dtype(*dtype));
        let lines = self.lines.iter().filter(|line| line.operator == name && !is_missing(line));
        let has_complex = !without.contains(&DType::C64);
        let due = |at: usize| {
            let numbers =
                self.scalars.iter().enumerate().filter(move |(place, _)| !is_sampled || (place + at).is_multiple_of(3));
            numbers.filter(move |(_, number)| has_complex || number.get("complex").is_none())
        };
        lines.enumerate().map(|(at, line)| check_line(line, operator, target, due(at))).collect()
    }
}

fn check_line<'a>(
    line: &RecordedScalarLine,
    operator: &'static Operator,
    target: TestTarget<'_>,
    numbers: impl Iterator<Item = (usize, &'a Json)>,
) -> Verdict {
    let mut wrong = Vec::new();
    let dtype = line.dtype.parse().unwrap_or(DType::F64);
    for (place, number) in numbers {
        let is_intended_difference = |number| {
            is_intended_difference(&line.operator, &line.argument, dtype, number)
                || target.has_device_differences && differs_on_devices(&line.operator, dtype, number)
        };
        let Some(cell) =
            line.cells.get(place).filter(|_| !decode::decode_scalar(number).is_some_and(is_intended_difference))
        else {
            continue;
        };
        match line.check_scalar_call(operator, target.device, place, number, cell) {
            Ok(()) => {}
            Err(CallError::Failed(failure)) => wrong.push((number, failure)),
            Err(error) => return error.into(),
        }
    }
    let numbers: Vec<String> = wrong.iter().map(|(number, _)| number.to_string()).collect();
    match wrong.into_iter().next() {
        None => Verdict::Passed,
        Some((_, failure)) => Verdict::Failed(failure).with_context(format!(
            "`{}` of {}, first of {}",
            line.argument,
            line.dtype,
            numbers.join(" ")
        )),
    }
}

impl RecordedScalarLine {
    fn parse(text: &str, number: usize) -> Result<Self> {
        let mut json = parse_json_object(text, number)?;
        let mut word = |key: &'static str| match json.remove(key) {
            Some(Json::String(word)) => Ok(word),
            _ => Err(Error::MissingField { field: key }),
        };
        let (operator, argument, dtype) = (word("op")?, word("at")?, word("dtype")?);
        let Some(Json::Array(cells)) = json.remove("cells") else {
            return Err(Error::MissingField { field: "`cells`" });
        };
        let mut map = |key| if let Some(Json::Object(map)) = json.remove(key) { map } else { Map::new() };
        Ok(Self { operator, argument, dtype, named: map("kwargs"), cells, varying: map("with") })
    }

    fn uses_dtype(&self, dtype: DType) -> bool {
        let is_it = |name: &str| name.parse() == Ok(dtype);
        is_it(&self.dtype)
            || self.named.values().any(|json| json.pointer("/tensor/dtype").and_then(Json::as_str).is_some_and(is_it))
    }

    /// Makes the call with one scalar, and compares its outcome with the recorded cell.
    fn check_scalar_call(
        &self,
        operator: &'static Operator,
        device: Device,
        place: usize,
        number: &Json,
        cell: &Json,
    ) -> Result<(), CallError> {
        if cell.is_null() || cell == "error" {
            return Ok(());
        }
        let mut named = self.named.clone();
        let given =
            named.get_mut(&self.argument).ok_or(Error::MissingField { field: "the argument of the scalars" })?;
        *given = scalar_in_form_of(given, number);
        if let Some(Json::Object(others)) = self.varying.get(&place.to_string()) {
            named.extend(others.clone());
        }
        let call_of =
            Call { named, ..Call::parse(&format!(r#"{{"op": "{}", "args": [], "out": null}}"#, self.operator))? };
        let arguments = decode::decode_arguments(&call_of, operator.schema())?;
        let outcome = call_and_check_aliasing(operator, create_values(&arguments, device)?);
        if cell == "overflow" {
            return match outcome {
                Err(CallError::Failed(Failure::Refused(_))) => Ok(()),
                Err(error) => Err(error),
                Ok(_) => Err(CallError::Failed(Failure::NotRefused { mistake: format!("{number}") })),
            };
        }
        let read = copy_outcome_to_host(operator, &outcome?)?;
        let actual = read.results.iter().flat_map(Datum::arrays);
        let expected = cell.as_array().map_or(&[][..], Vec::as_slice);
        for (index, (actual, expected)) in actual.zip(expected).enumerate() {
            compare_result(actual, expected).map_err(|difference| Failure::WrongResult { index, difference })?;
        }
        Ok(())
    }
}

/// Returns the scalar in the form of the recorded argument: a list, a tensor or a plain scalar.
fn scalar_in_form_of(given: &Json, number: &Json) -> Json {
    if given.get("list").is_some() {
        return json!({ "list": [number] });
    }
    let Some((tag, value)) = given.get("tensor").and_then(|_| decode::split_tagged_json(number)) else {
        return number.clone();
    };
    let dtype = match tag {
        "bool" => "bool",
        "int" => "i64",
        "float" => "f64",
        _ => "c128",
    };
    json!({ "tensor": { "dtype": dtype, "shape": [], "strides": [], "data": [value] } })
}

/// Compares the dtype and the elements of a result with the recorded ones.
fn compare_result(actual: &Array, expected: &Json) -> Result<(), Difference> {
    let Some((dtype, elements)) = expected.as_array().and_then(|list| list.split_first()) else { return Ok(()) };
    let dtype = dtype.as_str().and_then(|name| name.parse().ok()).unwrap_or(actual.dtype);
    let elements = elements.iter().filter_map(decode_element).collect();
    let expected = Datum::Array(Array { dtype, elements, ..actual.clone() });
    compare_properties(ComparedProperties::AllButStrides, &Datum::Array(actual.clone()), &expected)
}

fn parse_json_object(text: &str, line: usize) -> Result<Map<String, Json>> {
    serde_json::from_str(text).map_err(|source| Error::Json { line, source })
}
