//! What an operator's results look like, in a word.
//!
//! A shape word is data on an operator: Meta makes shapes by it, and layers that map over dimensions or count operations read the same
//! word. It says how sizes come about and, by its [`Promotion`], the dtype.

use crate::convert::Argument;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{BadArgument, Error, ErrorKind, Problem, Result};
use crate::key_set::KeySet;
use crate::operator::Operator;
use crate::promote::Ranks;
use crate::rust_operator::assign;
use crate::spec::{Promotion, Spec, wrap_dim};
use crate::stack::Stack;
use crate::tensor::{Dims, Tensor};
use crate::value::Value;

/// A shape word with the arguments that it speaks of, by position.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{Promotion, Shape};
///
/// #[op_def("total(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", shape = reduce(dim), dtype = sum)]
/// pub fn total(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;
///
/// let shape = total::operator().shape();
/// assert!(matches!(shape, Some(Shape::Reduce { dims: Some(1), keepdim: Some(2), dtype: Promotion::Sum })));
/// let matrix = dispatch_runtime::Spec::contiguous(DType::I32, &[2, 3]).on(Device::META).unwrap();
/// let row = total(&matrix, Some(&[0]), false).unwrap();
/// assert_eq!((row.sizes(), row.dtype()), (&[3_i64][..], DType::I64));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Shape {
    /// Elements meet one by one, after broadcasting.
    Pointwise {
        /// The tensors and numbers that decide sizes and dtype.
        operands: &'static [usize],
        /// The dtype of the result.
        dtype: Promotion,
    },
    /// Some dimensions of the first argument are gone, or of size 1.
    Reduce {
        /// The argument that lists them; without one, or without any listed, all are.
        dims: Option<usize>,
        /// The argument that says whether they stay, with size 1.
        keepdim: Option<usize>,
        /// The dtype of the result, unless an argument `dtype` names one.
        dtype: Promotion,
    },
    /// Dimensions are letters: equal letters have equal sizes, and those of the result are what remains.
    Product {
        /// The letters, as in `mk,kn->mn`.
        letters: &'static str,
    },
}

impl Shape {
    /// What the result of a call with these arguments looks like.
    ///
    /// # Errors
    ///
    /// Where the arguments do not fit together; the error names the one that does not.
    pub fn infer(self, operator: &Operator, arguments: &[Value]) -> Result<Spec> {
        match self {
            Self::Pointwise { operands, dtype } => pointwise(operator, arguments, operands, dtype),
            Self::Reduce { dims, keepdim, dtype } => reduce(operator, arguments, dims, keepdim, dtype),
            Self::Product { letters } => product(operator, arguments, letters),
        }
    }
}

fn pointwise(operator: &Operator, arguments: &[Value], operands: &[usize], promotion: Promotion) -> Result<Spec> {
    let given = operands.iter().filter_map(|&i| arguments.get(i)?.as_tensor().map(|tensor| (i, tensor)));
    let (positions, tensors): (Vec<usize>, Vec<&Tensor>) = given.unzip();
    let mut dtype = promotion.of(&tensors);
    let numbers = operands.iter().filter_map(|&i| number_dtype(arguments.get(i)?)).collect::<Vec<_>>();
    if !numbers.is_empty() && matches!(promotion, Promotion::Common | Promotion::Float) {
        let mut ranks = Ranks::default();
        for tensor in &tensors {
            ranks.add(tensor);
        }
        for number in numbers {
            ranks.add_number(number);
        }
        dtype = if promotion == Promotion::Float { ranks.result().to_floating() } else { ranks.result() };
    }
    // The rule knows operands by number only.
    Spec::pointwise(&tensors, dtype).map_err(|error| {
        let position = error.argument.parse().ok().and_then(|i: usize| positions.get(i).copied());
        BadArgument::new(name(operator, position.unwrap_or(0)), error.problem).into()
    })
}

