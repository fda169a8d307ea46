//! Arguments and results of nodes: the argument kinds of PyTorch's exported programs.

use std::fmt;

use dispatch_runtime::schema::{self, Type, TypeKind};
use dispatch_runtime::{Complex64, DType, Device, Layout, MemoryFormat, Scalar, Str, Tensor, Value};

/// A value of a graph, as an index into [`Graph::values`](crate::Graph::values). It prints as `v3`.
///
/// ```
/// assert_eq!(dispatch_trace::ValueId(3).to_string(), "v3");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub usize);

impl fmt::Display for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl fmt::Debug for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One argument or result of a node. A scalar given for an argument of type `Tensor` is a [`Tensor::number`].
///
/// ```
/// use dispatch_trace::{Argument, ValueId};
/// assert_eq!(Argument::Tensors(vec![ValueId(0), ValueId(2)]).kind(), "as_tensors");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Argument {
    /// No value.
    None,
    /// A tensor.
    Tensor(ValueId),
    /// Tensors.
    Tensors(Vec<ValueId>),
    /// Tensors, some of which may be missing.
    OptionalTensors(Vec<Option<ValueId>>),
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A complex number.
    Complex(Complex64),
    /// A string.
    String(String),
    /// Booleans.
    Bools(Vec<bool>),
    /// Integers.
    Ints(Vec<i64>),
    /// Floating-point numbers.
    Floats(Vec<f64>),
    /// Strings.
    Strings(Vec<String>),
    /// The dtype of a tensor.
    ScalarType(DType),
    /// The layout of a tensor.
    Layout(Layout),
    /// The memory format of a tensor.
    MemoryFormat(MemoryFormat),
    /// The device of a tensor.
    Device(Device),
    /// Any other list: scalars of several kinds, lists of lists.
    List(Vec<Self>),
}

