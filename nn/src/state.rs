//! The state of an object in a training run, as checkpoints save it.

use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Display};
use std::str::FromStr;

use dispatch_runtime::{Error, Result, Tensor};

use crate::module::Module;
use crate::state_dict::named_tensors;

/// An object whose state a checkpoint saves: a module, an optimiser, a schedule, the position in the data, or a number or text of the program.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Stateful};
/// let layer = Linear::new(2, 3)?;
/// let mut other = Linear::new(2, 3)?;
/// other.load_state(&layer.state()?)?;
/// assert_eq!(layer.weight.to_vec::<f32>()?, other.weight.to_vec::<f32>()?);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub trait Stateful {
    /// Returns the state. Its tensors may share the elements of the object.
    ///
    /// # Errors
    ///
    /// Returns the error of a called operator.
    fn state(&self) -> Result<State>;

    /// Returns all reasons why [`load_state`](Self::load_state) would refuse a state.
    ///
    /// # Errors
    ///
    /// Returns the error of a called operator.
    fn check_state(&self, state: &State) -> Result<Vec<StateProblem>>;

    /// Sets the object to a state. Tensors are copied.
    ///
    /// # Errors
    ///
    /// Returns [`StateError`] with all reasons if the state is that of another kind of object. The object is then unchanged.
    fn load_state(&mut self, state: &State) -> Result<()>;
}

impl<M: Module> Stateful for M {
    fn state(&self) -> Result<State> {
        Ok(State { tensors: self.state_dict()?, values: BTreeMap::new() })
    }

    fn check_state(&self, state: &State) -> Result<Vec<StateProblem>> {
        let mut reader = StateReader::new(state);
        for (name, tensor) in named_tensors(self) {
            reader.tensor(&name, tensor.sizes());
        }
        Ok(reader.problems())
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        StateError::check(self.check_state(state)?)?;
        self.load_state_dict(&state.tensors)
    }
}

macro_rules! impl_for_values {
    ($($value:ty)*) => {$(
        impl Stateful for $value {
            fn state(&self) -> Result<State> {
                let mut state = State::default();
                state.set_value("value", self);
                Ok(state)
            }

            fn check_state(&self, state: &State) -> Result<Vec<StateProblem>> {
                let mut reader = StateReader::new(state);
                reader.value::<Self>("value");
                Ok(reader.problems())
            }

            fn load_state(&mut self, state: &State) -> Result<()> {
                StateError::check(self.check_state(state)?)?;
                *self = state.value("value")?;
                Ok(())
            }
        }
    )*};
}

impl_for_values! { bool i32 i64 u32 u64 usize f32 f64 String }

/// Named tensors, and named values as text.
///
/// ```
/// use dispatch_nn::State;
///
/// let mut state = State::default();
/// state.set_value("lr", 0.1);
/// let mut run = State::default();
/// run.insert("optimizer", state);
/// assert_eq!(run.part("optimizer").value::<f64>("lr")?, 0.1);
/// assert!(run.value::<f64>("lr").is_err());
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The tensors.
    pub tensors: BTreeMap<String, Tensor>,
    /// The values. Numbers are written so that they are read without loss.
    pub values: BTreeMap<String, String>,
}

impl State {
    /// Sets a value.
    pub fn set_value(&mut self, name: impl Into<String>, value: impl Display) {
        self.values.insert(name.into(), value.to_string());
    }

    /// Returns a value.
    ///
    /// # Errors
    ///
    /// Returns [`StateError`] if there is no such value, or if it has another type.
    pub fn value<T: FromStr>(&self, name: &str) -> Result<T> {
        Ok(self.parse(name).map_err(|problem| StateError { problems: vec![problem] })?)
    }

    fn parse<T: FromStr>(&self, name: &str) -> Result<T, StateProblem> {
        let name = name.to_owned();
        match self.values.get(&name) {
            None => Err(StateProblem::MissingValue { name }),
            Some(value) => value.parse().map_err(|_| StateProblem::WrongValue { name, value: value.clone() }),
        }
    }

    /// Adds the state of a part. Its names get the prefix `part.`.
    pub fn insert(&mut self, part: &str, state: Self) {
        self.tensors.extend(state.tensors.into_iter().map(|(name, tensor)| (format!("{part}.{name}"), tensor)));
        self.values.extend(state.values.into_iter().map(|(name, value)| (format!("{part}.{name}"), value)));
    }

    /// Returns the state of a part, without the prefix.
    #[must_use]
    pub fn part(&self, part: &str) -> Self {
        fn within<T: Clone>(map: &BTreeMap<String, T>, part: &str) -> BTreeMap<String, T> {
            let inner = |name: &String| Some(name.strip_prefix(part)?.strip_prefix('.')?.to_owned());
            map.iter().filter_map(|(name, value)| Some((inner(name)?, value.clone()))).collect()
        }
        Self { tensors: within(&self.tensors, part), values: within(&self.values, part) }
    }
}

/// Reads a state, and collects everything that is missing, wrong, or never read.
///
/// ```
/// use dispatch_nn::{State, StateReader};
///
/// let mut state = State::default();
/// state.set_value("step", 3);
/// state.set_value("size", 8);
/// let mut reader = StateReader::new(&state);
/// assert_eq!(reader.value("step"), Some(3));
/// assert_eq!(reader.value::<f64>("lr"), None);
/// let problems: Vec<String> = reader.problems().iter().map(ToString::to_string).collect();
/// assert_eq!(problems, ["value `lr` is missing", "value `size` is unexpected"]);
/// ```
#[derive(Debug)]
pub struct StateReader<'a> {
    state: &'a State,
    read: HashSet<String>,
    problems: Vec<StateProblem>,
}

