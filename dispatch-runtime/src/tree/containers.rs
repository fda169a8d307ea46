//! The trees of the standard library: numbers, tuples, lists, options and maps.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};

use num_complex::Complex64;

use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::tree::{LeafFn, TensorTree, TreePath};

impl TensorTree for Tensor {
    type Map<L> = L;

    fn map_tensors(&self, at: &TreePath<'_>, f: &mut LeafFn<'_, Tensor>) -> Result<Self> {
        f(at, self)
    }

    fn map_leaves<L>(&self, at: &TreePath<'_>, f: &mut LeafFn<'_, L>) -> Result<L> {
        f(at, self)
    }
}

/// Implements [`TensorTree`] for a container by an expression that maps each of its parts with `$map(part, path)`.
macro_rules! impl_for_container {
    ([$($generics:tt)*] $container:ty => $mapped:ty: |$tree:ident, $at:ident, $map:ident| $result:expr) => {
        impl<$($generics)*> TensorTree for $container {
            type Map<L> = $mapped;

            fn map_tensors(&self, $at: &TreePath<'_>, f: &mut LeafFn<'_, Tensor>) -> Result<Self> {
                let ($tree, mut $map) = (self, |part: &T, at: TreePath<'_>| part.map_tensors(&at, f));
                $result
            }

            fn map_leaves<L>(&self, $at: &TreePath<'_>, f: &mut LeafFn<'_, L>) -> Result<Self::Map<L>> {
                let ($tree, mut $map) = (self, |part: &T, at: TreePath<'_>| part.map_leaves(&at, f));
                $result
            }
        }
    };
}

impl_for_container! { [T: TensorTree] Vec<T> => Vec<T::Map<L>>:
    |tree, at, map| tree.iter().enumerate().map(|(i, part)| map(part, at.index(i))).collect()
}

impl_for_container! { [T: TensorTree, const N: usize] [T; N] => [T::Map<L>; N]: |tree, at, map| {
    let parts = tree.iter().enumerate().map(|(i, part)| map(part, at.index(i))).collect::<Result<Vec<_>>>()?;
    parts.try_into().map_err(|_| Error::kernel("an array has one result for each element"))
} }

impl_for_container! { [T: TensorTree] Option<T> => Option<T::Map<L>>:
    |tree, at, map| tree.as_ref().map(|part| map(part, *at)).transpose()
}

impl_for_container! { [K: Clone + Ord + Debug, T: TensorTree] BTreeMap<K, T> => BTreeMap<K, T::Map<L>>:
    |tree, at, map| tree.iter().map(|(key, part)| Ok((key.clone(), map(part, at.key(key))?))).collect()
}

// The order of the tensors is that of the keys, not that of the map, which changes from run to run.
impl_for_container! { [K: Clone + Ord + Hash + Debug, T: TensorTree, S: BuildHasher + Default]
    HashMap<K, T, S> => HashMap<K, T::Map<L>, S>: |tree, at, map| {
        let mut parts: Vec<(&K, &T)> = tree.iter().collect();
        parts.sort_by_key(|(key, _)| *key);
        parts.into_iter().map(|(key, part)| Ok((key.clone(), map(part, at.key(key))?))).collect()
    }
}

macro_rules! impl_for_numbers {
    ($($number:ty)*) => {$(
        impl TensorTree for $number {
            type Map<L> = Self;

            fn map_tensors(&self, _: &TreePath<'_>, _: &mut LeafFn<'_, Tensor>) -> Result<Self> {
                Ok(*self)
            }

            fn map_leaves<L>(&self, _: &TreePath<'_>, _: &mut LeafFn<'_, L>) -> Result<Self> {
                Ok(*self)
            }
        }
    )*};
}

impl_for_numbers! { bool i32 i64 usize f32 f64 Complex64 Scalar }

macro_rules! impl_for_tuples {
    ($($($name:ident $index:tt)*;)*) => {$(
        impl<$($name: TensorTree),*> TensorTree for ($($name,)*) {
            type Map<L> = ($($name::Map<L>,)*);

            fn map_tensors(&self, at: &TreePath<'_>, f: &mut LeafFn<'_, Tensor>) -> Result<Self> {
                Ok(($(self.$index.map_tensors(&at.field(stringify!($index)), f)?,)*))
            }

            fn map_leaves<L>(&self, at: &TreePath<'_>, f: &mut LeafFn<'_, L>) -> Result<Self::Map<L>> {
                Ok(($(self.$index.map_leaves(&at.field(stringify!($index)), f)?,)*))
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