impl Argument {
    /// Returns the name of this kind in the format of exported programs.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::None => "as_none",
            Self::Tensor(_) => "as_tensor",
            Self::Tensors(_) => "as_tensors",
            Self::OptionalTensors(_) => "as_optional_tensors",
            Self::Bool(_) => "as_bool",
            Self::Int(_) => "as_int",
            Self::Float(_) => "as_float",
            Self::Complex(_) => "as_complex",
            Self::String(_) => "as_string",
            Self::Bools(_) => "as_bools",
            Self::Ints(_) => "as_ints",
            Self::Floats(_) => "as_floats",
            Self::Strings(_) => "as_strings",
            Self::ScalarType(_) => "as_scalar_type",
            Self::Layout(_) => "as_layout",
            Self::MemoryFormat(_) => "as_memory_format",
            Self::Device(_) => "as_device",
            Self::List(_) => "as_list",
        }
    }

    /// Returns the values that the argument names.
    ///
    /// ```
    /// use dispatch_trace::{Argument, ValueId};
    /// assert_eq!(Argument::OptionalTensors(vec![None, Some(ValueId(4))]).value_ids(), [ValueId(4)]);
    /// ```
    #[must_use]
    pub fn value_ids(&self) -> Vec<ValueId> {
        match self {
            Self::Tensor(id) => vec![*id],
            Self::Tensors(ids) => ids.clone(),
            Self::OptionalTensors(ids) => ids.iter().flatten().copied().collect(),
            Self::List(items) => items.iter().flat_map(Self::value_ids).collect(),
            _ => Vec::new(),
        }
    }

    /// Replaces each value that the argument names by the result of `new`.
    pub(crate) fn map_value_ids(&mut self, new: &mut impl FnMut(ValueId) -> ValueId) {
        match self {
            Self::Tensor(id) => *id = new(*id),
            Self::Tensors(ids) => ids.iter_mut().for_each(|id| *id = new(*id)),
            Self::OptionalTensors(ids) => ids.iter_mut().flatten().for_each(|id| *id = new(*id)),
            Self::List(items) => items.iter_mut().for_each(|item| item.map_value_ids(new)),
            _ => {}
        }
    }

    /// Converts a value of a call to an argument. Returns `None` if the text of a graph cannot express it.
    pub(crate) fn from_value<E>(
        value: &Value,
        tensor: &mut impl FnMut(&Tensor) -> Result<Self, E>,
    ) -> Result<Option<Self>, E> {
        Ok(Some(match value {
            Value::None => Self::None,
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::Float(value) => Self::Float(*value),
            Value::Complex(value) => Self::Complex(**value),
            Value::Str(value) => Self::String(value.to_string()),
            Value::Tensor(value) => tensor(value)?,
            Value::Tensors(values) => {
                let items = values.iter().map(&mut *tensor).collect::<Result<Vec<_>, E>>()?;
                let ids: Option<Vec<ValueId>> = items.iter().map(as_value_id).collect();
                ids.map_or(Self::List(items), Self::Tensors)
            }
            Value::OptionalTensors(values) => {
                let items = values.iter().map(|value| value.as_ref().map(&mut *tensor).transpose());
                let items = items.collect::<Result<Vec<_>, E>>()?;
                let ids = items.iter().map(|item| item.as_ref().map_or(Some(None), |item| as_value_id(item).map(Some)));
                let Some(ids) = ids.collect() else { return Ok(None) };
                Self::OptionalTensors(ids)
            }
            Value::Ints(values) => Self::Ints(values.to_vec()),
            Value::Floats(values) => Self::Floats(values.to_vec()),
            Value::Bools(values) => Self::Bools(values.to_vec()),
            Value::Scalars(values) => Self::List(values.iter().map(|value| Self::from_scalar(*value)).collect()),
            Value::Strs(values) => Self::Strings(values.iter().map(ToString::to_string).collect()),
            Value::DType(value) => Self::ScalarType(*value),
            Value::Layout(value) => Self::Layout(*value),
            Value::MemoryFormat(value) => Self::MemoryFormat(*value),
            Value::Device(value) => Self::Device(*value),
            _ => return Ok(None),
        }))
    }

    pub(crate) const fn from_scalar(value: Scalar) -> Self {
        match value {
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Int(value) => Self::Int(value),
            Scalar::Float(value) => Self::Float(value),
            Scalar::Complex(value) => Self::Complex(value),
        }
    }

    const fn as_scalar(&self) -> Option<Scalar> {
        Some(match self {
            Self::Bool(value) => Scalar::Bool(*value),
            Self::Int(value) => Scalar::Int(*value),
            Self::Float(value) => Scalar::Float(*value),
            Self::Complex(value) => Scalar::Complex(*value),
            _ => return None,
        })
    }

    /// Converts the argument to a value of the schema's type `ty`. Returns `None` if it does not have this type.
    pub(crate) fn to_value<T: FnMut(ValueId) -> Option<Tensor>>(&self, ty: &Type, tensor: &mut T) -> Option<Value> {
        let ty = ty.without_optional();
        Some(match (self, &ty.kind) {
            (Self::None, _) => Value::None,
            (Self::Tensor(id), TypeKind::Tensor | TypeKind::Any) => tensor(*id)?.into(),
            (number, TypeKind::Tensor) => Tensor::number(number.as_scalar()?).into(),
            (list, TypeKind::List(element, _)) => list.to_list_value(element, tensor)?,
            (Self::Bool(value), TypeKind::Bool | TypeKind::SymBool | TypeKind::Scalar | TypeKind::Any) => {
                (*value).into()
            }
            (Self::Int(value), TypeKind::Int | TypeKind::SymInt | TypeKind::Scalar | TypeKind::Any) => (*value).into(),
            (Self::Float(value), TypeKind::Float | TypeKind::Scalar | TypeKind::Any) => (*value).into(),
            (Self::Complex(value), TypeKind::Complex | TypeKind::Scalar | TypeKind::Any) => (*value).into(),
            (Self::String(value), TypeKind::Str | TypeKind::Any) => Str::from(value.as_str()).into(),
            (Self::ScalarType(value), TypeKind::ScalarType | TypeKind::Any) => (*value).into(),
            (Self::Layout(value), TypeKind::Layout | TypeKind::Any) => (*value).into(),
            (Self::MemoryFormat(value), TypeKind::MemoryFormat | TypeKind::Any) => (*value).into(),
            (Self::Device(value), TypeKind::Device | TypeKind::Any) => (*value).into(),
            _ => return None,
        })
    }

    fn to_list_value<T: FnMut(ValueId) -> Option<Tensor>>(&self, element: &Type, tensor: &mut T) -> Option<Value> {
        Some(match (self, &element.kind) {
            (Self::Tensors(ids), TypeKind::Tensor) => {
                ids.iter().map(|id| tensor(*id)).collect::<Option<Vec<_>>>()?.into()
            }
            (Self::OptionalTensors(ids), _) if element.without_optional().kind == TypeKind::Tensor => {
                let tensors = ids.iter().map(|id| id.map_or(Some(None), |id| tensor(id).map(Some)));
                tensors.collect::<Option<Vec<_>>>()?.into()
            }
            (Self::Bools(values), TypeKind::Bool) => values.clone().into(),
            (Self::Ints(values), TypeKind::Int | TypeKind::SymInt) => values.clone().into(),
            (Self::Floats(values), TypeKind::Float) => values.clone().into(),
            (Self::Strings(values), TypeKind::Str) => {
                values.iter().map(|value| Str::from(value.as_str())).collect::<Vec<_>>().into()
            }
            (Self::List(items), TypeKind::Tensor) => {
                let tensors = items.iter().map(|item| match item.to_value(element, tensor)? {
                    Value::Tensor(tensor) => Some(tensor),
                    _ => None,
                });
                tensors.collect::<Option<Vec<_>>>()?.into()
            }
            (Self::List(items), TypeKind::Scalar) => {
                items.iter().map(Self::as_scalar).collect::<Option<Vec<_>>>()?.into()
            }
            _ => return None,
        })
    }

    /// Returns the default of an argument of a schema, or `None` if it has none.
    pub(crate) fn schema_default(argument: &schema::Argument) -> Option<Self> {
        let no_tensor = &mut |_: &Tensor| Err(());
        Self::from_value(&Value::default_of(argument)?, no_tensor).ok().flatten()
    }
}

/// Compares arguments bit by bit: `-0.0` differs from `0.0`, and a NaN equals itself.
impl PartialEq for Argument {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && format!("{self:?}") == format!("{other:?}")
    }
}

const fn as_value_id(argument: &Argument) -> Option<ValueId> {
    if let Argument::Tensor(id) = argument { Some(*id) } else { None }
}

/// Combines items to a list with this element type. Returns `None` if an item has another type.
pub(crate) fn list_argument(items: Vec<Argument>, element: &TypeKind) -> Option<Argument> {
    macro_rules! convert_to_typed_list {
        ($from:ident => $to:ident) => {
            Argument::$to(
                items
                    .into_iter()
                    .map(|item| if let Argument::$from(item) = item { Some(item) } else { None })
                    .collect::<Option<_>>()?,
            )
        };
    }
    Some(match element {
        TypeKind::Int | TypeKind::SymInt => convert_to_typed_list!(Int => Ints),
        TypeKind::Float => convert_to_typed_list!(Float => Floats),
        TypeKind::Bool | TypeKind::SymBool => convert_to_typed_list!(Bool => Bools),
        TypeKind::Str => convert_to_typed_list!(String => Strings),
        _ => Argument::List(items),
    })
}
