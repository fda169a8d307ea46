//! The value of a file of `torch.save`.

use std::collections::BTreeMap;
use std::path::Path;

use dispatch_runtime::{DType, Tensor};

use crate::error::{FileError, FileProblem};

/// A value of Python in a file of `torch.save`: a tensor or plain data.
///
/// ```
/// use dispatch_files::PtValue;
/// let losses = PtValue::List(vec![PtValue::Float(0.5), PtValue::Float(0.25)]);
/// let checkpoint = PtValue::Dict(vec![(PtValue::Text("losses".to_owned()), losses)]);
/// assert!(matches!(checkpoint.get("losses"), Some(PtValue::List(losses)) if losses.len() == 2));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PtValue {
    /// `None`.
    None,
    /// A `bool`.
    Bool(bool),
    /// An `int` of at most 64 bits.
    Int(i64),
    /// A `float`.
    Float(f64),
    /// A `str`.
    Text(String),
    /// Bytes, as `bytes` or `bytearray`.
    Bytes(Vec<u8>),
    /// A tensor or parameter. An object that the file has in several places is the same tensor in all of them.
    Tensor(Tensor),
    /// A `list`.
    List(Vec<Self>),
    /// A `tuple`.
    Tuple(Vec<Self>),
    /// A `dict` or `OrderedDict`: pairs of keys and values in its order.
    Dict(Vec<(Self, Self)>),
    /// A `torch.Size`.
    Size(Vec<i64>),
    /// A `torch.dtype`.
    DType(DType),
}

impl PtValue {
    /// Returns the value of a text key, if this is a dict that has it.
    ///
    /// ```
    /// use dispatch_files::PtValue;
    /// let dict = PtValue::Dict(vec![(PtValue::Text("epoch".to_owned()), PtValue::Int(3))]);
    /// assert!(matches!(dict.get("epoch"), Some(PtValue::Int(3))));
    /// assert!(dict.get("model").is_none() && PtValue::None.get("epoch").is_none());
    /// ```
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Dict(pairs) = self else { return None };
        let is_key = |found: &Self| matches!(found, Self::Text(found) if found == key);
        // The last pair of a key is the one that Python has.
        pairs.iter().rev().find(|(found, _)| is_key(found)).map(|(_, value)| value)
    }

    /// Returns the tensors of a dict by their keys. Dicts in the dict are joined with dots.
    ///
    /// ```
    /// use dispatch_files::PtValue;
    /// use dispatch_runtime::Tensor;
    ///
    /// let text = |text: &str| PtValue::Text(text.to_owned());
    /// let layer = PtValue::Dict(vec![(text("weight"), PtValue::Tensor(Tensor::from([1.0, 2.0])))]);
    /// let tensors = PtValue::Dict(vec![(text("layer"), layer)]).to_tensors()?;
    /// assert_eq!(tensors["layer.weight"].sizes(), [2]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`FileError`] with an empty path if this is no dict, if a key is neither text nor an integer, if a value is neither a tensor
    /// nor a dict, or if two tensors get the same name.
    pub fn to_tensors(&self) -> Result<BTreeMap<String, Tensor>, FileError> {
        self.tensors_of(Path::new(""))
    }

    /// Returns the tensors of the dict in a file.
    pub(super) fn tensors_of(&self, path: &Path) -> Result<BTreeMap<String, Tensor>, FileError> {
        let mut tensors = BTreeMap::new();
        match self {
            Self::Dict(_) => self.collect_tensors("", path, &mut tensors)?,
            other => return Err(FileError::new(path, FileProblem::NotADict { found: other.python_type() })),
        }
        Ok(tensors)
    }

    fn collect_tensors(
        &self,
        name: &str,
        path: &Path,
        tensors: &mut BTreeMap<String, Tensor>,
    ) -> Result<(), FileError> {
        match self {
            Self::Tensor(tensor) => match tensors.insert(name.to_owned(), tensor.clone()) {
                Some(_) => Err(FileError::in_entry(path, name, FileProblem::DuplicateName)),
                None => Ok(()),
            },
            Self::Dict(pairs) => pairs.iter().try_for_each(|(key, value)| {
                let key = match key {
                    Self::Text(key) => key.clone(),
                    Self::Int(key) => key.to_string(),
                    other => {
                        let found = format!("a dict with a key of type `{}`, which is no name", other.python_type());
                        return Err(FileError::in_entry(path, name, FileProblem::UnsupportedValue { found }));
                    }
                };
                let name = if name.is_empty() { key } else { format!("{name}.{key}") };
                value.collect_tensors(&name, path, tensors)
            }),
            other => Err(FileError::in_entry(path, name, FileProblem::NotATensor { found: other.python_type() })),
        }
    }

    fn python_type(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "str",
            Self::Bytes(_) => "bytes",
            Self::Tensor(_) => "torch.Tensor",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Dict(_) => "dict",
            Self::Size(_) => "torch.Size",
            Self::DType(_) => "torch.dtype",
        }
    }
}