fn number_dtype(value: &Value) -> Option<DType> {
    Some(match value {
        Value::Bool(_) => DType::Bool,
        Value::Int(_) => DType::I64,
        Value::Float(_) => DType::F64,
        Value::Complex(_) => DType::C128,
        _ => return None,
    })
}

fn reduce(
    operator: &Operator,
    arguments: &[Value],
    dims: Option<usize>,
    keepdim: Option<usize>,
    promotion: Promotion,
) -> Result<Spec> {
    let tensor = tensor(operator, arguments, 0)?;
    let listed = match dims.and_then(|dims| arguments.get(dims)) {
        Some(Value::Int(dim)) => std::slice::from_ref(dim),
        Some(Value::Ints(dims)) => &dims[..],
        _ => &[],
    };
    let keep = matches!(keepdim.and_then(|keep| arguments.get(keep)), Some(Value::Bool(true)));
    let argument = dims.map_or_else(String::new, |dims| name(operator, dims));
    let dtype = schema_dtype(operator, arguments).unwrap_or_else(|| promotion.of(&[tensor]));
    Ok(Spec::contiguous(dtype, &reduced_sizes(tensor.sizes(), listed, keep, &argument)?))
}

fn schema_dtype(operator: &Operator, arguments: &[Value]) -> Option<DType> {
    let at = operator.schema().arguments.iter().position(|argument| argument.name == "dtype")?;
    if let Some(Value::DType(dtype)) = arguments.get(at) { Some(*dtype) } else { None }
}

/// Sizes without these dimensions, or with 1 in their place. No dimension listed means all.
///
/// ```
/// use dispatch_runtime::reduced_sizes;
/// assert_eq!(reduced_sizes(&[2, 3], &[-1], true, "dim").unwrap()[..], [2, 1]);
/// assert!(reduced_sizes(&[2, 3], &[0, -2], true, "dim").is_err());
/// ```
///
/// # Errors
///
/// Where a dimension is not there, or is listed twice.
pub fn reduced_sizes(sizes: &[i64], dims: &[i64], keepdim: bool, argument: &str) -> Result<Dims, BadArgument> {
    let gone = reduced_dims(sizes.len(), dims, argument)?;
    let sizes = sizes.iter().zip(gone).filter_map(|(&size, gone)| match (gone, keepdim) {
        (true, true) => Some(1),
        (true, false) => None,
        (false, _) => Some(size),
    });
    Ok(sizes.collect())
}

/// Whether each dimension is listed; no dimension listed means all.
///
/// ```
/// use dispatch_runtime::reduced_dims;
/// assert_eq!(reduced_dims(3, &[-1], "dim").unwrap(), [false, false, true]);
/// assert!(reduced_dims(0, &[0, -1], "dim").is_err());
/// ```
///
/// # Errors
///
/// As [`reduced_sizes`].
pub fn reduced_dims(rank: usize, dims: &[i64], argument: &str) -> Result<Vec<bool>, BadArgument> {
    if dims.is_empty() {
        return Ok(vec![true; rank]);
    }
    // Without dimensions, 0 and -1 name one that is not there, and it is named once too.
    let mut gone = vec![false; rank.max(1)];
    for &dim in dims {
        let at = wrap_dim("dim", dim, rank).map_err(|error| BadArgument::new(argument.to_owned(), error.problem))?;
        if std::mem::replace(&mut gone[at], true) {
            return Err(BadArgument::new(argument.to_owned(), Problem::RepeatedDim { dim }));
        }
    }
    gone.truncate(rank);
    Ok(gone)
}

