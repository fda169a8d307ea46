//! Trees of tensors: the inputs and results of functions that a transform, such as `vmap` or `grad`, runs.
//!
//! A tree is a tensor, or a tuple, array, `Vec`, `Option` or map of trees, or a struct with `#[derive(TensorTree)]`. The tensors are its
//! leaves. They have an order, and each has a [path](TreePath). A transform replaces the leaves, and keeps the structure.
//!
//! The inputs of a transformed function are borrowed: [`IntoTensorTree`] makes a tree of owned handles from `&x` or `(&x, &y)`.

mod containers;
mod into_tree;
mod leaves;
mod mismatch;
mod path;

use crate::error::Result;
use crate::tensor::Tensor;

pub use into_tree::IntoTensorTree;
pub use leaves::Leaves;
pub use mismatch::TreeMismatch;
pub use path::TreePath;

/// A tensor, or a structure of tensors: a tuple, an array, a `Vec`, an `Option`, a map, or a struct with `#[derive(TensorTree)]`.
///
/// Numbers are trees without tensors: a transform keeps them.
///
/// ```
/// use dispatch_runtime::{Tensor, TensorTree};
///
/// #[derive(TensorTree)]
/// struct Linear {
///     weight: Tensor,
///     bias: Option<Tensor>,
/// }
///
/// let tensor = || Tensor::from_slice(&[1.0]);
/// let layers = (Linear { weight: tensor(), bias: None }, vec![Linear { weight: tensor(), bias: Some(tensor()) }]);
/// assert_eq!(layers.tensors().len(), 3);
/// assert_eq!(layers.leaf_paths(), [".0.weight", ".1[0].weight", ".1[0].bias"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tree of tensors",
    label = "neither a tensor nor a structure of tensors",
    note = "a tree is a `Tensor`, a number, or a tuple, array, `Vec`, `Option` or map of trees",
    note = "a struct of trees becomes a tree by `#[derive(TensorTree)]`"
)]
pub trait TensorTree: Sized {
    /// The same structure with a value of type `L` for each tensor. For a struct, [`Leaves<L>`](Leaves).
    type Map<L>;

    /// Returns the same structure with the tensors that `f` returns. `f` gets each tensor, in order, with its path, which continues `at`.
    ///
    /// # Errors
    ///
    /// Returns the first error of `f`.
    fn map_tensors(&self, at: &TreePath<'_>, f: &mut LeafFn<'_, Tensor>) -> Result<Self>;

    /// Returns the values that `f` returns for each tensor, in the structure of the tree.
    ///
    /// # Errors
    ///
    /// Returns the first error of `f`.
    fn map_leaves<L>(&self, at: &TreePath<'_>, f: &mut LeafFn<'_, L>) -> Result<Self::Map<L>>;

    /// Returns all tensors, in order.
    fn tensors(&self) -> Vec<Tensor> {
        let mut tensors = Vec::new();
        for_each_tensor(self, |_, tensor| tensors.push(tensor.clone()));
        tensors
    }

    /// Returns the paths of all tensors, in order: `.bias` for a field, `.0` for a member of a tuple, `[0]` for an element.
    fn leaf_paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for_each_tensor(self, |path, _| paths.push(path.to_string()));
        paths
    }

    /// Returns the same structure with other tensors.
    ///
    /// ```
    /// use dispatch_runtime::{Tensor, TensorTree};
    ///
    /// let [x, y, z] = [1.0, 2.0, 3.0].map(|x| Tensor::from_slice(&[x]));
    /// let (first, rest) = (x.clone(), vec![x]).rebuild([y.clone(), z.clone()])?;
    /// assert!(first.same(&y) && rest[0].same(&z));
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`TreeMismatch`] if there are not as many tensors as in the tree.
    fn rebuild(&self, tensors: impl IntoIterator<Item = Tensor>) -> Result<Self> {
        let mut tensors = tensors.into_iter();
        let rebuilt = self.map_tensors(&TreePath::ROOT, &mut |path, _| {
            tensors.next().ok_or_else(|| TreeMismatch::new(path.to_string(), "the tree", "the list of tensors").into())
        })?;
        match tensors.count() {
            0 => Ok(rebuilt),
            surplus => {
                let path = format!("[{}]", self.leaf_paths().len() + surplus - 1);
                Err(TreeMismatch::new(path, "the list of tensors", "the tree").into())
            }
        }
    }

    /// Checks that another tree has its tensors at the same paths. The names of the two trees are for the error.
    ///
    /// ```
    /// use dispatch_runtime::{Tensor, TensorTree};
    ///
    /// let x = Tensor::from_slice(&[1.0]);
    /// let error = vec![x.clone(), x.clone()].check_same_structure("inputs", &vec![x], "tangents").unwrap_err();
    /// assert_eq!(error.path, "[1]");
    /// assert_eq!(error.to_string(), "`inputs[1]` is a tensor, and `tangents` has none there; both must have the same structure");
    /// ```
    ///
    /// # Errors
    ///
    /// Returns a [`TreeMismatch`] with the first path at which only one of the trees has a tensor.
    fn check_same_structure(
        &self,
        name: &'static str,
        other: &Self,
        other_name: &'static str,
    ) -> Result<(), TreeMismatch> {
        let (own, others) = (self.leaf_paths(), other.leaf_paths());
        let missing = |of: &[String], from: &[String]| of.iter().find(|path| !from.contains(path)).cloned();
        if let Some(path) = missing(&own, &others) {
            return Err(TreeMismatch::new(path, name, other_name));
        }
        missing(&others, &own).map_or(Ok(()), |path| Err(TreeMismatch::new(path, other_name, name)))
    }
}

/// A function of a tensor of a tree and its path.
pub type LeafFn<'f, L> = dyn FnMut(&TreePath<'_>, &Tensor) -> Result<L> + 'f;

fn for_each_tensor(tree: &impl TensorTree, mut visit: impl FnMut(&TreePath<'_>, &Tensor)) {
    // The only errors of `map_tensors` are those of its function.
    let _ = tree.map_tensors(&TreePath::ROOT, &mut |path, tensor| {
        visit(path, tensor);
        Ok(tensor.clone())
    });
}

#[cfg(test)]
mod tests;
