//! Recorded calls of operators: arguments, results, and written arguments after the call.
//!
//! The tag of a recorded value can stand for several types. So a [`Call`] keeps the JSON values, and the schema of the operator under test
//! decides their types.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::{Map, Value as Json};

use crate::error::{Error, Result};

/// The recordings. The first has the calls that PyTorch's dispatcher makes below autograd. The second, of `golden/record.py`, has missing
/// operators and composites. `fft` has Fourier transforms. `optim`, `internals`, `plumbing`, `programs` and `quantized` have the operators of
/// optimisers, internal ones, those of a tensor's state, of exported programs and of quantised models. `factorizations`, `linear_systems`,
/// `spectra` and `matrix_functions` have linear algebra. `samples` has other dtypes, `vision` torchvision's operators.
const RECORDING_FILES: [(&str, &[u8]); 14] = [
    ("ops.jsonl", include_bytes!("../golden/ops.jsonl.gz")),
    ("more.jsonl", include_bytes!("../golden/more.jsonl.gz")),
    ("fft.jsonl", include_bytes!("../golden/fft.jsonl.gz")),
    ("optim.jsonl", include_bytes!("../golden/optim.jsonl.gz")),
    ("internals.jsonl", include_bytes!("../golden/internals.jsonl.gz")),
    ("plumbing.jsonl", include_bytes!("../golden/plumbing.jsonl.gz")),
    ("programs.jsonl", include_bytes!("../golden/programs.jsonl.gz")),
    ("quantized.jsonl", include_bytes!("../golden/quantized.jsonl.gz")),
    ("factorizations.jsonl", include_bytes!("../golden/factorizations.jsonl.gz")),
    ("linear_systems.jsonl", include_bytes!("../golden/linear_systems.jsonl.gz")),
    ("spectra.jsonl", include_bytes!("../golden/spectra.jsonl.gz")),
    ("matrix_functions.jsonl", include_bytes!("../golden/matrix_functions.jsonl.gz")),
    ("samples.jsonl", include_bytes!("../golden/samples.jsonl.gz")),
    ("vision.jsonl", include_bytes!("../golden/vision.jsonl.gz")),
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
    /// The operator's name with namespace and overload.
    pub operator: String,
    /// The number of the call among those of its operator, counted from 0.
    pub number: usize,
    /// The positional arguments.
    pub arguments: Vec<Json>,
    /// The named arguments.
    pub named: Map<String, Json>,
    /// The returned value.
    pub returned: Json,
    /// The values of the positional arguments when the call has returned, if the operator writes to any of them.
    pub arguments_after: Option<Vec<Json>>,
    /// The values of the named arguments when the call has returned, if the operator writes to any of them.
    pub named_after: Map<String, Json>,
    /// The gradients of the `f32` and `f64` tensors among the arguments, in double precision, if they were recorded. The gradient is `None`
    /// for a tensor that does not influence the results. The cotangent of each differentiable result has the cosines of 1, 2, and so on.
    pub gradients: Vec<Option<Vec<f64>>>,
}

impl Call {
    /// Parses one line of a recording.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Json`] if the line is not a JSON object, and [`Error::MissingField`] if a field is missing or invalid.
    pub fn parse(line: &str) -> Result<Self> {
        Self::parse_line(line, 1)
    }

    /// Returns the call with `f32` replaced by `f64`, as gradients were recorded. The elements keep their text, so they are not rounded to
    /// `f32`.
    pub(crate) fn with_f64_for_f32(&self) -> Self {
        let mut call = self.clone();
        call.arguments.iter_mut().chain(call.named.values_mut()).for_each(replace_f32_by_f64);
        call
    }

    fn parse_line(text: &str, line: usize) -> Result<Self> {
        let mut json: Map<String, Json> = serde_json::from_str(text).map_err(|source| Error::Json { line, source })?;
        let Some(Json::String(operator)) = json.remove("op") else { return Err(Error::MissingField { field: "`op`" }) };
        let Some(Json::Array(arguments)) = json.remove("args") else {
            return Err(Error::MissingField { field: "`args`" });
        };
        let Some(returned) = json.remove("out") else { return Err(Error::MissingField { field: "`out`" }) };
        let mut map = |key| if let Some(Json::Object(map)) = json.remove(key) { map } else { Map::new() };
        let (named, named_after) = (map("kwargs"), map("kwargs_after"));
        let arguments_after = if let Some(Json::Array(after)) = json.remove("args_after") { Some(after) } else { None };
        let gradients = if let Some(Json::Array(all)) = json.remove("grad_f64") { all } else { Vec::new() };
        let gradients = gradients.iter().map(decode_gradient).collect::<Result<_>>()?;
        Ok(Self { operator, number: 0, arguments, named, returned, arguments_after, named_after, gradients })
    }
}

