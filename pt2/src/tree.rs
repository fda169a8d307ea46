//! Python's values around a program: the arguments and the results of its forward function.

mod spec;

use dispatch_runtime::{Str, Tensor, Value};

pub(crate) use spec::TreeSpec;

/// A value of Python: a tensor, a number, a text, or a container of these.
///
/// ```
/// use dispatch_pt2::Tree;
/// use dispatch_runtime::Tensor;
///
/// let pair = Tree::from((Tensor::from([1.0]), 2_i64));
/// assert_eq!(pair.tensors().len(), 1);
///
/// let options = Tree::dict([("scale", 0.5), ("shift", 1.0)]);
/// assert!(options.get("shift").is_some());
/// ```
#[derive(Clone, Debug)]
pub enum Tree {
    /// A tensor, a number, a text, or `None`.
    Leaf(Value),
    /// A tuple.
    Tuple(Vec<Self>),
    /// A list.
    List(Vec<Self>),
    /// A dict, in its order.
    Dict(Vec<(String, Self)>),
    /// An object with named fields, such as an output of the package `transformers`.
    Record {
        /// The name of the class in Python.
        class: String,
        /// The fields, in their order.
        fields: Vec<(String, Self)>,
    },
}

impl Tree {
    /// Makes a dict.
    ///
    /// ```
    /// use dispatch_pt2::Tree;
    /// assert_eq!(Tree::dict([("scale", 0.5), ("shift", 1.0)]).leaves().len(), 2);
    /// ```
    #[must_use]
    pub fn dict<K: Into<String>, V: Into<Self>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        Self::Dict(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }

    /// Returns the value of a key or of a field.
    ///
    /// ```
    /// use dispatch_pt2::Tree;
    /// let options = Tree::dict([("scale", 0.5)]);
    /// assert!(options.get("scale").is_some() && options.get("shift").is_none());
    /// ```
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Dict(entries) | Self::Record { fields: entries, .. } => {
                entries.iter().find_map(|(name, value)| (name == key).then_some(value))
            }
            _ => None,
        }
    }

    /// Returns an element of a tuple or a list, or the value at a position of a dict or an object.
    ///
    /// ```
    /// use dispatch_pt2::Tree;
    /// use dispatch_runtime::Tensor;
    ///
    /// let pair = Tree::from((Tensor::from([1.0]), 2));
    /// assert!(pair.at(0).is_some_and(|first| first.as_tensor().is_some()));
    /// ```
    #[must_use]
    pub fn at(&self, index: usize) -> Option<&Self> {
        match self {
            Self::Tuple(items) | Self::List(items) => items.get(index),
            Self::Dict(entries) | Self::Record { fields: entries, .. } => entries.get(index).map(|(_, value)| value),
            Self::Leaf(_) => None,
        }
    }

    /// Returns the tensor, if this is one.
    ///
    /// ```
    /// use dispatch_pt2::Tree;
    /// use dispatch_runtime::Tensor;
    ///
    /// assert!(Tree::from(Tensor::from([1.0])).as_tensor().is_some());
    /// assert!(Tree::from(1.0).as_tensor().is_none());
    /// ```
    #[must_use]
    pub const fn as_tensor(&self) -> Option<&Tensor> {
        if let Self::Leaf(Value::Tensor(tensor)) = self { Some(tensor) } else { None }
    }

    /// Returns all tensors, in order.
    ///
    /// ```
    /// use dispatch_pt2::Tree;
    /// use dispatch_runtime::Tensor;
    ///
    /// let nested = Tree::from((vec![Tensor::from([1.0]), Tensor::from([2.0])], 3));
    /// assert_eq!(nested.tensors().len(), 2);
    /// ```
    #[must_use]
    pub fn tensors(&self) -> Vec<Tensor> {
        self.leaves().into_iter().filter_map(|leaf| leaf.as_tensor().cloned()).collect()
    }

    /// Returns all leaves, in order.
    ///
    /// ```
    /// use dispatch_pt2::Tree;
    /// assert_eq!(Tree::from((vec![1, 2], "three")).leaves().len(), 3);
    /// ```
    #[must_use]
    pub fn leaves(&self) -> Vec<Value> {
        let mut leaves = Vec::new();
        self.collect_leaves(&mut leaves);
        leaves
    }

    fn collect_leaves(&self, leaves: &mut Vec<Value>) {
        match self {
            Self::Leaf(value) => leaves.push(value.clone()),
            Self::Tuple(items) | Self::List(items) => {
                for item in items {
                    item.collect_leaves(leaves);
                }
            }
            Self::Dict(entries) | Self::Record { fields: entries, .. } => {
                for (_, item) in entries {
                    item.collect_leaves(leaves);
                }
            }
        }
    }
}

/// Implements conversions of leaves.
macro_rules! from_leaf {
    ($($ty:ty: |$value:ident| $leaf:expr;)*) => {$(
        impl From<$ty> for Tree {
            fn from($value: $ty) -> Self {
                Self::Leaf($leaf)
            }
        }
    )*};
}

from_leaf! {
    Value: |value| value;
    Tensor: |value| value.into();
    &Tensor: |value| value.clone().into();
    i32: |value| i64::from(value).into();
    i64: |value| value.into();
    f64: |value| value.into();
    bool: |value| value.into();
    &str: |value| Str::from(value).into();
}

impl<T: Into<Self>> From<Option<T>> for Tree {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Leaf(Value::None), Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Tree {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

/// Implements conversions of tuples.
macro_rules! from_tuple {
    ($($($ty:ident)*;)*) => {$(
        impl<$($ty: Into<Tree>),*> From<($($ty,)*)> for Tree {
            #[expect(non_snake_case, reason = "a value has the name of its type")]
            fn from(($($ty,)*): ($($ty,)*)) -> Self {
                Self::Tuple(vec![$($ty.into()),*])
            }
        }
    )*};
}

from_tuple! {
    A;
    A B;
    A B C;
    A B C D;
}