fn product(operator: &Operator, arguments: &[Value], letters: &str) -> Result<Spec> {
    let (inputs, output) = letters.split_once("->").unwrap_or((letters, ""));
    let mut known: Vec<(char, i64)> = Vec::new();
    let mut dtype = None;
    for (i, word) in inputs.split(',').enumerate() {
        let tensor = tensor(operator, arguments, i)?;
        if tensor.sizes().len() != word.len() {
            return Err(BadArgument::rank(name(operator, i), tensor.sizes().len(), word.len().to_string()).into());
        }
        let expected = *dtype.get_or_insert_with(|| tensor.dtype());
        if tensor.dtype() != expected {
            let expected = format!("{expected}, as `{}` is", name(operator, 0));
            return Err(BadArgument::dtype(name(operator, i), tensor.dtype(), expected).into());
        }
        for (letter, &size) in word.chars().zip(tensor.sizes()) {
            match known.iter().find(|(known, _)| *known == letter) {
                Some(&(_, expected)) if expected != size => {
                    let expected = format!("{expected} where they meet `{}`", name(operator, 0));
                    return Err(BadArgument::sizes(name(operator, i), tensor.sizes(), expected).into());
                }
                Some(_) => {}
                None => known.push((letter, size)),
            }
        }
    }
    let size = |letter| known.iter().find(|(known, _)| *known == letter).map_or(1, |(_, size)| *size);
    Ok(Spec::contiguous(dtype.unwrap_or(DType::F32), &output.chars().map(size).collect::<Dims>()))
}

fn tensor<'a>(operator: &Operator, arguments: &'a [Value], position: usize) -> Result<&'a Tensor> {
    arguments.get(position).and_then(Value::as_tensor).ok_or_else(|| {
        let found = arguments.get(position).map_or("nothing", Value::kind);
        let argument = name(operator, position);
        ErrorKind::WrongArgument { operator: operator.name(), position, argument, expected: <&Tensor>::KIND, found }
            .into()
    })
}

impl Operator {
    /// An error about an operand that is called by its number among those of the operator's shape word, by its name.
    ///
    /// ```
    /// # mod doc {
    /// use dispatch_runtime::prelude::*;
    /// # use dispatch_runtime::{BadArgument, Operation, Spec};
    /// #[op_def("scaled(float by, Tensor self, Tensor other) -> Tensor", shape = pointwise(this, other))]
    /// pub fn scaled(by: f64, this: &Tensor, other: &Tensor) -> Result<Tensor>;
    /// # pub(crate) fn run() {
    /// let (two, three) = (Tensor::from_slice(&[1.0; 2]), Tensor::from_slice(&[1.0; 3]));
    /// let error = Spec::pointwise(&[&two, &three], DType::F64).unwrap_err();
    /// let error = scaled::operator().name_operand(error.into());
    /// assert!(error.to_string().contains("`other`"), "{error}");
    /// # }
    /// # }
    /// # fn main() { doc::run() }
    /// ```
    #[cold]
    #[must_use]
    pub fn name_operand(&self, error: Error) -> Error {
        let bad = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<BadArgument>());
        let argument = bad.and_then(|bad| {
            let number = bad.argument.parse::<usize>().ok()?;
            let operand = match self.shape() {
                Some(Shape::Pointwise { operands, .. }) => *operands.get(number)?,
                _ => number,
            };
            self.schema().arguments.get(operand)
        });
        match (bad, argument) {
            (Some(bad), Some(argument)) => BadArgument::new(argument.name.clone(), bad.problem.clone()).into(),
            _ => error,
        }
    }
}

fn name(operator: &Operator, position: usize) -> String {
    operator.schema().arguments.get(position).map(|argument| argument.name.clone()).unwrap_or_default()
}

