//! Writer of a profile as Chrome trace events, which Perfetto shows too. The field names are those of PyTorch's profiler.

use std::fmt::Write as _;
use std::io::{self, Write};

use dispatch_runtime::{DType, Dims, Tensor, Value};

use super::event::{Event, EventKind};

/// The description of an argument in the trace.
#[derive(Clone)]
pub(super) enum ArgumentInfo {
    Tensor(DType, Dims),
    Tensors(Vec<Dims>),
    /// Any other argument, by PyTorch's name for its kind.
    Other(&'static str),
}

impl ArgumentInfo {
    pub(super) fn from_value(value: &Value) -> Self {
        let sizes = |tensor: &Tensor| tensor.sizes().iter().copied().collect::<Dims>();
        match value {
            Value::Tensor(tensor) => Self::Tensor(tensor.dtype(), sizes(tensor)),
            Value::Tensors(tensors) => Self::Tensors(tensors.iter().map(sizes).collect()),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Complex(_) => Self::Other("Scalar"),
            Value::Ints(_) | Value::Floats(_) | Value::Bools(_) | Value::Scalars(_) => Self::Other("ScalarList"),
            _ => Self::Other(""),
        }
    }

    fn sizes_text(&self) -> String {
        match self {
            Self::Tensor(_, sizes) => format_sizes(sizes),
            Self::Tensors(tensors) => {
                format!("[{}]", tensors.iter().map(|sizes| format_sizes(sizes)).collect::<Vec<_>>().join(", "))
            }
            Self::Other(_) => "[]".to_owned(),
        }
    }

    fn pytorch_type_name(&self) -> &'static str {
        match self {
            Self::Tensor(dtype, _) => cpp_type_name(*dtype),
            Self::Tensors(_) => "TensorList",
            Self::Other(kind) => kind,
        }
    }
}

fn format_sizes(sizes: &[i64]) -> String {
    format!("{sizes:?}")
}

/// Returns the name of a dtype in C++.
fn cpp_type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "float",
        DType::F64 => "double",
        DType::F16 => "c10::Half",
        DType::BF16 => "c10::BFloat16",
        DType::F8E5M2 => "c10::Float8_e5m2",
        DType::F8E4M3FN => "c10::Float8_e4m3fn",
        DType::F8E5M2FNUZ => "c10::Float8_e5m2fnuz",
        DType::F8E4M3FNUZ => "c10::Float8_e4m3fnuz",
        DType::F8E8M0FNU => "c10::Float8_e8m0fnu",
        DType::I8 => "signed char",
        DType::U8 => "unsigned char",
        DType::I16 => "short int",
        DType::I32 => "int",
        DType::I64 => "long int",
        DType::Bool => "bool",
        DType::C64 => "c10::complex<float>",
        DType::C128 => "c10::complex<double>",
    }
}

pub(super) fn write_events(to: &mut impl Write, events: &[Event]) -> io::Result<()> {
    let process = std::process::id();
    write!(to, "{{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"traceEvents\": [")?;
    for (i, event) in events.iter().enumerate() {
        let separator = if i == 0 { "" } else { "," };
        let (category, arguments) = match &event.kind {
            EventKind::Call(_, inputs) => ("cpu_op", format!(", {}", format_inputs(inputs))),
            EventKind::Span(_) => ("user_annotation", String::new()),
        };
        let (name, start, duration) =
            (quote_json_string(&event.name()), format_microseconds(event.start), format_microseconds(event.duration()));
        write!(
            to,
            "{separator}\n{{\"ph\": \"X\", \"cat\": \"{category}\", \"name\": {name}, \"pid\": {process}, \"tid\": {thread}, \
             \"ts\": {start}, \"dur\": {duration}, \"args\": {{\"External id\": {number}{arguments}}}}}",
            thread = event.thread,
            number = event.number + 1,
        )?;
    }
    writeln!(to, "\n]}}")
}

fn format_inputs(inputs: &[ArgumentInfo]) -> String {
    let dims: Vec<String> = inputs.iter().map(ArgumentInfo::sizes_text).collect();
    let kinds: Vec<String> = inputs.iter().map(|input| quote_json_string(input.pytorch_type_name())).collect();
    format!("\"Input Dims\": [{}], \"Input type\": [{}]", dims.join(", "), kinds.join(", "))
}

/// Formats nanoseconds as microseconds without rounding, so that inner events also end inside of their outer events in the trace.
fn format_microseconds(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

fn quote_json_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control < ' ' => _ = write!(quoted, "\\u{:04x}", u32::from(control)),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