/// Replaces the dtype `f32` by `f64` in all tensors of a JSON value.
fn replace_f32_by_f64(json: &mut Json) {
    match json {
        Json::Object(map) => {
            if let Some(dtype) = map.get_mut("dtype").filter(|dtype| *dtype == "f32") {
                *dtype = "f64".into();
            }
            map.values_mut().for_each(replace_f32_by_f64);
        }
        Json::Array(list) => list.iter_mut().for_each(replace_f32_by_f64),
        _ => {}
    }
}

/// Decodes a recorded gradient. JSON has no infinities and NaN, so these are strings.
fn decode_gradient(json: &Json) -> Result<Option<Vec<f64>>> {
    let number = |number: &Json| number.as_f64().or_else(|| number.as_str()?.parse().ok());
    let numbers = |list: &Json| list.as_array()?.iter().map(number).collect::<Option<_>>();
    let lacking = || Error::MissingField { field: "numbers in `grad_f64`" };
    if json.is_null() { Ok(None) } else { numbers(json).map(Some).ok_or_else(lacking) }
}

/// Returns all recorded calls, in the order of the recordings.
///
/// They are read from the folder that the environment variable `DISPATCH_GOLDEN` names, or else from the copy in this crate. Returns `None`
/// if the variable names a folder without recordings.
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
/// Returns an error if a recording exists but cannot be read.
pub fn recorded_calls() -> Result<Option<Vec<Call>>> {
    let files =
        RECORDING_FILES.iter().map(|(name, copy)| read_recording_lines(name, copy)).collect::<Result<Vec<_>>>()?;
    if files[0].is_none() {
        return Ok(None);
    }
    let mut calls = Vec::new();
    let mut counts = std::collections::HashMap::<String, usize>::new();
    for (i, line) in files.iter().flatten().flat_map(|lines| lines.iter().enumerate()) {
        let mut call = Call::parse_line(line, i + 1)?;
        let count = counts.entry(call.operator.clone()).or_default();
        call.number = *count;
        *count += 1;
        calls.push(call);
    }
    Ok(Some(calls))
}

/// Returns the lines of all recordings.
pub(crate) fn recorded_lines() -> Result<Vec<String>> {
    let files =
        RECORDING_FILES.iter().map(|(name, copy)| read_recording_lines(name, copy)).collect::<Result<Vec<_>>>()?;
    Ok(files.into_iter().flatten().flatten().collect())
}

/// Returns the names and schemas of PyTorch's core operators, from the same folder or copy as [`recorded_calls`].
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
/// Returns an error if the list exists but cannot be read.
pub fn core_operators() -> Result<Option<Vec<(String, String)>>> {
    let Some(lines) = read_recording_lines("core_aten.jsonl", include_bytes!("../golden/core_aten.jsonl.gz"))? else {
        return Ok(None);
    };
    let mut operators = Vec::with_capacity(lines.len());
    for (i, line) in lines.iter().enumerate() {
        let json: Json = serde_json::from_str(line).map_err(|source| Error::Json { line: i + 1, source })?;
        let text = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
        let (Some(name), Some(schema)) = (text("op"), text("schema")) else {
            return Err(Error::MissingField { field: "`op` or `schema`" });
        };
        operators.push((name, schema));
    }
    Ok(Some(operators))
}

/// Reads the lines of a file, compressed or not: of the folder in `DISPATCH_GOLDEN` if it is set, or of `copy`.
fn read_recording_lines(name: &str, copy: &[u8]) -> Result<Option<Vec<String>>> {
    let io_error = |source| Error::Io { file: name.to_owned(), source };
    let Some(folder) = env::var_os("DISPATCH_GOLDEN") else {
        return read_nonempty_lines(GzDecoder::new(copy)).map(Some).map_err(io_error);
    };
    let folder = Path::new(&folder);
    if let Some(file) = open_if_exists(&folder.join(name)).map_err(io_error)? {
        return read_nonempty_lines(file).map(Some).map_err(io_error);
    }
    let compressed = open_if_exists(&folder.join(format!("{name}.gz"))).map_err(io_error)?;
    compressed.map(|file| read_nonempty_lines(GzDecoder::new(file))).transpose().map_err(io_error)
}

fn open_if_exists(path: &Path) -> io::Result<Option<fs::File>> {
    match fs::File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn read_nonempty_lines(file: impl Read) -> io::Result<Vec<String>> {
    let lines = BufReader::new(file).lines();
    lines.filter(|line| !line.as_ref().is_ok_and(|line| line.trim().is_empty())).collect()
}