impl<'a> StateReader<'a> {
    /// Starts to read a state.
    #[must_use]
    pub fn new(state: &'a State) -> Self {
        Self { state, read: HashSet::new(), problems: Vec::new() }
    }

    /// Returns whether the state has a value.
    #[must_use]
    pub fn has_value(&self, name: &str) -> bool {
        self.state.values.contains_key(name)
    }

    /// Returns a value. If it is missing or has another type, that is a problem, and the result is `None`.
    pub fn value<T: FromStr>(&mut self, name: &str) -> Option<T> {
        self.read.insert(name.to_owned());
        self.state.parse(name).map_err(|problem| self.problems.push(problem)).ok()
    }

    /// Returns a tensor of these sizes. If it is missing or has others, that is a problem, and the result is `None`.
    pub fn tensor(&mut self, name: &str, sizes: &[i64]) -> Option<&'a Tensor> {
        self.read.insert(name.to_owned());
        let name = name.to_owned();
        let problem = match self.state.tensors.get(&name) {
            None => StateProblem::MissingTensor { name },
            Some(tensor) if tensor.sizes() == sizes => return Some(tensor),
            Some(tensor) => StateProblem::WrongShape { name, expected: sizes.to_vec(), found: tensor.sizes().to_vec() },
        };
        self.problems.push(problem);
        None
    }

    /// Adds a value that has the right type, and is still wrong.
    pub fn refuse(&mut self, name: &str) {
        if let Some(value) = self.state.values.get(name) {
            self.problems.push(StateProblem::WrongValue { name: name.to_owned(), value: value.clone() });
        }
    }

    /// Returns the problems. Names that were not read are problems, too.
    #[must_use]
    pub fn problems(mut self) -> Vec<StateProblem> {
        let unread = |name: &&String| !self.read.contains(*name);
        let tensors = self.state.tensors.keys().filter(unread);
        self.problems.extend(tensors.map(|name| StateProblem::UnexpectedTensor { name: name.clone() }));
        let values = self.state.values.keys().filter(unread);
        self.problems.extend(values.map(|name| StateProblem::UnexpectedValue { name: name.clone() }));
        self.problems
    }
}

/// The error for a state that is that of another kind of object. It lists everything that does not fit.
///
/// ```
/// use dispatch_nn::{State, StateError};
/// let error = State::default().value::<f64>("lr").unwrap_err();
/// assert!(error.to_string().contains("value `lr` is missing"), "{error}");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateError {
    /// Everything that does not fit.
    pub problems: Vec<StateProblem>,
}

impl StateError {
    /// Makes problems an error.
    ///
    /// # Errors
    ///
    /// Returns the error if there are problems.
    pub fn check(problems: Vec<StateProblem>) -> Result<()> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }.into()) }
    }
}

/// A reason why a state does not fit an object.
///
/// ```
/// use dispatch_nn::StateProblem;
/// let problem = StateProblem::MissingTensor { name: "weight".to_owned() };
/// assert_eq!(problem.within("model").to_string(), "tensor `model.weight` is missing");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StateProblem {
    /// There is no value of this name.
    MissingValue {
        /// The name.
        name: String,
    },
    /// There is no tensor of this name.
    MissingTensor {
        /// The name.
        name: String,
    },
    /// The object has no value of this name.
    UnexpectedValue {
        /// The name.
        name: String,
    },
    /// The object has no tensor of this name.
    UnexpectedTensor {
        /// The name.
        name: String,
    },
    /// The value has another type, or the object does not have it.
    WrongValue {
        /// The name.
        name: String,
        /// The text of the value.
        value: String,
    },
    /// The tensor has other sizes.
    WrongShape {
        /// The name.
        name: String,
        /// The sizes in the object.
        expected: Vec<i64>,
        /// The sizes in the state.
        found: Vec<i64>,
    },
}

impl StateProblem {
    /// Returns the problem with the prefix `part.` before the name.
    #[must_use]
    pub fn within(mut self, part: &str) -> Self {
        let (Self::MissingValue { name }
        | Self::MissingTensor { name }
        | Self::UnexpectedValue { name }
        | Self::UnexpectedTensor { name }
        | Self::WrongValue { name, .. }
        | Self::WrongShape { name, .. }) = &mut self;
        *name = format!("{part}.{name}");
        self
    }
}

impl Display for StateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingValue { name } => write!(f, "value `{name}` is missing"),
            Self::MissingTensor { name } => write!(f, "tensor `{name}` is missing"),
            Self::UnexpectedValue { name } => write!(f, "value `{name}` is unexpected"),
            Self::UnexpectedTensor { name } => write!(f, "tensor `{name}` is unexpected"),
            Self::WrongValue { name, value } => write!(f, "value `{name}` is `{value}`, which the object cannot have"),
            Self::WrongShape { name, expected, found } => {
                write!(f, "tensor `{name}` has the shape {found:?}, and {expected:?} in the object")
            }
        }
    }
}

impl Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the state does not fit the object that loads it")?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl std::error::Error for StateError {}

impl From<StateError> for Error {
    #[cold]
    fn from(error: StateError) -> Self {
        Self::kernel(error)
    }
}
