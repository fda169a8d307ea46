//! Plausible calls, which an operator accepts or nearly accepts: recorded calls, and calls made from the schema.

use std::collections::HashMap;

use dispatch_checks::plumbing::{Datum, HOST_DEVICE};
use dispatch_runtime::schema::{Argument, Type, TypeKind};
use dispatch_runtime::{DType, Generator, Operator, Scalar, Value};

use super::boundaries;
use super::random::Random;
use super::trial::{Call, Layers, TensorDescription, TrialArgument};
use crate::decode;
use crate::error::Result;
use crate::recording::{self, recorded_lines};

const SMALL_SHAPES: [&[i64]; 18] = [
    &[],
    &[0],
    &[1],
    &[3],
    &[2, 3],
    &[3, 3],
    &[1, 3],
    &[3, 1],
    &[0, 3],
    &[2, 0],
    &[2, 3, 4],
    &[2, 3, 3],
    &[2, 1, 4],
    &[1, 2, 4, 4],
    &[2, 3, 4, 4],
    &[1, 1, 1, 1],
    &[1, 2, 3, 4, 4],
    &[1, 2, 1, 2, 1, 2],
];

const WEIGHTED_DTYPES: [DType; 12] = [
    DType::F32,
    DType::F32,
    DType::F32,
    DType::F32,
    DType::F64,
    DType::I64,
    DType::I64,
    DType::Bool,
    DType::C64,
    DType::F16,
    DType::U8,
    DType::I32,
];

/// The lines of recorded calls, by the operator's base name without overload or trailing `_`.
pub(super) struct RecordedLines(HashMap<String, Vec<String>>);

impl RecordedLines {
    /// Loads the recordings.
    ///
    /// # Errors
    ///
    /// Returns an error if the recordings cannot be read.
    pub(super) fn read() -> Result<Self> {
        let mut lines = HashMap::<String, Vec<String>>::new();
        for line in recorded_lines()? {
            let name = line.split('"').nth(3).unwrap_or_default();
            lines.entry(base_name(name).to_owned()).or_default().push(line);
        }
        Ok(Self(lines))
    }

    /// Picks a recorded call of the operator, or of another form or overload of it.
    fn pick_call(&self, name: &str, random: &mut Random) -> Option<(&'static Operator, Vec<Datum>)> {
        let lines = self.0.get(base_name(name))?;
        let call = recording::Call::parse(&random.pick(lines)).ok()?;
        let operator = Operator::find(&call.operator).ok()?;
        Some((operator, decode::decode_arguments(&call, operator.schema()).ok()?))
    }
}

/// Returns the name without overload and trailing `_`: `aten::add` for `aten::add_.Tensor`.
fn base_name(name: &str) -> &str {
    name.split('.').next().unwrap_or(name).trim_end_matches('_')
}

/// Draws a plausible call of an operator, from a recording or from its schema.
pub(super) fn draw_call(operator: &'static Operator, recorded: &RecordedLines, random: &mut Random) -> Call {
    let name = operator.name().to_string();
    let found = if random.true_with_percent(85) { recorded.pick_call(&name, random) } else { None };
    let context = DrawContext::from_data(found.as_ref().map_or(&[], |(_, data)| data), random);
    let arguments = operator.schema().arguments.iter().map(|argument| {
        let datum = found.as_ref().and_then(|(other, data)| {
            let (at, recorded) = other.schema().argument(&argument.name)?;
            have_same_type(&recorded.ty, &argument.ty).then(|| data[at].clone())
        });
        datum.map_or_else(|| context.draw_argument(argument, random), argument_from_datum)
    });
    let arguments = arguments.collect();
    Call { operator: name, arguments, layers: Layers::BackendOnly }
}

/// Whether a recorded argument of one type can be used for an argument of the other type.
fn have_same_type(recorded: &Type, wanted: &Type) -> bool {
    recorded.without_optional().kind == wanted.without_optional().kind
}

fn argument_from_datum(datum: Datum) -> TrialArgument {
    match datum {
        Datum::Array(array) => TrialArgument::Tensor(TensorDescription::from_array(&array)),
        Datum::Arrays(arrays) => TrialArgument::Tensors(arrays.iter().map(TensorDescription::from_array).collect()),
        Datum::OptionalArrays(arrays) => TrialArgument::OptionalTensors(
            arrays.iter().map(|array| array.as_ref().map(TensorDescription::from_array)).collect(),
        ),
        Datum::NonTensor(value) => TrialArgument::NonTensor(value),
    }
}

/// The sizes and dtype that the arguments of one call have in common.
struct DrawContext {
    sizes: Vec<i64>,
    dtype: DType,
}

