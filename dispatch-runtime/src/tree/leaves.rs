//! Values for the tensors of a struct.

use crate::error::Result;
use crate::tensor::Tensor;
use crate::tree::{LeafFn, TensorTree, TreePath};

/// A value for each tensor of a struct, by the path of the tensor. The derivative of a struct's tensors is one.
///
/// ```
/// use dispatch_runtime::{Tensor, TensorTree, TreePath};
///
/// #[derive(TensorTree)]
/// struct Layer {
///     weights: Vec<Tensor>,
///     bias: Tensor,
/// }
///
/// let [w, bias] = [2, 3].map(|size| Tensor::from_slice(&vec![0.0; size]));
/// let layer = Layer { weights: vec![w.clone(), w], bias };
/// let counts = layer.map_leaves(&TreePath::ROOT, &mut |_, tensor| Ok(tensor.sizes()[0]))?;
/// assert_eq!(counts.get("bias"), Some(&3));
/// assert_eq!(counts.iter().map(|(path, _)| path).collect::<Vec<_>>(), ["weights[0]", "weights[1]", "bias"]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Leaves<L> {
    entries: Vec<(String, L)>,
}

impl<L> Leaves<L> {
    /// Returns the value of `f` for each tensor of a tree that is at the path `at`.
    ///
    /// # Errors
    ///
    /// Returns the first error of `f`.
    pub fn from_tree(tree: &impl TensorTree, at: &TreePath<'_>, f: &mut LeafFn<'_, L>) -> Result<Self> {
        let (start, mut entries) = (at.to_string().len(), Vec::new());
        tree.map_tensors(at, &mut |path: &TreePath<'_>, tensor: &Tensor| {
            let inner = path.to_string().split_off(start);
            entries.push((inner.strip_prefix('.').map_or_else(|| inner.clone(), str::to_owned), f(path, tensor)?));
            Ok(tensor.clone())
        })?;
        Ok(Self { entries })
    }

    /// Returns the value for the tensor at a path in the struct, such as `layers[0].weight`.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&L> {
        self.iter().find(|(at, _)| *at == path).map(|(_, value)| value)
    }

    /// Returns the paths and values, in the order of the struct's fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &L)> {
        self.entries.iter().map(|(path, value)| (path.as_str(), value))
    }
}
