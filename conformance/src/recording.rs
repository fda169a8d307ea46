//! The recorded calls: which operator was called with what, and what came of it.
//!
//! A recording names values by tags of its own, and one tag can stand for several types. So a call keeps its values as they were
//! written, and the schema of the operator that is put to the test says what they are.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::{Map, Value as Json};

use crate::error::{Error, Result};

/// The first is of what PyTorch's dispatcher sees below autograd; then come operators that it lacks, and such as are composed of others,
/// which `golden/record.py` records, and the other dtypes, which `golden/record_samples.py` does.
const RECORDINGS: [(&str, &[u8]); 3] = [
    ("ops.jsonl", include_bytes!("../golden/ops.jsonl.gz")),
    ("more.jsonl", include_bytes!("../golden/more.jsonl.gz")),
    ("samples.jsonl", include_bytes!("../golden/samples.jsonl.gz")),
];

/// One recorded call.
///
/// ```
/// let call = conformance::Call::parse(r#"{"op": "aten::neg", "args": [{"int": 1}], "kwargs": {}, "out": {"int": -1}}"#)?;
/// assert_eq!((call.operator.as_str(), call.arguments.len()), ("aten::neg", 1));
/// # Ok::<(), conformance::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The operator's full name.
    pub operator: String,
    /// Which call of this operator it is, counted from 0.
    pub number: usize,
    /// The arguments that were given by position.
    pub arguments: Vec<Json>,
    /// The arguments that were given by name.
    pub named: Map<String, Json>,
    /// What was returned.
    pub returned: Json,
    /// The arguments by position after the call, where the operator writes any.
    pub arguments_after: Option<Vec<Json>>,
    /// The arguments by name after the call, where the operator writes any.
    pub named_after: Map<String, Json>,
    /// The gradients of the `f32` and `f64` tensors among the arguments, in their order, where they were recorded; none for a tensor
    /// that has no part in the results. The cotangent is the cosine of 1, 2, and so on, for each result that PyTorch differentiates; all
    /// is in double precision.
    pub gradients: Vec<Option<Vec<f64>>>,
}

impl Call {
    /// Reads one line of a recording.
    ///
    /// # Errors
    ///
    /// Where the line is not a recorded call.
    pub fn parse(line: &str) -> Result<Self> {
        Self::parse_numbered(line, 1)
    }

    /// The call as gradients were recorded for it: what is `f32` becomes `f64`, with the numbers as they are written and not as `f32` holds
    /// them.
    pub(crate) fn widened(&self) -> Self {
        let mut call = self.clone();
        call.arguments.iter_mut().chain(call.named.values_mut()).for_each(widen);
        call
    }

    fn parse_numbered(text: &str, line: usize) -> Result<Self> {
        let mut json: Map<String, Json> = serde_json::from_str(text).map_err(|source| Error::Json { line, source })?;
        let Some(Json::String(operator)) = json.remove("op") else { return Err(Error::Lacks { what: "`op`" }) };
        let Some(Json::Array(arguments)) = json.remove("args") else { return Err(Error::Lacks { what: "`args`" }) };
        let Some(returned) = json.remove("out") else { return Err(Error::Lacks { what: "`out`" }) };
        let mut map = |key| if let Some(Json::Object(map)) = json.remove(key) { map } else { Map::new() };
        let (named, named_after) = (map("kwargs"), map("kwargs_after"));
        let arguments_after = if let Some(Json::Array(after)) = json.remove("args_after") { Some(after) } else { None };
        let gradients = if let Some(Json::Array(all)) = json.remove("grad_f64") { all } else { Vec::new() };
        let gradients = gradients.iter().map(gradient).collect::<Result<_>>()?;
        Ok(Self { operator, number: 0, arguments, named, returned, arguments_after, named_after, gradients })
    }
}

/// Makes single precision double.
fn widen(json: &mut Json) {
    match json {
        Json::Object(map) => {
            if let Some(dtype) = map.get_mut("dtype").filter(|dtype| *dtype == "f32") {
                *dtype = "f64".into();
            }
            map.values_mut().for_each(widen);
        }
        Json::Array(list) => list.iter_mut().for_each(widen),
        _ => {}
    }
}