impl DrawContext {
    fn from_data(data: &[Datum], random: &mut Random) -> Self {
        match data.iter().find_map(Datum::as_array) {
            Some(array) => Self { sizes: array.sizes.clone(), dtype: array.dtype },
            None => Self { sizes: random.pick(&SMALL_SHAPES).to_vec(), dtype: random.pick(&WEIGHTED_DTYPES) },
        }
    }

    fn draw_argument(&self, argument: &Argument, random: &mut Random) -> TrialArgument {
        if argument.default.is_some()
            && random.true_with_percent(60)
            && let Some(value) = Value::default_of(argument)
        {
            return TrialArgument::NonTensor(value);
        }
        if argument.ty.accepts_none() && random.true_with_percent(50) {
            return TrialArgument::NonTensor(Value::None);
        }
        let count = random.pick(&[0, 1, 2, 2, 3]);
        match &argument.ty.without_optional().kind {
            TypeKind::Tensor => TrialArgument::Tensor(self.draw_tensor(argument, random)),
            TypeKind::List(element, _) if element.kind == TypeKind::Tensor => {
                TrialArgument::Tensors((0..count).map(|_| self.draw_tensor(argument, random)).collect())
            }
            TypeKind::List(element, _) if element.is_tensor_like() => {
                let one =
                    |random: &mut Random| random.true_with_percent(60).then(|| self.draw_tensor(argument, random));
                TrialArgument::OptionalTensors((0..count).map(|_| one(random)).collect())
            }
            TypeKind::List(element, length) => {
                let count = length.map_or(count, |length| length as usize);
                TrialArgument::NonTensor(self.draw_list(&argument.name, &element.kind, count, random))
            }
            kind => TrialArgument::NonTensor(self.draw_value(&argument.name, kind, random)),
        }
    }

    fn draw_tensor(&self, argument: &Argument, random: &mut Random) -> TensorDescription {
        let sizes = match random.draw_below(10) {
            _ if argument.is_written() && random.true_with_percent(40) => vec![0],
            0..=7 => self.sizes.clone(),
            _ => random.pick(&SMALL_SHAPES).to_vec(),
        };
        let dtype = match argument.name.as_str() {
            "index" | "indices" | "offsets" | "target" => DType::I64,
            "mask" | "condition" | "found_inf" => DType::Bool,
            _ if random.true_with_percent(10) => random.pick(&WEIGHTED_DTYPES),
            _ => self.dtype,
        };
        TensorDescription::new(dtype, &sizes, (0..3).map(Scalar::from).collect())
    }

    fn draw_value(&self, name: &str, kind: &TypeKind, random: &mut Random) -> Value {
        match kind {
            TypeKind::Scalar if random.true_with_percent(50) => random.draw_between(0, 3).into(),
            TypeKind::Scalar | TypeKind::Float => random.pick(&[0.0, 0.5, 1.0, 2.0]).into(),
            TypeKind::Int | TypeKind::SymInt => self.draw_integer(name, random).into(),
            TypeKind::Bool | TypeKind::SymBool => random.true_with_percent(50).into(),
            TypeKind::Str => boundaries::draw_string(random).into(),
            TypeKind::ScalarType => random.pick(&WEIGHTED_DTYPES).into(),
            TypeKind::Layout => boundaries::draw_layout(random),
            TypeKind::MemoryFormat => boundaries::draw_memory_format(random),
            TypeKind::Device => HOST_DEVICE.into(),
            TypeKind::Generator => Generator::new(HOST_DEVICE, 0).into(),
            _ => boundaries::draw_value(random),
        }
    }

    fn draw_list(&self, name: &str, element: &TypeKind, count: usize, random: &mut Random) -> Value {
        let several = 0..count;
        match element {
            TypeKind::Int | TypeKind::SymInt => match random.draw_below(4) {
                0 => self.sizes.clone().into(),
                _ => several.map(|_| self.draw_integer(name, random)).collect::<Vec<_>>().into(),
            },
            TypeKind::Float => several.map(|_| random.pick(&[0.5, 1.0, 2.0])).collect::<Vec<_>>().into(),
            TypeKind::Bool | TypeKind::SymBool => {
                several.map(|_| random.true_with_percent(50)).collect::<Vec<_>>().into()
            }
            TypeKind::Scalar => several.map(|_| Scalar::from(random.draw_between(0, 2))).collect::<Vec<_>>().into(),
            TypeKind::Str => several.map(|_| boundaries::draw_string(random)).collect::<Vec<_>>().into(),
            _ => boundaries::draw_value(random),
        }
    }

    fn draw_integer(&self, name: &str, random: &mut Random) -> i64 {
        let rank = i64::try_from(self.sizes.len()).unwrap_or(0);
        if name.contains("dim") || name.contains("axis") {
            return random.draw_between(-rank, (rank - 1).max(0));
        }
        random.draw_between(0, 4)
    }
}
