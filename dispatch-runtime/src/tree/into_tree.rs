//! The inputs of transformed functions, which become trees of owned handles.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};

use num_complex::Complex64;

use crate::error::Result;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::tree::{TensorTree, TreePath};

/// An input of a transformed function: a tree, a reference to one, or a structure of references, such as `(&x, &y)`.
///
/// ```
/// use dispatch_runtime::{IntoTensorTree, Tensor};
///
/// let (x, y) = (Tensor::from_slice(&[1.0]), Tensor::from_slice(&[2.0]));
/// let (first, rest): (Tensor, Vec<Tensor>) = (&x, vec![&x, &y]).into_tensor_tree()?;
/// assert!(first.same(&x) && rest[1].same(&y));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no input of a transformed function",
    label = "neither a tree of tensors nor a reference to one",
    note = "pass `&x`, or several as `(&x, &y)`, `[&x, &y]`, a slice, or a reference to a struct with `#[derive(TensorTree)]`"
)]
pub trait IntoTensorTree {
    /// The tree of owned handles. The function gets a reference to it.
    type Tree: TensorTree;

    /// Clones the handles of the tensors into a tree.
    ///
    /// # Errors
    ///
    /// Returns no error for the types of this crate.
    fn into_tensor_tree(self) -> Result<Self::Tree>;
}

impl<T: TensorTree> IntoTensorTree for &T {
    type Tree = T;

    fn into_tensor_tree(self) -> Result<T> {
        self.map_tensors(&TreePath::ROOT, &mut |_, tensor| Ok(tensor.clone()))
    }
}

impl<T: IntoTensorTree + Clone> IntoTensorTree for &[T] {
    type Tree = Vec<T::Tree>;

    fn into_tensor_tree(self) -> Result<Self::Tree> {
        self.iter().cloned().map(T::into_tensor_tree).collect()
    }
}

impl<T: IntoTensorTree> IntoTensorTree for Vec<T> {
    type Tree = Vec<T::Tree>;

    fn into_tensor_tree(self) -> Result<Self::Tree> {
        self.into_iter().map(T::into_tensor_tree).collect()
    }
}

impl<T: IntoTensorTree, const N: usize> IntoTensorTree for [T; N] {
    type Tree = [T::Tree; N];

    fn into_tensor_tree(self) -> Result<Self::Tree> {
        let parts = self.into_iter().map(T::into_tensor_tree).collect::<Result<Vec<_>>>()?;
        parts.try_into().map_err(|_| "an array has one tree for each element".into())
    }
}

impl<T: IntoTensorTree> IntoTensorTree for Option<T> {
    type Tree = Option<T::Tree>;

    fn into_tensor_tree(self) -> Result<Self::Tree> {
        self.map(T::into_tensor_tree).transpose()
    }
}

impl<K: Clone + Ord + Debug, T: IntoTensorTree> IntoTensorTree for BTreeMap<K, T> {
    type Tree = BTreeMap<K, T::Tree>;

    fn into_tensor_tree(self) -> Result<Self::Tree> {
        self.into_iter().map(|(key, part)| Ok((key, part.into_tensor_tree()?))).collect()
    }
}

impl<K, T, S> IntoTensorTree for HashMap<K, T, S>
where
    K: Clone + Ord + Hash + Debug,
    T: IntoTensorTree,
    S: BuildHasher + Default,
{
    type Tree = HashMap<K, T::Tree, S>;

    fn into_tensor_tree(self) -> Result<Self::Tree> {
        self.into_iter().map(|(key, part)| Ok((key, part.into_tensor_tree()?))).collect()
    }
}

macro_rules! impl_for_leaves {
    ($($leaf:ty)*) => {$(
        impl IntoTensorTree for $leaf {
            type Tree = Self;

            fn into_tensor_tree(self) -> Result<Self> {
                Ok(self)
            }
        }
    )*};
}

impl_for_leaves! { Tensor bool i32 i64 usize f32 f64 Complex64 Scalar }

macro_rules! impl_for_tuples {
    ($($($name:ident $index:tt)*;)*) => {$(
        impl<$($name: IntoTensorTree),*> IntoTensorTree for ($($name,)*) {
            type Tree = ($($name::Tree,)*);

            fn into_tensor_tree(self) -> Result<Self::Tree> {
                Ok(($(self.$index.into_tensor_tree()?,)*))
            }
        }
    )*};
}

impl_for_tuples! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
}