impl Spec {
    /// Whether a result of this kind may be written into `argument`, a tensor that the caller brought. One without elements is bound to
    /// a fresh tensor of the right sizes; any other must have them already.
    ///
    /// # Errors
    ///
    /// Where its sizes differ, or its dtype cannot hold the result; and where a complex `self` would be written with real numbers.
    #[inline]
    pub fn fit(&self, argument: &str, tensor: &mut Tensor) -> Result<()> {
        if tensor.dtype() != self.dtype && !self.dtype.can_cast(tensor.dtype()) {
            let expected = format!("able to hold the result, which is of {}", self.dtype);
            return Err(BadArgument::dtype(argument.to_owned(), tensor.dtype(), expected).into());
        }
        let is_in_place = argument == "self";
        if is_in_place && tensor.dtype().is_complex() && self.dtype.is_floating() {
            return Err(
                BadArgument::dtype("self", tensor.dtype(), "real, as the result is, which takes its place").into()
            );
        }
        if tensor.sizes() == self.geometry.sizes() {
            return Ok(());
        }
        if tensor.geometry().count() == 0 && tensor.geometry().rank() <= 1 && !is_in_place {
            *tensor = Self { dtype: tensor.dtype(), geometry: self.geometry.clone() }.on(tensor.device())?;
            return Ok(());
        }
        Err(BadArgument::sizes(
            argument.to_owned(),
            tensor.sizes(),
            format!("{:?}, the sizes of the result", self.geometry.sizes()),
        )
        .into())
    }
}

/// The Meta kernel of every operator with a shape word, and of the forms of every operator.
#[doc(hidden)]
pub fn meta(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let functional = operator.functional().filter(|functional| functional.shape().is_none());
    if functional.is_some_and(|functional| functional.outline().is_some() || !functional.is_data_dependent()) {
        // What has no word has a plan, or a kernel for Meta of its own.
        return form(operator, keys, stack);
    }
    outline(operator, stack).map_err(|error| error.in_operator(operator.name()))
}

fn outline(operator: &Operator, stack: &mut Stack) -> Result<()> {
    let count = operator.argument_count();
    let Some(arguments) = stack.top_mut(count) else {
        return Err(crate::operator::too_few_arguments(operator, stack.len()));
    };
    let result = shaped(operator, arguments)?;
    stack.drop_top(count);
    stack.push(result);
    Ok(())
}

fn shaped(operator: &Operator, arguments: &mut [Value]) -> Result<Tensor> {
    let functional = operator.functional().unwrap_or(operator);
    for (i, argument) in arguments.iter().enumerate() {
        if let Value::Tensor(tensor) = argument {
            on_meta(tensor).map_err(|problem| BadArgument::new(name(operator, i), problem))?;
        }
    }
    let spec = match functional.shape() {
        Some(shape) => shape.infer(functional, &arguments[..functional.argument_count()])?,
        None if operator.is_data_dependent() || functional.is_data_dependent() => {
            return Err(ErrorKind::DataDependent { operator: operator.name() }.into());
        }
        None => return Err(ErrorKind::NoShape { operator: operator.name() }.into()),
    };
    let written = operator.schema().arguments.iter().position(dispatch_schema::Argument::is_written);
    match written.map(|at| &mut arguments[at]) {
        Some(Value::Tensor(tensor)) => {
            spec.fit(&name(operator, written.unwrap_or(0)), tensor)?;
            tensor.storage().bump_version();
            Ok(tensor.clone())
        }
        Some(_) => Err(ErrorKind::NoShape { operator: operator.name() }.into()),
        None => spec.on(Device::META),
    }
}

/// Makes sure that a tensor can be computed with on Meta: it is there, or is a single element that could be a number.
pub(crate) fn on_meta(tensor: &Tensor) -> Result<(), Problem> {
    if tensor.device() == Device::META || tensor.geometry().rank() == 0 {
        Ok(())
    } else {
        Err(Problem::Device { found: tensor.device(), expected: Device::META })
    }
}

/// The kernel of an in-place or `out=` form wherever nothing better is registered: the functional operator, and a copy.
#[doc(hidden)]
pub fn form(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    through_functional(operator, keys, stack).map_err(|error| error.in_operator(operator.name()))
}

fn through_functional(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let count = operator.argument_count();
    let Some(arguments) = stack.top(count) else {
        return Err(crate::operator::too_few_arguments(operator, stack.len()));
    };
    let mut arguments = arguments.to_vec();
    stack.drop_top(count);
    for tensor in written_by_copy(operator, keys, &mut arguments)? {
        stack.push(tensor);
    }
    Ok(())
}

