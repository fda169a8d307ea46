//! The state of an object in a training run, as checkpoints save it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use dispatch_runtime::{Error, Result, Tensor};

use crate::module::Module;

/// An object whose state a checkpoint saves: a module, an optimiser, a schedule, or the position in the data.
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

    /// Sets the object to a state. Tensors are copied.
    ///
    /// # Errors
    ///
    /// Returns an error if the state is that of another kind of object. The object is then unchanged.
    fn load_state(&mut self, state: &State) -> Result<()>;
}

impl<M: Module> Stateful for M {
    fn state(&self) -> Result<State> {
        Ok(State { tensors: self.state_dict()?, values: BTreeMap::new() })
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        self.load_state_dict(&state.tensors)
    }
}

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
        let value = self.values.get(name).ok_or_else(|| StateError::MissingValue { name: name.to_owned() })?;
        let wrong = || StateError::WrongValue { name: name.to_owned(), value: value.clone() };
        Ok(value.parse().map_err(|_| wrong())?)
    }

    /// Returns a tensor.
    ///
    /// # Errors
    ///
    /// Returns [`StateError`] if there is no such tensor.
    pub fn tensor(&self, name: &str) -> Result<&Tensor> {
        Ok(self.tensors.get(name).ok_or_else(|| StateError::MissingTensor { name: name.to_owned() })?)
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

/// The error for a state that lacks a part, or has a wrong one.
///
/// ```
/// let error = dispatch_nn::StateError::MissingValue { name: "lr".to_owned() };
/// assert_eq!(error.to_string(), "the state has no value `lr`; it is the state of another kind of object");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StateError {
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
    /// The value has another type.
    WrongValue {
        /// The name.
        name: String,
        /// The text of the value.
        value: String,
    },
}

impl Display for StateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let other = "it is the state of another kind of object";
        match self {
            Self::MissingValue { name } => write!(f, "the state has no value `{name}`; {other}"),
            Self::MissingTensor { name } => write!(f, "the state has no tensor `{name}`; {other}"),
            Self::WrongValue { name, value } => write!(f, "the value `{name}` of the state is `{value}`; {other}"),
        }
    }
}

impl std::error::Error for StateError {}

impl From<StateError> for Error {
    #[cold]
    fn from(error: StateError) -> Self {
        Self::kernel(error)
    }
}