/// A recorded gradient. JSON has no word for some numbers, so these are texts.
fn gradient(json: &Json) -> Result<Option<Vec<f64>>> {
    let number = |number: &Json| number.as_f64().or_else(|| number.as_str()?.parse().ok());
    let numbers = |list: &Json| list.as_array()?.iter().map(number).collect::<Option<_>>();
    let lacking = || Error::Lacks { what: "numbers in `grad_f64`" };
    if json.is_null() { Ok(None) } else { numbers(json).map(Some).ok_or_else(lacking) }
}

/// The recorded calls, in the order of the recording, and behind them those of operators that it lacks.
///
/// They are read from the folder that the variable `DISPATCH_GOLDEN` names, or else from the copy that is part of this crate. None
/// where the variable names a folder without them.
///
/// ```
/// # if std::env::var_os("DISPATCH_GOLDEN").is_none() {
/// let calls = conformance::recorded_calls()?.unwrap();
/// assert!(calls.iter().any(|call| call.operator == "aten::add.Tensor"));
/// # }
/// # Ok::<(), conformance::Error>(())
/// ```
///
/// # Errors
///
/// Where there is a recording, but it cannot be read.
pub fn recorded_calls() -> Result<Option<Vec<Call>>> {
    let files = RECORDINGS.iter().map(|(name, copy)| lines(name, copy)).collect::<Result<Vec<_>>>()?;
    if files[0].is_none() {
        return Ok(None);
    }
    let mut calls = Vec::new();
    let mut counts = std::collections::HashMap::<String, usize>::new();
    for (i, line) in files.iter().flatten().flat_map(|lines| lines.iter().enumerate()) {
        let mut call = Call::parse_numbered(line, i + 1)?;
        let count = counts.entry(call.operator.clone()).or_default();
        call.number = *count;
        *count += 1;
        calls.push(call);
    }
    Ok(Some(calls))
}

/// The lines of all recordings that there are.
pub(crate) fn recorded_lines() -> Result<Vec<String>> {
    let files = RECORDINGS.iter().map(|(name, copy)| lines(name, copy)).collect::<Result<Vec<_>>>()?;
    Ok(files.into_iter().flatten().flatten().collect())
}

/// The operators of the core set with their schemas, read from where [`recorded_calls`] are.
///
/// ```
/// # if std::env::var_os("DISPATCH_GOLDEN").is_none() {
/// let core = conformance::core_operators()?.unwrap();
/// assert!(core.iter().any(|(name, schema)| name == "aten::relu" && schema.ends_with("-> Tensor")));
/// # }
/// # Ok::<(), conformance::Error>(())
/// ```
///
/// # Errors
///
/// Where there is a list, but it cannot be read.
pub fn core_operators() -> Result<Option<Vec<(String, String)>>> {
    let Some(lines) = lines("core_aten.jsonl", include_bytes!("../golden/core_aten.jsonl.gz"))? else {
        return Ok(None);
    };
    let mut operators = Vec::with_capacity(lines.len());
    for (i, line) in lines.iter().enumerate() {
        let json: Json = serde_json::from_str(line).map_err(|source| Error::Json { line: i + 1, source })?;
        let text = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
        let (Some(name), Some(schema)) = (text("op"), text("schema")) else {
            return Err(Error::Lacks { what: "`op` or `schema`" });
        };
        operators.push((name, schema));
    }
    Ok(Some(operators))
}

/// The lines of a file, compressed or not.
fn lines(name: &str, copy: &[u8]) -> Result<Option<Vec<String>>> {
    let io_error = |source| Error::Io { file: name.to_owned(), source };
    let Some(folder) = env::var_os("DISPATCH_GOLDEN") else {
        return read_lines(GzDecoder::new(copy)).map(Some).map_err(io_error);
    };
    let folder = Path::new(&folder);
    if let Some(file) = open(&folder.join(name)).map_err(io_error)? {
        return read_lines(file).map(Some).map_err(io_error);
    }
    let compressed = open(&folder.join(format!("{name}.gz"))).map_err(io_error)?;
    compressed.map(|file| read_lines(GzDecoder::new(file))).transpose().map_err(io_error)
}

fn open(path: &Path) -> io::Result<Option<fs::File>> {
    match fs::File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn read_lines(file: impl Read) -> io::Result<Vec<String>> {
    let lines = BufReader::new(file).lines();
    lines.filter(|line| !line.as_ref().is_ok_and(|line| line.trim().is_empty())).collect()
}