fn written_by_copy(operator: &Operator, keys: KeySet, arguments: &mut [Value]) -> Result<Vec<Tensor>> {
    let Some(functional) = operator.functional() else {
        return Err(ErrorKind::NoShape { operator: operator.name() }.into());
    };
    let written = operator.schema().arguments.iter().enumerate().filter(|(_, argument)| argument.is_written());
    let written: Vec<(usize, &str)> = written.map(|(i, argument)| (i, argument.name.as_str())).collect();
    for &(at, argument) in &written {
        check_apart(operator, arguments, at, argument)?;
    }
    let mut own: Stack = given(operator, functional, arguments).into_iter().collect();
    functional.redispatch_boxed(keys, &mut own)?;
    let mut returned = Vec::new();
    for ((at, argument), result) in written.into_iter().zip(own.into_values()) {
        match (std::mem::take(&mut arguments[at]), result) {
            (Value::Tensor(mut tensor), Value::Tensor(result)) => {
                write(argument, &mut tensor, &result)?;
                returned.push(tensor);
            }
            (Value::Tensors(mut tensors), Value::Tensors(results)) => write_each(argument, &mut tensors, &results)?,
            _ => return Err(ErrorKind::NoShape { operator: operator.name() }.into()),
        }
    }
    Ok(returned)
}

/// The functional operator's arguments. What a form leaves out, the tensor that it writes to says.
fn given(operator: &Operator, functional: &Operator, arguments: &[Value]) -> Vec<Value> {
    let (schema, count) = (operator.schema(), functional.argument_count());
    let mut outs = schema.arguments.iter().enumerate().filter(|(_, argument)| argument.is_out()).peekable();
    let out = outs.peek().and_then(|&(at, _)| arguments[at].as_tensor());
    if count + outs.count() == arguments.len() {
        return arguments[..count].to_vec();
    }
    let value = |argument: &dispatch_schema::Argument| match (schema.argument(&argument.name), out) {
        (Some((at, _)), _) => arguments[at].clone(),
        (None, Some(out)) if argument.name == "dtype" => out.dtype().into(),
        (None, Some(out)) if argument.name == "device" => out.device().into(),
        _ => Value::None,
    };
    functional.schema().arguments.iter().map(value).collect()
}

fn write(argument: &str, tensor: &mut Tensor, result: &Tensor) -> Result<()> {
    Spec { dtype: result.dtype(), geometry: result.geometry().clone().at(0) }.fit(argument, tensor)?;
    assign(tensor, result)
}

/// A list is not returned, so its tensors cannot be bound to others and must have their sizes.
fn write_each(argument: &str, tensors: &mut [Tensor], results: &[Tensor]) -> Result<()> {
    if tensors.len() != results.len() {
        let (found, expected) = (tensors.len(), format!("{}, one for each result", results.len()));
        return Err(BadArgument::value(argument.to_owned(), format!("{found} tensors"), expected).into());
    }
    for (tensor, result) in tensors.iter_mut().zip(results) {
        if tensor.sizes() != result.sizes() {
            let expected = format!("{:?}, the sizes of the result", result.sizes());
            return Err(BadArgument::sizes(argument.to_owned(), tensor.sizes(), expected).into());
        }
        write(argument, tensor, result)?;
    }
    Ok(())
}

/// Makes sure that no argument shares memory with a written one without being the same elements.
fn check_apart(operator: &Operator, arguments: &[Value], written: usize, argument: &str) -> Result<(), BadArgument> {
    let Some(tensor) = arguments[written].as_tensor() else { return Ok(()) };
    for (i, other) in arguments.iter().enumerate().filter(|(i, _)| *i != written) {
        let others = match other {
            Value::Tensor(other) => std::slice::from_ref(other),
            Value::Tensors(others) => &others[..],
            _ => &[],
        };
        if others.iter().any(|other| !other.is_apart_from_or_same_as(tensor)) {
            return Err(BadArgument::new(argument.to_owned(), Problem::Overlap { with: name(operator, i).into() }));
        }
    }
    Ok(())
}
