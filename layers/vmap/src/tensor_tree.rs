//! Inputs and outputs of mapped functions: tensors, tuples and vectors.

use dispatch_runtime::Tensor;

/// A tensor, or a tuple or vector whose members are tensors, tuples or vectors again. A mapped function returns it, and receives a
/// reference to it.
///
/// ```
/// use dispatch_runtime::Tensor;
/// use dispatch_vmap::TensorTree;
/// let pair = (Tensor::from_slice(&[1.0]), Tensor::from_slice(&[2.0]));
/// assert_eq!(pair.tensors().len(), 2);
/// ```
pub trait TensorTree: Sized {
    /// Returns all tensors, in order.
    fn tensors(&self) -> Vec<&Tensor>;

    /// Returns the same structure with other tensors. `None` if there are too few.
    fn rebuild(&self, tensors: &mut dyn Iterator<Item = Tensor>) -> Option<Self>;
}

impl TensorTree for Tensor {
    fn tensors(&self) -> Vec<&Tensor> {
        vec![self]
    }

    fn rebuild(&self, tensors: &mut dyn Iterator<Item = Tensor>) -> Option<Self> {
        tensors.next()
    }
}

impl<T: TensorTree> TensorTree for Vec<T> {
    fn tensors(&self) -> Vec<&Tensor> {
        self.iter().flat_map(TensorTree::tensors).collect()
    }

    fn rebuild(&self, tensors: &mut dyn Iterator<Item = Tensor>) -> Option<Self> {
        self.iter().map(|part| part.rebuild(tensors)).collect()
    }
}

/// The inputs of a mapped function: a reference to a tensor, a slice of tensors, or a tuple of such inputs.
///
/// ```
/// use dispatch_runtime::Tensor;
/// use dispatch_vmap::VmapInputs;
/// let x = Tensor::from_slice(&[1.0]);
/// let (a, b) = (&x, &x).into_input_tree();
/// assert!(a.same(&b));
/// ```
pub trait VmapInputs {
    /// The type that the function receives a reference to.
    type InputTree: TensorTree;

    /// Clones the tensor handles into an [`InputTree`](Self::InputTree).
    fn into_input_tree(self) -> Self::InputTree;
}

impl VmapInputs for &Tensor {
    type InputTree = Tensor;

    fn into_input_tree(self) -> Tensor {
        self.clone()
    }
}

impl VmapInputs for &[Tensor] {
    type InputTree = Vec<Tensor>;

    fn into_input_tree(self) -> Vec<Tensor> {
        self.to_vec()
    }
}

impl VmapInputs for &[&Tensor] {
    type InputTree = Vec<Tensor>;

    fn into_input_tree(self) -> Vec<Tensor> {
        self.iter().map(|&tensor| tensor.clone()).collect()
    }
}

macro_rules! impl_for_tuples {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: TensorTree),*> TensorTree for ($($name,)*) {
            #[expect(non_snake_case, reason = "each value has the name of its type")]
            fn tensors(&self) -> Vec<&Tensor> {
                let ($($name,)*) = self;
                let parts = [$($name.tensors()),*];
                parts.into_iter().flatten().collect()
            }

            #[expect(non_snake_case, reason = "each value has the name of its type")]
            fn rebuild(&self, tensors: &mut dyn Iterator<Item = Tensor>) -> Option<Self> {
                let ($($name,)*) = self;
                Some(($($name.rebuild(tensors)?,)*))
            }
        }

        impl<$($name: VmapInputs),*> VmapInputs for ($($name,)*) {
            type InputTree = ($($name::InputTree,)*);

            #[expect(non_snake_case, reason = "each value has the name of its type")]
            fn into_input_tree(self) -> Self::InputTree {
                let ($($name,)*) = self;
                ($($name.into_input_tree(),)*)
            }
        }
    )*};
}

impl_for_tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}
