//! Inputs and outputs of mapped functions: tensors, tuples and vectors.

use dispatch_runtime::Tensor;

/// A tensor, a tuple of such, or a vector of such. A mapped function returns it, and receives a reference to it.
///
/// ```
/// use dispatch_runtime::Tensor;
/// use dispatch_vmap::Tensors;
/// let pair = (Tensor::from_slice(&[1.0]), Tensor::from_slice(&[2.0]));
/// assert_eq!(pair.tensors().len(), 2);
/// ```
pub trait Tensors: Sized {
    /// Returns all tensors, in order.
    fn tensors(&self) -> Vec<&Tensor>;

    /// Returns the same structure with other tensors. `None` if there are too few.
    fn rebuilt(&self, tensors: &mut dyn Iterator<Item = Tensor>) -> Option<Self>;
}

impl Tensors for Tensor {
    fn tensors(&self) -> Vec<&Tensor> {
        vec![self]
    }

    fn rebuilt(&self, tensors: &mut dyn Iterator<Item = Tensor>) -> Option<Self> {
        tensors.next()
    }
}

impl<T: Tensors> Tensors for Vec<T> {
    fn tensors(&self) -> Vec<&Tensor> {
        self.iter().flat_map(Tensors::tensors).collect()
    }

    fn rebuilt(&self, tensors: &mut dyn Iterator<Item = Tensor>) -> Option<Self> {
        self.iter().map(|part| part.rebuilt(tensors)).collect()
    }
}

/// The inputs of a mapped function: a reference to a tensor, a tuple of such, or a slice.
///
/// ```
/// use dispatch_runtime::Tensor;
/// use dispatch_vmap::Inputs;
/// let x = Tensor::from_slice(&[1.0]);
/// let (a, b) = (&x, &x).structure();
/// assert!(a.same(&b));
/// ```
pub trait Inputs {
    /// The type that the function receives a reference to.
    type Structure: Tensors;

    /// Clones the handles into that type.
    fn structure(self) -> Self::Structure;
}

impl Inputs for &Tensor {
    type Structure = Tensor;

    fn structure(self) -> Tensor {
        self.clone()
    }
}

impl Inputs for &[Tensor] {
    type Structure = Vec<Tensor>;

    fn structure(self) -> Vec<Tensor> {
        self.to_vec()
    }
}

impl Inputs for &[&Tensor] {
    type Structure = Vec<Tensor>;

    fn structure(self) -> Vec<Tensor> {
        self.iter().map(|&tensor| tensor.clone()).collect()
    }
}

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: Tensors),*> Tensors for ($($name,)*) {
            #[expect(non_snake_case, reason = "each value is called as its type")]
            fn tensors(&self) -> Vec<&Tensor> {
                let ($($name,)*) = self;
                let parts = [$($name.tensors()),*];
                parts.into_iter().flatten().collect()
            }

            #[expect(non_snake_case, reason = "each value is called as its type")]
            fn rebuilt(&self, tensors: &mut dyn Iterator<Item = Tensor>) -> Option<Self> {
                let ($($name,)*) = self;
                Some(($($name.rebuilt(tensors)?,)*))
            }
        }

        impl<$($name: Inputs),*> Inputs for ($($name,)*) {
            type Structure = ($($name::Structure,)*);

            #[expect(non_snake_case, reason = "each value is called as its type")]
            fn structure(self) -> Self::Structure {
                let ($($name,)*) = self;
                ($($name.structure(),)*)
            }
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}
