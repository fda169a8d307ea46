//! Lists of sizes and of dimensions.

use super::IntoInt;
use crate::tensor::Dims;

/// The sizes of a tensor: `(2, 3)`, `[2, 3]`, a slice, a vector, one number, or `()` for a tensor without dimensions.
///
/// ```
/// use dispatch_runtime::IntoSizes;
/// fn sizes(sizes: impl IntoSizes) -> Vec<i64> {
///     sizes.into_sizes().to_vec()
/// }
/// let rows: usize = 2;
/// assert_eq!(sizes((rows, -1)), [2, -1]);
/// assert_eq!(sizes([2, 3]), sizes(&[2_i64, 3][..]));
/// assert_eq!((sizes(4), sizes(())), (vec![4], vec![]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of sizes",
    label = "write `(2, 3)`, `[2, 3]`, a slice, one number, or `()` for no dimensions",
    note = "the numbers are `i32`, `i64` or `usize`; a tuple has at most eight"
)]
pub trait IntoSizes {
    /// Converts the sizes to a list, starting with the first dimension.
    fn into_sizes(self) -> Dims;
}

/// One or several dimensions of a tensor: `1`, `-1`, `[0, 2]`, `(0, 2)`, a slice or a vector.
///
/// A negative dimension counts from the end. As in PyTorch, an empty list means all dimensions in reductions.
///
/// ```
/// use dispatch_runtime::IntoAxes;
/// fn dims(dims: impl IntoAxes) -> Vec<i64> {
///     dims.into_axes().to_vec()
/// }
/// assert_eq!(dims(-1), [-1]);
/// assert_eq!(dims([0, 2]), dims((0_usize, 2_i64)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dimension or a list of dimensions",
    label = "write one dimension such as `-1`, or several such as `[0, 2]`",
    note = "dimensions are `i32`, `i64` or `usize`; a method without dimensions, such as `sum()`, takes all of them"
)]
pub trait IntoAxes {
    /// Converts the dimensions to a list.
    fn into_axes(self) -> Dims;
}

macro_rules! impl_for {
    ([$($generics:tt)*] $ty:ty: $this:ident => $list:expr) => {
        impl<$($generics)*> IntoSizes for $ty {
            fn into_sizes(self) -> Dims {
                let $this = self;
                $list
            }
        }

        impl<$($generics)*> IntoAxes for $ty {
            fn into_axes(self) -> Dims {
                let $this = self;
                $list
            }
        }
    };
}

impl IntoSizes for () {
    fn into_sizes(self) -> Dims {
        Dims::new()
    }
}

fn list<'a, T: IntoInt + Copy + 'a>(numbers: impl IntoIterator<Item = &'a T>) -> Dims {
    numbers.into_iter().map(|number| number.into_int()).collect()
}

impl_for! { [] i32: number => Dims::from_slice(&[number.into_int()]) }
impl_for! { [] i64: number => Dims::from_slice(&[number]) }
impl_for! { [] usize: number => Dims::from_slice(&[number.into_int()]) }
impl_for! { [T: IntoInt + Copy] &[T]: numbers => list(numbers) }
impl_for! { [T: IntoInt + Copy, const N: usize] [T; N]: numbers => list(&numbers) }
impl_for! { [T: IntoInt + Copy, const N: usize] &[T; N]: numbers => list(numbers) }
impl_for! { [T: IntoInt + Copy] Vec<T>: numbers => list(&numbers) }
impl_for! { [T: IntoInt + Copy] &Vec<T>: numbers => list(numbers) }
impl_for! { [] Dims: numbers => numbers }
impl_for! { [] &Dims: numbers => numbers.clone() }

macro_rules! impl_for_tuples {
    ($($($name:ident)*;)*) => {$(
        #[allow(non_snake_case, reason = "a type parameter and its value have one name")]
        const _: () = {
            impl_for! { [$($name: IntoInt),*] ($($name,)*): numbers => {
                let ($($name,)*) = numbers;
                Dims::from_slice(&[$($name.into_int()),*])
            } }
        };
    )*};
}

impl_for_tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_write_a_list_gives_the_same_list() {
        let written = Dims::from_slice(&[2, -1, 4]);
        assert_eq!((2, -1, 4_usize).into_sizes(), written);
        assert_eq!([2_i64, -1, 4].into_sizes(), written);
        assert_eq!((&[2, -1, 4]).into_sizes(), written);
        assert_eq!(vec![2, -1, 4].into_axes(), written);
        assert_eq!((&vec![2_i64, -1, 4]).into_axes(), written);
        assert_eq!((&written).into_axes(), written);
        assert_eq!(written.clone().into_sizes(), written);
    }

    #[test]
    fn a_number_that_i64_cannot_represent_is_its_largest() {
        assert_eq!(usize::MAX.into_sizes()[..], [i64::MAX]);
    }
}
