//! Operators as methods of their first argument. Generated from the registry by the test `generated`; do not edit.

use dispatch_runtime::prelude::*;
#[allow(unused_imports, reason = "a type may occur only in families that are left out")]
use dispatch_runtime::{Complex64, Layout, MemoryFormat};

/// Every operator whose first argument is a tensor called `self`, as a method: `x.relu()?`. Two kinds are left out: names that begin with
/// an underscore, which are private to PyTorch, and names of other methods of `Tensor`, such as `clone`, `item` and `is_leaf`.
///
/// A method takes the arguments that PyTorch takes by position. Those that PyTorch takes by name alone keep their defaults. For
/// other values, call the function of the same name, which takes all arguments, or its macro, which takes them by name.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([[-1.0_f32, 2.0], [3.0, -4.0]]);
/// assert_eq!(x.relu()?.sum()?.item::<f32>()?, 5.0);
/// assert_eq!(x.mm(&x.t()?)?.sizes(), [2, 2]);
/// assert_eq!(x.sum_dim_intlist(Some(&[0]), false)?.to_vec::<f32>()?, [2.0, -2.0]);
/// assert!(x.lt_scalar(5)?.all()?.item::<bool>()?);
/// # Ok(())
/// # }
/// ```
#[allow(clippy::fn_params_excessive_bools, clippy::too_many_arguments, clippy::wrong_self_convention)]
pub trait Methods {
    /// The absolute value
    fn abs(&self) -> Result<Tensor>;

    /// `abs`, in place.
    fn abs_(&mut self) -> Result<()>;

    /// `abs`, into a tensor of the caller's.
    fn abs_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `abs`
    fn absolute(&self) -> Result<Tensor>;

    /// `absolute`, in place.
    fn absolute_(&mut self) -> Result<()>;

    /// `absolute`, into a tensor of the caller's.
    fn absolute_out(&self, out: &mut Tensor) -> Result<()>;

    /// The inverse of the cosine
    fn acos(&self) -> Result<Tensor>;

    /// `acos`, in place.
    fn acos_(&mut self) -> Result<()>;

    /// `acos`, into a tensor of the caller's.
    fn acos_out(&self, out: &mut Tensor) -> Result<()>;

    /// The inverse of the hyperbolic cosine
    fn acosh(&self) -> Result<Tensor>;

    /// `acosh`, in place.
    fn acosh_(&mut self) -> Result<()>;

    /// `acosh`, into a tensor of the caller's.
    fn acosh_out(&self, out: &mut Tensor) -> Result<()>;

    /// Computes `adaptive_avg_pool2d` in one dimension.
    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool1d(&self, output_size: &[i64]) -> Result<Tensor>;

    /// `adaptive_avg_pool1d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool1d_out(&self, output_size: &[i64], out: &mut Tensor) -> Result<()>;

    /// Divides each image into `output_size` regions and returns the average of each region.
    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool2d(&self, output_size: &[i64]) -> Result<Tensor>;

    /// `adaptive_avg_pool2d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool2d_out(&self, output_size: &[i64], out: &mut Tensor) -> Result<()>;

    /// Divides each image into `output_size` regions and returns the average of each region.
    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool3d(&self, output_size: &[i64]) -> Result<Tensor>;

    /// `adaptive_avg_pool3d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool3d_out(&self, output_size: &[i64], out: &mut Tensor) -> Result<()>;

    /// Computes `adaptive_max_pool2d` in one dimension.
    #[cfg(feature = "pooling")]
    fn adaptive_max_pool1d(&self, output_size: &[i64]) -> Result<(Tensor, Tensor)>;

    /// Divides each image into `output_size` regions and returns the largest element of each region, and its index.
    #[cfg(feature = "pooling")]
    fn adaptive_max_pool2d(&self, output_size: &[i64]) -> Result<(Tensor, Tensor)>;

    /// `adaptive_max_pool2d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn adaptive_max_pool2d_out(&self, output_size: &[i64], out: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// Divides each image into `output_size` regions and returns the largest element of each region, and its index.
    #[cfg(feature = "pooling")]
    fn adaptive_max_pool3d(&self, output_size: &[i64]) -> Result<(Tensor, Tensor)>;

    /// `adaptive_max_pool3d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn adaptive_max_pool3d_out(&self, output_size: &[i64], out: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// `self + alpha * other`
    fn add(&self, other: &Tensor) -> Result<Tensor>;

    /// `add`, in place.
    fn add_(&mut self, other: &Tensor) -> Result<()>;

    /// `add_scalar`, in place.
    fn add__scalar(&mut self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<()>;

    /// `add`, into a tensor of the caller's.
    fn add_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self + alpha * other` for a scalar `other`
    fn add_scalar(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<Tensor>;

    /// `add_scalar`, into a tensor of the caller's.
    fn add_scalar_out(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `beta * self + alpha * P`, for the sum `P` of the matrix products of the batch.
    #[cfg(feature = "products")]
    fn addbmm(&self, batch1: &Tensor, batch2: &Tensor) -> Result<Tensor>;

    /// `addbmm`, in place.
    #[cfg(feature = "products")]
    fn addbmm_(&mut self, batch1: &Tensor, batch2: &Tensor) -> Result<()>;

    /// `addbmm`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn addbmm_out(&self, batch1: &Tensor, batch2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self + value * tensor1 / tensor2`
    fn addcdiv(&self, tensor1: &Tensor, tensor2: &Tensor) -> Result<Tensor>;

    /// `addcdiv`, in place.
    fn addcdiv_(&mut self, tensor1: &Tensor, tensor2: &Tensor) -> Result<()>;

    /// `addcdiv`, into a tensor of the caller's.
    fn addcdiv_out(&self, tensor1: &Tensor, tensor2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self + value * tensor1 * tensor2`
    fn addcmul(&self, tensor1: &Tensor, tensor2: &Tensor) -> Result<Tensor>;

    /// `addcmul`, in place.
    fn addcmul_(&mut self, tensor1: &Tensor, tensor2: &Tensor) -> Result<()>;

    /// `addcmul`, into a tensor of the caller's.
    fn addcmul_out(&self, tensor1: &Tensor, tensor2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `beta * self + alpha * mat1 mat2`
    #[cfg(feature = "products")]
    fn addmm(&self, mat1: &Tensor, mat2: &Tensor) -> Result<Tensor>;

    /// `addmm`, in place.
    #[cfg(feature = "products")]
    fn addmm_(&mut self, mat1: &Tensor, mat2: &Tensor) -> Result<()>;

    /// `addmm`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn addmm_out(&self, mat1: &Tensor, mat2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `beta * self + alpha * mat vec`
    #[cfg(feature = "products")]
    fn addmv(&self, mat: &Tensor, vec: &Tensor) -> Result<Tensor>;

    /// `addmv`, in place.
    #[cfg(feature = "products")]
    fn addmv_(&mut self, mat: &Tensor, vec: &Tensor) -> Result<()>;

    /// `addmv`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn addmv_out(&self, mat: &Tensor, vec: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `beta * self + alpha * P`, for the outer product `P` of two vectors.
    #[cfg(feature = "products")]
    fn addr(&self, vec1: &Tensor, vec2: &Tensor) -> Result<Tensor>;

    /// `addr`, in place.
    #[cfg(feature = "products")]
    fn addr_(&mut self, vec1: &Tensor, vec2: &Tensor) -> Result<()>;

    /// `addr`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn addr_out(&self, vec1: &Tensor, vec2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Returns the matrices transposed and conjugated.
    fn adjoint(&self) -> Result<Tensor>;

    /// Returns a view with the same geometry.
    fn alias(&self) -> Result<Tensor>;

    /// Copies the elements to new contiguous memory.
    fn alias_copy(&self) -> Result<Tensor>;

    /// `alias_copy`, into a tensor of the caller's.
    fn alias_copy_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns whether all elements are true, that is, not zero.
    fn all(&self) -> Result<Tensor>;

    /// `all`, into a tensor of the caller's.
    fn all_all_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns whether all elements along a dimension are true.
    fn all_dim(&self, dim: i64, keepdim: bool) -> Result<Tensor>;

    /// Returns whether all elements over dimensions are true.
    fn all_dims(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

    /// `all_dims`, into a tensor of the caller's.
    fn all_dims_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// `all_dim`, into a tensor of the caller's.
    fn all_out(&self, dim: i64, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Whether all pairs of elements of two tensors are close, as `isclose` defines it.
    fn allclose(&self, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool>;

    /// Applies `alpha_dropout` in place.
    #[cfg(feature = "random")]
    fn alpha_dropout_(&mut self, p: f64, train: bool) -> Result<()>;

    /// Returns the largest elements over dimensions. A maximum over elements with a NaN is NaN.
    fn amax(&self, dim: &[i64], keepdim: bool) -> Result<Tensor>;

    /// `amax`, into a tensor of the caller's.
    fn amax_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Returns the smallest elements over dimensions. A minimum over elements with a NaN is NaN.
    fn amin(&self, dim: &[i64], keepdim: bool) -> Result<Tensor>;

    /// `amin`, into a tensor of the caller's.
    fn amin_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Returns the smallest and the largest elements along a dimension, or of all elements.
    fn aminmax(&self) -> Result<(Tensor, Tensor)>;

    /// `aminmax`, into a tensor of the caller's.
    fn aminmax_out(&self, min: &mut Tensor, max: &mut Tensor) -> Result<()>;

    /// The angle of each element in the complex plane, in radians: 0 or pi for real numbers
    fn angle(&self) -> Result<Tensor>;

    /// `angle`, into a tensor of the caller's.
    fn angle_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns whether any element is true, that is, not zero.
    fn any(&self) -> Result<Tensor>;

    /// `any`, into a tensor of the caller's.
    fn any_all_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns whether any element along a dimension is true.
    fn any_dim(&self, dim: i64, keepdim: bool) -> Result<Tensor>;

    /// Returns whether any element over dimensions is true.
    fn any_dims(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

    /// `any_dims`, into a tensor of the caller's.
    fn any_dims_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// `any_dim`, into a tensor of the caller's.
    fn any_out(&self, dim: i64, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Another name of `acos`
    fn arccos(&self) -> Result<Tensor>;

    /// `arccos`, in place.
    fn arccos_(&mut self) -> Result<()>;

    /// `arccos`, into a tensor of the caller's.
    fn arccos_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `acosh`
    fn arccosh(&self) -> Result<Tensor>;

    /// `arccosh`, in place.
    fn arccosh_(&mut self) -> Result<()>;

    /// `arccosh`, into a tensor of the caller's.
    fn arccosh_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `asin`
    fn arcsin(&self) -> Result<Tensor>;

    /// `arcsin`, in place.
    fn arcsin_(&mut self) -> Result<()>;

    /// `arcsin`, into a tensor of the caller's.
    fn arcsin_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `asinh`
    fn arcsinh(&self) -> Result<Tensor>;

    /// `arcsinh`, in place.
    fn arcsinh_(&mut self) -> Result<()>;

    /// `arcsinh`, into a tensor of the caller's.
    fn arcsinh_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `atan`
    fn arctan(&self) -> Result<Tensor>;

    /// Another name of `atan2`
    fn arctan2(&self, other: &Tensor) -> Result<Tensor>;

    /// `arctan2`, in place.
    fn arctan2_(&mut self, other: &Tensor) -> Result<()>;

    /// `arctan2`, into a tensor of the caller's.
    fn arctan2_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `arctan`, in place.
    fn arctan_(&mut self) -> Result<()>;

    /// `arctan`, into a tensor of the caller's.
    fn arctan_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `atanh`
    fn arctanh(&self) -> Result<Tensor>;

    /// `arctanh`, in place.
    fn arctanh_(&mut self) -> Result<()>;

    /// `arctanh`, into a tensor of the caller's.
    fn arctanh_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns the index of the largest element along a dimension, or among all elements.
    fn argmax(&self, dim: Option<i64>, keepdim: bool) -> Result<Tensor>;

    /// `argmax`, into a tensor of the caller's.
    fn argmax_out(&self, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Returns the index of the smallest element along a dimension, or among all elements.
    fn argmin(&self, dim: Option<i64>, keepdim: bool) -> Result<Tensor>;

    /// `argmin`, into a tensor of the caller's.
    fn argmin_out(&self, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Returns the indices that sort the elements along a dimension.
    #[cfg(feature = "sort")]
    fn argsort(&self, dim: i64, descending: bool) -> Result<Tensor>;

    /// Returns the indices that sort the elements along a dimension. With `stable`, equal elements keep their order.
    #[cfg(feature = "sort")]
    fn argsort_stable(&self, stable: bool) -> Result<Tensor>;

    /// `argsort_stable`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn argsort_stable_out(&self, stable: bool, out: &mut Tensor) -> Result<()>;

    /// Another name of `nonzero`.
    fn argwhere(&self) -> Result<Tensor>;

    /// Returns a view with any sizes, strides and offset in the tensor's storage.
    fn as_strided(&self, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor>;

    /// Changes `self` to its `as_strided` view, in place.
    fn as_strided_(&mut self, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<()>;

    /// Copies the result of `as_strided` to new memory.
    fn as_strided_copy(&self, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor>;

    /// `as_strided_copy`, into a tensor of the caller's.
    fn as_strided_copy_out(&self, size: &[i64], stride: &[i64], storage_offset: Option<i64>, out: &mut Tensor) -> Result<()>;

    /// A copy of `self` in which `src` replaces the view that `as_strided` returns.
    fn as_strided_scatter(&self, src: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor>;

    /// `as_strided_scatter`, into a tensor of the caller's.
    fn as_strided_scatter_out(&self, src: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>, out: &mut Tensor) -> Result<()>;

    /// The inverse of the sine
    fn asin(&self) -> Result<Tensor>;

    /// `asin`, in place.
    fn asin_(&mut self) -> Result<()>;

    /// `asin`, into a tensor of the caller's.
    fn asin_out(&self, out: &mut Tensor) -> Result<()>;

    /// The inverse of the hyperbolic sine
    fn asinh(&self) -> Result<Tensor>;

    /// `asinh`, in place.
    fn asinh_(&mut self) -> Result<()>;

    /// `asinh`, into a tensor of the caller's.
    fn asinh_out(&self, out: &mut Tensor) -> Result<()>;

    /// The inverse of the tangent
    fn atan(&self) -> Result<Tensor>;

    /// The angle of the point with the coordinates `(x, y) = (other, self)`, in radians
    fn atan2(&self, other: &Tensor) -> Result<Tensor>;

    /// `atan2`, in place.
    fn atan2_(&mut self, other: &Tensor) -> Result<()>;

    /// `atan2`, into a tensor of the caller's.
    fn atan2_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `atan`, in place.
    fn atan_(&mut self) -> Result<()>;

    /// `atan`, into a tensor of the caller's.
    fn atan_out(&self, out: &mut Tensor) -> Result<()>;

    /// The inverse of the hyperbolic tangent
    fn atanh(&self) -> Result<Tensor>;

    /// `atanh`, in place.
    fn atanh_(&mut self) -> Result<()>;

    /// `atanh`, into a tensor of the caller's.
    fn atanh_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns the tensor, viewed with at least one dimension.
    fn atleast_1d(&self) -> Result<Tensor>;

    /// Returns the tensor, viewed with at least two dimensions. A vector becomes a row.
    fn atleast_2d(&self) -> Result<Tensor>;

    /// Returns the tensor, viewed with at least three dimensions. A matrix gets a last dimension of size 1.
    fn atleast_3d(&self) -> Result<Tensor>;

    /// Computes `avg_pool2d` in one dimension.
    #[cfg(feature = "pooling")]
    fn avg_pool1d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool) -> Result<Tensor>;

    /// `avg_pool1d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn avg_pool1d_out(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool, out: &mut Tensor) -> Result<()>;

    /// Returns the average of the elements under the window at each of its positions.
    #[cfg(feature = "pooling")]
    fn avg_pool2d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool, divisor_override: Option<i64>) -> Result<Tensor>;

    /// `avg_pool2d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn avg_pool2d_out(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool, divisor_override: Option<i64>, out: &mut Tensor) -> Result<()>;

    /// Returns the average of the elements under the window at each of its positions.
    #[cfg(feature = "pooling")]
    fn avg_pool3d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool, divisor_override: Option<i64>) -> Result<Tensor>;

    /// `avg_pool3d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn avg_pool3d_out(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool, divisor_override: Option<i64>, out: &mut Tensor) -> Result<()>;

    /// `beta * self + alpha * batch1 batch2`, for each matrix of the batch.
    #[cfg(feature = "products")]
    fn baddbmm(&self, batch1: &Tensor, batch2: &Tensor) -> Result<Tensor>;

    /// `baddbmm`, in place.
    #[cfg(feature = "products")]
    fn baddbmm_(&mut self, batch1: &Tensor, batch2: &Tensor) -> Result<()>;

    /// `baddbmm`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn baddbmm_out(&self, batch1: &Tensor, batch2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Draws ones with the probabilities `self`, and zeros otherwise.
    #[cfg(feature = "random")]
    fn bernoulli(&self) -> Result<Tensor>;

    /// Fills `self` with ones of probability `p`, and zeros otherwise.
    #[cfg(feature = "random")]
    fn bernoulli__float(&mut self, p: f64) -> Result<()>;

    /// `bernoulli_tensor`, in place.
    #[cfg(feature = "random")]
    fn bernoulli__tensor(&mut self, p: &Tensor) -> Result<()>;

    /// `bernoulli`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn bernoulli_out(&self, out: &mut Tensor) -> Result<()>;

    /// Draws ones with the probability `p`, and zeros otherwise, in the sizes of `self`.
    #[cfg(feature = "random")]
    fn bernoulli_p(&self, p: f64) -> Result<Tensor>;

    /// Draws ones with the probabilities `p`, and zeros otherwise, in the sizes of `self`.
    #[cfg(feature = "random")]
    fn bernoulli_tensor(&self, p: &Tensor) -> Result<Tensor>;

    /// `bernoulli_tensor`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn bernoulli_tensor_out(&self, p: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Computes `-weight * (target * log(self) + (1 - target) * log(1 - self))`, with logarithms of at least -100.
    #[cfg(feature = "loss")]
    fn binary_cross_entropy(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64) -> Result<Tensor>;

    /// `binary_cross_entropy`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn binary_cross_entropy_out(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, out: &mut Tensor) -> Result<()>;

    /// Computes `binary_cross_entropy` of `sigmoid(self)` without loss of precision. `pos_weight` multiplies the term with `target`.
    #[cfg(feature = "loss")]
    fn binary_cross_entropy_with_logits(&self, target: &Tensor, weight: Option<&Tensor>, pos_weight: Option<&Tensor>, reduction: i64) -> Result<Tensor>;

    /// `binary_cross_entropy_with_logits`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn binary_cross_entropy_with_logits_out(&self, target: &Tensor, weight: Option<&Tensor>, pos_weight: Option<&Tensor>, reduction: i64, out: &mut Tensor) -> Result<()>;

    /// Counts each integer from zero to the largest element, or sums the weights of each.
    fn bincount(&self, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor>;

    /// `bincount`, into a tensor of the caller's.
    fn bincount_out(&self, weights: Option<&Tensor>, minlength: i64, out: &mut Tensor) -> Result<()>;

    /// `self & other`, bit by bit
    fn bitwise_and(&self, other: &Tensor) -> Result<Tensor>;

    /// `bitwise_and`, in place.
    fn bitwise_and_(&mut self, other: &Tensor) -> Result<()>;

    /// `bitwise_and_scalar`, in place.
    fn bitwise_and__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `self & other`, bit by bit, for a scalar `other`
    fn bitwise_and_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `bitwise_and_scalar`, into a tensor of the caller's.
    fn bitwise_and_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `bitwise_and`, into a tensor of the caller's.
    fn bitwise_and_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self << other`
    fn bitwise_left_shift(&self, other: &Tensor) -> Result<Tensor>;

    /// `bitwise_left_shift`, in place.
    fn bitwise_left_shift_(&mut self, other: &Tensor) -> Result<()>;

    /// `bitwise_left_shift_tensor_scalar`, in place.
    fn bitwise_left_shift__tensor_scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `bitwise_left_shift`, into a tensor of the caller's.
    fn bitwise_left_shift_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self << other` for a scalar `other`
    fn bitwise_left_shift_tensor_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `bitwise_left_shift_tensor_scalar`, into a tensor of the caller's.
    fn bitwise_left_shift_tensor_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `!self`, bit by bit
    fn bitwise_not(&self) -> Result<Tensor>;

    /// `bitwise_not`, in place.
    fn bitwise_not_(&mut self) -> Result<()>;

    /// `bitwise_not`, into a tensor of the caller's.
    fn bitwise_not_out(&self, out: &mut Tensor) -> Result<()>;

    /// `self | other`, bit by bit
    fn bitwise_or(&self, other: &Tensor) -> Result<Tensor>;

    /// `bitwise_or`, in place.
    fn bitwise_or_(&mut self, other: &Tensor) -> Result<()>;

    /// `bitwise_or_scalar`, in place.
    fn bitwise_or__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `self | other`, bit by bit, for a scalar `other`
    fn bitwise_or_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `bitwise_or_scalar`, into a tensor of the caller's.
    fn bitwise_or_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `bitwise_or`, into a tensor of the caller's.
    fn bitwise_or_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self >> other`
    fn bitwise_right_shift(&self, other: &Tensor) -> Result<Tensor>;

    /// `bitwise_right_shift`, in place.
    fn bitwise_right_shift_(&mut self, other: &Tensor) -> Result<()>;

    /// `bitwise_right_shift_tensor_scalar`, in place.
    fn bitwise_right_shift__tensor_scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `bitwise_right_shift`, into a tensor of the caller's.
    fn bitwise_right_shift_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self >> other` for a scalar `other`
    fn bitwise_right_shift_tensor_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `bitwise_right_shift_tensor_scalar`, into a tensor of the caller's.
    fn bitwise_right_shift_tensor_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `self ^ other` (exclusive or), bit by bit
    fn bitwise_xor(&self, other: &Tensor) -> Result<Tensor>;

    /// `bitwise_xor`, in place.
    fn bitwise_xor_(&mut self, other: &Tensor) -> Result<()>;

    /// `bitwise_xor_scalar`, in place.
    fn bitwise_xor__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `self ^ other` (exclusive or), bit by bit, for a scalar `other`
    fn bitwise_xor_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `bitwise_xor_scalar`, into a tensor of the caller's.
    fn bitwise_xor_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `bitwise_xor`, into a tensor of the caller's.
    fn bitwise_xor_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The matrix products of two batches of matrices.
    #[cfg(feature = "products")]
    fn bmm(&self, mat2: &Tensor) -> Result<Tensor>;

    /// `bmm`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn bmm_out(&self, mat2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `expand`.
    fn broadcast_to(&self, size: &[i64]) -> Result<Tensor>;

    /// The index of the bucket of each element, between sorted `boundaries`.
    fn bucketize(&self, boundaries: &Tensor) -> Result<Tensor>;

    /// `bucketize`, into a tensor of the caller's.
    fn bucketize_tensor_out(&self, boundaries: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Draws numbers of the Cauchy distribution, in the sizes of `self`.
    #[cfg(feature = "random")]
    fn cauchy(&self, median: f64, sigma: f64) -> Result<Tensor>;

    /// `cauchy`, in place.
    #[cfg(feature = "random")]
    fn cauchy_(&mut self, median: f64, sigma: f64) -> Result<()>;

    /// `cauchy`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn cauchy_out(&self, median: f64, sigma: f64, out: &mut Tensor) -> Result<()>;

    /// The smallest integer that is not below the element
    fn ceil(&self) -> Result<Tensor>;

    /// `ceil`, in place.
    fn ceil_(&mut self) -> Result<()>;

    /// `ceil`, into a tensor of the caller's.
    fn ceil_out(&self, out: &mut Tensor) -> Result<()>;

    /// `max(self, 0) + min(alpha * (e^(self / alpha) - 1), 0)`
    fn celu(&self, alpha: impl Into<Scalar>) -> Result<Tensor>;

    /// `celu`, in place
    fn celu_(&mut self, alpha: impl Into<Scalar>) -> Result<()>;

    /// `celu`, into a tensor of the caller's.
    fn celu_out(&self, alpha: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Interleaves the channels of `groups` groups.
    fn channel_shuffle(&self, groups: i64) -> Result<Tensor>;

    /// `channel_shuffle`, into a tensor of the caller's.
    fn channel_shuffle_out(&self, groups: i64, out: &mut Tensor) -> Result<()>;

    /// Returns the inverse of `A` from the factor `self` of `A` that `linalg_cholesky` returned.
    #[cfg(feature = "linalg")]
    fn cholesky_inverse(&self, upper: bool) -> Result<Tensor>;

    /// `cholesky_inverse`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn cholesky_inverse_out(&self, upper: bool, out: &mut Tensor) -> Result<()>;

    /// Solves `A X = self` with the factor `input2` of `A` that `linalg_cholesky` returned.
    #[cfg(feature = "linalg")]
    fn cholesky_solve(&self, input2: &Tensor, upper: bool) -> Result<Tensor>;

    /// `cholesky_solve`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn cholesky_solve_out(&self, input2: &Tensor, upper: bool, out: &mut Tensor) -> Result<()>;

    /// Splits a dimension into at most `chunks` ranges of equal length. The last may be shorter.
    fn chunk(&self, chunks: i64, dim: i64) -> Result<Vec<Tensor>>;

    /// `min(max(self, min), max)` for scalar bounds, one of which may be left out
    fn clamp(&self, min: Option<Scalar>, max: Option<Scalar>) -> Result<Tensor>;

    /// `clamp`, in place.
    fn clamp_(&mut self, min: Option<Scalar>, max: Option<Scalar>) -> Result<()>;

    /// `clamp_tensor`, in place.
    fn clamp__tensor(&mut self, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<()>;

    /// `min(self, max)` for a scalar `max`
    fn clamp_max(&self, max: impl Into<Scalar>) -> Result<Tensor>;

    /// `clamp_max`, in place.
    fn clamp_max_(&mut self, max: impl Into<Scalar>) -> Result<()>;

    /// `clamp_max_tensor`, in place.
    fn clamp_max__tensor(&mut self, max: &Tensor) -> Result<()>;

    /// `clamp_max`, into a tensor of the caller's.
    fn clamp_max_out(&self, max: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `min(self, max)` for a tensor `max`
    fn clamp_max_tensor(&self, max: &Tensor) -> Result<Tensor>;

    /// `clamp_max_tensor`, into a tensor of the caller's.
    fn clamp_max_tensor_out(&self, max: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `max(self, min)` for a scalar `min`
    fn clamp_min(&self, min: impl Into<Scalar>) -> Result<Tensor>;

    /// `clamp_min`, in place.
    fn clamp_min_(&mut self, min: impl Into<Scalar>) -> Result<()>;

    /// `clamp_min_tensor`, in place.
    fn clamp_min__tensor(&mut self, min: &Tensor) -> Result<()>;

    /// `clamp_min`, into a tensor of the caller's.
    fn clamp_min_out(&self, min: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `max(self, min)` for a tensor `min`
    fn clamp_min_tensor(&self, min: &Tensor) -> Result<Tensor>;

    /// `clamp_min_tensor`, into a tensor of the caller's.
    fn clamp_min_tensor_out(&self, min: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `clamp`, into a tensor of the caller's.
    fn clamp_out(&self, min: Option<Scalar>, max: Option<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `min(max(self, min), max)`; one of the bounds may be left out
    fn clamp_tensor(&self, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<Tensor>;

    /// `clamp_tensor`, into a tensor of the caller's.
    fn clamp_tensor_out(&self, min: Option<&Tensor>, max: Option<&Tensor>, out: &mut Tensor) -> Result<()>;

    /// Another name of `clamp`
    fn clip(&self, min: Option<Scalar>, max: Option<Scalar>) -> Result<Tensor>;

    /// `clip`, in place.
    fn clip_(&mut self, min: Option<Scalar>, max: Option<Scalar>) -> Result<()>;

    /// `clip_tensor`, in place.
    fn clip__tensor(&mut self, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<()>;

    /// `clip`, into a tensor of the caller's.
    fn clip_out(&self, min: Option<Scalar>, max: Option<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Another name of `clamp_tensor`
    fn clip_tensor(&self, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<Tensor>;

    /// `clip_tensor`, into a tensor of the caller's.
    fn clip_tensor_out(&self, min: Option<&Tensor>, max: Option<&Tensor>, out: &mut Tensor) -> Result<()>;

    /// `clone`, into a tensor of the caller's.
    fn clone_out(&self, out: &mut Tensor) -> Result<()>;

    /// The image that sums overlapping windows, given as the columns of `im2col`. It is the gradient of `im2col`.
    #[cfg(feature = "conv")]
    fn col2im(&self, output_size: &[i64], kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64]) -> Result<Tensor>;

    /// `col2im`, into a tensor of the caller's.
    #[cfg(feature = "conv")]
    fn col2im_out(&self, output_size: &[i64], kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64], out: &mut Tensor) -> Result<()>;

    /// Returns the combinations of `r` elements of a vector: a row for each, with the elements in their original order.
    fn combinations(&self, r: i64, with_replacement: bool) -> Result<Tensor>;

    /// The complex conjugate as a lazy view, or the tensor itself if it is real.
    fn conj(&self) -> Result<Tensor>;

    /// The complex conjugate, as a new tensor
    fn conj_physical(&self) -> Result<Tensor>;

    /// `conj_physical`, in place.
    fn conj_physical_(&mut self) -> Result<()>;

    /// `conj_physical`, into a tensor of the caller's.
    fn conj_physical_out(&self, out: &mut Tensor) -> Result<()>;

    /// Pads the tensor with a constant.
    fn constant_pad_nd(&self, pad: &[i64], value: impl Into<Scalar>) -> Result<Tensor>;

    /// `constant_pad_nd`, into a tensor of the caller's.
    fn constant_pad_nd_out(&self, pad: &[i64], value: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Returns `self`, or a copy if its elements are not in this memory format.
    fn contiguous(&self) -> Result<Tensor>;

    /// The convolution of sequences with sizes `[time, batch, channels]`, padded by `pad` zeros at both ends. The weight has the sizes
    #[cfg(feature = "conv")]
    fn conv_tbc(&self, weight: &Tensor, bias: &Tensor, pad: i64) -> Result<Tensor>;

    /// The gradients of `conv_tbc` for its input, weight and bias.
    #[cfg(feature = "conv")]
    fn conv_tbc_backward(&self, input: &Tensor, weight: &Tensor, bias: &Tensor, pad: i64) -> Result<(Tensor, Tensor, Tensor)>;

    /// `conv_tbc`, into a tensor of the caller's.
    #[cfg(feature = "conv")]
    fn conv_tbc_out(&self, weight: &Tensor, bias: &Tensor, pad: i64, out: &mut Tensor) -> Result<()>;

    /// Returns the elements of `src`, broadcast and converted to the sizes and dtype of `self`, with its strides.
    fn copy(&self, src: &Tensor, non_blocking: bool) -> Result<Tensor>;

    /// Copies the elements of `src` to `self`, converted and broadcast.
    fn copy_(&mut self, src: &Tensor, non_blocking: bool) -> Result<()>;

    /// `copy`, into a tensor of the caller's.
    fn copy_out(&self, src: &Tensor, non_blocking: bool, out: &mut Tensor) -> Result<()>;

    /// The magnitude of `self` with the sign of `other`
    fn copysign(&self, other: &Tensor) -> Result<Tensor>;

    /// `copysign`, in place.
    fn copysign_(&mut self, other: &Tensor) -> Result<()>;

    /// `copysign_scalar`, in place.
    fn copysign__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `copysign`, into a tensor of the caller's.
    fn copysign_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The magnitude of `self` with the sign of a scalar `other`
    fn copysign_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `copysign_scalar`, into a tensor of the caller's.
    fn copysign_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// The matrix of correlation coefficients, from -1 to 1, of variables (rows) over observations (columns).
    #[cfg(feature = "products")]
    fn corrcoef(&self) -> Result<Tensor>;

    /// The cosine
    fn cos(&self) -> Result<Tensor>;

    /// `cos`, in place.
    fn cos_(&mut self) -> Result<()>;

    /// `cos`, into a tensor of the caller's.
    fn cos_out(&self, out: &mut Tensor) -> Result<()>;

    /// The hyperbolic cosine
    fn cosh(&self) -> Result<Tensor>;

    /// `cosh`, in place.
    fn cosh_(&mut self) -> Result<()>;

    /// `cosh`, into a tensor of the caller's.
    fn cosh_out(&self, out: &mut Tensor) -> Result<()>;

    /// Counts the nonzero elements, along a dimension or in all.
    fn count_nonzero(&self, dim: Option<i64>) -> Result<Tensor>;

    /// Counts the nonzero elements over dimensions.
    fn count_nonzero_dim_intlist(&self, dim: &[i64]) -> Result<Tensor>;

    /// `count_nonzero_dim_intlist`, into a tensor of the caller's.
    fn count_nonzero_dim_intlist_out(&self, dim: &[i64], out: &mut Tensor) -> Result<()>;

    /// `count_nonzero`, into a tensor of the caller's.
    fn count_nonzero_out(&self, dim: Option<i64>, out: &mut Tensor) -> Result<()>;

    /// The covariance matrix of variables (rows) over observations (columns).
    #[cfg(feature = "products")]
    fn cov(&self) -> Result<Tensor>;

    /// The cross products of vectors of three elements along `dim`. The default is the first dimension of size 3.
    #[cfg(feature = "products")]
    fn cross(&self, other: &Tensor, dim: Option<i64>) -> Result<Tensor>;

    /// Computes the cross entropy of `softmax(self)` and the target: a class for each row, or probabilities of the classes.
    #[cfg(feature = "loss")]
    fn cross_entropy_loss(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64, label_smoothing: f64) -> Result<Tensor>;

    /// `cross`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn cross_out(&self, other: &Tensor, dim: Option<i64>, out: &mut Tensor) -> Result<()>;

    /// Computes the cumulative maxima along a dimension, and their indices. Of equal elements, the last counts.
    fn cummax(&self, dim: i64) -> Result<(Tensor, Tensor)>;

    /// `cummax`, into a tensor of the caller's.
    fn cummax_out(&self, dim: i64, values: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// Computes the cumulative minima along a dimension, and their indices. Of equal elements, the last counts.
    fn cummin(&self, dim: i64) -> Result<(Tensor, Tensor)>;

    /// `cummin`, into a tensor of the caller's.
    fn cummin_out(&self, dim: i64, values: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// Computes the cumulative products along a dimension.
    fn cumprod(&self, dim: i64) -> Result<Tensor>;

    /// `cumprod`, in place.
    fn cumprod_(&mut self, dim: i64) -> Result<()>;

    /// `cumprod`, into a tensor of the caller's.
    fn cumprod_out(&self, dim: i64, out: &mut Tensor) -> Result<()>;

    /// Computes the cumulative sums along a dimension.
    fn cumsum(&self, dim: i64) -> Result<Tensor>;

    /// `cumsum`, in place.
    fn cumsum_(&mut self, dim: i64) -> Result<()>;

    /// `cumsum`, into a tensor of the caller's.
    fn cumsum_out(&self, dim: i64, out: &mut Tensor) -> Result<()>;

    /// Returns a tensor with the same memory and without history.
    fn data(&self) -> Result<Tensor>;

    /// Converts degrees to radians
    fn deg2rad(&self) -> Result<Tensor>;

    /// `deg2rad`, in place.
    fn deg2rad_(&mut self) -> Result<()>;

    /// `deg2rad`, into a tensor of the caller's.
    fn deg2rad_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `linalg_det`.
    #[cfg(feature = "linalg")]
    fn det(&self) -> Result<Tensor>;

    /// Returns a view with the same geometry, through which no gradient flows.
    fn detach(&self) -> Result<Tensor>;

    /// Removes the history of a tensor: it becomes a leaf that requires no gradients.
    fn detach_(&mut self) -> Result<()>;

    /// Copies the result of `detach` to new memory.
    fn detach_copy(&self) -> Result<Tensor>;

    /// `detach_copy`, into a tensor of the caller's.
    fn detach_copy_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns the diagonal of a matrix, or for a vector the matrix with this diagonal.
    fn diag(&self, diagonal: i64) -> Result<Tensor>;

    /// Matrices of zeros with the last dimension of `self` on a diagonal.
    fn diag_embed(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor>;

    /// `diag_embed`, into a tensor of the caller's.
    fn diag_embed_out(&self, offset: i64, dim1: i64, dim2: i64, out: &mut Tensor) -> Result<()>;

    /// `diag`, into a tensor of the caller's.
    fn diag_out(&self, diagonal: i64, out: &mut Tensor) -> Result<()>;

    /// Returns the matrix with the elements of `self` on its diagonal.
    fn diagflat(&self, offset: i64) -> Result<Tensor>;

    /// Returns a view of the elements on a diagonal of two dimensions, `offset` from the main one. The diagonal is the last dimension.
    fn diagonal(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor>;

    /// Copies the result of `diagonal` to new memory.
    fn diagonal_copy(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor>;

    /// `diagonal_copy`, into a tensor of the caller's.
    fn diagonal_copy_out(&self, offset: i64, dim1: i64, dim2: i64, out: &mut Tensor) -> Result<()>;

    /// A copy of `self` in which `src` replaces the view that `diagonal` returns.
    fn diagonal_scatter(&self, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor>;

    /// `diagonal_scatter`, into a tensor of the caller's.
    fn diagonal_scatter_out(&self, src: &Tensor, offset: i64, dim1: i64, dim2: i64, out: &mut Tensor) -> Result<()>;

    /// Computes the differences of neighbouring elements along a dimension, `n` times in succession.
    fn diff(&self, n: i64, dim: i64, prepend: Option<&Tensor>, append: Option<&Tensor>) -> Result<Tensor>;

    /// `diff`, into a tensor of the caller's.
    fn diff_out(&self, n: i64, dim: i64, prepend: Option<&Tensor>, append: Option<&Tensor>, out: &mut Tensor) -> Result<()>;

    /// The digamma function: the derivative of `lgamma`
    fn digamma(&self) -> Result<Tensor>;

    /// `digamma`, in place.
    fn digamma_(&mut self) -> Result<()>;

    /// `digamma`, into a tensor of the caller's.
    fn digamma_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns the number of dimensions.
    fn dim(&self) -> Result<i64>;

    /// The `p`-norm of the difference of two tensors.
    #[cfg(feature = "products")]
    fn dist(&self, other: &Tensor, p: impl Into<Scalar>) -> Result<Tensor>;

    /// `dist`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn dist_out(&self, other: &Tensor, p: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `self / other`
    fn div(&self, other: &Tensor) -> Result<Tensor>;

    /// `div`, in place.
    fn div_(&mut self, other: &Tensor) -> Result<()>;

    /// `div_scalar`, in place.
    fn div__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `div_scalar_mode`, in place.
    fn div__scalar_mode(&mut self, other: impl Into<Scalar>, rounding_mode: Option<&str>) -> Result<()>;

    /// `div_tensor_mode`, in place.
    fn div__tensor_mode(&mut self, other: &Tensor, rounding_mode: Option<&str>) -> Result<()>;

    /// `div`, into a tensor of the caller's.
    fn div_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `div_tensor_mode`, into a tensor of the caller's.
    fn div_out_mode(&self, other: &Tensor, rounding_mode: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// `self / other` for a scalar `other`
    fn div_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `self / other` for a scalar `other`, rounded: `floor` downwards, `trunc` towards zero
    fn div_scalar_mode(&self, other: impl Into<Scalar>, rounding_mode: Option<&str>) -> Result<Tensor>;

    /// `div_scalar_mode`, into a tensor of the caller's.
    fn div_scalar_mode_out(&self, other: impl Into<Scalar>, rounding_mode: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// `div_scalar`, into a tensor of the caller's.
    fn div_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `self / other`, rounded: `floor` downwards, `trunc` towards zero
    fn div_tensor_mode(&self, other: &Tensor, rounding_mode: Option<&str>) -> Result<Tensor>;

    /// Another name of `div`
    fn divide(&self, other: &Tensor) -> Result<Tensor>;

    /// `divide`, in place.
    fn divide_(&mut self, other: &Tensor) -> Result<()>;

    /// `divide_scalar`, in place.
    fn divide__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `divide_scalar_mode`, in place.
    fn divide__scalar_mode(&mut self, other: impl Into<Scalar>, rounding_mode: Option<&str>) -> Result<()>;

    /// `divide_tensor_mode`, in place.
    fn divide__tensor_mode(&mut self, other: &Tensor, rounding_mode: Option<&str>) -> Result<()>;

    /// `divide`, into a tensor of the caller's.
    fn divide_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `divide_tensor_mode`, into a tensor of the caller's.
    fn divide_out_mode(&self, other: &Tensor, rounding_mode: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Another name of `div_scalar`
    fn divide_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// Another name of `div_scalar_mode`
    fn divide_scalar_mode(&self, other: impl Into<Scalar>, rounding_mode: Option<&str>) -> Result<Tensor>;

    /// Another name of `div_tensor_mode`
    fn divide_tensor_mode(&self, other: &Tensor, rounding_mode: Option<&str>) -> Result<Tensor>;

    /// The dot product of two vectors.
    #[cfg(feature = "products")]
    fn dot(&self, tensor: &Tensor) -> Result<Tensor>;

    /// `dot`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn dot_out(&self, tensor: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Sets elements to zero with probability `p` while training, and scales the others, in place.
    #[cfg(feature = "random")]
    fn dropout_(&mut self, p: f64, train: bool) -> Result<()>;

    /// Splits a tensor at indices of the third dimension.
    fn dsplit_array(&self, indices: &[i64]) -> Result<Vec<Tensor>>;

    /// Splits a tensor into `sections` of equal depth, along the third dimension.
    fn dsplit_int(&self, sections: i64) -> Result<Vec<Tensor>>;

    /// Returns the size of an element in bytes.
    fn element_size(&self) -> Result<i64>;

    /// `scale * self` above zero, `scale * alpha * (e^(input_scale * self) - 1)` below
    fn elu(&self, alpha: impl Into<Scalar>, scale: impl Into<Scalar>, input_scale: impl Into<Scalar>) -> Result<Tensor>;

    /// `elu`, in place.
    fn elu_(&mut self, alpha: impl Into<Scalar>, scale: impl Into<Scalar>, input_scale: impl Into<Scalar>) -> Result<()>;

    /// `elu`, into a tensor of the caller's.
    fn elu_out(&self, alpha: impl Into<Scalar>, scale: impl Into<Scalar>, input_scale: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `self`, with the rows at `indices` scaled down to the norm `max_norm` if their norm is larger.
    fn embedding_renorm(&self, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<Tensor>;

    /// `embedding_renorm`, in place.
    fn embedding_renorm_(&mut self, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<()>;

    /// `embedding_renorm`, into a tensor of the caller's.
    fn embedding_renorm_out(&self, indices: &Tensor, max_norm: f64, norm_type: f64, out: &mut Tensor) -> Result<()>;

    /// A tensor with the sizes, dtype and device of `self` and arbitrary elements.
    fn empty_like(&self) -> Result<Tensor>;

    /// `empty_like`, into a tensor of the caller's.
    fn empty_like_out(&self, out: &mut Tensor) -> Result<()>;

    /// `self == other`
    fn eq(&self, other: &Tensor) -> Result<Tensor>;

    /// `eq`, in place.
    fn eq_(&mut self, other: &Tensor) -> Result<()>;

    /// `eq_scalar`, in place.
    fn eq__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `self == other` for a scalar `other`
    fn eq_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `eq_scalar`, into a tensor of the caller's.
    fn eq_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `eq`, into a tensor of the caller's.
    fn eq_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Whether two tensors have the same sizes and elements.
    fn equal(&self, other: &Tensor) -> Result<bool>;

    /// The error function
    fn erf(&self) -> Result<Tensor>;

    /// `erf`, in place.
    fn erf_(&mut self) -> Result<()>;

    /// `erf`, into a tensor of the caller's.
    fn erf_out(&self, out: &mut Tensor) -> Result<()>;

    /// `1 - erf(self)`, accurate for large `self`
    fn erfc(&self) -> Result<Tensor>;

    /// `erfc`, in place.
    fn erfc_(&mut self) -> Result<()>;

    /// `erfc`, into a tensor of the caller's.
    fn erfc_out(&self, out: &mut Tensor) -> Result<()>;

    /// The inverse of the error function
    fn erfinv(&self) -> Result<Tensor>;

    /// `erfinv`, in place.
    fn erfinv_(&mut self) -> Result<()>;

    /// `erfinv`, into a tensor of the caller's.
    fn erfinv_out(&self, out: &mut Tensor) -> Result<()>;

    /// `e^self`
    fn exp(&self) -> Result<Tensor>;

    /// `2^self`
    fn exp2(&self) -> Result<Tensor>;

    /// `exp2`, in place.
    fn exp2_(&mut self) -> Result<()>;

    /// `exp2`, into a tensor of the caller's.
    fn exp2_out(&self, out: &mut Tensor) -> Result<()>;

    /// `exp`, in place.
    fn exp_(&mut self) -> Result<()>;

    /// `exp`, into a tensor of the caller's.
    fn exp_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns a view in which dimensions of size 1, and new dimensions in front, are broadcast to `size`.
    fn expand(&self, size: &[i64]) -> Result<Tensor>;

    /// Returns a view broadcast to the sizes of another tensor, as by `expand`.
    fn expand_as(&self, other: &Tensor) -> Result<Tensor>;

    /// Copies the result of `expand` to new memory.
    fn expand_copy(&self, size: &[i64]) -> Result<Tensor>;

    /// `expand_copy`, into a tensor of the caller's.
    fn expand_copy_out(&self, size: &[i64], out: &mut Tensor) -> Result<()>;

    /// `e^self - 1`, accurate near zero
    fn expm1(&self) -> Result<Tensor>;

    /// `expm1`, in place.
    fn expm1_(&mut self) -> Result<()>;

    /// `expm1`, into a tensor of the caller's.
    fn expm1_out(&self, out: &mut Tensor) -> Result<()>;

    /// Draws numbers of the exponential distribution with rate `lambd`, in the sizes of `self`. No number is zero.
    #[cfg(feature = "random")]
    fn exponential(&self, lambd: f64) -> Result<Tensor>;

    /// `exponential`, in place.
    #[cfg(feature = "random")]
    fn exponential_(&mut self, lambd: f64) -> Result<()>;

    /// `exponential`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn exponential_out(&self, lambd: f64, out: &mut Tensor) -> Result<()>;

    /// Rounds numbers to those that integers represent, with a scale and a zero point for each index of a dimension.
    #[cfg(feature = "quantized")]
    fn fake_quantize_per_channel_affine(&self, scale: &Tensor, zero_point: &Tensor, axis: i64, quant_min: i64, quant_max: i64) -> Result<Tensor>;

    /// Rounds numbers as `fake_quantize_per_channel_affine`. Also returns whether each is in the range of the integers.
    #[cfg(feature = "quantized")]
    fn fake_quantize_per_channel_affine_cachemask(&self, scale: &Tensor, zero_point: &Tensor, axis: i64, quant_min: i64, quant_max: i64) -> Result<(Tensor, Tensor)>;

    /// `fake_quantize_per_channel_affine_cachemask`, into a tensor of the caller's.
    #[cfg(feature = "quantized")]
    fn fake_quantize_per_channel_affine_cachemask_out(&self, scale: &Tensor, zero_point: &Tensor, axis: i64, quant_min: i64, quant_max: i64, out0: &mut Tensor, out1: &mut Tensor) -> Result<()>;

    /// Rounds numbers to those that integers with a scale and a zero point represent.
    #[cfg(feature = "quantized")]
    fn fake_quantize_per_tensor_affine(&self, scale: f64, zero_point: i64, quant_min: i64, quant_max: i64) -> Result<Tensor>;

    /// Rounds numbers as `fake_quantize_per_tensor_affine`. Also returns whether each is in the range of the integers.
    #[cfg(feature = "quantized")]
    fn fake_quantize_per_tensor_affine_cachemask(&self, scale: f64, zero_point: i64, quant_min: i64, quant_max: i64) -> Result<(Tensor, Tensor)>;

    /// `fake_quantize_per_tensor_affine_cachemask`, into a tensor of the caller's.
    #[cfg(feature = "quantized")]
    fn fake_quantize_per_tensor_affine_cachemask_out(&self, scale: f64, zero_point: i64, quant_min: i64, quant_max: i64, out0: &mut Tensor, out1: &mut Tensor) -> Result<()>;

    /// Rounds numbers to those that integers with a scale and a zero point represent, which are tensors of one element.
    #[cfg(feature = "quantized")]
    fn fake_quantize_per_tensor_affine_tensor_qparams(&self, scale: &Tensor, zero_point: &Tensor, quant_min: i64, quant_max: i64) -> Result<Tensor>;

    /// Applies `feature_alpha_dropout` in place.
    #[cfg(feature = "random")]
    fn feature_alpha_dropout_(&mut self, p: f64, train: bool) -> Result<()>;

    /// Sets whole channels to zero with probability `p` while training, and scales the others, in place.
    #[cfg(feature = "random")]
    fn feature_dropout_(&mut self, p: f64, train: bool) -> Result<()>;

    /// Computes the discrete Fourier transform along a dimension.
    #[cfg(feature = "fft")]
    fn fft_fft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor>;

    /// Computes the transform of several dimensions that has the same name with an `n`, over the last two dimensions by default.
    #[cfg(feature = "fft")]
    fn fft_fft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor>;

    /// `fft_fft2`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_fft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// `fft_fft`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_fft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Computes the discrete Fourier transform over dimensions.
    #[cfg(feature = "fft")]
    fn fft_fftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor>;

    /// `fft_fftn`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_fftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Moves the frequency 0 from the start to the middle of dimensions, or of all.
    #[cfg(feature = "fft")]
    fn fft_fftshift(&self, dim: Option<&[i64]>) -> Result<Tensor>;

    /// Computes the real frequencies of a signal with `x[-t] = conj(x[t])`, given its first half.
    #[cfg(feature = "fft")]
    fn fft_hfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor>;

    /// Computes the transform of several dimensions that has the same name with an `n`, over the last two dimensions by default.
    #[cfg(feature = "fft")]
    fn fft_hfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor>;

    /// `fft_hfft2`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_hfft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// `fft_hfft`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_hfft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Computes the real frequencies of a signal that equals the conjugate of its mirror image, given the first half of its last dimension.
    #[cfg(feature = "fft")]
    fn fft_hfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor>;

    /// `fft_hfftn`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_hfftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Computes the inverse of `fft_fft`.
    #[cfg(feature = "fft")]
    fn fft_ifft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor>;

    /// Computes the transform of several dimensions that has the same name with an `n`, over the last two dimensions by default.
    #[cfg(feature = "fft")]
    fn fft_ifft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor>;

    /// `fft_ifft2`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_ifft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// `fft_ifft`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_ifft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Computes the inverse of `fft_fftn`.
    #[cfg(feature = "fft")]
    fn fft_ifftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor>;

    /// `fft_ifftn`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_ifftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Computes the inverse of `fft_fftshift`.
    #[cfg(feature = "fft")]
    fn fft_ifftshift(&self, dim: Option<&[i64]>) -> Result<Tensor>;

    /// Computes the inverse of `fft_hfft`.
    #[cfg(feature = "fft")]
    fn fft_ihfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor>;

    /// Computes the transform of several dimensions that has the same name with an `n`, over the last two dimensions by default.
    #[cfg(feature = "fft")]
    fn fft_ihfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor>;

    /// `fft_ihfft2`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_ihfft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// `fft_ihfft`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_ihfft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Computes the inverse of `fft_hfftn`.
    #[cfg(feature = "fft")]
    fn fft_ihfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor>;

    /// `fft_ihfftn`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_ihfftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Computes the inverse of `fft_rfft`. The default of `n` is even: `2 * (size - 1)`.
    #[cfg(feature = "fft")]
    fn fft_irfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor>;

    /// Computes the transform of several dimensions that has the same name with an `n`, over the last two dimensions by default.
    #[cfg(feature = "fft")]
    fn fft_irfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor>;

    /// `fft_irfft2`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_irfft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// `fft_irfft`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_irfft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Computes the inverse of `fft_rfftn`. The default of the last length is even: `2 * (size - 1)`.
    #[cfg(feature = "fft")]
    fn fft_irfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor>;

    /// `fft_irfftn`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_irfftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Computes the first half of the frequencies of a real tensor. The other half are conjugates of these.
    #[cfg(feature = "fft")]
    fn fft_rfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor>;

    /// Computes the transform of several dimensions that has the same name with an `n`, over the last two dimensions by default.
    #[cfg(feature = "fft")]
    fn fft_rfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor>;

    /// `fft_rfft2`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_rfft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// `fft_rfft`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_rfft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Computes the frequencies of a real tensor. The last dimension keeps only the first half, because the others are conjugates of these.
    #[cfg(feature = "fft")]
    fn fft_rfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor>;

    /// `fft_rfftn`, into a tensor of the caller's.
    #[cfg(feature = "fft")]
    fn fft_rfftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()>;

    /// Returns a tensor like `self` whose elements are all `value`, a tensor of a single element.
    fn fill(&self, value: &Tensor) -> Result<Tensor>;

    /// `fill`, in place.
    fn fill_(&mut self, value: &Tensor) -> Result<()>;

    /// `fill_scalar`, in place.
    fn fill__scalar(&mut self, value: impl Into<Scalar>) -> Result<()>;

    /// Fills the diagonal with a value. With `wrap`, the diagonal of a tall matrix restarts after each square block.
    fn fill_diagonal_(&mut self, fill_value: impl Into<Scalar>, wrap: bool) -> Result<()>;

    /// Returns a tensor like `self` whose elements are all `value`.
    fn fill_scalar(&self, value: impl Into<Scalar>) -> Result<Tensor>;

    /// `fill_scalar`, into a tensor of the caller's.
    fn fill_scalar_out(&self, value: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `fill`, into a tensor of the caller's.
    fn fill_tensor_out(&self, value: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `trunc`
    fn fix(&self) -> Result<Tensor>;

    /// `fix`, in place.
    fn fix_(&mut self) -> Result<()>;

    /// `fix`, into a tensor of the caller's.
    fn fix_out(&self, out: &mut Tensor) -> Result<()>;

    /// Merges the dimensions from `start_dim` to `end_dim` into one.
    fn flatten_using_ints(&self, start_dim: i64, end_dim: i64) -> Result<Tensor>;

    /// Reverses the elements along dimensions.
    fn flip(&self, dims: &[i64]) -> Result<Tensor>;

    /// `flip`, into a tensor of the caller's.
    fn flip_out(&self, dims: &[i64], out: &mut Tensor) -> Result<()>;

    /// Reverses the columns.
    fn fliplr(&self) -> Result<Tensor>;

    /// Reverses the rows.
    fn flipud(&self) -> Result<Tensor>;

    /// `self ^ exponent`, in double precision, in place
    fn float_power_(&mut self, exponent: &Tensor) -> Result<()>;

    /// `self ^ exponent` for a scalar `exponent`, in double precision, in place
    fn float_power__scalar(&mut self, exponent: impl Into<Scalar>) -> Result<()>;

    /// `self ^ exponent` for a scalar `exponent`, in double precision
    fn float_power_tensor_scalar(&self, exponent: impl Into<Scalar>) -> Result<Tensor>;

    /// `float_power_tensor_scalar`, into a tensor of the caller's.
    fn float_power_tensor_scalar_out(&self, exponent: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `self ^ exponent`, in double precision
    fn float_power_tensor_tensor(&self, exponent: &Tensor) -> Result<Tensor>;

    /// `float_power_tensor_tensor`, into a tensor of the caller's.
    fn float_power_tensor_tensor_out(&self, exponent: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The largest integer that is not above the element
    fn floor(&self) -> Result<Tensor>;

    /// `floor`, in place.
    fn floor_(&mut self) -> Result<()>;

    /// `self / other`, rounded downwards
    fn floor_divide(&self, other: &Tensor) -> Result<Tensor>;

    /// `floor_divide`, in place
    fn floor_divide_(&mut self, other: &Tensor) -> Result<()>;

    /// `self / other` for a scalar `other`, rounded downwards, in place
    fn floor_divide__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `floor_divide`, into a tensor of the caller's.
    fn floor_divide_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self / other` for a scalar `other`, rounded downwards
    fn floor_divide_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `floor_divide_scalar`, into a tensor of the caller's.
    fn floor_divide_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `floor`, into a tensor of the caller's.
    fn floor_out(&self, out: &mut Tensor) -> Result<()>;

    /// The larger of two elements; if one is NaN, the other
    fn fmax(&self, other: &Tensor) -> Result<Tensor>;

    /// `fmax`, into a tensor of the caller's.
    fn fmax_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The smaller of two elements; if one is NaN, the other
    fn fmin(&self, other: &Tensor) -> Result<Tensor>;

    /// `fmin`, into a tensor of the caller's.
    fn fmin_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The remainder of `self / other`, with the sign of `self`
    fn fmod(&self, other: &Tensor) -> Result<Tensor>;

    /// `fmod`, in place.
    fn fmod_(&mut self, other: &Tensor) -> Result<()>;

    /// `fmod_scalar`, in place.
    fn fmod__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// The remainder of `self / other` for a scalar `other`, with the sign of `self`
    fn fmod_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `fmod_scalar`, into a tensor of the caller's.
    fn fmod_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `fmod`, into a tensor of the caller's.
    fn fmod_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The fractional part: `self - trunc(self)`
    fn frac(&self) -> Result<Tensor>;

    /// `frac`, in place.
    fn frac_(&mut self) -> Result<()>;

    /// `frac`, into a tensor of the caller's.
    fn frac_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns the largest element under each of `output_size` windows at random positions, and its index.
    #[cfg(feature = "pooling")]
    fn fractional_max_pool2d(&self, kernel_size: &[i64], output_size: &[i64], random_samples: &Tensor) -> Result<(Tensor, Tensor)>;

    /// `fractional_max_pool2d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn fractional_max_pool2d_output(&self, kernel_size: &[i64], output_size: &[i64], random_samples: &Tensor, output: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// Returns the largest element under each of `output_size` windows at random positions, and its index.
    #[cfg(feature = "pooling")]
    fn fractional_max_pool3d(&self, kernel_size: &[i64], output_size: &[i64], random_samples: &Tensor) -> Result<(Tensor, Tensor)>;

    /// `fractional_max_pool3d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn fractional_max_pool3d_output(&self, kernel_size: &[i64], output_size: &[i64], random_samples: &Tensor, output: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// The mantissa, from 0.5 to 1, and the exponent: `self` is `mantissa * 2^exponent`
    fn frexp(&self) -> Result<(Tensor, Tensor)>;

    /// `frexp`, into a tensor of the caller's.
    fn frexp_tensor_out(&self, mantissa: &mut Tensor, exponent: &mut Tensor) -> Result<()>;

    /// Computes the roots of the sums of squares over at most two dimensions, or over all if `dim` is empty.
    fn frobenius_norm_dim(&self, dim: &[i64], keepdim: bool) -> Result<Tensor>;

    /// `frobenius_norm_dim`, into a tensor of the caller's.
    fn frobenius_norm_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// A tensor with the sizes, dtype and device of `self`, with `fill_value` in each element.
    fn full_like(&self, fill_value: impl Into<Scalar>) -> Result<Tensor>;

    /// `full_like`, into a tensor of the caller's.
    fn full_like_out(&self, fill_value: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Updates the moving averages of the least and the greatest number if `observer_on` is not zero. If `fake_quant_on` is not zero, updates
    #[cfg(feature = "quantized")]
    fn fused_moving_avg_obs_fake_quant(&self, observer_on: &Tensor, fake_quant_on: &Tensor, running_min: &mut Tensor, running_max: &mut Tensor, scale: &mut Tensor, zero_point: &mut Tensor, averaging_const: f64, quant_min: i64, quant_max: i64, ch_axis: i64, per_row_fake_quant: bool, symmetric_quant: bool) -> Result<Tensor>;

    /// Selects along `dim` the elements at the indices in `index`: for `dim` 0, `result[i][j]` is `self[index[i][j]][j]`.
    fn gather(&self, dim: i64, index: &Tensor) -> Result<Tensor>;

    /// `gather`, into a tensor of the caller's.
    fn gather_out(&self, dim: i64, index: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The greatest common divisor of two elements
    fn gcd(&self, other: &Tensor) -> Result<Tensor>;

    /// `gcd`, in place.
    fn gcd_(&mut self, other: &Tensor) -> Result<()>;

    /// `gcd`, into a tensor of the caller's.
    fn gcd_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self >= other`
    fn ge(&self, other: &Tensor) -> Result<Tensor>;

    /// `ge`, in place.
    fn ge_(&mut self, other: &Tensor) -> Result<()>;

    /// `ge_scalar`, in place.
    fn ge__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `self >= other` for a scalar `other`
    fn ge_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `ge_scalar`, into a tensor of the caller's.
    fn ge_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `ge`, into a tensor of the caller's.
    fn ge_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self * P(X <= self)` for a standard normal `X`, or the approximation of this by `tanh`
    fn gelu(&self) -> Result<Tensor>;

    /// `gelu`, in place.
    fn gelu_(&mut self) -> Result<()>;

    /// `gelu`, into a tensor of the caller's.
    fn gelu_out(&self, out: &mut Tensor) -> Result<()>;

    /// Draws numbers of the geometric distribution: the number of trials up to the first success, with success probability `p`.
    #[cfg(feature = "random")]
    fn geometric(&self, p: f64) -> Result<Tensor>;

    /// `geometric`, in place.
    #[cfg(feature = "random")]
    fn geometric_(&mut self, p: f64) -> Result<()>;

    /// `geometric`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn geometric_out(&self, p: f64, out: &mut Tensor) -> Result<()>;

    /// Returns a QR decomposition as LAPACK stores it: `R` and, below its diagonal, the vectors of the reflectors whose product is `Q`; and
    #[cfg(feature = "linalg")]
    fn geqrf(&self) -> Result<(Tensor, Tensor)>;

    /// `geqrf`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn geqrf_a(&self, a: &mut Tensor, tau: &mut Tensor) -> Result<()>;

    /// Another name of `outer`.
    #[cfg(feature = "products")]
    fn ger(&self, vec2: &Tensor) -> Result<Tensor>;

    /// `ger`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn ger_out(&self, vec2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Returns the index of the tensor's device among the devices of its backend, or -1 for the CPU and for Meta.
    fn get_device(&self) -> Result<i64>;

    /// The gated linear unit: the first half of a dimension, times the sigmoid of the second.
    fn glu(&self, dim: i64) -> Result<Tensor>;

    /// `glu`, into a tensor of the caller's.
    fn glu_out(&self, dim: i64, out: &mut Tensor) -> Result<()>;

    /// Estimates the derivatives along `dim`, of points at distance 1.
    fn gradient_array(&self, dim: &[i64]) -> Result<Vec<Tensor>>;

    /// Estimates the derivatives along `dim`, of points at distance `spacing`.
    fn gradient_scalararray(&self, spacing: impl Into<Scalar>, dim: &[i64]) -> Result<Vec<Tensor>>;

    /// Estimates the derivatives along `dim`, or along each dimension, of points at distance `spacing`.
    fn gradient_scalarint(&self) -> Result<Vec<Tensor>>;

    /// Estimates the derivatives along `dim`, with a distance of the points for each dimension.
    fn gradient_scalarrayarray(&self, spacing: &[Scalar], dim: &[i64]) -> Result<Vec<Tensor>>;

    /// Estimates the derivatives along `dim`, or along each dimension, with a distance of the points for each dimension.
    fn gradient_scalarrayint(&self, spacing: &[Scalar]) -> Result<Vec<Tensor>>;

    /// Estimates the derivatives along `dim`, with the coordinates of the points for each dimension.
    fn gradient_tensorarray(&self, spacing: &[Tensor], dim: &[i64]) -> Result<Vec<Tensor>>;

    /// Estimates the derivatives along `dim`, or along each dimension, with the coordinates of the points for each dimension.
    fn gradient_tensorarrayint(&self, spacing: &[Tensor]) -> Result<Vec<Tensor>>;

    /// Another name of `gt`
    fn greater(&self, other: &Tensor) -> Result<Tensor>;

    /// `greater`, in place.
    fn greater_(&mut self, other: &Tensor) -> Result<()>;

    /// `greater_scalar`, in place.
    fn greater__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// Another name of `ge`
    fn greater_equal(&self, other: &Tensor) -> Result<Tensor>;

    /// `greater_equal`, in place.
    fn greater_equal_(&mut self, other: &Tensor) -> Result<()>;

    /// `greater_equal_scalar`, in place.
    fn greater_equal__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// Another name of `ge_scalar`
    fn greater_equal_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `greater_equal_scalar`, into a tensor of the caller's.
    fn greater_equal_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `greater_equal`, into a tensor of the caller's.
    fn greater_equal_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `gt_scalar`
    fn greater_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `greater_scalar`, into a tensor of the caller's.
    fn greater_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `greater`, into a tensor of the caller's.
    fn greater_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self > other`
    fn gt(&self, other: &Tensor) -> Result<Tensor>;

    /// `gt`, in place.
    fn gt_(&mut self, other: &Tensor) -> Result<()>;

    /// `gt_scalar`, in place.
    fn gt__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `self > other` for a scalar `other`
    fn gt_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `gt_scalar`, into a tensor of the caller's.
    fn gt_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `gt`, into a tensor of the caller's.
    fn gt_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// 0 if `|self| <= lambd`, else `self`
    fn hardshrink(&self, lambd: impl Into<Scalar>) -> Result<Tensor>;

    /// `hardshrink`, into a tensor of the caller's.
    fn hardshrink_out(&self, lambd: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `min(max(self + 3, 0), 6) / 6`
    fn hardsigmoid(&self) -> Result<Tensor>;

    /// `hardsigmoid`, in place.
    fn hardsigmoid_(&mut self) -> Result<()>;

    /// `hardsigmoid`, into a tensor of the caller's.
    fn hardsigmoid_out(&self, out: &mut Tensor) -> Result<()>;

    /// `self * hardsigmoid(self)`
    fn hardswish(&self) -> Result<Tensor>;

    /// `hardswish`, in place.
    fn hardswish_(&mut self) -> Result<()>;

    /// `hardswish`, into a tensor of the caller's.
    fn hardswish_out(&self, out: &mut Tensor) -> Result<()>;

    /// `min(max(self, min_val), max_val)`
    fn hardtanh(&self, min_val: impl Into<Scalar>, max_val: impl Into<Scalar>) -> Result<Tensor>;

    /// `hardtanh`, in place.
    fn hardtanh_(&mut self, min_val: impl Into<Scalar>, max_val: impl Into<Scalar>) -> Result<()>;

    /// `hardtanh`, into a tensor of the caller's.
    fn hardtanh_out(&self, min_val: impl Into<Scalar>, max_val: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Combines the bits of the elements over dimensions by exclusive or. Numbers are converted to double precision, and integers to 64 bits,
    fn hash_tensor(&self, dim: &[i64]) -> Result<Tensor>;

    /// `hash_tensor`, into a tensor of the caller's.
    fn hash_tensor_out(&self, dim: &[i64], out: &mut Tensor) -> Result<()>;

    /// 0 for negative numbers, 1 for positive ones, and `values` for 0
    fn heaviside(&self, values: &Tensor) -> Result<Tensor>;

    /// `heaviside`, in place.
    fn heaviside_(&mut self, values: &Tensor) -> Result<()>;

    /// `heaviside`, into a tensor of the caller's.
    fn heaviside_out(&self, values: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Computes `self` if the target is 1, and `max(0, margin - self)` if it is -1.
    #[cfg(feature = "loss")]
    fn hinge_embedding_loss(&self, target: &Tensor, margin: f64, reduction: i64) -> Result<Tensor>;

    /// Counts the elements in each of `bins` equal bins from `min` to `max`. If both are equal, the bins span the elements' range.
    fn histc(&self, bins: i64, min: impl Into<Scalar>, max: impl Into<Scalar>) -> Result<Tensor>;

    /// `histc`, into a tensor of the caller's.
    fn histc_out(&self, bins: i64, min: impl Into<Scalar>, max: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Counts the elements in `bins` equal bins of `range`, or of the elements' own range. Also returns the edges.
    #[cfg(feature = "sort")]
    fn histogram_bin_ct(&self, bins: i64) -> Result<(Tensor, Tensor)>;

    /// `histogram_bin_ct`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn histogram_bin_ct_out(&self, bins: i64, hist: &mut Tensor, bin_edges: &mut Tensor) -> Result<()>;

    /// Counts the elements in the bins between the edges `bins`. Also returns the edges.
    #[cfg(feature = "sort")]
    fn histogram_bins_tensor(&self, bins: &Tensor) -> Result<(Tensor, Tensor)>;

    /// `histogram_bins_tensor`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn histogram_bins_tensor_out(&self, bins: &Tensor, hist: &mut Tensor, bin_edges: &mut Tensor) -> Result<()>;

    /// Counts the points in equal bins, with a number of bins for each coordinate. Also returns the edges.
    #[cfg(feature = "sort")]
    fn histogramdd(&self, bins: &[i64], range: Option<&[f64]>, weight: Option<&Tensor>, density: bool) -> Result<(Tensor, Vec<Tensor>)>;

    /// Counts the points in equal bins, with the same number of bins for all coordinates. Also returns the edges.
    #[cfg(feature = "sort")]
    fn histogramdd_int_bins(&self, bins: i64, range: Option<&[f64]>, weight: Option<&Tensor>, density: bool) -> Result<(Tensor, Vec<Tensor>)>;

    /// Counts the points in bins, with a tensor of edges for each coordinate. Also returns the edges.
    #[cfg(feature = "sort")]
    fn histogramdd_tensorlist_bins(&self, bins: &[Tensor], range: Option<&[f64]>, weight: Option<&Tensor>, density: bool) -> Result<(Tensor, Vec<Tensor>)>;

    /// Splits a tensor at column indices: along the second dimension, vectors along the first.
    fn hsplit_array(&self, indices: &[i64]) -> Result<Vec<Tensor>>;

    /// Splits a tensor into `sections` of equal width: along the second dimension, vectors along the first.
    fn hsplit_int(&self, sections: i64) -> Result<Vec<Tensor>>;

    /// Computes `(self - target)^2 / 2` where the two are as close as `delta`, and `delta * (|self - target| - delta / 2)` elsewhere.
    #[cfg(feature = "loss")]
    fn huber_loss(&self, target: &Tensor, reduction: i64, delta: f64) -> Result<Tensor>;

    /// `huber_loss`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn huber_loss_out(&self, target: &Tensor, reduction: i64, delta: f64, out: &mut Tensor) -> Result<()>;

    /// `sqrt(self^2 + other^2)`, without overflow of the squares
    fn hypot(&self, other: &Tensor) -> Result<Tensor>;

    /// `hypot`, in place.
    fn hypot_(&mut self, other: &Tensor) -> Result<()>;

    /// `hypot`, into a tensor of the caller's.
    fn hypot_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The modified Bessel function of the first kind, of order 0
    fn i0(&self) -> Result<Tensor>;

    /// `i0`, in place.
    fn i0_(&mut self) -> Result<()>;

    /// `i0`, into a tensor of the caller's.
    fn i0_out(&self, out: &mut Tensor) -> Result<()>;

    /// The regularised lower incomplete gamma function `P(self, other)`
    fn igamma(&self, other: &Tensor) -> Result<Tensor>;

    /// `igamma`, in place.
    fn igamma_(&mut self, other: &Tensor) -> Result<()>;

    /// `igamma`, into a tensor of the caller's.
    fn igamma_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The regularised upper incomplete gamma function `Q(self, other)`
    fn igammac(&self, other: &Tensor) -> Result<Tensor>;

    /// `igammac`, in place.
    fn igammac_(&mut self, other: &Tensor) -> Result<()>;

    /// `igammac`, into a tensor of the caller's.
    fn igammac_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The elements under each position of a sliding window over an image, as a column of a matrix.
    #[cfg(feature = "conv")]
    fn im2col(&self, kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64]) -> Result<Tensor>;

    /// `im2col`, into a tensor of the caller's.
    #[cfg(feature = "conv")]
    fn im2col_out(&self, kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64], out: &mut Tensor) -> Result<()>;

    /// The imaginary part of a complex tensor, as a view. That of a lazy conjugate is a lazy negative.
    fn imag(&self) -> Result<Tensor>;

    /// The elements at the indices in one index tensor for each dimension. Dimensions without an index tensor are selected whole.
    fn index(&self, indices: &[Option<Tensor>]) -> Result<Tensor>;

    /// `self`, with `alpha * source` added at the indices `index` of the dimension `dim`.
    fn index_add(&self, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor>;

    /// `index_add`, in place.
    fn index_add_(&mut self, dim: i64, index: &Tensor, source: &Tensor) -> Result<()>;

    /// `index_add`, into a tensor of the caller's.
    fn index_add_out(&self, dim: i64, index: &Tensor, source: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self`, with `source` written at the indices `index` of the dimension `dim`.
    fn index_copy(&self, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor>;

    /// `index_copy`, in place.
    fn index_copy_(&mut self, dim: i64, index: &Tensor, source: &Tensor) -> Result<()>;

    /// `index_copy`, into a tensor of the caller's.
    fn index_copy_out(&self, dim: i64, index: &Tensor, source: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `index_fill_int_scalar`, in place.
    fn index_fill__int_scalar(&mut self, dim: i64, index: &Tensor, value: impl Into<Scalar>) -> Result<()>;

    /// `index_fill_int_tensor`, in place.
    fn index_fill__int_tensor(&mut self, dim: i64, index: &Tensor, value: &Tensor) -> Result<()>;

    /// `self`, with the scalar `value` written at the indices `index` of the dimension `dim`.
    fn index_fill_int_scalar(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>) -> Result<Tensor>;

    /// `index_fill_int_scalar`, into a tensor of the caller's.
    fn index_fill_int_scalar_out(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `self`, with `value`, a tensor of one element, written at the indices `index` of the dimension `dim`.
    fn index_fill_int_tensor(&self, dim: i64, index: &Tensor, value: &Tensor) -> Result<Tensor>;

    /// `index_fill_int_tensor`, into a tensor of the caller's.
    fn index_fill_int_tensor_out(&self, dim: i64, index: &Tensor, value: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self`, with `values` written at the indices `indices`, or added there if `accumulate`.
    fn index_put(&self, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<Tensor>;

    /// `index_put`, in place.
    fn index_put_(&mut self, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<()>;

    /// `index_put`, into a tensor of the caller's.
    fn index_put_out(&self, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool, out: &mut Tensor) -> Result<()>;

    /// `self`, with `source` combined into it by the reduction `reduce` at the indices `index` of the dimension `dim`.
    fn index_reduce(&self, dim: i64, index: &Tensor, source: &Tensor, reduce: &str) -> Result<Tensor>;

    /// `index_reduce`, in place.
    fn index_reduce_(&mut self, dim: i64, index: &Tensor, source: &Tensor, reduce: &str) -> Result<()>;

    /// `index_reduce`, into a tensor of the caller's.
    fn index_reduce_out(&self, dim: i64, index: &Tensor, source: &Tensor, reduce: &str, out: &mut Tensor) -> Result<()>;

    /// Selects the indices `index` of the dimension `dim`.
    fn index_select(&self, dim: i64, index: &Tensor) -> Result<Tensor>;

    /// `index_select`, into a tensor of the caller's.
    fn index_select_out(&self, dim: i64, index: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `index`, into a tensor of the caller's.
    fn index_tensor_out(&self, indices: &[Option<Tensor>], out: &mut Tensor) -> Result<()>;

    /// The sums of products over the last dimension of both tensors.
    #[cfg(feature = "products")]
    fn inner(&self, other: &Tensor) -> Result<Tensor>;

    /// `inner`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn inner_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `linalg_inv`.
    #[cfg(feature = "linalg")]
    fn inverse(&self) -> Result<Tensor>;

    /// `inverse`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn inverse_out(&self, out: &mut Tensor) -> Result<()>;

    /// Whether the dtype is complex.
    fn is_complex(&self) -> Result<bool>;

    /// Whether the tensor is a lazy conjugate.
    fn is_conj(&self) -> Result<bool>;

    /// Returns whether the elements are contiguous in row-major order.
    fn is_contiguous(&self) -> Result<bool>;

    /// Returns whether the elements are contiguous in this memory format.
    fn is_contiguous_memory_format(&self, memory_format: MemoryFormat) -> Result<bool>;

    /// Returns false: no tensor is distributed over machines.
    fn is_distributed(&self) -> Result<bool>;

    /// Whether the dtype is a floating-point dtype, not complex.
    fn is_floating_point(&self) -> Result<bool>;

    /// Whether the tensor is a lazy negative.
    fn is_neg(&self) -> Result<bool>;

    /// Whether the only element of a tensor is nonzero.
    fn is_nonzero(&self) -> Result<bool>;

    /// Returns whether `self` is in memory pinned for `device`, or for any device.
    fn is_pinned(&self, device: Option<Device>) -> Result<bool>;

    /// Returns whether two tensors have the same sizes.
    fn is_same_size(&self, other: &Tensor) -> Result<bool>;

    /// Returns whether two tensors have the same storage and the same geometry.
    fn is_set_to(&self, tensor: &Tensor) -> Result<bool>;

    /// Whether the dtype can represent negative numbers. Complex dtypes count as signed.
    fn is_signed(&self) -> Result<bool>;

    /// Whether `|self - other| <= atol + rtol * |other|`, for each pair of elements
    fn isclose(&self, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<Tensor>;

    /// Whether each element is neither infinite nor NaN
    fn isfinite(&self) -> Result<Tensor>;

    /// Whether each element is infinite
    fn isinf(&self) -> Result<Tensor>;

    /// `isinf`, into a tensor of the caller's.
    fn isinf_out(&self, out: &mut Tensor) -> Result<()>;

    /// Whether each element is NaN
    fn isnan(&self) -> Result<Tensor>;

    /// `isnan`, into a tensor of the caller's.
    fn isnan_out(&self, out: &mut Tensor) -> Result<()>;

    /// Whether each element is negative infinity
    fn isneginf(&self) -> Result<Tensor>;

    /// `isneginf`, into a tensor of the caller's.
    fn isneginf_out(&self, out: &mut Tensor) -> Result<()>;

    /// Whether each element is positive infinity
    fn isposinf(&self) -> Result<Tensor>;

    /// `isposinf`, into a tensor of the caller's.
    fn isposinf_out(&self, out: &mut Tensor) -> Result<()>;

    /// Whether the imaginary part of each element is zero.
    fn isreal(&self) -> Result<Tensor>;

    /// Computes the signal whose `stft` is `self`: the overlapping windows are added, and divided by the sum of the
    #[cfg(feature = "fft")]
    fn istft(&self, n_fft: i64, hop_length: Option<i64>, win_length: Option<i64>, window: Option<&Tensor>, center: bool, normalized: bool, onesided: Option<bool>, length: Option<i64>, return_complex: bool) -> Result<Tensor>;

    /// Computes `target * (log(target) - self)`, or `exp(target) * (target - self)` with `log_target`.
    #[cfg(feature = "loss")]
    fn kl_div(&self, target: &Tensor, reduction: i64) -> Result<Tensor>;

    /// The Kronecker product: each element of `self` times the whole of `other`.
    #[cfg(feature = "products")]
    fn kron(&self, other: &Tensor) -> Result<Tensor>;

    /// `kron`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn kron_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Returns the `k`-th smallest elements along a dimension, and their indices.
    #[cfg(feature = "sort")]
    fn kthvalue(&self, k: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

    /// `kthvalue`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn kthvalue_values(&self, k: i64, dim: i64, keepdim: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// Computes `|self - target|`.
    #[cfg(feature = "loss")]
    fn l1_loss(&self, target: &Tensor, reduction: i64) -> Result<Tensor>;

    /// The least common multiple of two elements
    fn lcm(&self, other: &Tensor) -> Result<Tensor>;

    /// `lcm`, in place.
    fn lcm_(&mut self, other: &Tensor) -> Result<()>;

    /// `lcm`, into a tensor of the caller's.
    fn lcm_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self * 2^other`
    fn ldexp(&self, other: &Tensor) -> Result<Tensor>;

    /// `self * 2^other`, in place
    fn ldexp_(&mut self, other: &Tensor) -> Result<()>;

    /// `ldexp`, into a tensor of the caller's.
    fn ldexp_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self <= other`
    fn le(&self, other: &Tensor) -> Result<Tensor>;

    /// `le`, in place.
    fn le_(&mut self, other: &Tensor) -> Result<()>;

    /// `le_scalar`, in place.
    fn le__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `self <= other` for a scalar `other`
    fn le_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `le_scalar`, into a tensor of the caller's.
    fn le_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `le`, into a tensor of the caller's.
    fn le_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self` above zero, `negative_slope * self` below
    fn leaky_relu(&self, negative_slope: impl Into<Scalar>) -> Result<Tensor>;

    /// `leaky_relu`, in place.
    fn leaky_relu_(&mut self, negative_slope: impl Into<Scalar>) -> Result<()>;

    /// `leaky_relu`, into a tensor of the caller's.
    fn leaky_relu_out(&self, negative_slope: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `self + weight * (end - self)`
    fn lerp(&self, end: &Tensor, weight: &Tensor) -> Result<Tensor>;

    /// `lerp`, in place.
    fn lerp_(&mut self, end: &Tensor, weight: &Tensor) -> Result<()>;

    /// `lerp_scalar`, in place.
    fn lerp__scalar(&mut self, end: &Tensor, weight: impl Into<Scalar>) -> Result<()>;

    /// `self + weight * (end - self)` for a scalar `weight`
    fn lerp_scalar(&self, end: &Tensor, weight: impl Into<Scalar>) -> Result<Tensor>;

    /// `lerp_scalar`, into a tensor of the caller's.
    fn lerp_scalar_out(&self, end: &Tensor, weight: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `lerp`, into a tensor of the caller's.
    fn lerp_tensor_out(&self, end: &Tensor, weight: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `lt`
    fn less(&self, other: &Tensor) -> Result<Tensor>;

    /// `less`, in place.
    fn less_(&mut self, other: &Tensor) -> Result<()>;

    /// `less_scalar`, in place.
    fn less__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// Another name of `le`
    fn less_equal(&self, other: &Tensor) -> Result<Tensor>;

    /// `less_equal`, in place.
    fn less_equal_(&mut self, other: &Tensor) -> Result<()>;

    /// `less_equal_scalar`, in place.
    fn less_equal__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// Another name of `le_scalar`
    fn less_equal_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `less_equal_scalar`, into a tensor of the caller's.
    fn less_equal_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `less_equal`, into a tensor of the caller's.
    fn less_equal_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `lt_scalar`
    fn less_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `less_scalar`, into a tensor of the caller's.
    fn less_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `less`, into a tensor of the caller's.
    fn less_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The logarithm of the absolute value of the gamma function
    fn lgamma(&self) -> Result<Tensor>;

    /// `lgamma`, in place.
    fn lgamma_(&mut self) -> Result<()>;

    /// `lgamma`, into a tensor of the caller's.
    fn lgamma_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns the tensor itself. The call passes the tensor through the active layers.
    fn lift(&self) -> Result<Tensor>;

    /// Returns a view of a new tensor. The call passes the tensor through the active layers.
    fn lift_fresh(&self) -> Result<Tensor>;

    /// Copies the result of `lift_fresh` to new memory.
    fn lift_fresh_copy(&self) -> Result<Tensor>;

    /// `lift_fresh_copy`, into a tensor of the caller's.
    fn lift_fresh_copy_out(&self, out: &mut Tensor) -> Result<()>;

    /// `lift`, into a tensor of the caller's.
    fn lift_out(&self, out: &mut Tensor) -> Result<()>;

    /// Computes `sum(|self|^ord)` over dimensions.
    fn linalg__powsum(&self, ord: impl Into<Scalar>, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

    /// `linalg__powsum`, into a tensor of the caller's.
    fn linalg__powsum_out(&self, ord: impl Into<Scalar>, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// `linalg_cholesky_ex`, with an error for a matrix that is not positive-definite in place of the code.
    #[cfg(feature = "linalg")]
    fn linalg_cholesky(&self) -> Result<Tensor>;

    /// Returns the lower triangular `L` with `A = L L^H`, or the upper triangular `U` with `A = U^H U`, and the order of the first leading minor
    #[cfg(feature = "linalg")]
    fn linalg_cholesky_ex(&self) -> Result<(Tensor, Tensor)>;

    /// `linalg_cholesky_ex`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_cholesky_ex_l(&self, L: &mut Tensor, info: &mut Tensor) -> Result<()>;

    /// `linalg_cholesky`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_cholesky_out(&self, out: &mut Tensor) -> Result<()>;

    /// Computes the condition numbers of matrices: the norm of a matrix times the norm of its inverse. `p` is the order of the norm, 2 if it is
    #[cfg(feature = "linalg")]
    fn linalg_cond(&self, p: Option<Scalar>) -> Result<Tensor>;

    /// `linalg_cond`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_cond_out(&self, p: Option<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Computes the condition numbers of matrices by the norm `fro` or `nuc`. The condition number of a singular matrix is infinite.
    #[cfg(feature = "linalg")]
    fn linalg_cond_p_str(&self, p: &str) -> Result<Tensor>;

    /// `linalg_cond_p_str`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_cond_p_str_out(&self, p: &str, out: &mut Tensor) -> Result<()>;

    /// The cross products of vectors of three elements along the dimension `dim`.
    #[cfg(feature = "products")]
    fn linalg_cross(&self, other: &Tensor) -> Result<Tensor>;

    /// `linalg_cross`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn linalg_cross_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Computes the eigenvalues of matrices, in no particular order, and eigenvectors of norm 1 as columns. Both are complex.
    #[cfg(feature = "linalg")]
    fn linalg_eig(&self) -> Result<(Tensor, Tensor)>;

    /// `linalg_eig`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_eig_out(&self, eigenvalues: &mut Tensor, eigenvectors: &mut Tensor) -> Result<()>;

    /// Computes the eigenvalues of Hermitian matrices in ascending order, and the eigenvectors as columns. It reads only the triangle that
    #[cfg(feature = "linalg")]
    fn linalg_eigh(&self, UPLO: &str) -> Result<(Tensor, Tensor)>;

    /// `linalg_eigh`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_eigh_eigvals(&self, UPLO: &str, eigvals: &mut Tensor, eigvecs: &mut Tensor) -> Result<()>;

    /// Computes the eigenvalues of matrices, in no particular order. They are complex.
    #[cfg(feature = "linalg")]
    fn linalg_eigvals(&self) -> Result<Tensor>;

    /// `linalg_eigvals`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_eigvals_out(&self, out: &mut Tensor) -> Result<()>;

    /// Computes the eigenvalues of Hermitian matrices in ascending order. It reads only the triangle that `UPLO` names.
    #[cfg(feature = "linalg")]
    fn linalg_eigvalsh(&self, UPLO: &str) -> Result<Tensor>;

    /// `linalg_eigvalsh`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_eigvalsh_out(&self, UPLO: &str, out: &mut Tensor) -> Result<()>;

    /// `linalg_ldl_factor_ex`, with an error for a singular matrix in place of the code.
    #[cfg(feature = "linalg")]
    fn linalg_ldl_factor(&self) -> Result<(Tensor, Tensor)>;

    /// Returns `L` and `D` of `A = L D L^T`, or of `A = L D L^H` if `hermitian`, in one matrix, where `D` has blocks of size 1 and 2; LAPACK's
    #[cfg(feature = "linalg")]
    fn linalg_ldl_factor_ex(&self) -> Result<(Tensor, Tensor, Tensor)>;

    /// `linalg_ldl_factor_ex`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_ldl_factor_ex_out(&self, LD: &mut Tensor, pivots: &mut Tensor, info: &mut Tensor) -> Result<()>;

    /// `linalg_ldl_factor`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_ldl_factor_out(&self, LD: &mut Tensor, pivots: &mut Tensor) -> Result<()>;

    /// Returns the `X` with the least `|self X - b|`, and of several the least one; the squares of these distances if `self` has more rows than
    #[cfg(feature = "linalg")]
    fn linalg_lstsq(&self, b: &Tensor, rcond: Option<f64>) -> Result<(Tensor, Tensor, Tensor, Tensor)>;

    /// `linalg_lstsq`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_lstsq_out(&self, b: &Tensor, rcond: Option<f64>, solution: &mut Tensor, residuals: &mut Tensor, rank: &mut Tensor, singular_values: &mut Tensor) -> Result<()>;

    /// Another name of `matmul`.
    #[cfg(feature = "products")]
    fn linalg_matmul(&self, other: &Tensor) -> Result<Tensor>;

    /// `linalg_matmul`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn linalg_matmul_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Computes the exponentials of square matrices.
    #[cfg(feature = "linalg")]
    fn linalg_matrix_exp(&self) -> Result<Tensor>;

    /// `linalg_matrix_exp`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_matrix_exp_out(&self, out: &mut Tensor) -> Result<()>;

    /// Computes the norm of order `ord` over two dimensions: 2 or -2 for the largest or smallest singular value, 1 or -1 for the largest or
    #[cfg(feature = "linalg")]
    fn linalg_matrix_norm(&self, ord: impl Into<Scalar>, dim: &[i64], keepdim: bool) -> Result<Tensor>;

    /// `linalg_matrix_norm`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_matrix_norm_out(&self, ord: impl Into<Scalar>, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Computes a norm over two dimensions: `fro`, the root of the sum of squares, or `nuc`, the sum of the singular values.
    #[cfg(feature = "linalg")]
    fn linalg_matrix_norm_str_ord(&self, ord: &str, dim: &[i64], keepdim: bool) -> Result<Tensor>;

    /// `linalg_matrix_norm_str_ord`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_matrix_norm_str_ord_out(&self, ord: &str, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// The `n`th power of a square matrix. The power for a negative `n` is that of the inverse, which needs the feature `linalg`.
    #[cfg(feature = "products")]
    fn linalg_matrix_power(&self, n: i64) -> Result<Tensor>;

    /// `linalg_matrix_power`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn linalg_matrix_power_out(&self, n: i64, out: &mut Tensor) -> Result<()>;

    /// Counts the singular values of matrices that exceed `tol`. With `hermitian`, the eigenvalues of the lower triangle are counted.
    #[cfg(feature = "linalg")]
    fn linalg_matrix_rank(&self, tol: f64, hermitian: bool) -> Result<Tensor>;

    /// Counts the singular values of matrices that exceed the larger of `atol` and `rtol` times the largest one. If both are `None`, `rtol` is
    #[cfg(feature = "linalg")]
    fn linalg_matrix_rank_atol_rtol_float(&self) -> Result<Tensor>;

    /// `linalg_matrix_rank_atol_rtol_float`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_matrix_rank_atol_rtol_float_out(&self, out: &mut Tensor) -> Result<()>;

    /// `linalg_matrix_rank`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_matrix_rank_out(&self, tol: f64, hermitian: bool, out: &mut Tensor) -> Result<()>;

    /// Computes the Hermitian square roots of Hermitian matrices, of which only the lower triangle is read. Negative eigenvalues count as zero.
    #[cfg(feature = "linalg")]
    fn linalg_matrix_sqrth(&self) -> Result<Tensor>;

    /// `linalg_matrix_sqrth`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_matrix_sqrth_out(&self, out: &mut Tensor) -> Result<()>;

    /// Computes a norm of a vector over one dimension or of a matrix over two. Without `dim`, all elements are one vector, unless `ord` is given:
    #[cfg(feature = "linalg")]
    fn linalg_norm(&self, ord: Option<Scalar>, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

    /// Computes a norm over two dimensions: `fro`, the root of the sum of squares, or `nuc`, the sum of the singular values. Without `dim`, the
    #[cfg(feature = "linalg")]
    fn linalg_norm_ord_str(&self, ord: &str, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

    /// `linalg_norm_ord_str`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_norm_ord_str_out(&self, ord: &str, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// `linalg_norm`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_norm_out(&self, ord: Option<Scalar>, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Computes the pseudoinverses of matrices. Singular values up to `rcond` times the largest one count as zero.
    #[cfg(feature = "linalg")]
    fn linalg_pinv(&self, rcond: f64, hermitian: bool) -> Result<Tensor>;

    /// Computes the pseudoinverses of matrices. Singular values up to the larger of `atol` and `rtol` times the largest one count as zero. If
    #[cfg(feature = "linalg")]
    fn linalg_pinv_atol_rtol_float(&self) -> Result<Tensor>;

    /// `linalg_pinv_atol_rtol_float`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_pinv_atol_rtol_float_out(&self, out: &mut Tensor) -> Result<()>;

    /// Computes the pseudoinverses of matrices. Singular values up to the larger of `atol` and `rtol` times the largest one count as zero. If
    #[cfg(feature = "linalg")]
    fn linalg_pinv_atol_rtol_tensor(&self) -> Result<Tensor>;

    /// `linalg_pinv_atol_rtol_tensor`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_pinv_atol_rtol_tensor_out(&self, out: &mut Tensor) -> Result<()>;

    /// `linalg_pinv`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_pinv_out(&self, rcond: f64, hermitian: bool, out: &mut Tensor) -> Result<()>;

    /// `linalg_pinv_rcond_tensor`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_pinv_out_rcond_tensor(&self, rcond: &Tensor, hermitian: bool, out: &mut Tensor) -> Result<()>;

    /// Computes the pseudoinverses of matrices. Singular values up to `rcond` times the largest one count as zero.
    #[cfg(feature = "linalg")]
    fn linalg_pinv_rcond_tensor(&self, rcond: &Tensor, hermitian: bool) -> Result<Tensor>;

    /// Solves `self X = B`, or `X self = B` if not `left`, for a triangular matrix. The elements of its other triangle are not read, nor those
    #[cfg(feature = "linalg")]
    fn linalg_solve_triangular(&self, B: &Tensor, upper: bool) -> Result<Tensor>;

    /// `linalg_solve_triangular`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_solve_triangular_out(&self, B: &Tensor, upper: bool, out: &mut Tensor) -> Result<()>;

    /// Inverts a tensor as a matrix, with its first `ind` dimensions as rows and the others as columns.
    #[cfg(feature = "linalg")]
    fn linalg_tensorinv(&self, ind: i64) -> Result<Tensor>;

    /// `linalg_tensorinv`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_tensorinv_out(&self, ind: i64, out: &mut Tensor) -> Result<()>;

    /// Solves a linear equation: the product of `self` with the result, over the last dimensions of `self`, is `other`. The dimensions `dims` of
    #[cfg(feature = "linalg")]
    fn linalg_tensorsolve(&self, other: &Tensor, dims: Option<&[i64]>) -> Result<Tensor>;

    /// `linalg_tensorsolve`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn linalg_tensorsolve_out(&self, other: &Tensor, dims: Option<&[i64]>, out: &mut Tensor) -> Result<()>;

    /// Computes `sum(|self|^ord)^(1/ord)` over dimensions, or its limit.
    fn linalg_vector_norm(&self, ord: impl Into<Scalar>, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

    /// `linalg_vector_norm`, into a tensor of the caller's.
    fn linalg_vector_norm_out(&self, ord: impl Into<Scalar>, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// The natural logarithm
    fn log(&self) -> Result<Tensor>;

    /// The logarithm to base ten
    fn log10(&self) -> Result<Tensor>;

    /// `log10`, in place.
    fn log10_(&mut self) -> Result<()>;

    /// `log10`, into a tensor of the caller's.
    fn log10_out(&self, out: &mut Tensor) -> Result<()>;

    /// `log(1 + self)`, accurate near zero
    fn log1p(&self) -> Result<Tensor>;

    /// `log1p`, in place.
    fn log1p_(&mut self) -> Result<()>;

    /// `log1p`, into a tensor of the caller's.
    fn log1p_out(&self, out: &mut Tensor) -> Result<()>;

    /// The logarithm to base two
    fn log2(&self) -> Result<Tensor>;

    /// `log2`, in place.
    fn log2_(&mut self) -> Result<()>;

    /// `log2`, into a tensor of the caller's.
    fn log2_out(&self, out: &mut Tensor) -> Result<()>;

    /// `log`, in place.
    fn log_(&mut self) -> Result<()>;

    /// Draws numbers of the log-normal distribution: `exp` of normal numbers, in the sizes of `self`.
    #[cfg(feature = "random")]
    fn log_normal(&self, mean: f64, std: f64) -> Result<Tensor>;

    /// `log_normal`, in place.
    #[cfg(feature = "random")]
    fn log_normal_(&mut self, mean: f64, std: f64) -> Result<()>;

    /// `log_normal`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn log_normal_out(&self, mean: f64, std: f64, out: &mut Tensor) -> Result<()>;

    /// `log`, into a tensor of the caller's.
    fn log_out(&self, out: &mut Tensor) -> Result<()>;

    /// `log(sigmoid(self))`
    fn log_sigmoid(&self) -> Result<Tensor>;

    /// `log(sigmoid(self))`, and a buffer for the backward pass
    fn log_sigmoid_forward(&self) -> Result<(Tensor, Tensor)>;

    /// `log_sigmoid_forward`, into a tensor of the caller's.
    fn log_sigmoid_forward_output(&self, output: &mut Tensor, buffer: &mut Tensor) -> Result<()>;

    /// `log_sigmoid`, into a tensor of the caller's.
    fn log_sigmoid_out(&self, out: &mut Tensor) -> Result<()>;

    /// Computes the logarithm of softmax along a dimension. `self` is converted to `dtype` first, if it is given.
    #[cfg(feature = "norm")]
    fn log_softmax_int(&self, dim: i64, dtype: Option<DType>) -> Result<Tensor>;

    /// `log_softmax_int`, into a tensor of the caller's.
    #[cfg(feature = "norm")]
    fn log_softmax_int_out(&self, dim: i64, dtype: Option<DType>, out: &mut Tensor) -> Result<()>;

    /// `log(e^self + e^other)`
    fn logaddexp(&self, other: &Tensor) -> Result<Tensor>;

    /// `log2(2^self + 2^other)`
    fn logaddexp2(&self, other: &Tensor) -> Result<Tensor>;

    /// `logaddexp2`, into a tensor of the caller's.
    fn logaddexp2_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `logaddexp`, into a tensor of the caller's.
    fn logaddexp_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Computes `log(cumsum(exp(self)))` along a dimension, without intermediate overflow.
    fn logcumsumexp(&self, dim: i64) -> Result<Tensor>;

    /// `logcumsumexp`, into a tensor of the caller's.
    fn logcumsumexp_out(&self, dim: i64, out: &mut Tensor) -> Result<()>;

    /// Returns the logarithm of the determinant; NaN if that is negative.
    #[cfg(feature = "linalg")]
    fn logdet(&self) -> Result<Tensor>;

    /// Whether both elements are nonzero
    fn logical_and(&self, other: &Tensor) -> Result<Tensor>;

    /// `logical_and`, in place.
    fn logical_and_(&mut self, other: &Tensor) -> Result<()>;

    /// `logical_and`, into a tensor of the caller's.
    fn logical_and_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Whether each element is zero
    fn logical_not(&self) -> Result<Tensor>;

    /// `logical_not`, in place.
    fn logical_not_(&mut self) -> Result<()>;

    /// `logical_not`, into a tensor of the caller's.
    fn logical_not_out(&self, out: &mut Tensor) -> Result<()>;

    /// Whether at least one of two elements is nonzero
    fn logical_or(&self, other: &Tensor) -> Result<Tensor>;

    /// `logical_or`, in place.
    fn logical_or_(&mut self, other: &Tensor) -> Result<()>;

    /// `logical_or`, into a tensor of the caller's.
    fn logical_or_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Whether exactly one of two elements is nonzero
    fn logical_xor(&self, other: &Tensor) -> Result<Tensor>;

    /// `logical_xor`, in place.
    fn logical_xor_(&mut self, other: &Tensor) -> Result<()>;

    /// `logical_xor`, into a tensor of the caller's.
    fn logical_xor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `log(self / (1 - self))`, with `self` clamped to `[eps, 1 - eps]` first if `eps` is given
    fn logit(&self, eps: Option<f64>) -> Result<Tensor>;

    /// `logit`, in place.
    fn logit_(&mut self, eps: Option<f64>) -> Result<()>;

    /// `logit`, into a tensor of the caller's.
    fn logit_out(&self, eps: Option<f64>, out: &mut Tensor) -> Result<()>;

    /// Computes `log(sum(exp(self)))` over dimensions, without intermediate overflow.
    fn logsumexp(&self, dim: &[i64], keepdim: bool) -> Result<Tensor>;

    /// `logsumexp`, into a tensor of the caller's.
    fn logsumexp_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// `self < other`
    fn lt(&self, other: &Tensor) -> Result<Tensor>;

    /// `lt`, in place.
    fn lt_(&mut self, other: &Tensor) -> Result<()>;

    /// `lt_scalar`, in place.
    fn lt__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `self < other` for a scalar `other`
    fn lt_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `lt_scalar`, into a tensor of the caller's.
    fn lt_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `lt`, into a tensor of the caller's.
    fn lt_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// An older form of `linalg_lu_solve`.
    #[cfg(feature = "linalg")]
    fn lu_solve(&self, LU_data: &Tensor, LU_pivots: &Tensor) -> Result<Tensor>;

    /// `lu_solve`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn lu_solve_out(&self, LU_data: &Tensor, LU_pivots: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `adjoint`.
    fn mH(&self) -> Result<Tensor>;

    /// Returns the matrices transposed, as a view. A single element is unchanged.
    fn mT(&self) -> Result<Tensor>;

    /// `value`, a tensor of one element, where the mask is true, `self` elsewhere
    fn masked_fill(&self, mask: &Tensor, value: &Tensor) -> Result<Tensor>;

    /// `masked_fill`, in place.
    fn masked_fill_(&mut self, mask: &Tensor, value: &Tensor) -> Result<()>;

    /// Writes the scalar `value` where the mask is true, in place
    fn masked_fill__scalar(&mut self, mask: &Tensor, value: impl Into<Scalar>) -> Result<()>;

    /// The scalar `value` where the mask is true, `self` elsewhere
    fn masked_fill_scalar(&self, mask: &Tensor, value: impl Into<Scalar>) -> Result<Tensor>;

    /// `masked_fill_scalar`, into a tensor of the caller's.
    fn masked_fill_scalar_out(&self, mask: &Tensor, value: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `masked_fill`, into a tensor of the caller's.
    fn masked_fill_tensor_out(&self, mask: &Tensor, value: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self`, with the elements of `source` written, in order, where the mask is true.
    fn masked_scatter(&self, mask: &Tensor, source: &Tensor) -> Result<Tensor>;

    /// `masked_scatter`, in place.
    fn masked_scatter_(&mut self, mask: &Tensor, source: &Tensor) -> Result<()>;

    /// `masked_scatter`, into a tensor of the caller's.
    fn masked_scatter_out(&self, mask: &Tensor, source: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The elements at which the mask is true, as a vector.
    fn masked_select(&self, mask: &Tensor) -> Result<Tensor>;

    /// `masked_select`, into a tensor of the caller's.
    fn masked_select_out(&self, mask: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The product of the matrices in the last two dimensions; a tensor of one dimension is a row on the left and a column on the right.
    #[cfg(feature = "products")]
    fn matmul(&self, other: &Tensor) -> Result<Tensor>;

    /// `matmul`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn matmul_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Computes `adjoint` of one matrix.
    fn matrix_H(&self) -> Result<Tensor>;

    /// Computes the exponentials of square matrices.
    #[cfg(feature = "linalg")]
    fn matrix_exp(&self) -> Result<Tensor>;

    /// Computes the gradient of `matrix_exp` for the gradient `grad` of its result.
    #[cfg(feature = "linalg")]
    fn matrix_exp_backward(&self, grad: &Tensor) -> Result<Tensor>;

    /// Another name of `linalg_matrix_power`.
    #[cfg(feature = "products")]
    fn matrix_power(&self, n: i64) -> Result<Tensor>;

    /// `matrix_power`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn matrix_power_out(&self, n: i64, out: &mut Tensor) -> Result<()>;

    /// Returns the largest element.
    fn max(&self) -> Result<Tensor>;

    /// Returns the largest elements along a dimension, and their indices.
    fn max_dim(&self, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

    /// `max_dim`, into a tensor of the caller's.
    fn max_dim_max(&self, dim: i64, keepdim: bool, max: &mut Tensor, max_values: &mut Tensor) -> Result<()>;

    /// Another name of `maximum`.
    fn max_other(&self, other: &Tensor) -> Result<Tensor>;

    /// `max_other`, into a tensor of the caller's.
    fn max_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Computes `max_pool2d` in one dimension.
    #[cfg(feature = "pooling")]
    fn max_pool1d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<Tensor>;

    /// Computes `max_pool2d_with_indices` in one dimension.
    #[cfg(feature = "pooling")]
    fn max_pool1d_with_indices(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<(Tensor, Tensor)>;

    /// Returns the largest element under the window at each of its positions.
    #[cfg(feature = "pooling")]
    fn max_pool2d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<Tensor>;

    /// Returns the largest element under the window at each of its positions, and its index.
    #[cfg(feature = "pooling")]
    fn max_pool2d_with_indices(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<(Tensor, Tensor)>;

    /// `max_pool2d_with_indices`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn max_pool2d_with_indices_out(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool, out: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// Returns the largest element under the window at each of its positions.
    #[cfg(feature = "pooling")]
    fn max_pool3d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<Tensor>;

    /// Returns the largest element under the window at each of its positions, and its index.
    #[cfg(feature = "pooling")]
    fn max_pool3d_with_indices(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<(Tensor, Tensor)>;

    /// `max_pool3d_with_indices`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn max_pool3d_with_indices_out(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool, out: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// `max`, into a tensor of the caller's.
    fn max_unary_out(&self, out: &mut Tensor) -> Result<()>;

    /// Writes each element at its index in an image of zeros.
    #[cfg(feature = "pooling")]
    fn max_unpool2d(&self, indices: &Tensor, output_size: &[i64]) -> Result<Tensor>;

    /// `max_unpool2d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn max_unpool2d_out(&self, indices: &Tensor, output_size: &[i64], out: &mut Tensor) -> Result<()>;

    /// Writes each element at its index in an image of zeros.
    #[cfg(feature = "pooling")]
    fn max_unpool3d(&self, indices: &Tensor, output_size: &[i64], stride: &[i64], padding: &[i64]) -> Result<Tensor>;

    /// `max_unpool3d`, into a tensor of the caller's.
    #[cfg(feature = "pooling")]
    fn max_unpool3d_out(&self, indices: &Tensor, output_size: &[i64], stride: &[i64], padding: &[i64], out: &mut Tensor) -> Result<()>;

    /// The larger of two elements; NaN if either is NaN
    fn maximum(&self, other: &Tensor) -> Result<Tensor>;

    /// `maximum`, into a tensor of the caller's.
    fn maximum_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Computes the mean of all elements.
    fn mean(&self) -> Result<Tensor>;

    /// Computes the means over dimensions, or over all if `dim` is empty or absent.
    fn mean_dim(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

    /// `mean`, into a tensor of the caller's.
    fn mean_dtype_out(&self, out: &mut Tensor) -> Result<()>;

    /// `mean_dim`, into a tensor of the caller's.
    fn mean_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Returns the median of all elements. Of two middle elements, it is the smaller.
    #[cfg(feature = "sort")]
    fn median(&self) -> Result<Tensor>;

    /// Returns the medians along a dimension, and their indices.
    #[cfg(feature = "sort")]
    fn median_dim(&self, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

    /// `median_dim`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn median_dim_values(&self, dim: i64, keepdim: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// `median`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn median_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns the smallest element.
    fn min(&self) -> Result<Tensor>;

    /// Returns the smallest elements along a dimension, and their indices.
    fn min_dim(&self, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

    /// `min_dim`, into a tensor of the caller's.
    fn min_dim_min(&self, dim: i64, keepdim: bool, min: &mut Tensor, min_indices: &mut Tensor) -> Result<()>;

    /// Another name of `minimum`.
    fn min_other(&self, other: &Tensor) -> Result<Tensor>;

    /// `min_other`, into a tensor of the caller's.
    fn min_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `min`, into a tensor of the caller's.
    fn min_unary_out(&self, out: &mut Tensor) -> Result<()>;

    /// The smaller of two elements; NaN if either is NaN
    fn minimum(&self, other: &Tensor) -> Result<Tensor>;

    /// `minimum`, into a tensor of the caller's.
    fn minimum_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self * tanh(softplus(self))`
    fn mish(&self) -> Result<Tensor>;

    /// `mish`, in place.
    fn mish_(&mut self) -> Result<()>;

    /// `mish`, into a tensor of the caller's.
    fn mish_out(&self, out: &mut Tensor) -> Result<()>;

    /// The product of two matrices.
    #[cfg(feature = "products")]
    fn mm(&self, mat2: &Tensor) -> Result<Tensor>;

    /// `mm`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn mm_out(&self, mat2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Returns the most frequent elements along a dimension, and their indices. Of equally frequent elements, the smallest counts.
    #[cfg(feature = "sort")]
    fn mode(&self, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

    /// `mode`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn mode_values(&self, dim: i64, keepdim: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// Another name of `movedim_int`.
    fn moveaxis_int(&self, source: i64, destination: i64) -> Result<Tensor>;

    /// Another name of `movedim_intlist`.
    fn moveaxis_intlist(&self, source: &[i64], destination: &[i64]) -> Result<Tensor>;

    /// Returns a view with one dimension moved to another index.
    fn movedim_int(&self, source: i64, destination: i64) -> Result<Tensor>;

    /// Returns a view with the dimensions `source` moved to the indices `destination`. The others keep their order.
    fn movedim_intlist(&self, source: &[i64], destination: &[i64]) -> Result<Tensor>;

    /// Computes `(self - target)^2`.
    #[cfg(feature = "loss")]
    fn mse_loss(&self, target: &Tensor, reduction: i64) -> Result<Tensor>;

    /// `mse_loss`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn mse_loss_out(&self, target: &Tensor, reduction: i64, out: &mut Tensor) -> Result<()>;

    /// Sorts the elements along the first dimension.
    #[cfg(feature = "sort")]
    fn msort(&self) -> Result<Tensor>;

    /// `msort`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn msort_out(&self, out: &mut Tensor) -> Result<()>;

    /// `self * other`
    fn mul(&self, other: &Tensor) -> Result<Tensor>;

    /// `mul`, in place.
    fn mul_(&mut self, other: &Tensor) -> Result<()>;

    /// `mul_scalar`, in place.
    fn mul__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `mul`, into a tensor of the caller's.
    fn mul_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self * other` for a scalar `other`
    fn mul_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `mul_scalar`, into a tensor of the caller's.
    fn mul_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Computes the mean over classes of `max(0, margin - self[target] + self[class])^p * weight[target]`.
    #[cfg(feature = "loss")]
    fn multi_margin_loss(&self, target: &Tensor, p: impl Into<Scalar>, margin: impl Into<Scalar>, weight: Option<&Tensor>, reduction: i64) -> Result<Tensor>;

    /// `multi_margin_loss`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn multi_margin_loss_out(&self, target: &Tensor, p: impl Into<Scalar>, margin: impl Into<Scalar>, weight: Option<&Tensor>, reduction: i64, out: &mut Tensor) -> Result<()>;

    /// Computes `max(0, 1 - self[true] + self[false])`, averaged over classes and summed over true classes.
    #[cfg(feature = "loss")]
    fn multilabel_margin_loss(&self, target: &Tensor, reduction: i64) -> Result<Tensor>;

    /// Computes `multilabel_margin_loss`, and a mask of the true classes.
    #[cfg(feature = "loss")]
    fn multilabel_margin_loss_forward(&self, target: &Tensor, reduction: i64) -> Result<(Tensor, Tensor)>;

    /// `multilabel_margin_loss_forward`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn multilabel_margin_loss_forward_output(&self, target: &Tensor, reduction: i64, output: &mut Tensor, is_target: &mut Tensor) -> Result<()>;

    /// `multilabel_margin_loss`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn multilabel_margin_loss_out(&self, target: &Tensor, reduction: i64, out: &mut Tensor) -> Result<()>;

    /// Draws indices of the last dimension with probabilities proportional to the weights `self`, with or without replacement.
    #[cfg(feature = "random")]
    fn multinomial(&self, num_samples: i64, replacement: bool) -> Result<Tensor>;

    /// `multinomial`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn multinomial_out(&self, num_samples: i64, replacement: bool, out: &mut Tensor) -> Result<()>;

    /// Another name of `mul`
    fn multiply(&self, other: &Tensor) -> Result<Tensor>;

    /// `multiply`, in place.
    fn multiply_(&mut self, other: &Tensor) -> Result<()>;

    /// `multiply_scalar`, in place.
    fn multiply__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `multiply`, into a tensor of the caller's.
    fn multiply_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `mul_scalar`
    fn multiply_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// The product of a matrix and a vector.
    #[cfg(feature = "products")]
    fn mv(&self, vec: &Tensor) -> Result<Tensor>;

    /// `mv`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn mv_out(&self, vec: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The logarithm of the multivariate gamma function of dimension `p`
    fn mvlgamma(&self, p: i64) -> Result<Tensor>;

    /// `mvlgamma`, in place
    fn mvlgamma_(&mut self, p: i64) -> Result<()>;

    /// `mvlgamma`, into a tensor of the caller's.
    fn mvlgamma_out(&self, p: i64, out: &mut Tensor) -> Result<()>;

    /// `self`, with NaN and infinities replaced by numbers
    fn nan_to_num(&self, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>) -> Result<Tensor>;

    /// `nan_to_num`, in place.
    fn nan_to_num_(&mut self, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>) -> Result<()>;

    /// `nan_to_num`, into a tensor of the caller's.
    fn nan_to_num_out(&self, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>, out: &mut Tensor) -> Result<()>;

    /// Computes the means over dimensions of the elements that are not NaN.
    fn nanmean(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

    /// `nanmean`, into a tensor of the caller's.
    fn nanmean_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Returns the median of the elements that are not NaN.
    #[cfg(feature = "sort")]
    fn nanmedian(&self) -> Result<Tensor>;

    /// Returns the medians along a dimension of the elements that are not NaN, and their indices.
    #[cfg(feature = "sort")]
    fn nanmedian_dim(&self, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

    /// `nanmedian_dim`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn nanmedian_dim_values(&self, dim: i64, keepdim: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// `nanmedian`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn nanmedian_out(&self, out: &mut Tensor) -> Result<()>;

    /// Computes `quantile` of the elements that are not NaN.
    #[cfg(feature = "sort")]
    fn nanquantile(&self, q: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor>;

    /// `nanquantile`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn nanquantile_out(&self, q: &Tensor, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Computes `quantile_scalar` of the elements that are not NaN.
    #[cfg(feature = "sort")]
    fn nanquantile_scalar(&self, q: f64, dim: Option<i64>, keepdim: bool) -> Result<Tensor>;

    /// `nanquantile_scalar`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn nanquantile_scalar_out(&self, q: f64, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Computes the sums over dimensions of the elements that are not NaN.
    fn nansum(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

    /// `nansum`, into a tensor of the caller's.
    fn nansum_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Returns a view of `length` indices of a dimension, from `start`.
    fn narrow(&self, dim: i64, start: i64, length: i64) -> Result<Tensor>;

    /// Copies the result of `narrow` to new memory.
    fn narrow_copy(&self, dim: i64, start: i64, length: i64) -> Result<Tensor>;

    /// `narrow_copy`, into a tensor of the caller's.
    fn narrow_copy_out(&self, dim: i64, start: i64, length: i64, out: &mut Tensor) -> Result<()>;

    /// Computes `narrow` from a start index in a tensor.
    fn narrow_tensor(&self, dim: i64, start: &Tensor, length: i64) -> Result<Tensor>;

    /// Another name of `channel_shuffle`, for which backends may register a faster kernel.
    fn native_channel_shuffle(&self, groups: i64) -> Result<Tensor>;

    /// `self != other`
    fn ne(&self, other: &Tensor) -> Result<Tensor>;

    /// `ne`, in place.
    fn ne_(&mut self, other: &Tensor) -> Result<()>;

    /// `ne_scalar`, in place.
    fn ne__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `self != other` for a scalar `other`
    fn ne_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `ne_scalar`, into a tensor of the caller's.
    fn ne_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `ne`, into a tensor of the caller's.
    fn ne_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `-self`
    fn neg(&self) -> Result<Tensor>;

    /// `neg`, in place.
    fn neg_(&mut self) -> Result<()>;

    /// `neg`, into a tensor of the caller's.
    fn neg_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `neg`
    fn negative(&self) -> Result<Tensor>;

    /// `negative`, in place.
    fn negative_(&mut self) -> Result<()>;

    /// `negative`, into a tensor of the caller's.
    fn negative_out(&self, out: &mut Tensor) -> Result<()>;

    /// A tensor of size `size` with the dtype and device of `self` and arbitrary elements.
    fn new_empty(&self, size: &[i64]) -> Result<Tensor>;

    /// `new_empty`, into a tensor of the caller's.
    fn new_empty_out(&self, size: &[i64], out: &mut Tensor) -> Result<()>;

    /// A tensor with these sizes and strides, with the dtype and device of `self` and arbitrary elements.
    fn new_empty_strided(&self, size: &[i64], stride: &[i64]) -> Result<Tensor>;

    /// `new_empty_strided`, into a tensor of the caller's.
    fn new_empty_strided_out(&self, size: &[i64], stride: &[i64], out: &mut Tensor) -> Result<()>;

    /// A tensor of size `size` with the dtype and device of `self`, with `fill_value` in each element.
    fn new_full(&self, size: &[i64], fill_value: impl Into<Scalar>) -> Result<Tensor>;

    /// `new_full`, into a tensor of the caller's.
    fn new_full_out(&self, size: &[i64], fill_value: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// A tensor of ones of size `size` with the dtype and device of `self`.
    fn new_ones(&self, size: &[i64]) -> Result<Tensor>;

    /// `new_ones`, into a tensor of the caller's.
    fn new_ones_out(&self, size: &[i64], out: &mut Tensor) -> Result<()>;

    /// A tensor of zeros of size `size` with the dtype and device of `self`.
    fn new_zeros(&self, size: &[i64]) -> Result<Tensor>;

    /// `new_zeros`, into a tensor of the caller's.
    fn new_zeros_out(&self, size: &[i64], out: &mut Tensor) -> Result<()>;

    /// The next representable number after `self` in the direction of `other`
    fn nextafter(&self, other: &Tensor) -> Result<Tensor>;

    /// `nextafter`, in place.
    fn nextafter_(&mut self, other: &Tensor) -> Result<()>;

    /// `nextafter`, into a tensor of the caller's.
    fn nextafter_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Computes the negative log-likelihood `-weight[target] * self[target]`, reduced.
    #[cfg(feature = "loss")]
    fn nll_loss(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64) -> Result<Tensor>;

    /// Computes the negative log-likelihood `-weight[target] * self[target]`, reduced.
    #[cfg(feature = "loss")]
    fn nll_loss2d(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64) -> Result<Tensor>;

    /// Computes the negative log-likelihood `-weight[target] * self[target]`, reduced, and the total weight of the targets.
    #[cfg(feature = "loss")]
    fn nll_loss2d_forward(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64) -> Result<(Tensor, Tensor)>;

    /// `nll_loss2d_forward`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn nll_loss2d_forward_output(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64, output: &mut Tensor, total_weight: &mut Tensor) -> Result<()>;

    /// `nll_loss2d`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn nll_loss2d_out(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64, out: &mut Tensor) -> Result<()>;

    /// Computes the negative log-likelihood `-weight[target] * self[target]`, reduced, and the total weight of the targets.
    #[cfg(feature = "loss")]
    fn nll_loss_forward(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64) -> Result<(Tensor, Tensor)>;

    /// `nll_loss_forward`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn nll_loss_forward_output(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64, output: &mut Tensor, total_weight: &mut Tensor) -> Result<()>;

    /// Computes the negative log-likelihood with any number of dimensions besides the class dimension.
    #[cfg(feature = "loss")]
    fn nll_loss_nd(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64) -> Result<Tensor>;

    /// `nll_loss`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn nll_loss_out(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64, out: &mut Tensor) -> Result<()>;

    /// The indices of the nonzero elements: a matrix with a row for each of them.
    fn nonzero(&self) -> Result<Tensor>;

    /// The indices of the nonzero elements: a vector for each dimension.
    fn nonzero_numpy(&self) -> Result<Vec<Tensor>>;

    /// `nonzero`, into a tensor of the caller's.
    fn nonzero_out(&self, out: &mut Tensor) -> Result<()>;

    /// The first `size` rows of `nonzero`, padded with rows of `fill_value` if there are fewer.
    fn nonzero_static(&self, size: i64) -> Result<Tensor>;

    /// `nonzero_static`, into a tensor of the caller's.
    fn nonzero_static_out(&self, size: i64, out: &mut Tensor) -> Result<()>;

    /// `norm_scalaropt_dim_dtype`, into a tensor of the caller's.
    fn norm_dtype_out(&self, p: Option<Scalar>, dim: &[i64], keepdim: bool, dtype: DType, out: &mut Tensor) -> Result<()>;

    /// `norm_scalaropt_dim`, into a tensor of the caller's.
    fn norm_out(&self, p: Option<Scalar>, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Computes the norm of all elements.
    fn norm_scalar(&self, p: impl Into<Scalar>) -> Result<Tensor>;

    /// `norm_scalar`, into a tensor of the caller's.
    fn norm_scalar_out(&self, p: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Computes the norms over dimensions.
    fn norm_scalaropt_dim(&self, p: Option<Scalar>, dim: &[i64], keepdim: bool) -> Result<Tensor>;

    /// Computes the norms over dimensions in `dtype`.
    fn norm_scalaropt_dim_dtype(&self, p: Option<Scalar>, dim: &[i64], keepdim: bool, dtype: DType) -> Result<Tensor>;

    /// Computes the norm of all elements in `dtype`.
    fn norm_scalaropt_dtype(&self, p: Option<Scalar>, dtype: DType) -> Result<Tensor>;

    /// `norm_scalaropt_dtype`, into a tensor of the caller's.
    fn norm_scalaropt_dtype_out(&self, p: Option<Scalar>, dtype: DType, out: &mut Tensor) -> Result<()>;

    /// Fills `self` with numbers of the normal distribution.
    #[cfg(feature = "random")]
    fn normal_(&mut self, mean: f64, std: f64) -> Result<()>;

    /// Draws numbers of the normal distribution, in the sizes of `self`.
    #[cfg(feature = "random")]
    fn normal_functional(&self, mean: f64, std: f64) -> Result<Tensor>;

    /// Fills `out`, resized to the sizes of `self`, with normal numbers.
    #[cfg(feature = "random")]
    fn normal_out(&self, mean: f64, std: f64, out: &mut Tensor) -> Result<()>;

    /// Another name of `ne`
    fn not_equal(&self, other: &Tensor) -> Result<Tensor>;

    /// `not_equal`, in place.
    fn not_equal_(&mut self, other: &Tensor) -> Result<()>;

    /// `not_equal_scalar`, in place.
    fn not_equal__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// Another name of `ne_scalar`
    fn not_equal_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `not_equal_scalar`, into a tensor of the caller's.
    fn not_equal_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `not_equal`, into a tensor of the caller's.
    fn not_equal_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Computes the sum of the singular values of a matrix.
    #[cfg(feature = "linalg")]
    fn nuclear_norm(&self, keepdim: bool) -> Result<Tensor>;

    /// Computes the sum of the singular values over two dimensions.
    #[cfg(feature = "linalg")]
    fn nuclear_norm_dim(&self, dim: &[i64], keepdim: bool) -> Result<Tensor>;

    /// `nuclear_norm_dim`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn nuclear_norm_dim_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// `nuclear_norm`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn nuclear_norm_out(&self, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Returns the number of elements.
    fn numel(&self) -> Result<i64>;

    /// Returns a view with the dimensions in reverse order.
    fn numpy_T(&self) -> Result<Tensor>;

    /// Converts each element of `self`, an index, to a row that is 1 at this index and 0 elsewhere.
    fn one_hot(&self, num_classes: i64) -> Result<Tensor>;

    /// A tensor of ones with the sizes, dtype and device of `self`.
    fn ones_like(&self) -> Result<Tensor>;

    /// `ones_like`, into a tensor of the caller's.
    fn ones_like_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `linalg_householder_product`.
    #[cfg(feature = "linalg")]
    fn orgqr(&self, input2: &Tensor) -> Result<Tensor>;

    /// `orgqr`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn orgqr_out(&self, input2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Multiplies `input3` by the product `Q` of the reflectors that `geqrf` returned: from the left, or from the right if not `left`. If
    #[cfg(feature = "linalg")]
    fn ormqr(&self, input2: &Tensor, input3: &Tensor, left: bool, transpose: bool) -> Result<Tensor>;

    /// `ormqr`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn ormqr_out(&self, input2: &Tensor, input3: &Tensor, left: bool, transpose: bool, out: &mut Tensor) -> Result<()>;

    /// The outer product of two vectors: a matrix of the products of each pair of elements.
    #[cfg(feature = "products")]
    fn outer(&self, vec2: &Tensor) -> Result<Tensor>;

    /// `outer`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn outer_out(&self, vec2: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Returns the position of the tensor among the results of the call that computed it.
    fn output_nr(&self) -> Result<i64>;

    /// Pads the tensor, in one of the modes `constant`, `reflect`, `replicate` and `circular`.
    fn pad(&self, pad: &[i64], mode: &str, value: Option<f64>) -> Result<Tensor>;

    /// The `p`-norm distances between all pairs of rows of a matrix, as a vector: each row with the rows after it.
    #[cfg(feature = "products")]
    fn pdist(&self, p: f64) -> Result<Tensor>;

    /// Returns a view with the dimensions in the order `dims`.
    fn permute(&self, dims: &[i64]) -> Result<Tensor>;

    /// Copies the result of `permute` to new memory.
    fn permute_copy(&self, dims: &[i64]) -> Result<Tensor>;

    /// `permute_copy`, into a tensor of the caller's.
    fn permute_copy_out(&self, dims: &[i64], out: &mut Tensor) -> Result<()>;

    /// Returns `self`, or a copy in memory pinned for `device`, or for the first device that can pin memory.
    fn pin_memory(&self, device: Option<Device>) -> Result<Tensor>;

    /// Computes the pseudoinverses of matrices. Singular values up to `rcond` times the largest one count as zero.
    #[cfg(feature = "linalg")]
    fn pinverse(&self, rcond: f64) -> Result<Tensor>;

    /// Moves groups of channels into finer images: `[c * f * f, h, w]` becomes `[c, h * f, w * f]`.
    fn pixel_shuffle(&self, upscale_factor: i64) -> Result<Tensor>;

    /// `pixel_shuffle`, into a tensor of the caller's.
    fn pixel_shuffle_out(&self, upscale_factor: i64, out: &mut Tensor) -> Result<()>;

    /// Moves blocks of pixels into channels: `[c, h * f, w * f]` becomes `[c * f * f, h, w]`.
    fn pixel_unshuffle(&self, downscale_factor: i64) -> Result<Tensor>;

    /// `pixel_unshuffle`, into a tensor of the caller's.
    fn pixel_unshuffle_out(&self, downscale_factor: i64, out: &mut Tensor) -> Result<()>;

    /// Draws numbers of Poisson distributions with the rates `self`.
    #[cfg(feature = "random")]
    fn poisson(&self, generator: Option<&Generator>) -> Result<Tensor>;

    /// `poisson`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn poisson_out(&self, generator: Option<&Generator>, out: &mut Tensor) -> Result<()>;

    /// `polygamma`, in place
    fn polygamma_(&mut self, n: i64) -> Result<()>;

    /// Returns `self` itself; refuses boolean tensors
    fn positive(&self) -> Result<Tensor>;

    /// `self ^ exponent`, in place
    fn pow_(&mut self, exponent: &Tensor) -> Result<()>;

    /// `self ^ exponent` for a scalar `exponent`, in place
    fn pow__scalar(&mut self, exponent: impl Into<Scalar>) -> Result<()>;

    /// `self ^ exponent` for a scalar `exponent`
    fn pow_tensor_scalar(&self, exponent: impl Into<Scalar>) -> Result<Tensor>;

    /// Writes `self ^ exponent` for a scalar `exponent` to `out`
    fn pow_tensor_scalar_out(&self, exponent: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `self ^ exponent`
    fn pow_tensor_tensor(&self, exponent: &Tensor) -> Result<Tensor>;

    /// `pow_tensor_tensor`, into a tensor of the caller's.
    fn pow_tensor_tensor_out(&self, exponent: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self` above zero, `weight * self` below, with one weight in total or one for each channel.
    fn prelu(&self, weight: &Tensor) -> Result<Tensor>;

    /// Computes the product of all elements.
    fn prod(&self) -> Result<Tensor>;

    /// Computes the products along a dimension.
    fn prod_dim_int(&self, dim: i64, keepdim: bool) -> Result<Tensor>;

    /// `prod_dim_int`, into a tensor of the caller's.
    fn prod_int_out(&self, dim: i64, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// `prod`, into a tensor of the caller's.
    fn prod_out(&self, out: &mut Tensor) -> Result<()>;

    /// `self`, with `source` written at the indices `index` of the flattened tensor, or added there if `accumulate`.
    fn put(&self, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor>;

    /// `put`, in place.
    fn put_(&mut self, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<()>;

    /// `put`, into a tensor of the caller's.
    fn put_out(&self, index: &Tensor, source: &Tensor, accumulate: bool, out: &mut Tensor) -> Result<()>;

    /// Computes the quantiles `q` along a dimension, or of all elements.
    #[cfg(feature = "sort")]
    fn quantile(&self, q: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor>;

    /// `quantile`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn quantile_out(&self, q: &Tensor, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Computes the quantile `q` along a dimension, or of all elements.
    #[cfg(feature = "sort")]
    fn quantile_scalar(&self, q: f64, dim: Option<i64>, keepdim: bool) -> Result<Tensor>;

    /// `quantile_scalar`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn quantile_scalar_out(&self, q: f64, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Converts radians to degrees
    fn rad2deg(&self) -> Result<Tensor>;

    /// `rad2deg`, in place.
    fn rad2deg_(&mut self) -> Result<()>;

    /// `rad2deg`, into a tensor of the caller's.
    fn rad2deg_out(&self, out: &mut Tensor) -> Result<()>;

    /// Creates a tensor of uniform numbers between zero and one, with the sizes and layout of `self`.
    #[cfg(feature = "random")]
    fn rand_like(&self) -> Result<Tensor>;

    /// Creates a tensor of uniform numbers between zero and one, drawn from `generator`, with the sizes and layout of `self`.
    #[cfg(feature = "random")]
    fn rand_like_generator(&self, generator: Option<&Generator>) -> Result<Tensor>;

    /// `rand_like_generator`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn rand_like_generator_out(&self, generator: Option<&Generator>, out: &mut Tensor) -> Result<()>;

    /// `rand_like`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn rand_like_out(&self, out: &mut Tensor) -> Result<()>;

    /// Creates a tensor of random integers from zero up to below `high`, with the sizes and layout of `self`.
    #[cfg(feature = "random")]
    fn randint_like(&self, high: i64) -> Result<Tensor>;

    /// Creates a tensor of random integers from zero up to below `high`, drawn from `generator`, with the sizes and layout of `self`.
    #[cfg(feature = "random")]
    fn randint_like_generator(&self, high: i64, generator: Option<&Generator>) -> Result<Tensor>;

    /// `randint_like_generator`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn randint_like_generator_out(&self, high: i64, generator: Option<&Generator>, out: &mut Tensor) -> Result<()>;

    /// Creates a tensor of random integers from `low` up to below `high`, with the sizes and layout of `self`.
    #[cfg(feature = "random")]
    fn randint_like_low_dtype(&self, low: i64, high: i64) -> Result<Tensor>;

    /// `randint_like_low_dtype`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn randint_like_low_dtype_out(&self, low: i64, high: i64, out: &mut Tensor) -> Result<()>;

    /// Creates a tensor of random integers from `low` up to below `high`, drawn from `generator`, with the sizes and layout of `self`.
    #[cfg(feature = "random")]
    fn randint_like_low_generator_dtype(&self, low: i64, high: i64, generator: Option<&Generator>) -> Result<Tensor>;

    /// `randint_like_low_generator_dtype`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn randint_like_low_generator_dtype_out(&self, low: i64, high: i64, generator: Option<&Generator>, out: &mut Tensor) -> Result<()>;

    /// `randint_like`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn randint_like_out(&self, high: i64, out: &mut Tensor) -> Result<()>;

    /// Creates a tensor of random integers from zero up to below the element of `high`, with the sizes and layout of `self`.
    #[cfg(feature = "random")]
    fn randint_like_tensor(&self, high: &Tensor) -> Result<Tensor>;

    /// Creates a tensor of random integers from zero up to below the element of `high`, drawn from `generator`.
    #[cfg(feature = "random")]
    fn randint_like_tensor_generator(&self, high: &Tensor, generator: Option<&Generator>) -> Result<Tensor>;

    /// `randint_like_tensor_generator`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn randint_like_tensor_generator_out(&self, high: &Tensor, generator: Option<&Generator>, out: &mut Tensor) -> Result<()>;

    /// `randint_like_tensor`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn randint_like_tensor_out(&self, high: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Creates a tensor of standard normal numbers, with the sizes and layout of `self`.
    #[cfg(feature = "random")]
    fn randn_like(&self) -> Result<Tensor>;

    /// Creates a tensor of standard normal numbers, drawn from `generator`, with the sizes and layout of `self`.
    #[cfg(feature = "random")]
    fn randn_like_generator(&self, generator: Option<&Generator>) -> Result<Tensor>;

    /// `randn_like_generator`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn randn_like_generator_out(&self, generator: Option<&Generator>, out: &mut Tensor) -> Result<()>;

    /// `randn_like`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn randn_like_out(&self, out: &mut Tensor) -> Result<()>;

    /// Draws integers from zero to the largest of the dtype. For a floating dtype, the largest up to which it represents all integers.
    #[cfg(feature = "random")]
    fn random(&self) -> Result<Tensor>;

    /// `random`, in place.
    #[cfg(feature = "random")]
    fn random_(&mut self) -> Result<()>;

    /// `random_from`, in place.
    #[cfg(feature = "random")]
    fn random__from(&mut self, from: i64, to: Option<i64>) -> Result<()>;

    /// `random_to`, in place.
    #[cfg(feature = "random")]
    fn random__to(&mut self, to: i64) -> Result<()>;

    /// Draws integers from `from` up to below `to`. Without `to`, up to the largest of the dtype.
    #[cfg(feature = "random")]
    fn random_from(&self, from: i64, to: Option<i64>) -> Result<Tensor>;

    /// `random_from`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn random_from_out(&self, from: i64, to: Option<i64>, out: &mut Tensor) -> Result<()>;

    /// `random`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn random_out(&self, out: &mut Tensor) -> Result<()>;

    /// Draws integers from zero up to below `to`.
    #[cfg(feature = "random")]
    fn random_to(&self, to: i64) -> Result<Tensor>;

    /// `random_to`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn random_to_out(&self, to: i64, out: &mut Tensor) -> Result<()>;

    /// Reshapes the tensor to one dimension.
    fn ravel(&self) -> Result<Tensor>;

    /// The real part of a complex tensor, as a view, or the tensor itself if it is real.
    fn real(&self) -> Result<Tensor>;

    /// `1 / self`
    fn reciprocal(&self) -> Result<Tensor>;

    /// `reciprocal`, in place.
    fn reciprocal_(&mut self) -> Result<()>;

    /// `reciprocal`, into a tensor of the caller's.
    fn reciprocal_out(&self, out: &mut Tensor) -> Result<()>;

    /// Pads rows by reflection at the outermost elements.
    fn reflection_pad1d(&self, padding: &[i64]) -> Result<Tensor>;

    /// `reflection_pad1d`, into a tensor of the caller's.
    fn reflection_pad1d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()>;

    /// Pads images by reflection at the outermost elements.
    fn reflection_pad2d(&self, padding: &[i64]) -> Result<Tensor>;

    /// `reflection_pad2d`, into a tensor of the caller's.
    fn reflection_pad2d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()>;

    /// Pads volumes by reflection at the outermost elements.
    fn reflection_pad3d(&self, padding: &[i64]) -> Result<Tensor>;

    /// `reflection_pad3d`, into a tensor of the caller's.
    fn reflection_pad3d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()>;

    /// `max(self, 0)`
    fn relu(&self) -> Result<Tensor>;

    /// `min(max(self, 0), 6)`
    fn relu6(&self) -> Result<Tensor>;

    /// `relu6`, in place
    fn relu6_(&mut self) -> Result<()>;

    /// `relu`, in place.
    fn relu_(&mut self) -> Result<()>;

    /// `relu`, into a tensor of the caller's.
    fn relu_out(&self, out: &mut Tensor) -> Result<()>;

    /// The remainder of `self / other`, with the sign of `other`
    fn remainder(&self, other: &Tensor) -> Result<Tensor>;

    /// `remainder`, in place.
    fn remainder_(&mut self, other: &Tensor) -> Result<()>;

    /// `remainder_scalar`, in place.
    fn remainder__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// The remainder of `self / other` for a scalar `other`, with the sign of `other`
    fn remainder_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `remainder_scalar`, into a tensor of the caller's.
    fn remainder_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `remainder`, into a tensor of the caller's.
    fn remainder_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Scales down each slice along a dimension whose norm exceeds `maxnorm`, to this norm.
    fn renorm(&self, p: impl Into<Scalar>, dim: i64, maxnorm: impl Into<Scalar>) -> Result<Tensor>;

    /// `renorm`, in place.
    fn renorm_(&mut self, p: impl Into<Scalar>, dim: i64, maxnorm: impl Into<Scalar>) -> Result<()>;

    /// `renorm`, into a tensor of the caller's.
    fn renorm_out(&self, p: impl Into<Scalar>, dim: i64, maxnorm: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Repeats the tensor `repeats` times along each dimension.
    fn repeat(&self, repeats: &[i64]) -> Result<Tensor>;

    /// Repeats each slice along a dimension `repeats` times.
    fn repeat_interleave_self_int(&self, repeats: i64, dim: Option<i64>) -> Result<Tensor>;

    /// Repeats each slice along a dimension as often as its entry in `repeats`.
    fn repeat_interleave_self_tensor(&self, repeats: &Tensor, dim: Option<i64>) -> Result<Tensor>;

    /// `repeat`, into a tensor of the caller's.
    fn repeat_out(&self, repeats: &[i64], out: &mut Tensor) -> Result<()>;

    /// Pads rows by repetition of the outermost elements.
    fn replication_pad1d(&self, padding: &[i64]) -> Result<Tensor>;

    /// `replication_pad1d`, into a tensor of the caller's.
    fn replication_pad1d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()>;

    /// Pads images by repetition of the outermost elements.
    fn replication_pad2d(&self, padding: &[i64]) -> Result<Tensor>;

    /// `replication_pad2d`, into a tensor of the caller's.
    fn replication_pad2d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()>;

    /// Pads volumes by repetition of the outermost elements.
    fn replication_pad3d(&self, padding: &[i64]) -> Result<Tensor>;

    /// `replication_pad3d`, into a tensor of the caller's.
    fn replication_pad3d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()>;

    /// Returns the elements in other sizes, one of which may be -1: as a view if possible, otherwise as a copy.
    fn reshape(&self, shape: &[i64]) -> Result<Tensor>;

    /// Computes `reshape` to the sizes of another tensor.
    fn reshape_as(&self, other: &Tensor) -> Result<Tensor>;

    /// Copies the elements, and changes the sizes of the copy as `resize_` does.
    fn resize(&self, size: &[i64]) -> Result<Tensor>;

    /// Binds the handle to a contiguous tensor with these sizes, which has the same memory, or a larger copy of it.
    fn resize_(&mut self, size: &[i64]) -> Result<()>;

    /// Copies the elements, and changes the sizes of the copy as `resize_as_` does.
    fn resize_as(&self, the_template: &Tensor) -> Result<Tensor>;

    /// Binds the handle to a tensor with the sizes of `the_template`, as `resize_` does.
    fn resize_as_(&mut self, the_template: &Tensor) -> Result<()>;

    /// `resize_as`, into a tensor of the caller's.
    fn resize_as_out(&self, the_template: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `resize`, into a tensor of the caller's.
    fn resize_out(&self, size: &[i64], out: &mut Tensor) -> Result<()>;

    /// Returns the tensor itself, or a copy with its elements in memory if it is a lazy conjugate.
    fn resolve_conj(&self) -> Result<Tensor>;

    /// Returns the tensor itself, or a copy with its elements in memory if it is a lazy negative.
    fn resolve_neg(&self) -> Result<Tensor>;

    /// Returns whether the gradient of a computed tensor is retained.
    fn retains_grad(&self) -> Result<bool>;

    /// Shifts the elements along dimensions. Elements shifted beyond one end enter at the other.
    fn roll(&self, shifts: &[i64], dims: &[i64]) -> Result<Tensor>;

    /// `roll`, into a tensor of the caller's.
    fn roll_out(&self, shifts: &[i64], dims: &[i64], out: &mut Tensor) -> Result<()>;

    /// Rotates a plane by `k` right angles, from the first of two dimensions towards the second.
    fn rot90(&self, k: i64, dims: &[i64]) -> Result<Tensor>;

    /// `rot90`, into a tensor of the caller's.
    fn rot90_out(&self, k: i64, dims: &[i64], out: &mut Tensor) -> Result<()>;

    /// The nearest integer; of two equally near integers, the even one
    fn round(&self) -> Result<Tensor>;

    /// `round`, in place.
    fn round_(&mut self) -> Result<()>;

    /// `round_decimals`, in place.
    fn round__decimals(&mut self, decimals: i64) -> Result<()>;

    /// The nearest number with `decimals` decimal places
    fn round_decimals(&self, decimals: i64) -> Result<Tensor>;

    /// `round_decimals`, into a tensor of the caller's.
    fn round_decimals_out(&self, decimals: i64, out: &mut Tensor) -> Result<()>;

    /// `round`, into a tensor of the caller's.
    fn round_out(&self, out: &mut Tensor) -> Result<()>;

    /// Multiplies elements that are not positive by random slopes from `lower` to `upper` in training, else by the mean of both.
    #[cfg(feature = "random")]
    fn rrelu(&self, lower: impl Into<Scalar>, upper: impl Into<Scalar>, training: bool, generator: Option<&Generator>) -> Result<Tensor>;

    /// Applies `rrelu` in place.
    #[cfg(feature = "random")]
    fn rrelu_(&mut self, lower: impl Into<Scalar>, upper: impl Into<Scalar>, training: bool, generator: Option<&Generator>) -> Result<()>;

    /// Computes `rrelu`, and writes the factor of each element to `noise` while training.
    #[cfg(feature = "random")]
    fn rrelu_with_noise(&self, noise: &mut Tensor, lower: impl Into<Scalar>, upper: impl Into<Scalar>, training: bool, generator: Option<&Generator>) -> Result<Tensor>;

    /// Applies `rrelu_with_noise` in place.
    #[cfg(feature = "random")]
    fn rrelu_with_noise_(&mut self, noise: &mut Tensor, lower: impl Into<Scalar>, upper: impl Into<Scalar>, training: bool, generator: Option<&Generator>) -> Result<()>;

    /// Computes `rrelu`. Also returns the factor of each element while training.
    #[cfg(feature = "random")]
    fn rrelu_with_noise_functional(&self, noise: &Tensor, lower: impl Into<Scalar>, upper: impl Into<Scalar>, training: bool, generator: Option<&Generator>) -> Result<(Tensor, Tensor)>;

    /// `1 / sqrt(self)`
    fn rsqrt(&self) -> Result<Tensor>;

    /// `rsqrt`, in place.
    fn rsqrt_(&mut self) -> Result<()>;

    /// `rsqrt`, into a tensor of the caller's.
    fn rsqrt_out(&self, out: &mut Tensor) -> Result<()>;

    /// `other - alpha * self`
    fn rsub(&self, other: &Tensor) -> Result<Tensor>;

    /// `other - alpha * self` for a scalar `other`
    fn rsub_scalar(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<Tensor>;

    /// `rsub_scalar`, into a tensor of the caller's.
    fn rsub_scalar_out(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `rsub`, into a tensor of the caller's.
    fn rsub_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `scatter_reduce`, in place.
    fn scatter__reduce(&mut self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<()>;

    /// `scatter_src`, in place.
    fn scatter__src(&mut self, dim: i64, index: &Tensor, src: &Tensor) -> Result<()>;

    /// `scatter_value`, in place.
    fn scatter__value(&mut self, dim: i64, index: &Tensor, value: impl Into<Scalar>) -> Result<()>;

    /// `scatter_value_reduce`, in place.
    fn scatter__value_reduce(&mut self, dim: i64, index: &Tensor, value: impl Into<Scalar>, reduce: &str) -> Result<()>;

    /// `self`, with the elements of `src` added at the indices in `index` along `dim`.
    fn scatter_add(&self, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor>;

    /// `scatter_add`, in place.
    fn scatter_add_(&mut self, dim: i64, index: &Tensor, src: &Tensor) -> Result<()>;

    /// `scatter_add`, into a tensor of the caller's.
    fn scatter_add_out(&self, dim: i64, index: &Tensor, src: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self`, with the elements of `src` added or multiplied (as `reduce` says) at the indices in `index` along `dim`.
    fn scatter_reduce(&self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor>;

    /// `scatter_reduce_two`, in place.
    fn scatter_reduce__two(&mut self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<()>;

    /// `scatter_reduce`, into a tensor of the caller's.
    fn scatter_reduce_out(&self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str, out: &mut Tensor) -> Result<()>;

    /// `self`, with the elements of `src` combined into it by the reduction `reduce` at the indices in `index` along `dim`.
    fn scatter_reduce_two(&self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor>;

    /// `scatter_reduce_two`, into a tensor of the caller's.
    fn scatter_reduce_two_out(&self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str, out: &mut Tensor) -> Result<()>;

    /// `self`, with the elements of `src` written at the indices in `index` along `dim`: for `dim` 0, `self[index[i][j]][j] = src[i][j]`.
    fn scatter_src(&self, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor>;

    /// `scatter_src`, into a tensor of the caller's.
    fn scatter_src_out(&self, dim: i64, index: &Tensor, src: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self`, with the scalar `value` written at the indices in `index` along `dim`.
    fn scatter_value(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>) -> Result<Tensor>;

    /// `scatter_value`, into a tensor of the caller's.
    fn scatter_value_out(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `self`, with the scalar `value` added or multiplied (as `reduce` says) at the indices in `index` along `dim`.
    fn scatter_value_reduce(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>, reduce: &str) -> Result<Tensor>;

    /// `scatter_value_reduce`, into a tensor of the caller's.
    fn scatter_value_reduce_out(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>, reduce: &str, out: &mut Tensor) -> Result<()>;

    /// Copies the result of `select_int` to new memory.
    fn select_copy_int(&self, dim: i64, index: i64) -> Result<Tensor>;

    /// `select_copy_int`, into a tensor of the caller's.
    fn select_copy_int_out(&self, dim: i64, index: i64, out: &mut Tensor) -> Result<()>;

    /// Returns a view of the slice at an index of a dimension, without this dimension.
    fn select_int(&self, dim: i64, index: i64) -> Result<Tensor>;

    /// A copy of `self` in which `src` replaces the view that `select_int` returns.
    fn select_scatter(&self, src: &Tensor, dim: i64, index: i64) -> Result<Tensor>;

    /// `select_scatter`, into a tensor of the caller's.
    fn select_scatter_out(&self, src: &Tensor, dim: i64, index: i64, out: &mut Tensor) -> Result<()>;

    /// `elu` with the constants `alpha` and `scale` of self-normalising networks
    fn selu(&self) -> Result<Tensor>;

    /// `selu`, in place
    fn selu_(&mut self) -> Result<()>;

    /// Binds the handle to a tensor without elements.
    fn set_(&mut self) -> Result<()>;

    /// Binds the handle to a tensor with the memory and the geometry of `source`.
    fn set__source_tensor(&mut self, source: &Tensor) -> Result<()>;

    /// Binds the handle to a tensor in the memory of `source`, which is contiguous. The offset counts from the first element of `source`.
    fn set__source_tensor_storage_offset(&mut self, source: &Tensor, storage_offset: i64, size: &[i64], stride: &[i64]) -> Result<()>;

    /// Binds the handle to a tensor with the memory of `new_data`. A leaf that requires gradients stays one.
    fn set_data(&mut self, new_data: &Tensor) -> Result<()>;

    /// `set`, into a tensor of the caller's.
    fn set_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns a copy of `source`, which has the dtype and the device of `self`.
    fn set_source_tensor(&self, source: &Tensor) -> Result<Tensor>;

    /// `set_source_tensor`, into a tensor of the caller's.
    fn set_source_tensor_out(&self, source: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The sign: -1, 0 or 1; for complex numbers, `self / |self|`, or 0
    fn sgn(&self) -> Result<Tensor>;

    /// `sgn`, in place.
    fn sgn_(&mut self) -> Result<()>;

    /// `sgn`, into a tensor of the caller's.
    fn sgn_out(&self, out: &mut Tensor) -> Result<()>;

    /// Binds the handle to a tensor with the memory of `source`, as `set_data` does.
    fn shallow_copy_data_(&mut self, source: &Tensor) -> Result<()>;

    /// `1 / (1 + e^-self)`
    fn sigmoid(&self) -> Result<Tensor>;

    /// `sigmoid`, in place.
    fn sigmoid_(&mut self) -> Result<()>;

    /// `sigmoid`, into a tensor of the caller's.
    fn sigmoid_out(&self, out: &mut Tensor) -> Result<()>;

    /// The sign: -1, 0 or 1
    fn sign(&self) -> Result<Tensor>;

    /// `sign`, in place.
    fn sign_(&mut self) -> Result<()>;

    /// `sign`, into a tensor of the caller's.
    fn sign_out(&self, out: &mut Tensor) -> Result<()>;

    /// Whether the sign of each element is minus, also for negative zero
    fn signbit(&self) -> Result<Tensor>;

    /// `signbit`, into a tensor of the caller's.
    fn signbit_out(&self, out: &mut Tensor) -> Result<()>;

    /// `self * sigmoid(self)`
    fn silu(&self) -> Result<Tensor>;

    /// `silu`, in place.
    fn silu_(&mut self) -> Result<()>;

    /// `silu`, into a tensor of the caller's.
    fn silu_out(&self, out: &mut Tensor) -> Result<()>;

    /// The sine
    fn sin(&self) -> Result<Tensor>;

    /// `sin`, in place.
    fn sin_(&mut self) -> Result<()>;

    /// `sin`, into a tensor of the caller's.
    fn sin_out(&self, out: &mut Tensor) -> Result<()>;

    /// `sin(pi self) / (pi self)`
    fn sinc(&self) -> Result<Tensor>;

    /// `sinc`, in place.
    fn sinc_(&mut self) -> Result<()>;

    /// `sinc`, into a tensor of the caller's.
    fn sinc_out(&self, out: &mut Tensor) -> Result<()>;

    /// The hyperbolic sine
    fn sinh(&self) -> Result<Tensor>;

    /// `sinh`, in place.
    fn sinh_(&mut self) -> Result<()>;

    /// `sinh`, into a tensor of the caller's.
    fn sinh_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns the size of each dimension.
    fn size(&self) -> Result<Vec<i64>>;

    /// Returns the size of a dimension.
    fn size_int(&self, dim: i64) -> Result<i64>;

    /// Returns a view of every `step`th index of a dimension, from `start` up to below `end`.
    fn slice(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor>;

    /// Copies the result of `slice` to new memory.
    fn slice_copy(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor>;

    /// `slice_copy`, into a tensor of the caller's.
    fn slice_copy_tensor_out(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64, out: &mut Tensor) -> Result<()>;

    /// Returns a view of the memory of `self` with the sizes, strides and offset of `src`, of which `self` is a slice.
    fn slice_inverse(&self, src: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor>;

    /// A copy of `self` in which `src` replaces the view that `slice` returns.
    fn slice_scatter(&self, src: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor>;

    /// `slice_scatter`, into a tensor of the caller's.
    fn slice_scatter_out(&self, src: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64, out: &mut Tensor) -> Result<()>;

    /// Another name of `linalg_slogdet`.
    #[cfg(feature = "linalg")]
    fn slogdet(&self) -> Result<(Tensor, Tensor)>;

    /// `slogdet`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn slogdet_out(&self, sign: &mut Tensor, logabsdet: &mut Tensor) -> Result<()>;

    /// A `convolution` over the number of dimensions in the operator's name.
    #[cfg(feature = "conv")]
    fn slow_conv3d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64]) -> Result<Tensor>;

    /// A `convolution` over the number of dimensions in the operator's name.
    #[cfg(feature = "conv")]
    fn slow_conv3d_forward(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64]) -> Result<Tensor>;

    /// `slow_conv3d_forward`, into a tensor of the caller's.
    #[cfg(feature = "conv")]
    fn slow_conv3d_forward_output(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], output: &mut Tensor) -> Result<()>;

    /// `slow_conv3d`, into a tensor of the caller's.
    #[cfg(feature = "conv")]
    fn slow_conv3d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], out: &mut Tensor) -> Result<()>;

    /// A `convolution` with a dilation, over the number of dimensions in the operator's name. The batch dimension is optional.
    #[cfg(feature = "conv")]
    fn slow_conv_dilated2d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], dilation: &[i64]) -> Result<Tensor>;

    /// `slow_conv_dilated2d`, into a tensor of the caller's.
    #[cfg(feature = "conv")]
    fn slow_conv_dilated2d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], dilation: &[i64], out: &mut Tensor) -> Result<()>;

    /// A `convolution` with a dilation, over the number of dimensions in the operator's name. The batch dimension is optional.
    #[cfg(feature = "conv")]
    fn slow_conv_dilated3d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], dilation: &[i64]) -> Result<Tensor>;

    /// `slow_conv_dilated3d`, into a tensor of the caller's.
    #[cfg(feature = "conv")]
    fn slow_conv_dilated3d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], dilation: &[i64], out: &mut Tensor) -> Result<()>;

    /// A transposed `convolution` over two dimensions. The batch dimension of the input is optional; the result always has one.
    #[cfg(feature = "conv")]
    fn slow_conv_transpose2d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], output_padding: &[i64], dilation: &[i64]) -> Result<Tensor>;

    /// `slow_conv_transpose2d`, into a tensor of the caller's.
    #[cfg(feature = "conv")]
    fn slow_conv_transpose2d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], output_padding: &[i64], dilation: &[i64], out: &mut Tensor) -> Result<()>;

    /// A transposed `convolution` over three dimensions. The batch dimension is optional.
    #[cfg(feature = "conv")]
    fn slow_conv_transpose3d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], output_padding: &[i64], dilation: &[i64]) -> Result<Tensor>;

    /// `slow_conv_transpose3d`, into a tensor of the caller's.
    #[cfg(feature = "conv")]
    fn slow_conv_transpose3d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], output_padding: &[i64], dilation: &[i64], out: &mut Tensor) -> Result<()>;

    /// Computes `(self - target)^2 / (2 * beta)` where the two are closer than `beta`, and `|self - target| - beta / 2` elsewhere.
    #[cfg(feature = "loss")]
    fn smooth_l1_loss(&self, target: &Tensor, reduction: i64, beta: f64) -> Result<Tensor>;

    /// `smooth_l1_loss`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn smooth_l1_loss_out(&self, target: &Tensor, reduction: i64, beta: f64, out: &mut Tensor) -> Result<()>;

    /// Computes `log(1 + exp(-target * self))`.
    #[cfg(feature = "loss")]
    fn soft_margin_loss(&self, target: &Tensor, reduction: i64) -> Result<Tensor>;

    /// `soft_margin_loss`, into a tensor of the caller's.
    #[cfg(feature = "loss")]
    fn soft_margin_loss_out(&self, target: &Tensor, reduction: i64, out: &mut Tensor) -> Result<()>;

    /// Computes `exp(self) / sum(exp(self))` along a dimension. `self` is converted to `dtype` first, if it is given.
    #[cfg(feature = "norm")]
    fn softmax_int(&self, dim: i64, dtype: Option<DType>) -> Result<Tensor>;

    /// `softmax_int`, into a tensor of the caller's.
    #[cfg(feature = "norm")]
    fn softmax_int_out(&self, dim: i64, dtype: Option<DType>, out: &mut Tensor) -> Result<()>;

    /// `log(1 + e^(beta * self)) / beta`, or `self` if `beta * self` is above `threshold`
    fn softplus(&self, beta: impl Into<Scalar>, threshold: impl Into<Scalar>) -> Result<Tensor>;

    /// `softplus`, into a tensor of the caller's.
    fn softplus_out(&self, beta: impl Into<Scalar>, threshold: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `self` moved towards zero by `lambd`, or 0 if `|self| <= lambd`
    fn softshrink(&self, lambd: impl Into<Scalar>) -> Result<Tensor>;

    /// `softshrink`, into a tensor of the caller's.
    fn softshrink_out(&self, lambd: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Sorts the elements along a dimension. Also returns their former indices. Equal elements keep their order.
    #[cfg(feature = "sort")]
    fn sort(&self, dim: i64, descending: bool) -> Result<(Tensor, Tensor)>;

    /// Sorts the elements along a dimension. Also returns their former indices. With `stable`, equal elements keep their order.
    #[cfg(feature = "sort")]
    fn sort_stable(&self, stable: Option<bool>) -> Result<(Tensor, Tensor)>;

    /// `sort`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn sort_values(&self, dim: i64, descending: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// `sort_stable`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn sort_values_stable(&self, stable: Option<bool>, values: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// The Bessel function of the first kind, of order 0
    fn special_bessel_j0(&self) -> Result<Tensor>;

    /// `special_bessel_j0`, into a tensor of the caller's.
    fn special_bessel_j0_out(&self, out: &mut Tensor) -> Result<()>;

    /// The Bessel function of the first kind, of order 1
    fn special_bessel_j1(&self) -> Result<Tensor>;

    /// `special_bessel_j1`, into a tensor of the caller's.
    fn special_bessel_j1_out(&self, out: &mut Tensor) -> Result<()>;

    /// The Bessel function of the second kind, of order 0
    fn special_bessel_y0(&self) -> Result<Tensor>;

    /// `special_bessel_y0`, into a tensor of the caller's.
    fn special_bessel_y0_out(&self, out: &mut Tensor) -> Result<()>;

    /// The Bessel function of the second kind, of order 1
    fn special_bessel_y1(&self) -> Result<Tensor>;

    /// `special_bessel_y1`, into a tensor of the caller's.
    fn special_bessel_y1_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `digamma`
    fn special_digamma(&self) -> Result<Tensor>;

    /// `special_digamma`, into a tensor of the caller's.
    fn special_digamma_out(&self, out: &mut Tensor) -> Result<()>;

    /// `-self * log(self)`, negative infinity below zero
    fn special_entr(&self) -> Result<Tensor>;

    /// `special_entr`, into a tensor of the caller's.
    fn special_entr_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `erf`
    fn special_erf(&self) -> Result<Tensor>;

    /// `special_erf`, into a tensor of the caller's.
    fn special_erf_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `erfc`
    fn special_erfc(&self) -> Result<Tensor>;

    /// `special_erfc`, into a tensor of the caller's.
    fn special_erfc_out(&self, out: &mut Tensor) -> Result<()>;

    /// `e^(self^2) * erfc(self)`
    fn special_erfcx(&self) -> Result<Tensor>;

    /// `special_erfcx`, into a tensor of the caller's.
    fn special_erfcx_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `erfinv`
    fn special_erfinv(&self) -> Result<Tensor>;

    /// `special_erfinv`, into a tensor of the caller's.
    fn special_erfinv_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `exp2`
    fn special_exp2(&self) -> Result<Tensor>;

    /// `special_exp2`, into a tensor of the caller's.
    fn special_exp2_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `sigmoid`
    fn special_expit(&self) -> Result<Tensor>;

    /// `special_expit`, into a tensor of the caller's.
    fn special_expit_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `expm1`
    fn special_expm1(&self) -> Result<Tensor>;

    /// `special_expm1`, into a tensor of the caller's.
    fn special_expm1_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `igamma`
    fn special_gammainc(&self, other: &Tensor) -> Result<Tensor>;

    /// `special_gammainc`, into a tensor of the caller's.
    fn special_gammainc_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `igammac`
    fn special_gammaincc(&self, other: &Tensor) -> Result<Tensor>;

    /// `special_gammaincc`, into a tensor of the caller's.
    fn special_gammaincc_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `lgamma`
    fn special_gammaln(&self) -> Result<Tensor>;

    /// `special_gammaln`, into a tensor of the caller's.
    fn special_gammaln_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `i0`
    fn special_i0(&self) -> Result<Tensor>;

    /// `special_i0`, into a tensor of the caller's.
    fn special_i0_out(&self, out: &mut Tensor) -> Result<()>;

    /// `e^-|self| * i0(self)`
    fn special_i0e(&self) -> Result<Tensor>;

    /// `special_i0e`, into a tensor of the caller's.
    fn special_i0e_out(&self, out: &mut Tensor) -> Result<()>;

    /// The modified Bessel function of the first kind, of order 1
    fn special_i1(&self) -> Result<Tensor>;

    /// `special_i1`, into a tensor of the caller's.
    fn special_i1_out(&self, out: &mut Tensor) -> Result<()>;

    /// `e^-|self| * i1(self)`
    fn special_i1e(&self) -> Result<Tensor>;

    /// `special_i1e`, into a tensor of the caller's.
    fn special_i1e_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `log1p`
    fn special_log1p(&self) -> Result<Tensor>;

    /// `special_log1p`, into a tensor of the caller's.
    fn special_log1p_out(&self, out: &mut Tensor) -> Result<()>;

    /// The logarithm of the cumulative distribution function of the standard normal distribution
    fn special_log_ndtr(&self) -> Result<Tensor>;

    /// `special_log_ndtr`, into a tensor of the caller's.
    fn special_log_ndtr_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `log_softmax_int`.
    #[cfg(feature = "norm")]
    fn special_log_softmax(&self, dim: i64) -> Result<Tensor>;

    /// Another name of `logit`
    fn special_logit(&self, eps: Option<f64>) -> Result<Tensor>;

    /// `special_logit`, into a tensor of the caller's.
    fn special_logit_out(&self, eps: Option<f64>, out: &mut Tensor) -> Result<()>;

    /// Another name of `logsumexp`
    fn special_logsumexp(&self, dim: &[i64], keepdim: bool) -> Result<Tensor>;

    /// `special_logsumexp`, into a tensor of the caller's.
    fn special_logsumexp_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// The modified Bessel function of the first kind, of order 0
    fn special_modified_bessel_i0(&self) -> Result<Tensor>;

    /// `special_modified_bessel_i0`, into a tensor of the caller's.
    fn special_modified_bessel_i0_out(&self, out: &mut Tensor) -> Result<()>;

    /// The modified Bessel function of the first kind, of order 1
    fn special_modified_bessel_i1(&self) -> Result<Tensor>;

    /// `special_modified_bessel_i1`, into a tensor of the caller's.
    fn special_modified_bessel_i1_out(&self, out: &mut Tensor) -> Result<()>;

    /// The modified Bessel function of the second kind, of order 0
    fn special_modified_bessel_k0(&self) -> Result<Tensor>;

    /// `special_modified_bessel_k0`, into a tensor of the caller's.
    fn special_modified_bessel_k0_out(&self, out: &mut Tensor) -> Result<()>;

    /// The modified Bessel function of the second kind, of order 1
    fn special_modified_bessel_k1(&self) -> Result<Tensor>;

    /// `special_modified_bessel_k1`, into a tensor of the caller's.
    fn special_modified_bessel_k1_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `mvlgamma`
    fn special_multigammaln(&self, p: i64) -> Result<Tensor>;

    /// `special_multigammaln`, into a tensor of the caller's.
    fn special_multigammaln_out(&self, p: i64, out: &mut Tensor) -> Result<()>;

    /// The cumulative distribution function of the standard normal distribution
    fn special_ndtr(&self) -> Result<Tensor>;

    /// `special_ndtr`, into a tensor of the caller's.
    fn special_ndtr_out(&self, out: &mut Tensor) -> Result<()>;

    /// The quantile function of the standard normal distribution: the inverse of `special_ndtr`
    fn special_ndtri(&self) -> Result<Tensor>;

    /// `special_ndtri`, into a tensor of the caller's.
    fn special_ndtri_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `digamma`
    fn special_psi(&self) -> Result<Tensor>;

    /// `special_psi`, into a tensor of the caller's.
    fn special_psi_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `round_decimals`
    fn special_round(&self) -> Result<Tensor>;

    /// `special_round`, into a tensor of the caller's.
    fn special_round_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `sinc`
    fn special_sinc(&self) -> Result<Tensor>;

    /// `special_sinc`, into a tensor of the caller's.
    fn special_sinc_out(&self, out: &mut Tensor) -> Result<()>;

    /// Another name of `softmax_int`.
    #[cfg(feature = "norm")]
    fn special_softmax(&self, dim: i64, dtype: Option<DType>) -> Result<Tensor>;

    /// `self * log(1 + other)`, and 0 where `self` is 0
    fn special_xlog1py(&self, other: &Tensor) -> Result<Tensor>;

    /// `self * log(1 + other)` for a scalar `other`
    fn special_xlog1py_other_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `special_xlog1py_other_scalar`, into a tensor of the caller's.
    fn special_xlog1py_other_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `special_xlog1py`, into a tensor of the caller's.
    fn special_xlog1py_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `xlogy`
    fn special_xlogy(&self, other: &Tensor) -> Result<Tensor>;

    /// Another name of `xlogy_scalar_other`
    fn special_xlogy_other_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `special_xlogy_other_scalar`, into a tensor of the caller's.
    fn special_xlogy_other_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `special_xlogy`, into a tensor of the caller's.
    fn special_xlogy_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The Hurwitz zeta function: the sum of `(other + k)^-self` over all `k` from zero
    fn special_zeta(&self, other: &Tensor) -> Result<Tensor>;

    /// The Hurwitz zeta function for a scalar `other`
    fn special_zeta_other_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// `special_zeta_other_scalar`, into a tensor of the caller's.
    fn special_zeta_other_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `special_zeta`, into a tensor of the caller's.
    fn special_zeta_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Splits a dimension into ranges of `split_size` indices. The last may be shorter.
    fn split(&self, split_size: i64, dim: i64) -> Result<Vec<Tensor>>;

    /// Copies each result of `split` to new memory.
    fn split_copy(&self, split_size: i64, dim: i64) -> Result<Vec<Tensor>>;

    /// `split_copy`, into a tensor of the caller's.
    fn split_copy_tensor_out(&self, split_size: i64, dim: i64, out: &mut [Tensor]) -> Result<()>;

    /// Another name of `split_with_sizes`.
    fn split_sizes(&self, split_size: &[i64], dim: i64) -> Result<Vec<Tensor>>;

    /// Splits a dimension into ranges of the lengths `split_sizes`.
    fn split_with_sizes(&self, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>>;

    /// Copies each result of `split_with_sizes` to new memory.
    fn split_with_sizes_copy(&self, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>>;

    /// `split_with_sizes_copy`, into a tensor of the caller's.
    fn split_with_sizes_copy_out(&self, split_sizes: &[i64], dim: i64, out: &mut [Tensor]) -> Result<()>;

    /// `sqrt(self)`
    fn sqrt(&self) -> Result<Tensor>;

    /// `sqrt`, in place.
    fn sqrt_(&mut self) -> Result<()>;

    /// `sqrt`, into a tensor of the caller's.
    fn sqrt_out(&self, out: &mut Tensor) -> Result<()>;

    /// `self ^ 2`
    fn square(&self) -> Result<Tensor>;

    /// `self ^ 2`, in place
    fn square_(&mut self) -> Result<()>;

    /// `square`, into a tensor of the caller's.
    fn square_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns a view without the dimensions of size 1.
    fn squeeze(&self) -> Result<Tensor>;

    /// Changes `self` to its `squeeze` view, in place.
    fn squeeze_(&mut self) -> Result<()>;

    /// Changes `self` to its `squeeze_dim` view, in place.
    fn squeeze__dim(&mut self, dim: i64) -> Result<()>;

    /// Changes `self` to its `squeeze_dims` view, in place.
    fn squeeze__dims(&mut self, dim: &[i64]) -> Result<()>;

    /// Copies the result of `squeeze` to new memory.
    fn squeeze_copy(&self) -> Result<Tensor>;

    /// Copies the result of `squeeze_dim` to new memory.
    fn squeeze_copy_dim(&self, dim: i64) -> Result<Tensor>;

    /// `squeeze_copy_dim`, into a tensor of the caller's.
    fn squeeze_copy_dim_out(&self, dim: i64, out: &mut Tensor) -> Result<()>;

    /// Copies the result of `squeeze_dims` to new memory.
    fn squeeze_copy_dims(&self, dim: &[i64]) -> Result<Tensor>;

    /// `squeeze_copy_dims`, into a tensor of the caller's.
    fn squeeze_copy_dims_out(&self, dim: &[i64], out: &mut Tensor) -> Result<()>;

    /// `squeeze_copy`, into a tensor of the caller's.
    fn squeeze_copy_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns a view without the dimension `dim`, if it has size 1.
    fn squeeze_dim(&self, dim: i64) -> Result<Tensor>;

    /// Returns a view without the dimensions in `dim` that have size 1.
    fn squeeze_dims(&self, dim: &[i64]) -> Result<Tensor>;

    /// Computes the standard deviation of all elements, with Bessel's correction or without.
    fn std(&self, unbiased: bool) -> Result<Tensor>;

    /// Computes the standard deviations over dimensions. The divisor is the number of elements minus `correction`, which is 1 if not given.
    fn std_correction(&self, dim: Option<&[i64]>) -> Result<Tensor>;

    /// `std_correction`, into a tensor of the caller's.
    fn std_correction_out(&self, dim: Option<&[i64]>, out: &mut Tensor) -> Result<()>;

    /// Computes the standard deviation over dimensions, with Bessel's correction or without.
    fn std_dim(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor>;

    /// Computes the standard deviation and the mean of all elements, with Bessel's correction or without.
    fn std_mean(&self, unbiased: bool) -> Result<(Tensor, Tensor)>;

    /// Computes the standard deviations and the means over dimensions.
    fn std_mean_correction(&self, dim: Option<&[i64]>) -> Result<(Tensor, Tensor)>;

    /// `std_mean_correction`, into a tensor of the caller's.
    fn std_mean_correction_out(&self, dim: Option<&[i64]>, out0: &mut Tensor, out1: &mut Tensor) -> Result<()>;

    /// Computes the standard deviations and the means over dimensions, with Bessel's correction or without.
    fn std_mean_dim(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)>;

    /// `std_dim`, into a tensor of the caller's.
    fn std_out(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// Computes the Fourier transform of each window of a signal: column `t` has the frequencies of the `n_fft` elements from `t * hop_length`.
    #[cfg(feature = "fft")]
    fn stft(&self, n_fft: i64, hop_length: Option<i64>, win_length: Option<i64>, window: Option<&Tensor>, normalized: bool, onesided: Option<bool>, return_complex: Option<bool>, align_to_window: Option<bool>) -> Result<Tensor>;

    /// Computes `stft` with windows that are centred: column `t` has the frequencies around element `t * hop_length`. The ends of the signal
    #[cfg(feature = "fft")]
    fn stft_center(&self, n_fft: i64, hop_length: Option<i64>, win_length: Option<i64>, window: Option<&Tensor>, center: bool, pad_mode: &str, normalized: bool, onesided: Option<bool>, return_complex: Option<bool>, align_to_window: Option<bool>) -> Result<Tensor>;

    /// Returns the offset of the tensor in its storage, in elements.
    fn storage_offset(&self) -> Result<i64>;

    /// Returns the stride of each dimension, in elements.
    fn stride(&self) -> Result<Vec<i64>>;

    /// Returns the stride of a dimension, in elements.
    fn stride_int(&self, dim: i64) -> Result<i64>;

    /// `self - alpha * other`
    fn sub(&self, other: &Tensor) -> Result<Tensor>;

    /// `sub`, in place.
    fn sub_(&mut self, other: &Tensor) -> Result<()>;

    /// `sub_scalar`, in place.
    fn sub__scalar(&mut self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<()>;

    /// `sub`, into a tensor of the caller's.
    fn sub_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self - alpha * other` for a scalar `other`
    fn sub_scalar(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<Tensor>;

    /// `sub_scalar`, into a tensor of the caller's.
    fn sub_scalar_out(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Another name of `sub`
    fn subtract(&self, other: &Tensor) -> Result<Tensor>;

    /// `subtract`, in place.
    fn subtract_(&mut self, other: &Tensor) -> Result<()>;

    /// `subtract_scalar`, in place.
    fn subtract__scalar(&mut self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<()>;

    /// `subtract`, into a tensor of the caller's.
    fn subtract_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `sub_scalar`
    fn subtract_scalar(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<Tensor>;

    /// Computes the sum of all elements.
    fn sum(&self) -> Result<Tensor>;

    /// Computes the sums over dimensions, or over all if `dim` is empty or absent.
    fn sum_dim_intlist(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

    /// `sum_dim_intlist`, into a tensor of the caller's.
    fn sum_intlist_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// `sum`, into a tensor of the caller's.
    fn sum_out(&self, out: &mut Tensor) -> Result<()>;

    /// Sums over the broadcast dimensions: the inverse of `expand` from `size` to the sizes of `self`.
    fn sum_to_size(&self, size: &[i64]) -> Result<Tensor>;

    /// Computes the singular values of matrices in descending order, and the singular vectors as columns of `U` and `V`. With `some`, there are
    #[cfg(feature = "linalg")]
    fn svd(&self, some: bool, compute_uv: bool) -> Result<(Tensor, Tensor, Tensor)>;

    /// `svd`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn svd_u(&self, some: bool, compute_uv: bool, U: &mut Tensor, S: &mut Tensor, V: &mut Tensor) -> Result<()>;

    /// Another name of `transpose_int`.
    fn swapaxes(&self, axis0: i64, axis1: i64) -> Result<Tensor>;

    /// Another name of `transpose_`.
    fn swapaxes_(&mut self, axis0: i64, axis1: i64) -> Result<()>;

    /// Another name of `transpose_int`.
    fn swapdims(&self, dim0: i64, dim1: i64) -> Result<Tensor>;

    /// Another name of `transpose_`.
    fn swapdims_(&mut self, dim0: i64, dim1: i64) -> Result<()>;

    /// Returns whether a tensor is contiguous in a memory format. In PyTorch the result may be symbolic.
    fn sym_is_contiguous(&self, memory_format: MemoryFormat) -> Result<bool>;

    /// Returns the number of elements. In PyTorch it may be symbolic.
    fn sym_numel(&self) -> Result<i64>;

    /// Computes `size`. In PyTorch the sizes may be symbolic.
    fn sym_size(&self) -> Result<Vec<i64>>;

    /// Computes `size_int`. In PyTorch the size may be symbolic.
    fn sym_size_int(&self, dim: i64) -> Result<i64>;

    /// Returns the offset of the tensor in its storage, in elements. In PyTorch it may be symbolic.
    fn sym_storage_offset(&self) -> Result<i64>;

    /// Computes `stride`. In PyTorch the strides may be symbolic.
    fn sym_stride(&self) -> Result<Vec<i64>>;

    /// Returns the stride of a dimension, in elements. In PyTorch it may be symbolic.
    fn sym_stride_int(&self, dim: i64) -> Result<i64>;

    /// Returns the transposed view of a matrix. A vector or a single element is unchanged.
    fn t(&self) -> Result<Tensor>;

    /// Changes `self` to its `t` view, in place.
    fn t_(&mut self) -> Result<()>;

    /// Copies the result of `t` to new memory.
    fn t_copy(&self) -> Result<Tensor>;

    /// `t_copy`, into a tensor of the caller's.
    fn t_copy_out(&self, out: &mut Tensor) -> Result<()>;

    /// The elements of the flattened tensor at the indices `index`.
    fn take(&self, index: &Tensor) -> Result<Tensor>;

    /// Selects along `dim` the elements at the indices in `indices`. The other dimensions of both tensors broadcast.
    fn take_along_dim(&self, indices: &Tensor, dim: Option<i64>) -> Result<Tensor>;

    /// `take_along_dim`, into a tensor of the caller's.
    fn take_along_dim_out(&self, indices: &Tensor, dim: Option<i64>, out: &mut Tensor) -> Result<()>;

    /// `take`, into a tensor of the caller's.
    fn take_out(&self, index: &Tensor, out: &mut Tensor) -> Result<()>;

    /// The tangent
    fn tan(&self) -> Result<Tensor>;

    /// `tan`, in place.
    fn tan_(&mut self) -> Result<()>;

    /// `tan`, into a tensor of the caller's.
    fn tan_out(&self, out: &mut Tensor) -> Result<()>;

    /// The hyperbolic tangent
    fn tanh(&self) -> Result<Tensor>;

    /// `tanh`, in place.
    fn tanh_(&mut self) -> Result<()>;

    /// `tanh`, into a tensor of the caller's.
    fn tanh_out(&self, out: &mut Tensor) -> Result<()>;

    /// Splits a dimension at the given indices.
    fn tensor_split_indices(&self, indices: &[i64], dim: i64) -> Result<Vec<Tensor>>;

    /// Splits a dimension into `sections` ranges, whose lengths differ by at most one.
    fn tensor_split_sections(&self, sections: i64, dim: i64) -> Result<Vec<Tensor>>;

    /// Computes `tensor_split_sections` if the tensor has no dimensions, else `tensor_split_indices`.
    fn tensor_split_tensor_indices_or_sections(&self, tensor_indices_or_sections: &Tensor, dim: i64) -> Result<Vec<Tensor>>;

    /// The sums of products over these dimensions of both tensors. The remaining dimensions of `self` come first in the result.
    #[cfg(feature = "products")]
    fn tensordot(&self, other: &Tensor, dims_self: &[i64], dims_other: &[i64]) -> Result<Tensor>;

    /// `tensordot`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn tensordot_out(&self, other: &Tensor, dims_self: &[i64], dims_other: &[i64], out: &mut Tensor) -> Result<()>;

    /// A `convolution` over the number of dimensions in the operator's name.
    #[cfg(feature = "conv")]
    fn thnn_conv2d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64]) -> Result<Tensor>;

    /// `thnn_conv2d`, into a tensor of the caller's.
    #[cfg(feature = "conv")]
    fn thnn_conv2d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], out: &mut Tensor) -> Result<()>;

    /// `self` if it is above `threshold`, else `value`
    fn threshold(&self, threshold: impl Into<Scalar>, value: impl Into<Scalar>) -> Result<Tensor>;

    /// `threshold`, in place.
    fn threshold_(&mut self, threshold: impl Into<Scalar>, value: impl Into<Scalar>) -> Result<()>;

    /// `threshold`, into a tensor of the caller's.
    fn threshold_out(&self, threshold: impl Into<Scalar>, value: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// Computes `repeat` along the last dimensions, if `dims` has fewer entries than there are dimensions.
    fn tile(&self, dims: &[i64]) -> Result<Tensor>;

    /// Returns `self`, or a copy on this device in this dtype.
    fn to_device(&self, device: Device, dtype: DType, non_blocking: bool, copy: bool, memory_format: Option<MemoryFormat>) -> Result<Tensor>;

    /// Returns `self`, or a copy in this dtype. An integer that the dtype cannot represent wraps.
    fn to_dtype(&self, dtype: DType, non_blocking: bool, copy: bool, memory_format: Option<MemoryFormat>) -> Result<Tensor>;

    /// Returns `self`, or a copy with the given dtype, device and memory format.
    fn to_dtype_layout(&self) -> Result<Tensor>;

    /// Returns `self`, or a copy with the dtype and on the device of `other`.
    fn to_other(&self, other: &Tensor, non_blocking: bool, copy: bool, memory_format: Option<MemoryFormat>) -> Result<Tensor>;

    /// Returns the `k` largest or smallest elements along a dimension, and their indices.
    #[cfg(feature = "sort")]
    fn topk(&self, k: i64, dim: i64, largest: bool, sorted: bool) -> Result<(Tensor, Tensor)>;

    /// `topk`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn topk_values(&self, k: i64, dim: i64, largest: bool, sorted: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()>;

    /// Computes the sum of the diagonal.
    fn trace(&self) -> Result<Tensor>;

    /// `trace`, into a tensor of the caller's.
    fn trace_out(&self, out: &mut Tensor) -> Result<()>;

    /// Changes `self` to its `transpose_int` view, in place.
    fn transpose_(&mut self, dim0: i64, dim1: i64) -> Result<()>;

    /// Copies the result of `transpose_int` to new memory.
    fn transpose_copy_int(&self, dim0: i64, dim1: i64) -> Result<Tensor>;

    /// `transpose_copy_int`, into a tensor of the caller's.
    fn transpose_copy_int_out(&self, dim0: i64, dim1: i64, out: &mut Tensor) -> Result<()>;

    /// Returns a view with two dimensions swapped.
    fn transpose_int(&self, dim0: i64, dim1: i64) -> Result<Tensor>;

    /// Solves `A X = self` for a triangular matrix, which `transpose` replaces by its transpose. Also returns a copy of `A`.
    #[cfg(feature = "linalg")]
    fn triangular_solve(&self, A: &Tensor, upper: bool, transpose: bool, unitriangular: bool) -> Result<(Tensor, Tensor)>;

    /// `triangular_solve`, into a tensor of the caller's.
    #[cfg(feature = "linalg")]
    fn triangular_solve_x(&self, A: &Tensor, upper: bool, transpose: bool, unitriangular: bool, X: &mut Tensor, M: &mut Tensor) -> Result<()>;

    /// Returns the lower triangle of each matrix, with zeros above it.
    fn tril(&self, diagonal: i64) -> Result<Tensor>;

    /// `tril`, in place.
    fn tril_(&mut self, diagonal: i64) -> Result<()>;

    /// `tril`, into a tensor of the caller's.
    fn tril_out(&self, diagonal: i64, out: &mut Tensor) -> Result<()>;

    /// Returns the upper triangle of each matrix, with zeros below it.
    fn triu(&self, diagonal: i64) -> Result<Tensor>;

    /// `triu`, in place.
    fn triu_(&mut self, diagonal: i64) -> Result<()>;

    /// `triu`, into a tensor of the caller's.
    fn triu_out(&self, diagonal: i64, out: &mut Tensor) -> Result<()>;

    /// Another name of `div`
    fn true_divide(&self, other: &Tensor) -> Result<Tensor>;

    /// `true_divide`, in place.
    fn true_divide_(&mut self, other: &Tensor) -> Result<()>;

    /// `true_divide_scalar`, in place.
    fn true_divide__scalar(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `true_divide`, into a tensor of the caller's.
    fn true_divide_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Another name of `div_scalar`
    fn true_divide_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// The integer part: rounding towards zero
    fn trunc(&self) -> Result<Tensor>;

    /// `trunc`, in place.
    fn trunc_(&mut self) -> Result<()>;

    /// `trunc`, into a tensor of the caller's.
    fn trunc_out(&self, out: &mut Tensor) -> Result<()>;

    /// Returns `self`, or a copy with the dtype and on the device of `other`.
    fn type_as(&self, other: &Tensor) -> Result<Tensor>;

    /// Copies each result of `unbind_int` to new memory.
    fn unbind_copy_int(&self, dim: i64) -> Result<Vec<Tensor>>;

    /// `unbind_copy_int`, into a tensor of the caller's.
    fn unbind_copy_int_out(&self, dim: i64, out: &mut [Tensor]) -> Result<()>;

    /// Returns a view of the slice at each index of a dimension.
    fn unbind_int(&self, dim: i64) -> Result<Vec<Tensor>>;

    /// Splits a dimension into several.
    fn unflatten_int(&self, dim: i64, sizes: &[i64]) -> Result<Tensor>;

    /// Returns a view of all windows of `size` indices along a dimension, `step` apart. The last dimension is along a window.
    fn unfold(&self, dimension: i64, size: i64, step: i64) -> Result<Tensor>;

    /// Copies the result of `unfold` to new memory.
    fn unfold_copy(&self, dimension: i64, size: i64, step: i64) -> Result<Tensor>;

    /// `unfold_copy`, into a tensor of the caller's.
    fn unfold_copy_out(&self, dimension: i64, size: i64, step: i64, out: &mut Tensor) -> Result<()>;

    /// Draws numbers of the uniform distribution between `from` and `to`, in the sizes of `self`.
    #[cfg(feature = "random")]
    fn uniform(&self, from: f64, to: f64) -> Result<Tensor>;

    /// `uniform`, in place.
    #[cfg(feature = "random")]
    fn uniform_(&mut self, from: f64, to: f64) -> Result<()>;

    /// `uniform`, into a tensor of the caller's.
    #[cfg(feature = "random")]
    fn uniform_out(&self, from: f64, to: f64, out: &mut Tensor) -> Result<()>;

    /// Removes elements, or slices along a dimension, that equal the one before.
    #[cfg(feature = "sort")]
    fn unique_consecutive(&self, return_inverse: bool, return_counts: bool, dim: Option<i64>) -> Result<(Tensor, Tensor, Tensor)>;

    /// `unique_consecutive`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn unique_consecutive_out(&self, return_inverse: bool, return_counts: bool, dim: Option<i64>, out0: &mut Tensor, out1: &mut Tensor, out2: &mut Tensor) -> Result<()>;

    /// Returns the distinct slices along a dimension in order, the index of each slice among them, and the count of each.
    #[cfg(feature = "sort")]
    fn unique_dim(&self, dim: i64, sorted: bool, return_inverse: bool, return_counts: bool) -> Result<(Tensor, Tensor, Tensor)>;

    /// Computes `unique_consecutive` of the slices along a dimension.
    #[cfg(feature = "sort")]
    fn unique_dim_consecutive(&self, dim: i64, return_inverse: bool, return_counts: bool) -> Result<(Tensor, Tensor, Tensor)>;

    /// `unique_dim_consecutive`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn unique_dim_consecutive_out(&self, dim: i64, return_inverse: bool, return_counts: bool, out0: &mut Tensor, out1: &mut Tensor, out2: &mut Tensor) -> Result<()>;

    /// `unique_dim`, into a tensor of the caller's.
    #[cfg(feature = "sort")]
    fn unique_dim_out(&self, dim: i64, sorted: bool, return_inverse: bool, return_counts: bool, out0: &mut Tensor, out1: &mut Tensor, out2: &mut Tensor) -> Result<()>;

    /// Computes `chunk`, with results that are not declared as views.
    fn unsafe_chunk(&self, chunks: i64, dim: i64) -> Result<Vec<Tensor>>;

    /// Computes `split`, with results that are not declared as views. The caller promises to write to one at a time.
    fn unsafe_split(&self, split_size: i64, dim: i64) -> Result<Vec<Tensor>>;

    /// `unsafe_split`, into a tensor of the caller's.
    fn unsafe_split_tensor_out(&self, split_size: i64, dim: i64, out: &mut [Tensor]) -> Result<()>;

    /// Computes `split_with_sizes`, with results that are not declared as views. The caller promises to write to one at a time.
    fn unsafe_split_with_sizes(&self, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>>;

    /// `unsafe_split_with_sizes`, into a tensor of the caller's.
    fn unsafe_split_with_sizes_out(&self, split_sizes: &[i64], dim: i64, out: &mut [Tensor]) -> Result<()>;

    /// Returns a view with one more dimension of size 1.
    fn unsqueeze(&self, dim: i64) -> Result<Tensor>;

    /// Changes `self` to its `unsqueeze` view, in place.
    fn unsqueeze_(&mut self, dim: i64) -> Result<()>;

    /// Copies the result of `unsqueeze` to new memory.
    fn unsqueeze_copy(&self, dim: i64) -> Result<Tensor>;

    /// `unsqueeze_copy`, into a tensor of the caller's.
    fn unsqueeze_copy_out(&self, dim: i64, out: &mut Tensor) -> Result<()>;

    /// Resizes images to `output_size`.
    #[cfg(feature = "resize")]
    fn upsample_bicubic2d(&self, output_size: &[i64], align_corners: bool, scales_h: Option<f64>, scales_w: Option<f64>) -> Result<Tensor>;

    /// `upsample_bicubic2d`, into a tensor of the caller's.
    #[cfg(feature = "resize")]
    fn upsample_bicubic2d_out(&self, output_size: &[i64], align_corners: bool, scales_h: Option<f64>, scales_w: Option<f64>, out: &mut Tensor) -> Result<()>;

    /// Resizes images to `output_size`.
    #[cfg(feature = "resize")]
    fn upsample_bilinear2d(&self, output_size: &[i64], align_corners: bool, scales_h: Option<f64>, scales_w: Option<f64>) -> Result<Tensor>;

    /// `upsample_bilinear2d`, into a tensor of the caller's.
    #[cfg(feature = "resize")]
    fn upsample_bilinear2d_out(&self, output_size: &[i64], align_corners: bool, scales_h: Option<f64>, scales_w: Option<f64>, out: &mut Tensor) -> Result<()>;

    /// Resizes images to `output_size`.
    #[cfg(feature = "resize")]
    fn upsample_linear1d(&self, output_size: &[i64], align_corners: bool, scales: Option<f64>) -> Result<Tensor>;

    /// `upsample_linear1d`, into a tensor of the caller's.
    #[cfg(feature = "resize")]
    fn upsample_linear1d_out(&self, output_size: &[i64], align_corners: bool, scales: Option<f64>, out: &mut Tensor) -> Result<()>;

    /// Resizes images to `output_size`.
    #[cfg(feature = "resize")]
    fn upsample_nearest1d(&self, output_size: &[i64], scales: Option<f64>) -> Result<Tensor>;

    /// `upsample_nearest1d`, into a tensor of the caller's.
    #[cfg(feature = "resize")]
    fn upsample_nearest1d_out(&self, output_size: &[i64], scales: Option<f64>, out: &mut Tensor) -> Result<()>;

    /// Resizes images to `output_size`.
    #[cfg(feature = "resize")]
    fn upsample_nearest2d(&self, output_size: &[i64], scales_h: Option<f64>, scales_w: Option<f64>) -> Result<Tensor>;

    /// `upsample_nearest2d`, into a tensor of the caller's.
    #[cfg(feature = "resize")]
    fn upsample_nearest2d_out(&self, output_size: &[i64], scales_h: Option<f64>, scales_w: Option<f64>, out: &mut Tensor) -> Result<()>;

    /// Resizes images to `output_size`.
    #[cfg(feature = "resize")]
    fn upsample_nearest3d(&self, output_size: &[i64], scales_d: Option<f64>, scales_h: Option<f64>, scales_w: Option<f64>) -> Result<Tensor>;

    /// `upsample_nearest3d`, into a tensor of the caller's.
    #[cfg(feature = "resize")]
    fn upsample_nearest3d_out(&self, output_size: &[i64], scales_d: Option<f64>, scales_h: Option<f64>, scales_w: Option<f64>, out: &mut Tensor) -> Result<()>;

    /// Resizes images to `output_size`.
    #[cfg(feature = "resize")]
    fn upsample_trilinear3d(&self, output_size: &[i64], align_corners: bool, scales_d: Option<f64>, scales_h: Option<f64>, scales_w: Option<f64>) -> Result<Tensor>;

    /// `upsample_trilinear3d`, into a tensor of the caller's.
    #[cfg(feature = "resize")]
    fn upsample_trilinear3d_out(&self, output_size: &[i64], align_corners: bool, scales_d: Option<f64>, scales_h: Option<f64>, scales_w: Option<f64>, out: &mut Tensor) -> Result<()>;

    /// Computes the variance of all elements, with Bessel's correction or without.
    fn var(&self, unbiased: bool) -> Result<Tensor>;

    /// Computes the variances over dimensions. The divisor is the number of elements minus `correction`, which is 1 if not given.
    fn var_correction(&self, dim: Option<&[i64]>) -> Result<Tensor>;

    /// `var_correction`, into a tensor of the caller's.
    fn var_correction_out(&self, dim: Option<&[i64]>, out: &mut Tensor) -> Result<()>;

    /// Computes the variance over dimensions, with Bessel's correction or without.
    fn var_dim(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor>;

    /// Computes the variance and the mean of all elements, with Bessel's correction or without.
    fn var_mean(&self, unbiased: bool) -> Result<(Tensor, Tensor)>;

    /// Computes the variances and the means over dimensions.
    fn var_mean_correction(&self, dim: Option<&[i64]>) -> Result<(Tensor, Tensor)>;

    /// `var_mean_correction`, into a tensor of the caller's.
    fn var_mean_correction_out(&self, dim: Option<&[i64]>, out0: &mut Tensor, out1: &mut Tensor) -> Result<()>;

    /// Computes the variances and the means over dimensions, with Bessel's correction or without.
    fn var_mean_dim(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)>;

    /// `var_dim`, into a tensor of the caller's.
    fn var_out(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool, out: &mut Tensor) -> Result<()>;

    /// The dot product of two vectors, with the conjugate of the first.
    #[cfg(feature = "products")]
    fn vdot(&self, other: &Tensor) -> Result<Tensor>;

    /// `vdot`, into a tensor of the caller's.
    #[cfg(feature = "products")]
    fn vdot_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// Returns a view with other sizes, one of which may be -1.
    fn view(&self, size: &[i64]) -> Result<Tensor>;

    /// Returns a `view` with the sizes of another tensor.
    fn view_as(&self, other: &Tensor) -> Result<Tensor>;

    /// A view of a real tensor as a complex tensor. The last dimension, of size 2, has the real and the imaginary part.
    fn view_as_complex(&self) -> Result<Tensor>;

    /// Copies the result of `view_as_complex` to new memory.
    fn view_as_complex_copy(&self) -> Result<Tensor>;

    /// `view_as_complex_copy`, into a tensor of the caller's.
    fn view_as_complex_copy_out(&self, out: &mut Tensor) -> Result<()>;

    /// A view of a complex tensor as a real tensor with one more dimension, of size 2, at the end.
    fn view_as_real(&self) -> Result<Tensor>;

    /// Copies the result of `view_as_real` to new memory.
    fn view_as_real_copy(&self) -> Result<Tensor>;

    /// `view_as_real_copy`, into a tensor of the caller's.
    fn view_as_real_copy_out(&self, out: &mut Tensor) -> Result<()>;

    /// Copies the result of `view` to new memory.
    fn view_copy(&self, size: &[i64]) -> Result<Tensor>;

    /// Copies the result of `view_dtype` to new memory.
    fn view_copy_dtype(&self, dtype: DType) -> Result<Tensor>;

    /// `view_copy_dtype`, into a tensor of the caller's.
    fn view_copy_dtype_out(&self, dtype: DType, out: &mut Tensor) -> Result<()>;

    /// `view_copy`, into a tensor of the caller's.
    fn view_copy_out(&self, size: &[i64], out: &mut Tensor) -> Result<()>;

    /// Returns a view of the same bytes as elements of another dtype.
    fn view_dtype(&self, dtype: DType) -> Result<Tensor>;

    /// Splits a tensor at row indices, along the first dimension.
    fn vsplit_array(&self, indices: &[i64]) -> Result<Vec<Tensor>>;

    /// Splits a tensor into `sections` of equal height, along the first dimension.
    fn vsplit_int(&self, sections: i64) -> Result<Vec<Tensor>>;

    /// `self * log(other)`, and 0 where `self` is 0
    fn xlogy(&self, other: &Tensor) -> Result<Tensor>;

    /// `xlogy`, in place.
    fn xlogy_(&mut self, other: &Tensor) -> Result<()>;

    /// `xlogy_scalar_other`, in place.
    fn xlogy__scalar_other(&mut self, other: impl Into<Scalar>) -> Result<()>;

    /// `xlogy_scalar_other`, into a tensor of the caller's.
    fn xlogy_outscalar_other(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()>;

    /// `xlogy`, into a tensor of the caller's.
    fn xlogy_outtensor(&self, other: &Tensor, out: &mut Tensor) -> Result<()>;

    /// `self * log(other)` for a scalar `other`
    fn xlogy_scalar_other(&self, other: impl Into<Scalar>) -> Result<Tensor>;

    /// Returns a tensor like `self` whose elements are all zero.
    fn zero(&self) -> Result<Tensor>;

    /// `zero`, in place.
    fn zero_(&mut self) -> Result<()>;

    /// `zero`, into a tensor of the caller's.
    fn zero_out(&self, out: &mut Tensor) -> Result<()>;

    /// A tensor of zeros with the sizes, dtype and device of `self`.
    fn zeros_like(&self) -> Result<Tensor>;

    /// `zeros_like`, into a tensor of the caller's.
    fn zeros_like_out(&self, out: &mut Tensor) -> Result<()>;
}

impl Methods for Tensor {
    fn abs(&self) -> Result<Tensor> {
        crate::abs(self)
    }

    fn abs_(&mut self) -> Result<()> {
        crate::abs_(self)
    }

    fn abs_out(&self, out: &mut Tensor) -> Result<()> {
        crate::abs_out(self, out)
    }

    fn absolute(&self) -> Result<Tensor> {
        crate::absolute(self)
    }

    fn absolute_(&mut self) -> Result<()> {
        crate::absolute_(self)
    }

    fn absolute_out(&self, out: &mut Tensor) -> Result<()> {
        crate::absolute_out(self, out)
    }

    fn acos(&self) -> Result<Tensor> {
        crate::acos(self)
    }

    fn acos_(&mut self) -> Result<()> {
        crate::acos_(self)
    }

    fn acos_out(&self, out: &mut Tensor) -> Result<()> {
        crate::acos_out(self, out)
    }

    fn acosh(&self) -> Result<Tensor> {
        crate::acosh(self)
    }

    fn acosh_(&mut self) -> Result<()> {
        crate::acosh_(self)
    }

    fn acosh_out(&self, out: &mut Tensor) -> Result<()> {
        crate::acosh_out(self, out)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool1d(&self, output_size: &[i64]) -> Result<Tensor> {
        crate::adaptive_avg_pool1d(self, output_size)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool1d_out(&self, output_size: &[i64], out: &mut Tensor) -> Result<()> {
        crate::adaptive_avg_pool1d_out(self, output_size, out)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool2d(&self, output_size: &[i64]) -> Result<Tensor> {
        crate::adaptive_avg_pool2d(self, output_size)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool2d_out(&self, output_size: &[i64], out: &mut Tensor) -> Result<()> {
        crate::adaptive_avg_pool2d_out(self, output_size, out)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool3d(&self, output_size: &[i64]) -> Result<Tensor> {
        crate::adaptive_avg_pool3d(self, output_size)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool3d_out(&self, output_size: &[i64], out: &mut Tensor) -> Result<()> {
        crate::adaptive_avg_pool3d_out(self, output_size, out)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_max_pool1d(&self, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
        crate::adaptive_max_pool1d(self, output_size)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_max_pool2d(&self, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
        crate::adaptive_max_pool2d(self, output_size)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_max_pool2d_out(&self, output_size: &[i64], out: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::adaptive_max_pool2d_out(self, output_size, out, indices)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_max_pool3d(&self, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
        crate::adaptive_max_pool3d(self, output_size)
    }

    #[cfg(feature = "pooling")]
    fn adaptive_max_pool3d_out(&self, output_size: &[i64], out: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::adaptive_max_pool3d_out(self, output_size, out, indices)
    }

    fn add(&self, other: &Tensor) -> Result<Tensor> {
        crate::add!(self, other)
    }

    fn add_(&mut self, other: &Tensor) -> Result<()> {
        crate::add_!(self, other)
    }

    fn add__scalar(&mut self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<()> {
        crate::add__scalar(self, other.into(), alpha.into())
    }

    fn add_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::add_out!(self, other, out = out)
    }

    fn add_scalar(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<Tensor> {
        crate::add_scalar(self, other.into(), alpha.into())
    }

    fn add_scalar_out(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::add_scalar_out(self, other.into(), alpha.into(), out)
    }

    #[cfg(feature = "products")]
    fn addbmm(&self, batch1: &Tensor, batch2: &Tensor) -> Result<Tensor> {
        crate::addbmm!(self, batch1, batch2)
    }

    #[cfg(feature = "products")]
    fn addbmm_(&mut self, batch1: &Tensor, batch2: &Tensor) -> Result<()> {
        crate::addbmm_!(self, batch1, batch2)
    }

    #[cfg(feature = "products")]
    fn addbmm_out(&self, batch1: &Tensor, batch2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::addbmm_out!(self, batch1, batch2, out = out)
    }

    fn addcdiv(&self, tensor1: &Tensor, tensor2: &Tensor) -> Result<Tensor> {
        crate::addcdiv!(self, tensor1, tensor2)
    }

    fn addcdiv_(&mut self, tensor1: &Tensor, tensor2: &Tensor) -> Result<()> {
        crate::addcdiv_!(self, tensor1, tensor2)
    }

    fn addcdiv_out(&self, tensor1: &Tensor, tensor2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::addcdiv_out!(self, tensor1, tensor2, out = out)
    }

    fn addcmul(&self, tensor1: &Tensor, tensor2: &Tensor) -> Result<Tensor> {
        crate::addcmul!(self, tensor1, tensor2)
    }

    fn addcmul_(&mut self, tensor1: &Tensor, tensor2: &Tensor) -> Result<()> {
        crate::addcmul_!(self, tensor1, tensor2)
    }

    fn addcmul_out(&self, tensor1: &Tensor, tensor2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::addcmul_out!(self, tensor1, tensor2, out = out)
    }

    #[cfg(feature = "products")]
    fn addmm(&self, mat1: &Tensor, mat2: &Tensor) -> Result<Tensor> {
        crate::addmm!(self, mat1, mat2)
    }

    #[cfg(feature = "products")]
    fn addmm_(&mut self, mat1: &Tensor, mat2: &Tensor) -> Result<()> {
        crate::addmm_!(self, mat1, mat2)
    }

    #[cfg(feature = "products")]
    fn addmm_out(&self, mat1: &Tensor, mat2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::addmm_out!(self, mat1, mat2, out = out)
    }

    #[cfg(feature = "products")]
    fn addmv(&self, mat: &Tensor, vec: &Tensor) -> Result<Tensor> {
        crate::addmv!(self, mat, vec)
    }

    #[cfg(feature = "products")]
    fn addmv_(&mut self, mat: &Tensor, vec: &Tensor) -> Result<()> {
        crate::addmv_!(self, mat, vec)
    }

    #[cfg(feature = "products")]
    fn addmv_out(&self, mat: &Tensor, vec: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::addmv_out!(self, mat, vec, out = out)
    }

    #[cfg(feature = "products")]
    fn addr(&self, vec1: &Tensor, vec2: &Tensor) -> Result<Tensor> {
        crate::addr!(self, vec1, vec2)
    }

    #[cfg(feature = "products")]
    fn addr_(&mut self, vec1: &Tensor, vec2: &Tensor) -> Result<()> {
        crate::addr_!(self, vec1, vec2)
    }

    #[cfg(feature = "products")]
    fn addr_out(&self, vec1: &Tensor, vec2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::addr_out!(self, vec1, vec2, out = out)
    }

    fn adjoint(&self) -> Result<Tensor> {
        crate::adjoint(self)
    }

    fn alias(&self) -> Result<Tensor> {
        crate::alias(self)
    }

    fn alias_copy(&self) -> Result<Tensor> {
        crate::alias_copy(self)
    }

    fn alias_copy_out(&self, out: &mut Tensor) -> Result<()> {
        crate::alias_copy_out(self, out)
    }

    fn all(&self) -> Result<Tensor> {
        crate::all(self)
    }

    fn all_all_out(&self, out: &mut Tensor) -> Result<()> {
        crate::all_all_out(self, out)
    }

    fn all_dim(&self, dim: i64, keepdim: bool) -> Result<Tensor> {
        crate::all_dim(self, dim, keepdim)
    }

    fn all_dims(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        crate::all_dims(self, dim, keepdim)
    }

    fn all_dims_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::all_dims_out(self, dim, keepdim, out)
    }

    fn all_out(&self, dim: i64, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::all_out(self, dim, keepdim, out)
    }

    fn allclose(&self, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool> {
        crate::allclose(self, other, rtol, atol, equal_nan)
    }

    #[cfg(feature = "random")]
    fn alpha_dropout_(&mut self, p: f64, train: bool) -> Result<()> {
        crate::alpha_dropout_(self, p, train)
    }

    fn amax(&self, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        crate::amax(self, dim, keepdim)
    }

    fn amax_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::amax_out(self, dim, keepdim, out)
    }

    fn amin(&self, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        crate::amin(self, dim, keepdim)
    }

    fn amin_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::amin_out(self, dim, keepdim, out)
    }

    fn aminmax(&self) -> Result<(Tensor, Tensor)> {
        crate::aminmax!(self)
    }

    fn aminmax_out(&self, min: &mut Tensor, max: &mut Tensor) -> Result<()> {
        crate::aminmax_out!(self, min = min, max = max)
    }

    fn angle(&self) -> Result<Tensor> {
        crate::angle(self)
    }

    fn angle_out(&self, out: &mut Tensor) -> Result<()> {
        crate::angle_out(self, out)
    }

    fn any(&self) -> Result<Tensor> {
        crate::any(self)
    }

    fn any_all_out(&self, out: &mut Tensor) -> Result<()> {
        crate::any_all_out(self, out)
    }

    fn any_dim(&self, dim: i64, keepdim: bool) -> Result<Tensor> {
        crate::any_dim(self, dim, keepdim)
    }

    fn any_dims(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        crate::any_dims(self, dim, keepdim)
    }

    fn any_dims_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::any_dims_out(self, dim, keepdim, out)
    }

    fn any_out(&self, dim: i64, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::any_out(self, dim, keepdim, out)
    }

    fn arccos(&self) -> Result<Tensor> {
        crate::arccos(self)
    }

    fn arccos_(&mut self) -> Result<()> {
        crate::arccos_(self)
    }

    fn arccos_out(&self, out: &mut Tensor) -> Result<()> {
        crate::arccos_out(self, out)
    }

    fn arccosh(&self) -> Result<Tensor> {
        crate::arccosh(self)
    }

    fn arccosh_(&mut self) -> Result<()> {
        crate::arccosh_(self)
    }

    fn arccosh_out(&self, out: &mut Tensor) -> Result<()> {
        crate::arccosh_out(self, out)
    }

    fn arcsin(&self) -> Result<Tensor> {
        crate::arcsin(self)
    }

    fn arcsin_(&mut self) -> Result<()> {
        crate::arcsin_(self)
    }

    fn arcsin_out(&self, out: &mut Tensor) -> Result<()> {
        crate::arcsin_out(self, out)
    }

    fn arcsinh(&self) -> Result<Tensor> {
        crate::arcsinh(self)
    }

    fn arcsinh_(&mut self) -> Result<()> {
        crate::arcsinh_(self)
    }

    fn arcsinh_out(&self, out: &mut Tensor) -> Result<()> {
        crate::arcsinh_out(self, out)
    }

    fn arctan(&self) -> Result<Tensor> {
        crate::arctan(self)
    }

    fn arctan2(&self, other: &Tensor) -> Result<Tensor> {
        crate::arctan2(self, other)
    }

    fn arctan2_(&mut self, other: &Tensor) -> Result<()> {
        crate::arctan2_(self, other)
    }

    fn arctan2_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::arctan2_out(self, other, out)
    }

    fn arctan_(&mut self) -> Result<()> {
        crate::arctan_(self)
    }

    fn arctan_out(&self, out: &mut Tensor) -> Result<()> {
        crate::arctan_out(self, out)
    }

    fn arctanh(&self) -> Result<Tensor> {
        crate::arctanh(self)
    }

    fn arctanh_(&mut self) -> Result<()> {
        crate::arctanh_(self)
    }

    fn arctanh_out(&self, out: &mut Tensor) -> Result<()> {
        crate::arctanh_out(self, out)
    }

    fn argmax(&self, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        crate::argmax(self, dim, keepdim)
    }

    fn argmax_out(&self, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::argmax_out(self, dim, keepdim, out)
    }

    fn argmin(&self, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        crate::argmin(self, dim, keepdim)
    }

    fn argmin_out(&self, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::argmin_out(self, dim, keepdim, out)
    }

    #[cfg(feature = "sort")]
    fn argsort(&self, dim: i64, descending: bool) -> Result<Tensor> {
        crate::argsort(self, dim, descending)
    }

    #[cfg(feature = "sort")]
    fn argsort_stable(&self, stable: bool) -> Result<Tensor> {
        crate::argsort_stable!(self, stable = stable)
    }

    #[cfg(feature = "sort")]
    fn argsort_stable_out(&self, stable: bool, out: &mut Tensor) -> Result<()> {
        crate::argsort_stable_out!(self, stable = stable, out = out)
    }

    fn argwhere(&self) -> Result<Tensor> {
        crate::argwhere(self)
    }

    fn as_strided(&self, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor> {
        crate::as_strided(self, size, stride, storage_offset)
    }

    fn as_strided_(&mut self, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<()> {
        crate::as_strided_(self, size, stride, storage_offset)
    }

    fn as_strided_copy(&self, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor> {
        crate::as_strided_copy(self, size, stride, storage_offset)
    }

    fn as_strided_copy_out(&self, size: &[i64], stride: &[i64], storage_offset: Option<i64>, out: &mut Tensor) -> Result<()> {
        crate::as_strided_copy_out(self, size, stride, storage_offset, out)
    }

    fn as_strided_scatter(&self, src: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor> {
        crate::as_strided_scatter(self, src, size, stride, storage_offset)
    }

    fn as_strided_scatter_out(&self, src: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>, out: &mut Tensor) -> Result<()> {
        crate::as_strided_scatter_out(self, src, size, stride, storage_offset, out)
    }

    fn asin(&self) -> Result<Tensor> {
        crate::asin(self)
    }

    fn asin_(&mut self) -> Result<()> {
        crate::asin_(self)
    }

    fn asin_out(&self, out: &mut Tensor) -> Result<()> {
        crate::asin_out(self, out)
    }

    fn asinh(&self) -> Result<Tensor> {
        crate::asinh(self)
    }

    fn asinh_(&mut self) -> Result<()> {
        crate::asinh_(self)
    }

    fn asinh_out(&self, out: &mut Tensor) -> Result<()> {
        crate::asinh_out(self, out)
    }

    fn atan(&self) -> Result<Tensor> {
        crate::atan(self)
    }

    fn atan2(&self, other: &Tensor) -> Result<Tensor> {
        crate::atan2(self, other)
    }

    fn atan2_(&mut self, other: &Tensor) -> Result<()> {
        crate::atan2_(self, other)
    }

    fn atan2_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::atan2_out(self, other, out)
    }

    fn atan_(&mut self) -> Result<()> {
        crate::atan_(self)
    }

    fn atan_out(&self, out: &mut Tensor) -> Result<()> {
        crate::atan_out(self, out)
    }

    fn atanh(&self) -> Result<Tensor> {
        crate::atanh(self)
    }

    fn atanh_(&mut self) -> Result<()> {
        crate::atanh_(self)
    }

    fn atanh_out(&self, out: &mut Tensor) -> Result<()> {
        crate::atanh_out(self, out)
    }

    fn atleast_1d(&self) -> Result<Tensor> {
        crate::atleast_1d(self)
    }

    fn atleast_2d(&self) -> Result<Tensor> {
        crate::atleast_2d(self)
    }

    fn atleast_3d(&self) -> Result<Tensor> {
        crate::atleast_3d(self)
    }

    #[cfg(feature = "pooling")]
    fn avg_pool1d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool) -> Result<Tensor> {
        crate::avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad)
    }

    #[cfg(feature = "pooling")]
    fn avg_pool1d_out(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool, out: &mut Tensor) -> Result<()> {
        crate::avg_pool1d_out(self, kernel_size, stride, padding, ceil_mode, count_include_pad, out)
    }

    #[cfg(feature = "pooling")]
    fn avg_pool2d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool, divisor_override: Option<i64>) -> Result<Tensor> {
        crate::avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    }

    #[cfg(feature = "pooling")]
    fn avg_pool2d_out(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool, divisor_override: Option<i64>, out: &mut Tensor) -> Result<()> {
        crate::avg_pool2d_out(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out)
    }

    #[cfg(feature = "pooling")]
    fn avg_pool3d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool, divisor_override: Option<i64>) -> Result<Tensor> {
        crate::avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    }

    #[cfg(feature = "pooling")]
    fn avg_pool3d_out(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool, divisor_override: Option<i64>, out: &mut Tensor) -> Result<()> {
        crate::avg_pool3d_out(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out)
    }

    #[cfg(feature = "products")]
    fn baddbmm(&self, batch1: &Tensor, batch2: &Tensor) -> Result<Tensor> {
        crate::baddbmm!(self, batch1, batch2)
    }

    #[cfg(feature = "products")]
    fn baddbmm_(&mut self, batch1: &Tensor, batch2: &Tensor) -> Result<()> {
        crate::baddbmm_!(self, batch1, batch2)
    }

    #[cfg(feature = "products")]
    fn baddbmm_out(&self, batch1: &Tensor, batch2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::baddbmm_out!(self, batch1, batch2, out = out)
    }

    #[cfg(feature = "random")]
    fn bernoulli(&self) -> Result<Tensor> {
        crate::bernoulli!(self)
    }

    #[cfg(feature = "random")]
    fn bernoulli__float(&mut self, p: f64) -> Result<()> {
        crate::bernoulli__float!(self, p)
    }

    #[cfg(feature = "random")]
    fn bernoulli__tensor(&mut self, p: &Tensor) -> Result<()> {
        crate::bernoulli__tensor!(self, p)
    }

    #[cfg(feature = "random")]
    fn bernoulli_out(&self, out: &mut Tensor) -> Result<()> {
        crate::bernoulli_out!(self, out = out)
    }

    #[cfg(feature = "random")]
    fn bernoulli_p(&self, p: f64) -> Result<Tensor> {
        crate::bernoulli_p!(self, p)
    }

    #[cfg(feature = "random")]
    fn bernoulli_tensor(&self, p: &Tensor) -> Result<Tensor> {
        crate::bernoulli_tensor!(self, p)
    }

    #[cfg(feature = "random")]
    fn bernoulli_tensor_out(&self, p: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::bernoulli_tensor_out!(self, p, out = out)
    }

    #[cfg(feature = "loss")]
    fn binary_cross_entropy(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64) -> Result<Tensor> {
        crate::binary_cross_entropy(self, target, weight, reduction)
    }

    #[cfg(feature = "loss")]
    fn binary_cross_entropy_out(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, out: &mut Tensor) -> Result<()> {
        crate::binary_cross_entropy_out(self, target, weight, reduction, out)
    }

    #[cfg(feature = "loss")]
    fn binary_cross_entropy_with_logits(&self, target: &Tensor, weight: Option<&Tensor>, pos_weight: Option<&Tensor>, reduction: i64) -> Result<Tensor> {
        crate::binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction)
    }

    #[cfg(feature = "loss")]
    fn binary_cross_entropy_with_logits_out(&self, target: &Tensor, weight: Option<&Tensor>, pos_weight: Option<&Tensor>, reduction: i64, out: &mut Tensor) -> Result<()> {
        crate::binary_cross_entropy_with_logits_out(self, target, weight, pos_weight, reduction, out)
    }

    fn bincount(&self, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
        crate::bincount(self, weights, minlength)
    }

    fn bincount_out(&self, weights: Option<&Tensor>, minlength: i64, out: &mut Tensor) -> Result<()> {
        crate::bincount_out(self, weights, minlength, out)
    }

    fn bitwise_and(&self, other: &Tensor) -> Result<Tensor> {
        crate::bitwise_and(self, other)
    }

    fn bitwise_and_(&mut self, other: &Tensor) -> Result<()> {
        crate::bitwise_and_(self, other)
    }

    fn bitwise_and__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::bitwise_and__scalar(self, other.into())
    }

    fn bitwise_and_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::bitwise_and_scalar(self, other.into())
    }

    fn bitwise_and_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::bitwise_and_scalar_out(self, other.into(), out)
    }

    fn bitwise_and_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::bitwise_and_tensor_out(self, other, out)
    }

    fn bitwise_left_shift(&self, other: &Tensor) -> Result<Tensor> {
        crate::bitwise_left_shift(self, other)
    }

    fn bitwise_left_shift_(&mut self, other: &Tensor) -> Result<()> {
        crate::bitwise_left_shift_(self, other)
    }

    fn bitwise_left_shift__tensor_scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::bitwise_left_shift__tensor_scalar(self, other.into())
    }

    fn bitwise_left_shift_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::bitwise_left_shift_tensor_out(self, other, out)
    }

    fn bitwise_left_shift_tensor_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::bitwise_left_shift_tensor_scalar(self, other.into())
    }

    fn bitwise_left_shift_tensor_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::bitwise_left_shift_tensor_scalar_out(self, other.into(), out)
    }

    fn bitwise_not(&self) -> Result<Tensor> {
        crate::bitwise_not(self)
    }

    fn bitwise_not_(&mut self) -> Result<()> {
        crate::bitwise_not_(self)
    }

    fn bitwise_not_out(&self, out: &mut Tensor) -> Result<()> {
        crate::bitwise_not_out(self, out)
    }

    fn bitwise_or(&self, other: &Tensor) -> Result<Tensor> {
        crate::bitwise_or(self, other)
    }

    fn bitwise_or_(&mut self, other: &Tensor) -> Result<()> {
        crate::bitwise_or_(self, other)
    }

    fn bitwise_or__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::bitwise_or__scalar(self, other.into())
    }

    fn bitwise_or_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::bitwise_or_scalar(self, other.into())
    }

    fn bitwise_or_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::bitwise_or_scalar_out(self, other.into(), out)
    }

    fn bitwise_or_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::bitwise_or_tensor_out(self, other, out)
    }

    fn bitwise_right_shift(&self, other: &Tensor) -> Result<Tensor> {
        crate::bitwise_right_shift(self, other)
    }

    fn bitwise_right_shift_(&mut self, other: &Tensor) -> Result<()> {
        crate::bitwise_right_shift_(self, other)
    }

    fn bitwise_right_shift__tensor_scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::bitwise_right_shift__tensor_scalar(self, other.into())
    }

    fn bitwise_right_shift_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::bitwise_right_shift_tensor_out(self, other, out)
    }

    fn bitwise_right_shift_tensor_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::bitwise_right_shift_tensor_scalar(self, other.into())
    }

    fn bitwise_right_shift_tensor_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::bitwise_right_shift_tensor_scalar_out(self, other.into(), out)
    }

    fn bitwise_xor(&self, other: &Tensor) -> Result<Tensor> {
        crate::bitwise_xor(self, other)
    }

    fn bitwise_xor_(&mut self, other: &Tensor) -> Result<()> {
        crate::bitwise_xor_(self, other)
    }

    fn bitwise_xor__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::bitwise_xor__scalar(self, other.into())
    }

    fn bitwise_xor_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::bitwise_xor_scalar(self, other.into())
    }

    fn bitwise_xor_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::bitwise_xor_scalar_out(self, other.into(), out)
    }

    fn bitwise_xor_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::bitwise_xor_tensor_out(self, other, out)
    }

    #[cfg(feature = "products")]
    fn bmm(&self, mat2: &Tensor) -> Result<Tensor> {
        crate::bmm(self, mat2)
    }

    #[cfg(feature = "products")]
    fn bmm_out(&self, mat2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::bmm_out(self, mat2, out)
    }

    fn broadcast_to(&self, size: &[i64]) -> Result<Tensor> {
        crate::broadcast_to(self, size)
    }

    fn bucketize(&self, boundaries: &Tensor) -> Result<Tensor> {
        crate::bucketize!(self, boundaries)
    }

    fn bucketize_tensor_out(&self, boundaries: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::bucketize_tensor_out!(self, boundaries, out = out)
    }

    #[cfg(feature = "random")]
    fn cauchy(&self, median: f64, sigma: f64) -> Result<Tensor> {
        crate::cauchy!(self, median, sigma)
    }

    #[cfg(feature = "random")]
    fn cauchy_(&mut self, median: f64, sigma: f64) -> Result<()> {
        crate::cauchy_!(self, median, sigma)
    }

    #[cfg(feature = "random")]
    fn cauchy_out(&self, median: f64, sigma: f64, out: &mut Tensor) -> Result<()> {
        crate::cauchy_out!(self, median, sigma, out = out)
    }

    fn ceil(&self) -> Result<Tensor> {
        crate::ceil(self)
    }

    fn ceil_(&mut self) -> Result<()> {
        crate::ceil_(self)
    }

    fn ceil_out(&self, out: &mut Tensor) -> Result<()> {
        crate::ceil_out(self, out)
    }

    fn celu(&self, alpha: impl Into<Scalar>) -> Result<Tensor> {
        crate::celu(self, alpha.into())
    }

    fn celu_(&mut self, alpha: impl Into<Scalar>) -> Result<()> {
        crate::celu_(self, alpha.into())
    }

    fn celu_out(&self, alpha: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::celu_out(self, alpha.into(), out)
    }

    fn channel_shuffle(&self, groups: i64) -> Result<Tensor> {
        crate::channel_shuffle(self, groups)
    }

    fn channel_shuffle_out(&self, groups: i64, out: &mut Tensor) -> Result<()> {
        crate::channel_shuffle_out(self, groups, out)
    }

    #[cfg(feature = "linalg")]
    fn cholesky_inverse(&self, upper: bool) -> Result<Tensor> {
        crate::cholesky_inverse(self, upper)
    }

    #[cfg(feature = "linalg")]
    fn cholesky_inverse_out(&self, upper: bool, out: &mut Tensor) -> Result<()> {
        crate::cholesky_inverse_out(self, upper, out)
    }

    #[cfg(feature = "linalg")]
    fn cholesky_solve(&self, input2: &Tensor, upper: bool) -> Result<Tensor> {
        crate::cholesky_solve(self, input2, upper)
    }

    #[cfg(feature = "linalg")]
    fn cholesky_solve_out(&self, input2: &Tensor, upper: bool, out: &mut Tensor) -> Result<()> {
        crate::cholesky_solve_out(self, input2, upper, out)
    }

    fn chunk(&self, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
        crate::chunk(self, chunks, dim)
    }

    fn clamp(&self, min: Option<Scalar>, max: Option<Scalar>) -> Result<Tensor> {
        crate::clamp(self, min, max)
    }

    fn clamp_(&mut self, min: Option<Scalar>, max: Option<Scalar>) -> Result<()> {
        crate::clamp_(self, min, max)
    }

    fn clamp__tensor(&mut self, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<()> {
        crate::clamp__tensor(self, min, max)
    }

    fn clamp_max(&self, max: impl Into<Scalar>) -> Result<Tensor> {
        crate::clamp_max(self, max.into())
    }

    fn clamp_max_(&mut self, max: impl Into<Scalar>) -> Result<()> {
        crate::clamp_max_(self, max.into())
    }

    fn clamp_max__tensor(&mut self, max: &Tensor) -> Result<()> {
        crate::clamp_max__tensor(self, max)
    }

    fn clamp_max_out(&self, max: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::clamp_max_out(self, max.into(), out)
    }

    fn clamp_max_tensor(&self, max: &Tensor) -> Result<Tensor> {
        crate::clamp_max_tensor(self, max)
    }

    fn clamp_max_tensor_out(&self, max: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::clamp_max_tensor_out(self, max, out)
    }

    fn clamp_min(&self, min: impl Into<Scalar>) -> Result<Tensor> {
        crate::clamp_min(self, min.into())
    }

    fn clamp_min_(&mut self, min: impl Into<Scalar>) -> Result<()> {
        crate::clamp_min_(self, min.into())
    }

    fn clamp_min__tensor(&mut self, min: &Tensor) -> Result<()> {
        crate::clamp_min__tensor(self, min)
    }

    fn clamp_min_out(&self, min: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::clamp_min_out(self, min.into(), out)
    }

    fn clamp_min_tensor(&self, min: &Tensor) -> Result<Tensor> {
        crate::clamp_min_tensor(self, min)
    }

    fn clamp_min_tensor_out(&self, min: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::clamp_min_tensor_out(self, min, out)
    }

    fn clamp_out(&self, min: Option<Scalar>, max: Option<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::clamp_out(self, min, max, out)
    }

    fn clamp_tensor(&self, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<Tensor> {
        crate::clamp_tensor(self, min, max)
    }

    fn clamp_tensor_out(&self, min: Option<&Tensor>, max: Option<&Tensor>, out: &mut Tensor) -> Result<()> {
        crate::clamp_tensor_out(self, min, max, out)
    }

    fn clip(&self, min: Option<Scalar>, max: Option<Scalar>) -> Result<Tensor> {
        crate::clip(self, min, max)
    }

    fn clip_(&mut self, min: Option<Scalar>, max: Option<Scalar>) -> Result<()> {
        crate::clip_(self, min, max)
    }

    fn clip__tensor(&mut self, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<()> {
        crate::clip__tensor(self, min, max)
    }

    fn clip_out(&self, min: Option<Scalar>, max: Option<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::clip_out(self, min, max, out)
    }

    fn clip_tensor(&self, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<Tensor> {
        crate::clip_tensor(self, min, max)
    }

    fn clip_tensor_out(&self, min: Option<&Tensor>, max: Option<&Tensor>, out: &mut Tensor) -> Result<()> {
        crate::clip_tensor_out(self, min, max, out)
    }

    fn clone_out(&self, out: &mut Tensor) -> Result<()> {
        crate::clone_out!(self, out = out)
    }

    #[cfg(feature = "conv")]
    fn col2im(&self, output_size: &[i64], kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64]) -> Result<Tensor> {
        crate::col2im(self, output_size, kernel_size, dilation, padding, stride)
    }

    #[cfg(feature = "conv")]
    fn col2im_out(&self, output_size: &[i64], kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64], out: &mut Tensor) -> Result<()> {
        crate::col2im_out(self, output_size, kernel_size, dilation, padding, stride, out)
    }

    fn combinations(&self, r: i64, with_replacement: bool) -> Result<Tensor> {
        crate::combinations(self, r, with_replacement)
    }

    fn conj(&self) -> Result<Tensor> {
        crate::conj(self)
    }

    fn conj_physical(&self) -> Result<Tensor> {
        crate::conj_physical(self)
    }

    fn conj_physical_(&mut self) -> Result<()> {
        crate::conj_physical_(self)
    }

    fn conj_physical_out(&self, out: &mut Tensor) -> Result<()> {
        crate::conj_physical_out(self, out)
    }

    fn constant_pad_nd(&self, pad: &[i64], value: impl Into<Scalar>) -> Result<Tensor> {
        crate::constant_pad_nd(self, pad, value.into())
    }

    fn constant_pad_nd_out(&self, pad: &[i64], value: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::constant_pad_nd_out(self, pad, value.into(), out)
    }

    fn contiguous(&self) -> Result<Tensor> {
        crate::contiguous!(self)
    }

    #[cfg(feature = "conv")]
    fn conv_tbc(&self, weight: &Tensor, bias: &Tensor, pad: i64) -> Result<Tensor> {
        crate::conv_tbc(self, weight, bias, pad)
    }

    #[cfg(feature = "conv")]
    fn conv_tbc_backward(&self, input: &Tensor, weight: &Tensor, bias: &Tensor, pad: i64) -> Result<(Tensor, Tensor, Tensor)> {
        crate::conv_tbc_backward(self, input, weight, bias, pad)
    }

    #[cfg(feature = "conv")]
    fn conv_tbc_out(&self, weight: &Tensor, bias: &Tensor, pad: i64, out: &mut Tensor) -> Result<()> {
        crate::conv_tbc_out(self, weight, bias, pad, out)
    }

    fn copy(&self, src: &Tensor, non_blocking: bool) -> Result<Tensor> {
        crate::copy(self, src, non_blocking)
    }

    fn copy_(&mut self, src: &Tensor, non_blocking: bool) -> Result<()> {
        crate::copy_(self, src, non_blocking)
    }

    fn copy_out(&self, src: &Tensor, non_blocking: bool, out: &mut Tensor) -> Result<()> {
        crate::copy_out(self, src, non_blocking, out)
    }

    fn copysign(&self, other: &Tensor) -> Result<Tensor> {
        crate::copysign(self, other)
    }

    fn copysign_(&mut self, other: &Tensor) -> Result<()> {
        crate::copysign_(self, other)
    }

    fn copysign__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::copysign__scalar(self, other.into())
    }

    fn copysign_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::copysign_out(self, other, out)
    }

    fn copysign_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::copysign_scalar(self, other.into())
    }

    fn copysign_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::copysign_scalar_out(self, other.into(), out)
    }

    #[cfg(feature = "products")]
    fn corrcoef(&self) -> Result<Tensor> {
        crate::corrcoef(self)
    }

    fn cos(&self) -> Result<Tensor> {
        crate::cos(self)
    }

    fn cos_(&mut self) -> Result<()> {
        crate::cos_(self)
    }

    fn cos_out(&self, out: &mut Tensor) -> Result<()> {
        crate::cos_out(self, out)
    }

    fn cosh(&self) -> Result<Tensor> {
        crate::cosh(self)
    }

    fn cosh_(&mut self) -> Result<()> {
        crate::cosh_(self)
    }

    fn cosh_out(&self, out: &mut Tensor) -> Result<()> {
        crate::cosh_out(self, out)
    }

    fn count_nonzero(&self, dim: Option<i64>) -> Result<Tensor> {
        crate::count_nonzero(self, dim)
    }

    fn count_nonzero_dim_intlist(&self, dim: &[i64]) -> Result<Tensor> {
        crate::count_nonzero_dim_intlist(self, dim)
    }

    fn count_nonzero_dim_intlist_out(&self, dim: &[i64], out: &mut Tensor) -> Result<()> {
        crate::count_nonzero_dim_intlist_out(self, dim, out)
    }

    fn count_nonzero_out(&self, dim: Option<i64>, out: &mut Tensor) -> Result<()> {
        crate::count_nonzero_out(self, dim, out)
    }

    #[cfg(feature = "products")]
    fn cov(&self) -> Result<Tensor> {
        crate::cov!(self)
    }

    #[cfg(feature = "products")]
    fn cross(&self, other: &Tensor, dim: Option<i64>) -> Result<Tensor> {
        crate::cross(self, other, dim)
    }

    #[cfg(feature = "loss")]
    fn cross_entropy_loss(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64, label_smoothing: f64) -> Result<Tensor> {
        crate::cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing)
    }

    #[cfg(feature = "products")]
    fn cross_out(&self, other: &Tensor, dim: Option<i64>, out: &mut Tensor) -> Result<()> {
        crate::cross_out(self, other, dim, out)
    }

    fn cummax(&self, dim: i64) -> Result<(Tensor, Tensor)> {
        crate::cummax(self, dim)
    }

    fn cummax_out(&self, dim: i64, values: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::cummax_out(self, dim, values, indices)
    }

    fn cummin(&self, dim: i64) -> Result<(Tensor, Tensor)> {
        crate::cummin(self, dim)
    }

    fn cummin_out(&self, dim: i64, values: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::cummin_out(self, dim, values, indices)
    }

    fn cumprod(&self, dim: i64) -> Result<Tensor> {
        crate::cumprod!(self, dim)
    }

    fn cumprod_(&mut self, dim: i64) -> Result<()> {
        crate::cumprod_!(self, dim)
    }

    fn cumprod_out(&self, dim: i64, out: &mut Tensor) -> Result<()> {
        crate::cumprod_out!(self, dim, out = out)
    }

    fn cumsum(&self, dim: i64) -> Result<Tensor> {
        crate::cumsum!(self, dim)
    }

    fn cumsum_(&mut self, dim: i64) -> Result<()> {
        crate::cumsum_!(self, dim)
    }

    fn cumsum_out(&self, dim: i64, out: &mut Tensor) -> Result<()> {
        crate::cumsum_out!(self, dim, out = out)
    }

    fn data(&self) -> Result<Tensor> {
        crate::data(self)
    }

    fn deg2rad(&self) -> Result<Tensor> {
        crate::deg2rad(self)
    }

    fn deg2rad_(&mut self) -> Result<()> {
        crate::deg2rad_(self)
    }

    fn deg2rad_out(&self, out: &mut Tensor) -> Result<()> {
        crate::deg2rad_out(self, out)
    }

    #[cfg(feature = "linalg")]
    fn det(&self) -> Result<Tensor> {
        crate::det(self)
    }

    fn detach(&self) -> Result<Tensor> {
        crate::detach(self)
    }

    fn detach_(&mut self) -> Result<()> {
        crate::detach_(self)
    }

    fn detach_copy(&self) -> Result<Tensor> {
        crate::detach_copy(self)
    }

    fn detach_copy_out(&self, out: &mut Tensor) -> Result<()> {
        crate::detach_copy_out(self, out)
    }

    fn diag(&self, diagonal: i64) -> Result<Tensor> {
        crate::diag(self, diagonal)
    }

    fn diag_embed(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        crate::diag_embed(self, offset, dim1, dim2)
    }

    fn diag_embed_out(&self, offset: i64, dim1: i64, dim2: i64, out: &mut Tensor) -> Result<()> {
        crate::diag_embed_out(self, offset, dim1, dim2, out)
    }

    fn diag_out(&self, diagonal: i64, out: &mut Tensor) -> Result<()> {
        crate::diag_out(self, diagonal, out)
    }

    fn diagflat(&self, offset: i64) -> Result<Tensor> {
        crate::diagflat(self, offset)
    }

    fn diagonal(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        crate::diagonal(self, offset, dim1, dim2)
    }

    fn diagonal_copy(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        crate::diagonal_copy(self, offset, dim1, dim2)
    }

    fn diagonal_copy_out(&self, offset: i64, dim1: i64, dim2: i64, out: &mut Tensor) -> Result<()> {
        crate::diagonal_copy_out(self, offset, dim1, dim2, out)
    }

    fn diagonal_scatter(&self, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        crate::diagonal_scatter(self, src, offset, dim1, dim2)
    }

    fn diagonal_scatter_out(&self, src: &Tensor, offset: i64, dim1: i64, dim2: i64, out: &mut Tensor) -> Result<()> {
        crate::diagonal_scatter_out(self, src, offset, dim1, dim2, out)
    }

    fn diff(&self, n: i64, dim: i64, prepend: Option<&Tensor>, append: Option<&Tensor>) -> Result<Tensor> {
        crate::diff(self, n, dim, prepend, append)
    }

    fn diff_out(&self, n: i64, dim: i64, prepend: Option<&Tensor>, append: Option<&Tensor>, out: &mut Tensor) -> Result<()> {
        crate::diff_out(self, n, dim, prepend, append, out)
    }

    fn digamma(&self) -> Result<Tensor> {
        crate::digamma(self)
    }

    fn digamma_(&mut self) -> Result<()> {
        crate::digamma_(self)
    }

    fn digamma_out(&self, out: &mut Tensor) -> Result<()> {
        crate::digamma_out(self, out)
    }

    fn dim(&self) -> Result<i64> {
        crate::dim(self)
    }

    #[cfg(feature = "products")]
    fn dist(&self, other: &Tensor, p: impl Into<Scalar>) -> Result<Tensor> {
        crate::dist(self, other, p.into())
    }

    #[cfg(feature = "products")]
    fn dist_out(&self, other: &Tensor, p: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::dist_out(self, other, p.into(), out)
    }

    fn div(&self, other: &Tensor) -> Result<Tensor> {
        crate::div(self, other)
    }

    fn div_(&mut self, other: &Tensor) -> Result<()> {
        crate::div_(self, other)
    }

    fn div__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::div__scalar(self, other.into())
    }

    fn div__scalar_mode(&mut self, other: impl Into<Scalar>, rounding_mode: Option<&str>) -> Result<()> {
        crate::div__scalar_mode(self, other.into(), rounding_mode)
    }

    fn div__tensor_mode(&mut self, other: &Tensor, rounding_mode: Option<&str>) -> Result<()> {
        crate::div__tensor_mode(self, other, rounding_mode)
    }

    fn div_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::div_out(self, other, out)
    }

    fn div_out_mode(&self, other: &Tensor, rounding_mode: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::div_out_mode(self, other, rounding_mode, out)
    }

    fn div_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::div_scalar(self, other.into())
    }

    fn div_scalar_mode(&self, other: impl Into<Scalar>, rounding_mode: Option<&str>) -> Result<Tensor> {
        crate::div_scalar_mode(self, other.into(), rounding_mode)
    }

    fn div_scalar_mode_out(&self, other: impl Into<Scalar>, rounding_mode: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::div_scalar_mode_out(self, other.into(), rounding_mode, out)
    }

    fn div_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::div_scalar_out(self, other.into(), out)
    }

    fn div_tensor_mode(&self, other: &Tensor, rounding_mode: Option<&str>) -> Result<Tensor> {
        crate::div_tensor_mode(self, other, rounding_mode)
    }

    fn divide(&self, other: &Tensor) -> Result<Tensor> {
        crate::divide(self, other)
    }

    fn divide_(&mut self, other: &Tensor) -> Result<()> {
        crate::divide_(self, other)
    }

    fn divide__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::divide__scalar(self, other.into())
    }

    fn divide__scalar_mode(&mut self, other: impl Into<Scalar>, rounding_mode: Option<&str>) -> Result<()> {
        crate::divide__scalar_mode(self, other.into(), rounding_mode)
    }

    fn divide__tensor_mode(&mut self, other: &Tensor, rounding_mode: Option<&str>) -> Result<()> {
        crate::divide__tensor_mode(self, other, rounding_mode)
    }

    fn divide_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::divide_out(self, other, out)
    }

    fn divide_out_mode(&self, other: &Tensor, rounding_mode: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::divide_out_mode(self, other, rounding_mode, out)
    }

    fn divide_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::divide_scalar(self, other.into())
    }

    fn divide_scalar_mode(&self, other: impl Into<Scalar>, rounding_mode: Option<&str>) -> Result<Tensor> {
        crate::divide_scalar_mode(self, other.into(), rounding_mode)
    }

    fn divide_tensor_mode(&self, other: &Tensor, rounding_mode: Option<&str>) -> Result<Tensor> {
        crate::divide_tensor_mode(self, other, rounding_mode)
    }

    #[cfg(feature = "products")]
    fn dot(&self, tensor: &Tensor) -> Result<Tensor> {
        crate::dot(self, tensor)
    }

    #[cfg(feature = "products")]
    fn dot_out(&self, tensor: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::dot_out(self, tensor, out)
    }

    #[cfg(feature = "random")]
    fn dropout_(&mut self, p: f64, train: bool) -> Result<()> {
        crate::dropout_(self, p, train)
    }

    fn dsplit_array(&self, indices: &[i64]) -> Result<Vec<Tensor>> {
        crate::dsplit_array(self, indices)
    }

    fn dsplit_int(&self, sections: i64) -> Result<Vec<Tensor>> {
        crate::dsplit_int(self, sections)
    }

    fn element_size(&self) -> Result<i64> {
        crate::element_size(self)
    }

    fn elu(&self, alpha: impl Into<Scalar>, scale: impl Into<Scalar>, input_scale: impl Into<Scalar>) -> Result<Tensor> {
        crate::elu(self, alpha.into(), scale.into(), input_scale.into())
    }

    fn elu_(&mut self, alpha: impl Into<Scalar>, scale: impl Into<Scalar>, input_scale: impl Into<Scalar>) -> Result<()> {
        crate::elu_(self, alpha.into(), scale.into(), input_scale.into())
    }

    fn elu_out(&self, alpha: impl Into<Scalar>, scale: impl Into<Scalar>, input_scale: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::elu_out(self, alpha.into(), scale.into(), input_scale.into(), out)
    }

    fn embedding_renorm(&self, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<Tensor> {
        crate::embedding_renorm(self, indices, max_norm, norm_type)
    }

    fn embedding_renorm_(&mut self, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<()> {
        crate::embedding_renorm_(self, indices, max_norm, norm_type)
    }

    fn embedding_renorm_out(&self, indices: &Tensor, max_norm: f64, norm_type: f64, out: &mut Tensor) -> Result<()> {
        crate::embedding_renorm_out(self, indices, max_norm, norm_type, out)
    }

    fn empty_like(&self) -> Result<Tensor> {
        crate::empty_like!(self)
    }

    fn empty_like_out(&self, out: &mut Tensor) -> Result<()> {
        crate::empty_like_out!(self, out = out)
    }

    fn eq(&self, other: &Tensor) -> Result<Tensor> {
        crate::eq(self, other)
    }

    fn eq_(&mut self, other: &Tensor) -> Result<()> {
        crate::eq_(self, other)
    }

    fn eq__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::eq__scalar(self, other.into())
    }

    fn eq_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::eq_scalar(self, other.into())
    }

    fn eq_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::eq_scalar_out(self, other.into(), out)
    }

    fn eq_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::eq_tensor_out(self, other, out)
    }

    fn equal(&self, other: &Tensor) -> Result<bool> {
        crate::equal(self, other)
    }

    fn erf(&self) -> Result<Tensor> {
        crate::erf(self)
    }

    fn erf_(&mut self) -> Result<()> {
        crate::erf_(self)
    }

    fn erf_out(&self, out: &mut Tensor) -> Result<()> {
        crate::erf_out(self, out)
    }

    fn erfc(&self) -> Result<Tensor> {
        crate::erfc(self)
    }

    fn erfc_(&mut self) -> Result<()> {
        crate::erfc_(self)
    }

    fn erfc_out(&self, out: &mut Tensor) -> Result<()> {
        crate::erfc_out(self, out)
    }

    fn erfinv(&self) -> Result<Tensor> {
        crate::erfinv(self)
    }

    fn erfinv_(&mut self) -> Result<()> {
        crate::erfinv_(self)
    }

    fn erfinv_out(&self, out: &mut Tensor) -> Result<()> {
        crate::erfinv_out(self, out)
    }

    fn exp(&self) -> Result<Tensor> {
        crate::exp(self)
    }

    fn exp2(&self) -> Result<Tensor> {
        crate::exp2(self)
    }

    fn exp2_(&mut self) -> Result<()> {
        crate::exp2_(self)
    }

    fn exp2_out(&self, out: &mut Tensor) -> Result<()> {
        crate::exp2_out(self, out)
    }

    fn exp_(&mut self) -> Result<()> {
        crate::exp_(self)
    }

    fn exp_out(&self, out: &mut Tensor) -> Result<()> {
        crate::exp_out(self, out)
    }

    fn expand(&self, size: &[i64]) -> Result<Tensor> {
        crate::expand!(self, size)
    }

    fn expand_as(&self, other: &Tensor) -> Result<Tensor> {
        crate::expand_as(self, other)
    }

    fn expand_copy(&self, size: &[i64]) -> Result<Tensor> {
        crate::expand_copy!(self, size)
    }

    fn expand_copy_out(&self, size: &[i64], out: &mut Tensor) -> Result<()> {
        crate::expand_copy_out!(self, size, out = out)
    }

    fn expm1(&self) -> Result<Tensor> {
        crate::expm1(self)
    }

    fn expm1_(&mut self) -> Result<()> {
        crate::expm1_(self)
    }

    fn expm1_out(&self, out: &mut Tensor) -> Result<()> {
        crate::expm1_out(self, out)
    }

    #[cfg(feature = "random")]
    fn exponential(&self, lambd: f64) -> Result<Tensor> {
        crate::exponential!(self, lambd)
    }

    #[cfg(feature = "random")]
    fn exponential_(&mut self, lambd: f64) -> Result<()> {
        crate::exponential_!(self, lambd)
    }

    #[cfg(feature = "random")]
    fn exponential_out(&self, lambd: f64, out: &mut Tensor) -> Result<()> {
        crate::exponential_out!(self, lambd, out = out)
    }

    #[cfg(feature = "quantized")]
    fn fake_quantize_per_channel_affine(&self, scale: &Tensor, zero_point: &Tensor, axis: i64, quant_min: i64, quant_max: i64) -> Result<Tensor> {
        crate::fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max)
    }

    #[cfg(feature = "quantized")]
    fn fake_quantize_per_channel_affine_cachemask(&self, scale: &Tensor, zero_point: &Tensor, axis: i64, quant_min: i64, quant_max: i64) -> Result<(Tensor, Tensor)> {
        crate::fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max)
    }

    #[cfg(feature = "quantized")]
    fn fake_quantize_per_channel_affine_cachemask_out(&self, scale: &Tensor, zero_point: &Tensor, axis: i64, quant_min: i64, quant_max: i64, out0: &mut Tensor, out1: &mut Tensor) -> Result<()> {
        crate::fake_quantize_per_channel_affine_cachemask_out(self, scale, zero_point, axis, quant_min, quant_max, out0, out1)
    }

    #[cfg(feature = "quantized")]
    fn fake_quantize_per_tensor_affine(&self, scale: f64, zero_point: i64, quant_min: i64, quant_max: i64) -> Result<Tensor> {
        crate::fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max)
    }

    #[cfg(feature = "quantized")]
    fn fake_quantize_per_tensor_affine_cachemask(&self, scale: f64, zero_point: i64, quant_min: i64, quant_max: i64) -> Result<(Tensor, Tensor)> {
        crate::fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max)
    }

    #[cfg(feature = "quantized")]
    fn fake_quantize_per_tensor_affine_cachemask_out(&self, scale: f64, zero_point: i64, quant_min: i64, quant_max: i64, out0: &mut Tensor, out1: &mut Tensor) -> Result<()> {
        crate::fake_quantize_per_tensor_affine_cachemask_out(self, scale, zero_point, quant_min, quant_max, out0, out1)
    }

    #[cfg(feature = "quantized")]
    fn fake_quantize_per_tensor_affine_tensor_qparams(&self, scale: &Tensor, zero_point: &Tensor, quant_min: i64, quant_max: i64) -> Result<Tensor> {
        crate::fake_quantize_per_tensor_affine_tensor_qparams(self, scale, zero_point, quant_min, quant_max)
    }

    #[cfg(feature = "random")]
    fn feature_alpha_dropout_(&mut self, p: f64, train: bool) -> Result<()> {
        crate::feature_alpha_dropout_(self, p, train)
    }

    #[cfg(feature = "random")]
    fn feature_dropout_(&mut self, p: f64, train: bool) -> Result<()> {
        crate::feature_dropout_(self, p, train)
    }

    #[cfg(feature = "fft")]
    fn fft_fft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_fft(self, n, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_fft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        crate::fft_fft2(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_fft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_fft2_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_fft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_fft_out(self, n, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_fftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_fftn(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_fftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_fftn_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_fftshift(&self, dim: Option<&[i64]>) -> Result<Tensor> {
        crate::fft_fftshift(self, dim)
    }

    #[cfg(feature = "fft")]
    fn fft_hfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_hfft(self, n, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_hfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        crate::fft_hfft2(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_hfft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_hfft2_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_hfft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_hfft_out(self, n, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_hfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_hfftn(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_hfftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_hfftn_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_ifft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_ifft(self, n, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_ifft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        crate::fft_ifft2(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_ifft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_ifft2_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_ifft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_ifft_out(self, n, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_ifftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_ifftn(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_ifftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_ifftn_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_ifftshift(&self, dim: Option<&[i64]>) -> Result<Tensor> {
        crate::fft_ifftshift(self, dim)
    }

    #[cfg(feature = "fft")]
    fn fft_ihfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_ihfft(self, n, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_ihfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        crate::fft_ihfft2(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_ihfft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_ihfft2_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_ihfft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_ihfft_out(self, n, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_ihfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_ihfftn(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_ihfftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_ihfftn_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_irfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_irfft(self, n, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_irfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        crate::fft_irfft2(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_irfft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_irfft2_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_irfft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_irfft_out(self, n, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_irfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_irfftn(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_irfftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_irfftn_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_rfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_rfft(self, n, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_rfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
        crate::fft_rfft2(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_rfft2_out(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_rfft2_out(self, s, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_rfft_out(&self, n: Option<i64>, dim: i64, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_rfft_out(self, n, dim, norm, out)
    }

    #[cfg(feature = "fft")]
    fn fft_rfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
        crate::fft_rfftn(self, s, dim, norm)
    }

    #[cfg(feature = "fft")]
    fn fft_rfftn_out(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>, out: &mut Tensor) -> Result<()> {
        crate::fft_rfftn_out(self, s, dim, norm, out)
    }

    fn fill(&self, value: &Tensor) -> Result<Tensor> {
        crate::fill(self, value)
    }

    fn fill_(&mut self, value: &Tensor) -> Result<()> {
        crate::fill_(self, value)
    }

    fn fill__scalar(&mut self, value: impl Into<Scalar>) -> Result<()> {
        crate::fill__scalar(self, value.into())
    }

    fn fill_diagonal_(&mut self, fill_value: impl Into<Scalar>, wrap: bool) -> Result<()> {
        crate::fill_diagonal_(self, fill_value.into(), wrap)
    }

    fn fill_scalar(&self, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::fill_scalar(self, value.into())
    }

    fn fill_scalar_out(&self, value: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::fill_scalar_out(self, value.into(), out)
    }

    fn fill_tensor_out(&self, value: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::fill_tensor_out(self, value, out)
    }

    fn fix(&self) -> Result<Tensor> {
        crate::fix(self)
    }

    fn fix_(&mut self) -> Result<()> {
        crate::fix_(self)
    }

    fn fix_out(&self, out: &mut Tensor) -> Result<()> {
        crate::fix_out(self, out)
    }

    fn flatten_using_ints(&self, start_dim: i64, end_dim: i64) -> Result<Tensor> {
        crate::flatten_using_ints(self, start_dim, end_dim)
    }

    fn flip(&self, dims: &[i64]) -> Result<Tensor> {
        crate::flip(self, dims)
    }

    fn flip_out(&self, dims: &[i64], out: &mut Tensor) -> Result<()> {
        crate::flip_out(self, dims, out)
    }

    fn fliplr(&self) -> Result<Tensor> {
        crate::fliplr(self)
    }

    fn flipud(&self) -> Result<Tensor> {
        crate::flipud(self)
    }

    fn float_power_(&mut self, exponent: &Tensor) -> Result<()> {
        crate::float_power_(self, exponent)
    }

    fn float_power__scalar(&mut self, exponent: impl Into<Scalar>) -> Result<()> {
        crate::float_power__scalar(self, exponent.into())
    }

    fn float_power_tensor_scalar(&self, exponent: impl Into<Scalar>) -> Result<Tensor> {
        crate::float_power_tensor_scalar(self, exponent.into())
    }

    fn float_power_tensor_scalar_out(&self, exponent: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::float_power_tensor_scalar_out(self, exponent.into(), out)
    }

    fn float_power_tensor_tensor(&self, exponent: &Tensor) -> Result<Tensor> {
        crate::float_power_tensor_tensor(self, exponent)
    }

    fn float_power_tensor_tensor_out(&self, exponent: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::float_power_tensor_tensor_out(self, exponent, out)
    }

    fn floor(&self) -> Result<Tensor> {
        crate::floor(self)
    }

    fn floor_(&mut self) -> Result<()> {
        crate::floor_(self)
    }

    fn floor_divide(&self, other: &Tensor) -> Result<Tensor> {
        crate::floor_divide(self, other)
    }

    fn floor_divide_(&mut self, other: &Tensor) -> Result<()> {
        crate::floor_divide_(self, other)
    }

    fn floor_divide__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::floor_divide__scalar(self, other.into())
    }

    fn floor_divide_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::floor_divide_out(self, other, out)
    }

    fn floor_divide_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::floor_divide_scalar(self, other.into())
    }

    fn floor_divide_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::floor_divide_scalar_out(self, other.into(), out)
    }

    fn floor_out(&self, out: &mut Tensor) -> Result<()> {
        crate::floor_out(self, out)
    }

    fn fmax(&self, other: &Tensor) -> Result<Tensor> {
        crate::fmax(self, other)
    }

    fn fmax_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::fmax_out(self, other, out)
    }

    fn fmin(&self, other: &Tensor) -> Result<Tensor> {
        crate::fmin(self, other)
    }

    fn fmin_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::fmin_out(self, other, out)
    }

    fn fmod(&self, other: &Tensor) -> Result<Tensor> {
        crate::fmod(self, other)
    }

    fn fmod_(&mut self, other: &Tensor) -> Result<()> {
        crate::fmod_(self, other)
    }

    fn fmod__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::fmod__scalar(self, other.into())
    }

    fn fmod_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::fmod_scalar(self, other.into())
    }

    fn fmod_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::fmod_scalar_out(self, other.into(), out)
    }

    fn fmod_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::fmod_tensor_out(self, other, out)
    }

    fn frac(&self) -> Result<Tensor> {
        crate::frac(self)
    }

    fn frac_(&mut self) -> Result<()> {
        crate::frac_(self)
    }

    fn frac_out(&self, out: &mut Tensor) -> Result<()> {
        crate::frac_out(self, out)
    }

    #[cfg(feature = "pooling")]
    fn fractional_max_pool2d(&self, kernel_size: &[i64], output_size: &[i64], random_samples: &Tensor) -> Result<(Tensor, Tensor)> {
        crate::fractional_max_pool2d(self, kernel_size, output_size, random_samples)
    }

    #[cfg(feature = "pooling")]
    fn fractional_max_pool2d_output(&self, kernel_size: &[i64], output_size: &[i64], random_samples: &Tensor, output: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::fractional_max_pool2d_output(self, kernel_size, output_size, random_samples, output, indices)
    }

    #[cfg(feature = "pooling")]
    fn fractional_max_pool3d(&self, kernel_size: &[i64], output_size: &[i64], random_samples: &Tensor) -> Result<(Tensor, Tensor)> {
        crate::fractional_max_pool3d(self, kernel_size, output_size, random_samples)
    }

    #[cfg(feature = "pooling")]
    fn fractional_max_pool3d_output(&self, kernel_size: &[i64], output_size: &[i64], random_samples: &Tensor, output: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::fractional_max_pool3d_output(self, kernel_size, output_size, random_samples, output, indices)
    }

    fn frexp(&self) -> Result<(Tensor, Tensor)> {
        crate::frexp(self)
    }

    fn frexp_tensor_out(&self, mantissa: &mut Tensor, exponent: &mut Tensor) -> Result<()> {
        crate::frexp_tensor_out(self, mantissa, exponent)
    }

    fn frobenius_norm_dim(&self, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        crate::frobenius_norm_dim(self, dim, keepdim)
    }

    fn frobenius_norm_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::frobenius_norm_out(self, dim, keepdim, out)
    }

    fn full_like(&self, fill_value: impl Into<Scalar>) -> Result<Tensor> {
        crate::full_like!(self, fill_value.into())
    }

    fn full_like_out(&self, fill_value: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::full_like_out!(self, fill_value.into(), out = out)
    }

    #[cfg(feature = "quantized")]
    fn fused_moving_avg_obs_fake_quant(&self, observer_on: &Tensor, fake_quant_on: &Tensor, running_min: &mut Tensor, running_max: &mut Tensor, scale: &mut Tensor, zero_point: &mut Tensor, averaging_const: f64, quant_min: i64, quant_max: i64, ch_axis: i64, per_row_fake_quant: bool, symmetric_quant: bool) -> Result<Tensor> {
        crate::fused_moving_avg_obs_fake_quant(self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const, quant_min, quant_max, ch_axis, per_row_fake_quant, symmetric_quant)
    }

    fn gather(&self, dim: i64, index: &Tensor) -> Result<Tensor> {
        crate::gather!(self, dim, index)
    }

    fn gather_out(&self, dim: i64, index: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::gather_out!(self, dim, index, out = out)
    }

    fn gcd(&self, other: &Tensor) -> Result<Tensor> {
        crate::gcd(self, other)
    }

    fn gcd_(&mut self, other: &Tensor) -> Result<()> {
        crate::gcd_(self, other)
    }

    fn gcd_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::gcd_out(self, other, out)
    }

    fn ge(&self, other: &Tensor) -> Result<Tensor> {
        crate::ge(self, other)
    }

    fn ge_(&mut self, other: &Tensor) -> Result<()> {
        crate::ge_(self, other)
    }

    fn ge__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::ge__scalar(self, other.into())
    }

    fn ge_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::ge_scalar(self, other.into())
    }

    fn ge_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::ge_scalar_out(self, other.into(), out)
    }

    fn ge_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::ge_tensor_out(self, other, out)
    }

    fn gelu(&self) -> Result<Tensor> {
        crate::gelu!(self)
    }

    fn gelu_(&mut self) -> Result<()> {
        crate::gelu_!(self)
    }

    fn gelu_out(&self, out: &mut Tensor) -> Result<()> {
        crate::gelu_out!(self, out = out)
    }

    #[cfg(feature = "random")]
    fn geometric(&self, p: f64) -> Result<Tensor> {
        crate::geometric!(self, p)
    }

    #[cfg(feature = "random")]
    fn geometric_(&mut self, p: f64) -> Result<()> {
        crate::geometric_!(self, p)
    }

    #[cfg(feature = "random")]
    fn geometric_out(&self, p: f64, out: &mut Tensor) -> Result<()> {
        crate::geometric_out!(self, p, out = out)
    }

    #[cfg(feature = "linalg")]
    fn geqrf(&self) -> Result<(Tensor, Tensor)> {
        crate::geqrf(self)
    }

    #[cfg(feature = "linalg")]
    fn geqrf_a(&self, a: &mut Tensor, tau: &mut Tensor) -> Result<()> {
        crate::geqrf_a(self, a, tau)
    }

    #[cfg(feature = "products")]
    fn ger(&self, vec2: &Tensor) -> Result<Tensor> {
        crate::ger(self, vec2)
    }

    #[cfg(feature = "products")]
    fn ger_out(&self, vec2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::ger_out(self, vec2, out)
    }

    fn get_device(&self) -> Result<i64> {
        crate::get_device(self)
    }

    fn glu(&self, dim: i64) -> Result<Tensor> {
        crate::glu(self, dim)
    }

    fn glu_out(&self, dim: i64, out: &mut Tensor) -> Result<()> {
        crate::glu_out(self, dim, out)
    }

    fn gradient_array(&self, dim: &[i64]) -> Result<Vec<Tensor>> {
        crate::gradient_array!(self, dim = dim)
    }

    fn gradient_scalararray(&self, spacing: impl Into<Scalar>, dim: &[i64]) -> Result<Vec<Tensor>> {
        crate::gradient_scalararray!(self, spacing = spacing.into(), dim = dim)
    }

    fn gradient_scalarint(&self) -> Result<Vec<Tensor>> {
        crate::gradient_scalarint!(self)
    }

    fn gradient_scalarrayarray(&self, spacing: &[Scalar], dim: &[i64]) -> Result<Vec<Tensor>> {
        crate::gradient_scalarrayarray!(self, spacing = spacing, dim = dim)
    }

    fn gradient_scalarrayint(&self, spacing: &[Scalar]) -> Result<Vec<Tensor>> {
        crate::gradient_scalarrayint!(self, spacing = spacing)
    }

    fn gradient_tensorarray(&self, spacing: &[Tensor], dim: &[i64]) -> Result<Vec<Tensor>> {
        crate::gradient_tensorarray!(self, spacing = spacing, dim = dim)
    }

    fn gradient_tensorarrayint(&self, spacing: &[Tensor]) -> Result<Vec<Tensor>> {
        crate::gradient_tensorarrayint!(self, spacing = spacing)
    }

    fn greater(&self, other: &Tensor) -> Result<Tensor> {
        crate::greater(self, other)
    }

    fn greater_(&mut self, other: &Tensor) -> Result<()> {
        crate::greater_(self, other)
    }

    fn greater__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::greater__scalar(self, other.into())
    }

    fn greater_equal(&self, other: &Tensor) -> Result<Tensor> {
        crate::greater_equal(self, other)
    }

    fn greater_equal_(&mut self, other: &Tensor) -> Result<()> {
        crate::greater_equal_(self, other)
    }

    fn greater_equal__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::greater_equal__scalar(self, other.into())
    }

    fn greater_equal_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::greater_equal_scalar(self, other.into())
    }

    fn greater_equal_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::greater_equal_scalar_out(self, other.into(), out)
    }

    fn greater_equal_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::greater_equal_tensor_out(self, other, out)
    }

    fn greater_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::greater_scalar(self, other.into())
    }

    fn greater_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::greater_scalar_out(self, other.into(), out)
    }

    fn greater_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::greater_tensor_out(self, other, out)
    }

    fn gt(&self, other: &Tensor) -> Result<Tensor> {
        crate::gt(self, other)
    }

    fn gt_(&mut self, other: &Tensor) -> Result<()> {
        crate::gt_(self, other)
    }

    fn gt__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::gt__scalar(self, other.into())
    }

    fn gt_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::gt_scalar(self, other.into())
    }

    fn gt_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::gt_scalar_out(self, other.into(), out)
    }

    fn gt_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::gt_tensor_out(self, other, out)
    }

    fn hardshrink(&self, lambd: impl Into<Scalar>) -> Result<Tensor> {
        crate::hardshrink(self, lambd.into())
    }

    fn hardshrink_out(&self, lambd: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::hardshrink_out(self, lambd.into(), out)
    }

    fn hardsigmoid(&self) -> Result<Tensor> {
        crate::hardsigmoid(self)
    }

    fn hardsigmoid_(&mut self) -> Result<()> {
        crate::hardsigmoid_(self)
    }

    fn hardsigmoid_out(&self, out: &mut Tensor) -> Result<()> {
        crate::hardsigmoid_out(self, out)
    }

    fn hardswish(&self) -> Result<Tensor> {
        crate::hardswish(self)
    }

    fn hardswish_(&mut self) -> Result<()> {
        crate::hardswish_(self)
    }

    fn hardswish_out(&self, out: &mut Tensor) -> Result<()> {
        crate::hardswish_out(self, out)
    }

    fn hardtanh(&self, min_val: impl Into<Scalar>, max_val: impl Into<Scalar>) -> Result<Tensor> {
        crate::hardtanh(self, min_val.into(), max_val.into())
    }

    fn hardtanh_(&mut self, min_val: impl Into<Scalar>, max_val: impl Into<Scalar>) -> Result<()> {
        crate::hardtanh_(self, min_val.into(), max_val.into())
    }

    fn hardtanh_out(&self, min_val: impl Into<Scalar>, max_val: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::hardtanh_out(self, min_val.into(), max_val.into(), out)
    }

    fn hash_tensor(&self, dim: &[i64]) -> Result<Tensor> {
        crate::hash_tensor!(self, dim)
    }

    fn hash_tensor_out(&self, dim: &[i64], out: &mut Tensor) -> Result<()> {
        crate::hash_tensor_out!(self, dim, out = out)
    }

    fn heaviside(&self, values: &Tensor) -> Result<Tensor> {
        crate::heaviside(self, values)
    }

    fn heaviside_(&mut self, values: &Tensor) -> Result<()> {
        crate::heaviside_(self, values)
    }

    fn heaviside_out(&self, values: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::heaviside_out(self, values, out)
    }

    #[cfg(feature = "loss")]
    fn hinge_embedding_loss(&self, target: &Tensor, margin: f64, reduction: i64) -> Result<Tensor> {
        crate::hinge_embedding_loss(self, target, margin, reduction)
    }

    fn histc(&self, bins: i64, min: impl Into<Scalar>, max: impl Into<Scalar>) -> Result<Tensor> {
        crate::histc(self, bins, min.into(), max.into())
    }

    fn histc_out(&self, bins: i64, min: impl Into<Scalar>, max: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::histc_out(self, bins, min.into(), max.into(), out)
    }

    #[cfg(feature = "sort")]
    fn histogram_bin_ct(&self, bins: i64) -> Result<(Tensor, Tensor)> {
        crate::histogram_bin_ct!(self, bins)
    }

    #[cfg(feature = "sort")]
    fn histogram_bin_ct_out(&self, bins: i64, hist: &mut Tensor, bin_edges: &mut Tensor) -> Result<()> {
        crate::histogram_bin_ct_out!(self, bins, hist = hist, bin_edges = bin_edges)
    }

    #[cfg(feature = "sort")]
    fn histogram_bins_tensor(&self, bins: &Tensor) -> Result<(Tensor, Tensor)> {
        crate::histogram_bins_tensor!(self, bins)
    }

    #[cfg(feature = "sort")]
    fn histogram_bins_tensor_out(&self, bins: &Tensor, hist: &mut Tensor, bin_edges: &mut Tensor) -> Result<()> {
        crate::histogram_bins_tensor_out!(self, bins, hist = hist, bin_edges = bin_edges)
    }

    #[cfg(feature = "sort")]
    fn histogramdd(&self, bins: &[i64], range: Option<&[f64]>, weight: Option<&Tensor>, density: bool) -> Result<(Tensor, Vec<Tensor>)> {
        crate::histogramdd(self, bins, range, weight, density)
    }

    #[cfg(feature = "sort")]
    fn histogramdd_int_bins(&self, bins: i64, range: Option<&[f64]>, weight: Option<&Tensor>, density: bool) -> Result<(Tensor, Vec<Tensor>)> {
        crate::histogramdd_int_bins(self, bins, range, weight, density)
    }

    #[cfg(feature = "sort")]
    fn histogramdd_tensorlist_bins(&self, bins: &[Tensor], range: Option<&[f64]>, weight: Option<&Tensor>, density: bool) -> Result<(Tensor, Vec<Tensor>)> {
        crate::histogramdd_tensorlist_bins(self, bins, range, weight, density)
    }

    fn hsplit_array(&self, indices: &[i64]) -> Result<Vec<Tensor>> {
        crate::hsplit_array(self, indices)
    }

    fn hsplit_int(&self, sections: i64) -> Result<Vec<Tensor>> {
        crate::hsplit_int(self, sections)
    }

    #[cfg(feature = "loss")]
    fn huber_loss(&self, target: &Tensor, reduction: i64, delta: f64) -> Result<Tensor> {
        crate::huber_loss(self, target, reduction, delta)
    }

    #[cfg(feature = "loss")]
    fn huber_loss_out(&self, target: &Tensor, reduction: i64, delta: f64, out: &mut Tensor) -> Result<()> {
        crate::huber_loss_out(self, target, reduction, delta, out)
    }

    fn hypot(&self, other: &Tensor) -> Result<Tensor> {
        crate::hypot(self, other)
    }

    fn hypot_(&mut self, other: &Tensor) -> Result<()> {
        crate::hypot_(self, other)
    }

    fn hypot_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::hypot_out(self, other, out)
    }

    fn i0(&self) -> Result<Tensor> {
        crate::i0(self)
    }

    fn i0_(&mut self) -> Result<()> {
        crate::i0_(self)
    }

    fn i0_out(&self, out: &mut Tensor) -> Result<()> {
        crate::i0_out(self, out)
    }

    fn igamma(&self, other: &Tensor) -> Result<Tensor> {
        crate::igamma(self, other)
    }

    fn igamma_(&mut self, other: &Tensor) -> Result<()> {
        crate::igamma_(self, other)
    }

    fn igamma_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::igamma_out(self, other, out)
    }

    fn igammac(&self, other: &Tensor) -> Result<Tensor> {
        crate::igammac(self, other)
    }

    fn igammac_(&mut self, other: &Tensor) -> Result<()> {
        crate::igammac_(self, other)
    }

    fn igammac_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::igammac_out(self, other, out)
    }

    #[cfg(feature = "conv")]
    fn im2col(&self, kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64]) -> Result<Tensor> {
        crate::im2col(self, kernel_size, dilation, padding, stride)
    }

    #[cfg(feature = "conv")]
    fn im2col_out(&self, kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64], out: &mut Tensor) -> Result<()> {
        crate::im2col_out(self, kernel_size, dilation, padding, stride, out)
    }

    fn imag(&self) -> Result<Tensor> {
        crate::imag(self)
    }

    fn index(&self, indices: &[Option<Tensor>]) -> Result<Tensor> {
        crate::index(self, indices)
    }

    fn index_add(&self, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        crate::index_add!(self, dim, index, source)
    }

    fn index_add_(&mut self, dim: i64, index: &Tensor, source: &Tensor) -> Result<()> {
        crate::index_add_!(self, dim, index, source)
    }

    fn index_add_out(&self, dim: i64, index: &Tensor, source: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::index_add_out!(self, dim, index, source, out = out)
    }

    fn index_copy(&self, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        crate::index_copy(self, dim, index, source)
    }

    fn index_copy_(&mut self, dim: i64, index: &Tensor, source: &Tensor) -> Result<()> {
        crate::index_copy_(self, dim, index, source)
    }

    fn index_copy_out(&self, dim: i64, index: &Tensor, source: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::index_copy_out(self, dim, index, source, out)
    }

    fn index_fill__int_scalar(&mut self, dim: i64, index: &Tensor, value: impl Into<Scalar>) -> Result<()> {
        crate::index_fill__int_scalar(self, dim, index, value.into())
    }

    fn index_fill__int_tensor(&mut self, dim: i64, index: &Tensor, value: &Tensor) -> Result<()> {
        crate::index_fill__int_tensor(self, dim, index, value)
    }

    fn index_fill_int_scalar(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::index_fill_int_scalar(self, dim, index, value.into())
    }

    fn index_fill_int_scalar_out(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::index_fill_int_scalar_out(self, dim, index, value.into(), out)
    }

    fn index_fill_int_tensor(&self, dim: i64, index: &Tensor, value: &Tensor) -> Result<Tensor> {
        crate::index_fill_int_tensor(self, dim, index, value)
    }

    fn index_fill_int_tensor_out(&self, dim: i64, index: &Tensor, value: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::index_fill_int_tensor_out(self, dim, index, value, out)
    }

    fn index_put(&self, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<Tensor> {
        crate::index_put(self, indices, values, accumulate)
    }

    fn index_put_(&mut self, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<()> {
        crate::index_put_(self, indices, values, accumulate)
    }

    fn index_put_out(&self, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool, out: &mut Tensor) -> Result<()> {
        crate::index_put_out(self, indices, values, accumulate, out)
    }

    fn index_reduce(&self, dim: i64, index: &Tensor, source: &Tensor, reduce: &str) -> Result<Tensor> {
        crate::index_reduce!(self, dim, index, source, reduce)
    }

    fn index_reduce_(&mut self, dim: i64, index: &Tensor, source: &Tensor, reduce: &str) -> Result<()> {
        crate::index_reduce_!(self, dim, index, source, reduce)
    }

    fn index_reduce_out(&self, dim: i64, index: &Tensor, source: &Tensor, reduce: &str, out: &mut Tensor) -> Result<()> {
        crate::index_reduce_out!(self, dim, index, source, reduce, out = out)
    }

    fn index_select(&self, dim: i64, index: &Tensor) -> Result<Tensor> {
        crate::index_select(self, dim, index)
    }

    fn index_select_out(&self, dim: i64, index: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::index_select_out(self, dim, index, out)
    }

    fn index_tensor_out(&self, indices: &[Option<Tensor>], out: &mut Tensor) -> Result<()> {
        crate::index_tensor_out(self, indices, out)
    }

    #[cfg(feature = "products")]
    fn inner(&self, other: &Tensor) -> Result<Tensor> {
        crate::inner(self, other)
    }

    #[cfg(feature = "products")]
    fn inner_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::inner_out(self, other, out)
    }

    #[cfg(feature = "linalg")]
    fn inverse(&self) -> Result<Tensor> {
        crate::inverse(self)
    }

    #[cfg(feature = "linalg")]
    fn inverse_out(&self, out: &mut Tensor) -> Result<()> {
        crate::inverse_out(self, out)
    }

    fn is_complex(&self) -> Result<bool> {
        crate::is_complex(self)
    }

    fn is_conj(&self) -> Result<bool> {
        crate::is_conj(self)
    }

    fn is_contiguous(&self) -> Result<bool> {
        crate::is_contiguous(self)
    }

    fn is_contiguous_memory_format(&self, memory_format: MemoryFormat) -> Result<bool> {
        crate::is_contiguous_memory_format(self, memory_format)
    }

    fn is_distributed(&self) -> Result<bool> {
        crate::is_distributed(self)
    }

    fn is_floating_point(&self) -> Result<bool> {
        crate::is_floating_point(self)
    }

    fn is_neg(&self) -> Result<bool> {
        crate::is_neg(self)
    }

    fn is_nonzero(&self) -> Result<bool> {
        crate::is_nonzero(self)
    }

    fn is_pinned(&self, device: Option<Device>) -> Result<bool> {
        crate::is_pinned(self, device)
    }

    fn is_same_size(&self, other: &Tensor) -> Result<bool> {
        crate::is_same_size(self, other)
    }

    fn is_set_to(&self, tensor: &Tensor) -> Result<bool> {
        crate::is_set_to(self, tensor)
    }

    fn is_signed(&self) -> Result<bool> {
        crate::is_signed(self)
    }

    fn isclose(&self, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<Tensor> {
        crate::isclose(self, other, rtol, atol, equal_nan)
    }

    fn isfinite(&self) -> Result<Tensor> {
        crate::isfinite(self)
    }

    fn isinf(&self) -> Result<Tensor> {
        crate::isinf(self)
    }

    fn isinf_out(&self, out: &mut Tensor) -> Result<()> {
        crate::isinf_out(self, out)
    }

    fn isnan(&self) -> Result<Tensor> {
        crate::isnan(self)
    }

    fn isnan_out(&self, out: &mut Tensor) -> Result<()> {
        crate::isnan_out(self, out)
    }

    fn isneginf(&self) -> Result<Tensor> {
        crate::isneginf(self)
    }

    fn isneginf_out(&self, out: &mut Tensor) -> Result<()> {
        crate::isneginf_out(self, out)
    }

    fn isposinf(&self) -> Result<Tensor> {
        crate::isposinf(self)
    }

    fn isposinf_out(&self, out: &mut Tensor) -> Result<()> {
        crate::isposinf_out(self, out)
    }

    fn isreal(&self) -> Result<Tensor> {
        crate::isreal(self)
    }

    #[cfg(feature = "fft")]
    fn istft(&self, n_fft: i64, hop_length: Option<i64>, win_length: Option<i64>, window: Option<&Tensor>, center: bool, normalized: bool, onesided: Option<bool>, length: Option<i64>, return_complex: bool) -> Result<Tensor> {
        crate::istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)
    }

    #[cfg(feature = "loss")]
    fn kl_div(&self, target: &Tensor, reduction: i64) -> Result<Tensor> {
        crate::kl_div!(self, target, reduction)
    }

    #[cfg(feature = "products")]
    fn kron(&self, other: &Tensor) -> Result<Tensor> {
        crate::kron(self, other)
    }

    #[cfg(feature = "products")]
    fn kron_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::kron_out(self, other, out)
    }

    #[cfg(feature = "sort")]
    fn kthvalue(&self, k: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        crate::kthvalue(self, k, dim, keepdim)
    }

    #[cfg(feature = "sort")]
    fn kthvalue_values(&self, k: i64, dim: i64, keepdim: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::kthvalue_values(self, k, dim, keepdim, values, indices)
    }

    #[cfg(feature = "loss")]
    fn l1_loss(&self, target: &Tensor, reduction: i64) -> Result<Tensor> {
        crate::l1_loss(self, target, reduction)
    }

    fn lcm(&self, other: &Tensor) -> Result<Tensor> {
        crate::lcm(self, other)
    }

    fn lcm_(&mut self, other: &Tensor) -> Result<()> {
        crate::lcm_(self, other)
    }

    fn lcm_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::lcm_out(self, other, out)
    }

    fn ldexp(&self, other: &Tensor) -> Result<Tensor> {
        crate::ldexp(self, other)
    }

    fn ldexp_(&mut self, other: &Tensor) -> Result<()> {
        crate::ldexp_(self, other)
    }

    fn ldexp_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::ldexp_out(self, other, out)
    }

    fn le(&self, other: &Tensor) -> Result<Tensor> {
        crate::le(self, other)
    }

    fn le_(&mut self, other: &Tensor) -> Result<()> {
        crate::le_(self, other)
    }

    fn le__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::le__scalar(self, other.into())
    }

    fn le_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::le_scalar(self, other.into())
    }

    fn le_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::le_scalar_out(self, other.into(), out)
    }

    fn le_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::le_tensor_out(self, other, out)
    }

    fn leaky_relu(&self, negative_slope: impl Into<Scalar>) -> Result<Tensor> {
        crate::leaky_relu(self, negative_slope.into())
    }

    fn leaky_relu_(&mut self, negative_slope: impl Into<Scalar>) -> Result<()> {
        crate::leaky_relu_(self, negative_slope.into())
    }

    fn leaky_relu_out(&self, negative_slope: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::leaky_relu_out(self, negative_slope.into(), out)
    }

    fn lerp(&self, end: &Tensor, weight: &Tensor) -> Result<Tensor> {
        crate::lerp(self, end, weight)
    }

    fn lerp_(&mut self, end: &Tensor, weight: &Tensor) -> Result<()> {
        crate::lerp_(self, end, weight)
    }

    fn lerp__scalar(&mut self, end: &Tensor, weight: impl Into<Scalar>) -> Result<()> {
        crate::lerp__scalar(self, end, weight.into())
    }

    fn lerp_scalar(&self, end: &Tensor, weight: impl Into<Scalar>) -> Result<Tensor> {
        crate::lerp_scalar(self, end, weight.into())
    }

    fn lerp_scalar_out(&self, end: &Tensor, weight: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::lerp_scalar_out(self, end, weight.into(), out)
    }

    fn lerp_tensor_out(&self, end: &Tensor, weight: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::lerp_tensor_out(self, end, weight, out)
    }

    fn less(&self, other: &Tensor) -> Result<Tensor> {
        crate::less(self, other)
    }

    fn less_(&mut self, other: &Tensor) -> Result<()> {
        crate::less_(self, other)
    }

    fn less__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::less__scalar(self, other.into())
    }

    fn less_equal(&self, other: &Tensor) -> Result<Tensor> {
        crate::less_equal(self, other)
    }

    fn less_equal_(&mut self, other: &Tensor) -> Result<()> {
        crate::less_equal_(self, other)
    }

    fn less_equal__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::less_equal__scalar(self, other.into())
    }

    fn less_equal_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::less_equal_scalar(self, other.into())
    }

    fn less_equal_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::less_equal_scalar_out(self, other.into(), out)
    }

    fn less_equal_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::less_equal_tensor_out(self, other, out)
    }

    fn less_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::less_scalar(self, other.into())
    }

    fn less_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::less_scalar_out(self, other.into(), out)
    }

    fn less_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::less_tensor_out(self, other, out)
    }

    fn lgamma(&self) -> Result<Tensor> {
        crate::lgamma(self)
    }

    fn lgamma_(&mut self) -> Result<()> {
        crate::lgamma_(self)
    }

    fn lgamma_out(&self, out: &mut Tensor) -> Result<()> {
        crate::lgamma_out(self, out)
    }

    fn lift(&self) -> Result<Tensor> {
        crate::lift(self)
    }

    fn lift_fresh(&self) -> Result<Tensor> {
        crate::lift_fresh(self)
    }

    fn lift_fresh_copy(&self) -> Result<Tensor> {
        crate::lift_fresh_copy(self)
    }

    fn lift_fresh_copy_out(&self, out: &mut Tensor) -> Result<()> {
        crate::lift_fresh_copy_out(self, out)
    }

    fn lift_out(&self, out: &mut Tensor) -> Result<()> {
        crate::lift_out(self, out)
    }

    fn linalg__powsum(&self, ord: impl Into<Scalar>, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        crate::linalg__powsum!(self, ord.into(), dim, keepdim)
    }

    fn linalg__powsum_out(&self, ord: impl Into<Scalar>, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::linalg__powsum_out!(self, ord.into(), dim, keepdim, out = out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_cholesky(&self) -> Result<Tensor> {
        crate::linalg_cholesky!(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_cholesky_ex(&self) -> Result<(Tensor, Tensor)> {
        crate::linalg_cholesky_ex!(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_cholesky_ex_l(&self, L: &mut Tensor, info: &mut Tensor) -> Result<()> {
        crate::linalg_cholesky_ex_l!(self, L = L, info = info)
    }

    #[cfg(feature = "linalg")]
    fn linalg_cholesky_out(&self, out: &mut Tensor) -> Result<()> {
        crate::linalg_cholesky_out!(self, out = out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_cond(&self, p: Option<Scalar>) -> Result<Tensor> {
        crate::linalg_cond(self, p)
    }

    #[cfg(feature = "linalg")]
    fn linalg_cond_out(&self, p: Option<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::linalg_cond_out(self, p, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_cond_p_str(&self, p: &str) -> Result<Tensor> {
        crate::linalg_cond_p_str(self, p)
    }

    #[cfg(feature = "linalg")]
    fn linalg_cond_p_str_out(&self, p: &str, out: &mut Tensor) -> Result<()> {
        crate::linalg_cond_p_str_out(self, p, out)
    }

    #[cfg(feature = "products")]
    fn linalg_cross(&self, other: &Tensor) -> Result<Tensor> {
        crate::linalg_cross!(self, other)
    }

    #[cfg(feature = "products")]
    fn linalg_cross_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::linalg_cross_out!(self, other, out = out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_eig(&self) -> Result<(Tensor, Tensor)> {
        crate::linalg_eig(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_eig_out(&self, eigenvalues: &mut Tensor, eigenvectors: &mut Tensor) -> Result<()> {
        crate::linalg_eig_out(self, eigenvalues, eigenvectors)
    }

    #[cfg(feature = "linalg")]
    fn linalg_eigh(&self, UPLO: &str) -> Result<(Tensor, Tensor)> {
        crate::linalg_eigh(self, UPLO)
    }

    #[cfg(feature = "linalg")]
    fn linalg_eigh_eigvals(&self, UPLO: &str, eigvals: &mut Tensor, eigvecs: &mut Tensor) -> Result<()> {
        crate::linalg_eigh_eigvals(self, UPLO, eigvals, eigvecs)
    }

    #[cfg(feature = "linalg")]
    fn linalg_eigvals(&self) -> Result<Tensor> {
        crate::linalg_eigvals(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_eigvals_out(&self, out: &mut Tensor) -> Result<()> {
        crate::linalg_eigvals_out(self, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_eigvalsh(&self, UPLO: &str) -> Result<Tensor> {
        crate::linalg_eigvalsh(self, UPLO)
    }

    #[cfg(feature = "linalg")]
    fn linalg_eigvalsh_out(&self, UPLO: &str, out: &mut Tensor) -> Result<()> {
        crate::linalg_eigvalsh_out(self, UPLO, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_ldl_factor(&self) -> Result<(Tensor, Tensor)> {
        crate::linalg_ldl_factor!(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_ldl_factor_ex(&self) -> Result<(Tensor, Tensor, Tensor)> {
        crate::linalg_ldl_factor_ex!(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_ldl_factor_ex_out(&self, LD: &mut Tensor, pivots: &mut Tensor, info: &mut Tensor) -> Result<()> {
        crate::linalg_ldl_factor_ex_out!(self, LD = LD, pivots = pivots, info = info)
    }

    #[cfg(feature = "linalg")]
    fn linalg_ldl_factor_out(&self, LD: &mut Tensor, pivots: &mut Tensor) -> Result<()> {
        crate::linalg_ldl_factor_out!(self, LD = LD, pivots = pivots)
    }

    #[cfg(feature = "linalg")]
    fn linalg_lstsq(&self, b: &Tensor, rcond: Option<f64>) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        crate::linalg_lstsq!(self, b, rcond)
    }

    #[cfg(feature = "linalg")]
    fn linalg_lstsq_out(&self, b: &Tensor, rcond: Option<f64>, solution: &mut Tensor, residuals: &mut Tensor, rank: &mut Tensor, singular_values: &mut Tensor) -> Result<()> {
        crate::linalg_lstsq_out!(self, b, rcond, solution = solution, residuals = residuals, rank = rank, singular_values = singular_values)
    }

    #[cfg(feature = "products")]
    fn linalg_matmul(&self, other: &Tensor) -> Result<Tensor> {
        crate::linalg_matmul(self, other)
    }

    #[cfg(feature = "products")]
    fn linalg_matmul_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::linalg_matmul_out(self, other, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_exp(&self) -> Result<Tensor> {
        crate::linalg_matrix_exp(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_exp_out(&self, out: &mut Tensor) -> Result<()> {
        crate::linalg_matrix_exp_out(self, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_norm(&self, ord: impl Into<Scalar>, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        crate::linalg_matrix_norm!(self, ord.into(), dim, keepdim)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_norm_out(&self, ord: impl Into<Scalar>, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::linalg_matrix_norm_out!(self, ord.into(), dim, keepdim, out = out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_norm_str_ord(&self, ord: &str, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        crate::linalg_matrix_norm_str_ord!(self, ord, dim, keepdim)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_norm_str_ord_out(&self, ord: &str, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::linalg_matrix_norm_str_ord_out!(self, ord, dim, keepdim, out = out)
    }

    #[cfg(feature = "products")]
    fn linalg_matrix_power(&self, n: i64) -> Result<Tensor> {
        crate::linalg_matrix_power(self, n)
    }

    #[cfg(feature = "products")]
    fn linalg_matrix_power_out(&self, n: i64, out: &mut Tensor) -> Result<()> {
        crate::linalg_matrix_power_out(self, n, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_rank(&self, tol: f64, hermitian: bool) -> Result<Tensor> {
        crate::linalg_matrix_rank(self, tol, hermitian)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_rank_atol_rtol_float(&self) -> Result<Tensor> {
        crate::linalg_matrix_rank_atol_rtol_float!(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_rank_atol_rtol_float_out(&self, out: &mut Tensor) -> Result<()> {
        crate::linalg_matrix_rank_atol_rtol_float_out!(self, out = out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_rank_out(&self, tol: f64, hermitian: bool, out: &mut Tensor) -> Result<()> {
        crate::linalg_matrix_rank_out(self, tol, hermitian, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_sqrth(&self) -> Result<Tensor> {
        crate::linalg_matrix_sqrth(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_matrix_sqrth_out(&self, out: &mut Tensor) -> Result<()> {
        crate::linalg_matrix_sqrth_out(self, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_norm(&self, ord: Option<Scalar>, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        crate::linalg_norm!(self, ord, dim, keepdim)
    }

    #[cfg(feature = "linalg")]
    fn linalg_norm_ord_str(&self, ord: &str, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        crate::linalg_norm_ord_str!(self, ord, dim, keepdim)
    }

    #[cfg(feature = "linalg")]
    fn linalg_norm_ord_str_out(&self, ord: &str, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::linalg_norm_ord_str_out!(self, ord, dim, keepdim, out = out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_norm_out(&self, ord: Option<Scalar>, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::linalg_norm_out!(self, ord, dim, keepdim, out = out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_pinv(&self, rcond: f64, hermitian: bool) -> Result<Tensor> {
        crate::linalg_pinv(self, rcond, hermitian)
    }

    #[cfg(feature = "linalg")]
    fn linalg_pinv_atol_rtol_float(&self) -> Result<Tensor> {
        crate::linalg_pinv_atol_rtol_float!(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_pinv_atol_rtol_float_out(&self, out: &mut Tensor) -> Result<()> {
        crate::linalg_pinv_atol_rtol_float_out!(self, out = out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_pinv_atol_rtol_tensor(&self) -> Result<Tensor> {
        crate::linalg_pinv_atol_rtol_tensor!(self)
    }

    #[cfg(feature = "linalg")]
    fn linalg_pinv_atol_rtol_tensor_out(&self, out: &mut Tensor) -> Result<()> {
        crate::linalg_pinv_atol_rtol_tensor_out!(self, out = out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_pinv_out(&self, rcond: f64, hermitian: bool, out: &mut Tensor) -> Result<()> {
        crate::linalg_pinv_out(self, rcond, hermitian, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_pinv_out_rcond_tensor(&self, rcond: &Tensor, hermitian: bool, out: &mut Tensor) -> Result<()> {
        crate::linalg_pinv_out_rcond_tensor(self, rcond, hermitian, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_pinv_rcond_tensor(&self, rcond: &Tensor, hermitian: bool) -> Result<Tensor> {
        crate::linalg_pinv_rcond_tensor(self, rcond, hermitian)
    }

    #[cfg(feature = "linalg")]
    fn linalg_solve_triangular(&self, B: &Tensor, upper: bool) -> Result<Tensor> {
        crate::linalg_solve_triangular!(self, B, upper = upper)
    }

    #[cfg(feature = "linalg")]
    fn linalg_solve_triangular_out(&self, B: &Tensor, upper: bool, out: &mut Tensor) -> Result<()> {
        crate::linalg_solve_triangular_out!(self, B, upper = upper, out = out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_tensorinv(&self, ind: i64) -> Result<Tensor> {
        crate::linalg_tensorinv(self, ind)
    }

    #[cfg(feature = "linalg")]
    fn linalg_tensorinv_out(&self, ind: i64, out: &mut Tensor) -> Result<()> {
        crate::linalg_tensorinv_out(self, ind, out)
    }

    #[cfg(feature = "linalg")]
    fn linalg_tensorsolve(&self, other: &Tensor, dims: Option<&[i64]>) -> Result<Tensor> {
        crate::linalg_tensorsolve(self, other, dims)
    }

    #[cfg(feature = "linalg")]
    fn linalg_tensorsolve_out(&self, other: &Tensor, dims: Option<&[i64]>, out: &mut Tensor) -> Result<()> {
        crate::linalg_tensorsolve_out(self, other, dims, out)
    }

    fn linalg_vector_norm(&self, ord: impl Into<Scalar>, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        crate::linalg_vector_norm!(self, ord.into(), dim, keepdim)
    }

    fn linalg_vector_norm_out(&self, ord: impl Into<Scalar>, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::linalg_vector_norm_out!(self, ord.into(), dim, keepdim, out = out)
    }

    fn log(&self) -> Result<Tensor> {
        crate::log(self)
    }

    fn log10(&self) -> Result<Tensor> {
        crate::log10(self)
    }

    fn log10_(&mut self) -> Result<()> {
        crate::log10_(self)
    }

    fn log10_out(&self, out: &mut Tensor) -> Result<()> {
        crate::log10_out(self, out)
    }

    fn log1p(&self) -> Result<Tensor> {
        crate::log1p(self)
    }

    fn log1p_(&mut self) -> Result<()> {
        crate::log1p_(self)
    }

    fn log1p_out(&self, out: &mut Tensor) -> Result<()> {
        crate::log1p_out(self, out)
    }

    fn log2(&self) -> Result<Tensor> {
        crate::log2(self)
    }

    fn log2_(&mut self) -> Result<()> {
        crate::log2_(self)
    }

    fn log2_out(&self, out: &mut Tensor) -> Result<()> {
        crate::log2_out(self, out)
    }

    fn log_(&mut self) -> Result<()> {
        crate::log_(self)
    }

    #[cfg(feature = "random")]
    fn log_normal(&self, mean: f64, std: f64) -> Result<Tensor> {
        crate::log_normal!(self, mean, std)
    }

    #[cfg(feature = "random")]
    fn log_normal_(&mut self, mean: f64, std: f64) -> Result<()> {
        crate::log_normal_!(self, mean, std)
    }

    #[cfg(feature = "random")]
    fn log_normal_out(&self, mean: f64, std: f64, out: &mut Tensor) -> Result<()> {
        crate::log_normal_out!(self, mean, std, out = out)
    }

    fn log_out(&self, out: &mut Tensor) -> Result<()> {
        crate::log_out(self, out)
    }

    fn log_sigmoid(&self) -> Result<Tensor> {
        crate::log_sigmoid(self)
    }

    fn log_sigmoid_forward(&self) -> Result<(Tensor, Tensor)> {
        crate::log_sigmoid_forward(self)
    }

    fn log_sigmoid_forward_output(&self, output: &mut Tensor, buffer: &mut Tensor) -> Result<()> {
        crate::log_sigmoid_forward_output(self, output, buffer)
    }

    fn log_sigmoid_out(&self, out: &mut Tensor) -> Result<()> {
        crate::log_sigmoid_out(self, out)
    }

    #[cfg(feature = "norm")]
    fn log_softmax_int(&self, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
        crate::log_softmax_int(self, dim, dtype)
    }

    #[cfg(feature = "norm")]
    fn log_softmax_int_out(&self, dim: i64, dtype: Option<DType>, out: &mut Tensor) -> Result<()> {
        crate::log_softmax_int_out(self, dim, dtype, out)
    }

    fn logaddexp(&self, other: &Tensor) -> Result<Tensor> {
        crate::logaddexp(self, other)
    }

    fn logaddexp2(&self, other: &Tensor) -> Result<Tensor> {
        crate::logaddexp2(self, other)
    }

    fn logaddexp2_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::logaddexp2_out(self, other, out)
    }

    fn logaddexp_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::logaddexp_out(self, other, out)
    }

    fn logcumsumexp(&self, dim: i64) -> Result<Tensor> {
        crate::logcumsumexp(self, dim)
    }

    fn logcumsumexp_out(&self, dim: i64, out: &mut Tensor) -> Result<()> {
        crate::logcumsumexp_out(self, dim, out)
    }

    #[cfg(feature = "linalg")]
    fn logdet(&self) -> Result<Tensor> {
        crate::logdet(self)
    }

    fn logical_and(&self, other: &Tensor) -> Result<Tensor> {
        crate::logical_and(self, other)
    }

    fn logical_and_(&mut self, other: &Tensor) -> Result<()> {
        crate::logical_and_(self, other)
    }

    fn logical_and_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::logical_and_out(self, other, out)
    }

    fn logical_not(&self) -> Result<Tensor> {
        crate::logical_not(self)
    }

    fn logical_not_(&mut self) -> Result<()> {
        crate::logical_not_(self)
    }

    fn logical_not_out(&self, out: &mut Tensor) -> Result<()> {
        crate::logical_not_out(self, out)
    }

    fn logical_or(&self, other: &Tensor) -> Result<Tensor> {
        crate::logical_or(self, other)
    }

    fn logical_or_(&mut self, other: &Tensor) -> Result<()> {
        crate::logical_or_(self, other)
    }

    fn logical_or_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::logical_or_out(self, other, out)
    }

    fn logical_xor(&self, other: &Tensor) -> Result<Tensor> {
        crate::logical_xor(self, other)
    }

    fn logical_xor_(&mut self, other: &Tensor) -> Result<()> {
        crate::logical_xor_(self, other)
    }

    fn logical_xor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::logical_xor_out(self, other, out)
    }

    fn logit(&self, eps: Option<f64>) -> Result<Tensor> {
        crate::logit(self, eps)
    }

    fn logit_(&mut self, eps: Option<f64>) -> Result<()> {
        crate::logit_(self, eps)
    }

    fn logit_out(&self, eps: Option<f64>, out: &mut Tensor) -> Result<()> {
        crate::logit_out(self, eps, out)
    }

    fn logsumexp(&self, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        crate::logsumexp(self, dim, keepdim)
    }

    fn logsumexp_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::logsumexp_out(self, dim, keepdim, out)
    }

    fn lt(&self, other: &Tensor) -> Result<Tensor> {
        crate::lt(self, other)
    }

    fn lt_(&mut self, other: &Tensor) -> Result<()> {
        crate::lt_(self, other)
    }

    fn lt__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::lt__scalar(self, other.into())
    }

    fn lt_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::lt_scalar(self, other.into())
    }

    fn lt_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::lt_scalar_out(self, other.into(), out)
    }

    fn lt_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::lt_tensor_out(self, other, out)
    }

    #[cfg(feature = "linalg")]
    fn lu_solve(&self, LU_data: &Tensor, LU_pivots: &Tensor) -> Result<Tensor> {
        crate::lu_solve(self, LU_data, LU_pivots)
    }

    #[cfg(feature = "linalg")]
    fn lu_solve_out(&self, LU_data: &Tensor, LU_pivots: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::lu_solve_out(self, LU_data, LU_pivots, out)
    }

    fn mH(&self) -> Result<Tensor> {
        crate::mH(self)
    }

    fn mT(&self) -> Result<Tensor> {
        crate::mT(self)
    }

    fn masked_fill(&self, mask: &Tensor, value: &Tensor) -> Result<Tensor> {
        crate::masked_fill(self, mask, value)
    }

    fn masked_fill_(&mut self, mask: &Tensor, value: &Tensor) -> Result<()> {
        crate::masked_fill_(self, mask, value)
    }

    fn masked_fill__scalar(&mut self, mask: &Tensor, value: impl Into<Scalar>) -> Result<()> {
        crate::masked_fill__scalar(self, mask, value.into())
    }

    fn masked_fill_scalar(&self, mask: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::masked_fill_scalar(self, mask, value.into())
    }

    fn masked_fill_scalar_out(&self, mask: &Tensor, value: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::masked_fill_scalar_out(self, mask, value.into(), out)
    }

    fn masked_fill_tensor_out(&self, mask: &Tensor, value: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::masked_fill_tensor_out(self, mask, value, out)
    }

    fn masked_scatter(&self, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
        crate::masked_scatter(self, mask, source)
    }

    fn masked_scatter_(&mut self, mask: &Tensor, source: &Tensor) -> Result<()> {
        crate::masked_scatter_(self, mask, source)
    }

    fn masked_scatter_out(&self, mask: &Tensor, source: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::masked_scatter_out(self, mask, source, out)
    }

    fn masked_select(&self, mask: &Tensor) -> Result<Tensor> {
        crate::masked_select(self, mask)
    }

    fn masked_select_out(&self, mask: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::masked_select_out(self, mask, out)
    }

    #[cfg(feature = "products")]
    fn matmul(&self, other: &Tensor) -> Result<Tensor> {
        crate::matmul(self, other)
    }

    #[cfg(feature = "products")]
    fn matmul_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::matmul_out(self, other, out)
    }

    fn matrix_H(&self) -> Result<Tensor> {
        crate::matrix_H(self)
    }

    #[cfg(feature = "linalg")]
    fn matrix_exp(&self) -> Result<Tensor> {
        crate::matrix_exp(self)
    }

    #[cfg(feature = "linalg")]
    fn matrix_exp_backward(&self, grad: &Tensor) -> Result<Tensor> {
        crate::matrix_exp_backward(self, grad)
    }

    #[cfg(feature = "products")]
    fn matrix_power(&self, n: i64) -> Result<Tensor> {
        crate::matrix_power(self, n)
    }

    #[cfg(feature = "products")]
    fn matrix_power_out(&self, n: i64, out: &mut Tensor) -> Result<()> {
        crate::matrix_power_out(self, n, out)
    }

    fn max(&self) -> Result<Tensor> {
        crate::max(self)
    }

    fn max_dim(&self, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        crate::max_dim(self, dim, keepdim)
    }

    fn max_dim_max(&self, dim: i64, keepdim: bool, max: &mut Tensor, max_values: &mut Tensor) -> Result<()> {
        crate::max_dim_max(self, dim, keepdim, max, max_values)
    }

    fn max_other(&self, other: &Tensor) -> Result<Tensor> {
        crate::max_other(self, other)
    }

    fn max_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::max_out(self, other, out)
    }

    #[cfg(feature = "pooling")]
    fn max_pool1d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<Tensor> {
        crate::max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode)
    }

    #[cfg(feature = "pooling")]
    fn max_pool1d_with_indices(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<(Tensor, Tensor)> {
        crate::max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)
    }

    #[cfg(feature = "pooling")]
    fn max_pool2d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<Tensor> {
        crate::max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode)
    }

    #[cfg(feature = "pooling")]
    fn max_pool2d_with_indices(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<(Tensor, Tensor)> {
        crate::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)
    }

    #[cfg(feature = "pooling")]
    fn max_pool2d_with_indices_out(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool, out: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::max_pool2d_with_indices_out(self, kernel_size, stride, padding, dilation, ceil_mode, out, indices)
    }

    #[cfg(feature = "pooling")]
    fn max_pool3d(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<Tensor> {
        crate::max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode)
    }

    #[cfg(feature = "pooling")]
    fn max_pool3d_with_indices(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool) -> Result<(Tensor, Tensor)> {
        crate::max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)
    }

    #[cfg(feature = "pooling")]
    fn max_pool3d_with_indices_out(&self, kernel_size: &[i64], stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool, out: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::max_pool3d_with_indices_out(self, kernel_size, stride, padding, dilation, ceil_mode, out, indices)
    }

    fn max_unary_out(&self, out: &mut Tensor) -> Result<()> {
        crate::max_unary_out(self, out)
    }

    #[cfg(feature = "pooling")]
    fn max_unpool2d(&self, indices: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        crate::max_unpool2d(self, indices, output_size)
    }

    #[cfg(feature = "pooling")]
    fn max_unpool2d_out(&self, indices: &Tensor, output_size: &[i64], out: &mut Tensor) -> Result<()> {
        crate::max_unpool2d_out(self, indices, output_size, out)
    }

    #[cfg(feature = "pooling")]
    fn max_unpool3d(&self, indices: &Tensor, output_size: &[i64], stride: &[i64], padding: &[i64]) -> Result<Tensor> {
        crate::max_unpool3d(self, indices, output_size, stride, padding)
    }

    #[cfg(feature = "pooling")]
    fn max_unpool3d_out(&self, indices: &Tensor, output_size: &[i64], stride: &[i64], padding: &[i64], out: &mut Tensor) -> Result<()> {
        crate::max_unpool3d_out(self, indices, output_size, stride, padding, out)
    }

    fn maximum(&self, other: &Tensor) -> Result<Tensor> {
        crate::maximum(self, other)
    }

    fn maximum_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::maximum_out(self, other, out)
    }

    fn mean(&self) -> Result<Tensor> {
        crate::mean!(self)
    }

    fn mean_dim(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        crate::mean_dim!(self, dim, keepdim)
    }

    fn mean_dtype_out(&self, out: &mut Tensor) -> Result<()> {
        crate::mean_dtype_out!(self, out = out)
    }

    fn mean_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::mean_out!(self, dim, keepdim, out = out)
    }

    #[cfg(feature = "sort")]
    fn median(&self) -> Result<Tensor> {
        crate::median(self)
    }

    #[cfg(feature = "sort")]
    fn median_dim(&self, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        crate::median_dim(self, dim, keepdim)
    }

    #[cfg(feature = "sort")]
    fn median_dim_values(&self, dim: i64, keepdim: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::median_dim_values(self, dim, keepdim, values, indices)
    }

    #[cfg(feature = "sort")]
    fn median_out(&self, out: &mut Tensor) -> Result<()> {
        crate::median_out(self, out)
    }

    fn min(&self) -> Result<Tensor> {
        crate::min(self)
    }

    fn min_dim(&self, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        crate::min_dim(self, dim, keepdim)
    }

    fn min_dim_min(&self, dim: i64, keepdim: bool, min: &mut Tensor, min_indices: &mut Tensor) -> Result<()> {
        crate::min_dim_min(self, dim, keepdim, min, min_indices)
    }

    fn min_other(&self, other: &Tensor) -> Result<Tensor> {
        crate::min_other(self, other)
    }

    fn min_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::min_out(self, other, out)
    }

    fn min_unary_out(&self, out: &mut Tensor) -> Result<()> {
        crate::min_unary_out(self, out)
    }

    fn minimum(&self, other: &Tensor) -> Result<Tensor> {
        crate::minimum(self, other)
    }

    fn minimum_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::minimum_out(self, other, out)
    }

    fn mish(&self) -> Result<Tensor> {
        crate::mish(self)
    }

    fn mish_(&mut self) -> Result<()> {
        crate::mish_(self)
    }

    fn mish_out(&self, out: &mut Tensor) -> Result<()> {
        crate::mish_out(self, out)
    }

    #[cfg(feature = "products")]
    fn mm(&self, mat2: &Tensor) -> Result<Tensor> {
        crate::mm(self, mat2)
    }

    #[cfg(feature = "products")]
    fn mm_out(&self, mat2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::mm_out(self, mat2, out)
    }

    #[cfg(feature = "sort")]
    fn mode(&self, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        crate::mode(self, dim, keepdim)
    }

    #[cfg(feature = "sort")]
    fn mode_values(&self, dim: i64, keepdim: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::mode_values(self, dim, keepdim, values, indices)
    }

    fn moveaxis_int(&self, source: i64, destination: i64) -> Result<Tensor> {
        crate::moveaxis_int(self, source, destination)
    }

    fn moveaxis_intlist(&self, source: &[i64], destination: &[i64]) -> Result<Tensor> {
        crate::moveaxis_intlist(self, source, destination)
    }

    fn movedim_int(&self, source: i64, destination: i64) -> Result<Tensor> {
        crate::movedim_int(self, source, destination)
    }

    fn movedim_intlist(&self, source: &[i64], destination: &[i64]) -> Result<Tensor> {
        crate::movedim_intlist(self, source, destination)
    }

    #[cfg(feature = "loss")]
    fn mse_loss(&self, target: &Tensor, reduction: i64) -> Result<Tensor> {
        crate::mse_loss(self, target, reduction)
    }

    #[cfg(feature = "loss")]
    fn mse_loss_out(&self, target: &Tensor, reduction: i64, out: &mut Tensor) -> Result<()> {
        crate::mse_loss_out(self, target, reduction, out)
    }

    #[cfg(feature = "sort")]
    fn msort(&self) -> Result<Tensor> {
        crate::msort(self)
    }

    #[cfg(feature = "sort")]
    fn msort_out(&self, out: &mut Tensor) -> Result<()> {
        crate::msort_out(self, out)
    }

    fn mul(&self, other: &Tensor) -> Result<Tensor> {
        crate::mul(self, other)
    }

    fn mul_(&mut self, other: &Tensor) -> Result<()> {
        crate::mul_(self, other)
    }

    fn mul__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::mul__scalar(self, other.into())
    }

    fn mul_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::mul_out(self, other, out)
    }

    fn mul_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::mul_scalar(self, other.into())
    }

    fn mul_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::mul_scalar_out(self, other.into(), out)
    }

    #[cfg(feature = "loss")]
    fn multi_margin_loss(&self, target: &Tensor, p: impl Into<Scalar>, margin: impl Into<Scalar>, weight: Option<&Tensor>, reduction: i64) -> Result<Tensor> {
        crate::multi_margin_loss(self, target, p.into(), margin.into(), weight, reduction)
    }

    #[cfg(feature = "loss")]
    fn multi_margin_loss_out(&self, target: &Tensor, p: impl Into<Scalar>, margin: impl Into<Scalar>, weight: Option<&Tensor>, reduction: i64, out: &mut Tensor) -> Result<()> {
        crate::multi_margin_loss_out(self, target, p.into(), margin.into(), weight, reduction, out)
    }

    #[cfg(feature = "loss")]
    fn multilabel_margin_loss(&self, target: &Tensor, reduction: i64) -> Result<Tensor> {
        crate::multilabel_margin_loss(self, target, reduction)
    }

    #[cfg(feature = "loss")]
    fn multilabel_margin_loss_forward(&self, target: &Tensor, reduction: i64) -> Result<(Tensor, Tensor)> {
        crate::multilabel_margin_loss_forward(self, target, reduction)
    }

    #[cfg(feature = "loss")]
    fn multilabel_margin_loss_forward_output(&self, target: &Tensor, reduction: i64, output: &mut Tensor, is_target: &mut Tensor) -> Result<()> {
        crate::multilabel_margin_loss_forward_output(self, target, reduction, output, is_target)
    }

    #[cfg(feature = "loss")]
    fn multilabel_margin_loss_out(&self, target: &Tensor, reduction: i64, out: &mut Tensor) -> Result<()> {
        crate::multilabel_margin_loss_out(self, target, reduction, out)
    }

    #[cfg(feature = "random")]
    fn multinomial(&self, num_samples: i64, replacement: bool) -> Result<Tensor> {
        crate::multinomial!(self, num_samples, replacement)
    }

    #[cfg(feature = "random")]
    fn multinomial_out(&self, num_samples: i64, replacement: bool, out: &mut Tensor) -> Result<()> {
        crate::multinomial_out!(self, num_samples, replacement, out = out)
    }

    fn multiply(&self, other: &Tensor) -> Result<Tensor> {
        crate::multiply(self, other)
    }

    fn multiply_(&mut self, other: &Tensor) -> Result<()> {
        crate::multiply_(self, other)
    }

    fn multiply__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::multiply__scalar(self, other.into())
    }

    fn multiply_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::multiply_out(self, other, out)
    }

    fn multiply_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::multiply_scalar(self, other.into())
    }

    #[cfg(feature = "products")]
    fn mv(&self, vec: &Tensor) -> Result<Tensor> {
        crate::mv(self, vec)
    }

    #[cfg(feature = "products")]
    fn mv_out(&self, vec: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::mv_out(self, vec, out)
    }

    fn mvlgamma(&self, p: i64) -> Result<Tensor> {
        crate::mvlgamma(self, p)
    }

    fn mvlgamma_(&mut self, p: i64) -> Result<()> {
        crate::mvlgamma_(self, p)
    }

    fn mvlgamma_out(&self, p: i64, out: &mut Tensor) -> Result<()> {
        crate::mvlgamma_out(self, p, out)
    }

    fn nan_to_num(&self, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>) -> Result<Tensor> {
        crate::nan_to_num(self, nan, posinf, neginf)
    }

    fn nan_to_num_(&mut self, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>) -> Result<()> {
        crate::nan_to_num_(self, nan, posinf, neginf)
    }

    fn nan_to_num_out(&self, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>, out: &mut Tensor) -> Result<()> {
        crate::nan_to_num_out(self, nan, posinf, neginf, out)
    }

    fn nanmean(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        crate::nanmean!(self, dim, keepdim)
    }

    fn nanmean_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::nanmean_out!(self, dim, keepdim, out = out)
    }

    #[cfg(feature = "sort")]
    fn nanmedian(&self) -> Result<Tensor> {
        crate::nanmedian(self)
    }

    #[cfg(feature = "sort")]
    fn nanmedian_dim(&self, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        crate::nanmedian_dim(self, dim, keepdim)
    }

    #[cfg(feature = "sort")]
    fn nanmedian_dim_values(&self, dim: i64, keepdim: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::nanmedian_dim_values(self, dim, keepdim, values, indices)
    }

    #[cfg(feature = "sort")]
    fn nanmedian_out(&self, out: &mut Tensor) -> Result<()> {
        crate::nanmedian_out(self, out)
    }

    #[cfg(feature = "sort")]
    fn nanquantile(&self, q: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        crate::nanquantile!(self, q, dim, keepdim)
    }

    #[cfg(feature = "sort")]
    fn nanquantile_out(&self, q: &Tensor, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::nanquantile_out!(self, q, dim, keepdim, out = out)
    }

    #[cfg(feature = "sort")]
    fn nanquantile_scalar(&self, q: f64, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        crate::nanquantile_scalar!(self, q, dim, keepdim)
    }

    #[cfg(feature = "sort")]
    fn nanquantile_scalar_out(&self, q: f64, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::nanquantile_scalar_out!(self, q, dim, keepdim, out = out)
    }

    fn nansum(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        crate::nansum!(self, dim, keepdim)
    }

    fn nansum_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::nansum_out!(self, dim, keepdim, out = out)
    }

    fn narrow(&self, dim: i64, start: i64, length: i64) -> Result<Tensor> {
        crate::narrow(self, dim, start, length)
    }

    fn narrow_copy(&self, dim: i64, start: i64, length: i64) -> Result<Tensor> {
        crate::narrow_copy(self, dim, start, length)
    }

    fn narrow_copy_out(&self, dim: i64, start: i64, length: i64, out: &mut Tensor) -> Result<()> {
        crate::narrow_copy_out(self, dim, start, length, out)
    }

    fn narrow_tensor(&self, dim: i64, start: &Tensor, length: i64) -> Result<Tensor> {
        crate::narrow_tensor(self, dim, start, length)
    }

    fn native_channel_shuffle(&self, groups: i64) -> Result<Tensor> {
        crate::native_channel_shuffle(self, groups)
    }

    fn ne(&self, other: &Tensor) -> Result<Tensor> {
        crate::ne(self, other)
    }

    fn ne_(&mut self, other: &Tensor) -> Result<()> {
        crate::ne_(self, other)
    }

    fn ne__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::ne__scalar(self, other.into())
    }

    fn ne_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::ne_scalar(self, other.into())
    }

    fn ne_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::ne_scalar_out(self, other.into(), out)
    }

    fn ne_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::ne_tensor_out(self, other, out)
    }

    fn neg(&self) -> Result<Tensor> {
        crate::neg(self)
    }

    fn neg_(&mut self) -> Result<()> {
        crate::neg_(self)
    }

    fn neg_out(&self, out: &mut Tensor) -> Result<()> {
        crate::neg_out(self, out)
    }

    fn negative(&self) -> Result<Tensor> {
        crate::negative(self)
    }

    fn negative_(&mut self) -> Result<()> {
        crate::negative_(self)
    }

    fn negative_out(&self, out: &mut Tensor) -> Result<()> {
        crate::negative_out(self, out)
    }

    fn new_empty(&self, size: &[i64]) -> Result<Tensor> {
        crate::new_empty!(self, size)
    }

    fn new_empty_out(&self, size: &[i64], out: &mut Tensor) -> Result<()> {
        crate::new_empty_out(self, size, out)
    }

    fn new_empty_strided(&self, size: &[i64], stride: &[i64]) -> Result<Tensor> {
        crate::new_empty_strided!(self, size, stride)
    }

    fn new_empty_strided_out(&self, size: &[i64], stride: &[i64], out: &mut Tensor) -> Result<()> {
        crate::new_empty_strided_out(self, size, stride, out)
    }

    fn new_full(&self, size: &[i64], fill_value: impl Into<Scalar>) -> Result<Tensor> {
        crate::new_full!(self, size, fill_value.into())
    }

    fn new_full_out(&self, size: &[i64], fill_value: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::new_full_out(self, size, fill_value.into(), out)
    }

    fn new_ones(&self, size: &[i64]) -> Result<Tensor> {
        crate::new_ones!(self, size)
    }

    fn new_ones_out(&self, size: &[i64], out: &mut Tensor) -> Result<()> {
        crate::new_ones_out(self, size, out)
    }

    fn new_zeros(&self, size: &[i64]) -> Result<Tensor> {
        crate::new_zeros!(self, size)
    }

    fn new_zeros_out(&self, size: &[i64], out: &mut Tensor) -> Result<()> {
        crate::new_zeros_out(self, size, out)
    }

    fn nextafter(&self, other: &Tensor) -> Result<Tensor> {
        crate::nextafter(self, other)
    }

    fn nextafter_(&mut self, other: &Tensor) -> Result<()> {
        crate::nextafter_(self, other)
    }

    fn nextafter_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::nextafter_out(self, other, out)
    }

    #[cfg(feature = "loss")]
    fn nll_loss(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64) -> Result<Tensor> {
        crate::nll_loss(self, target, weight, reduction, ignore_index)
    }

    #[cfg(feature = "loss")]
    fn nll_loss2d(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64) -> Result<Tensor> {
        crate::nll_loss2d(self, target, weight, reduction, ignore_index)
    }

    #[cfg(feature = "loss")]
    fn nll_loss2d_forward(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64) -> Result<(Tensor, Tensor)> {
        crate::nll_loss2d_forward(self, target, weight, reduction, ignore_index)
    }

    #[cfg(feature = "loss")]
    fn nll_loss2d_forward_output(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64, output: &mut Tensor, total_weight: &mut Tensor) -> Result<()> {
        crate::nll_loss2d_forward_output(self, target, weight, reduction, ignore_index, output, total_weight)
    }

    #[cfg(feature = "loss")]
    fn nll_loss2d_out(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64, out: &mut Tensor) -> Result<()> {
        crate::nll_loss2d_out(self, target, weight, reduction, ignore_index, out)
    }

    #[cfg(feature = "loss")]
    fn nll_loss_forward(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64) -> Result<(Tensor, Tensor)> {
        crate::nll_loss_forward(self, target, weight, reduction, ignore_index)
    }

    #[cfg(feature = "loss")]
    fn nll_loss_forward_output(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64, output: &mut Tensor, total_weight: &mut Tensor) -> Result<()> {
        crate::nll_loss_forward_output(self, target, weight, reduction, ignore_index, output, total_weight)
    }

    #[cfg(feature = "loss")]
    fn nll_loss_nd(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64) -> Result<Tensor> {
        crate::nll_loss_nd(self, target, weight, reduction, ignore_index)
    }

    #[cfg(feature = "loss")]
    fn nll_loss_out(&self, target: &Tensor, weight: Option<&Tensor>, reduction: i64, ignore_index: i64, out: &mut Tensor) -> Result<()> {
        crate::nll_loss_out(self, target, weight, reduction, ignore_index, out)
    }

    fn nonzero(&self) -> Result<Tensor> {
        crate::nonzero(self)
    }

    fn nonzero_numpy(&self) -> Result<Vec<Tensor>> {
        crate::nonzero_numpy(self)
    }

    fn nonzero_out(&self, out: &mut Tensor) -> Result<()> {
        crate::nonzero_out(self, out)
    }

    fn nonzero_static(&self, size: i64) -> Result<Tensor> {
        crate::nonzero_static!(self, size = size)
    }

    fn nonzero_static_out(&self, size: i64, out: &mut Tensor) -> Result<()> {
        crate::nonzero_static_out!(self, size = size, out = out)
    }

    fn norm_dtype_out(&self, p: Option<Scalar>, dim: &[i64], keepdim: bool, dtype: DType, out: &mut Tensor) -> Result<()> {
        crate::norm_dtype_out(self, p, dim, keepdim, dtype, out)
    }

    fn norm_out(&self, p: Option<Scalar>, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::norm_out(self, p, dim, keepdim, out)
    }

    fn norm_scalar(&self, p: impl Into<Scalar>) -> Result<Tensor> {
        crate::norm_scalar(self, p.into())
    }

    fn norm_scalar_out(&self, p: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::norm_scalar_out(self, p.into(), out)
    }

    fn norm_scalaropt_dim(&self, p: Option<Scalar>, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        crate::norm_scalaropt_dim(self, p, dim, keepdim)
    }

    fn norm_scalaropt_dim_dtype(&self, p: Option<Scalar>, dim: &[i64], keepdim: bool, dtype: DType) -> Result<Tensor> {
        crate::norm_scalaropt_dim_dtype(self, p, dim, keepdim, dtype)
    }

    fn norm_scalaropt_dtype(&self, p: Option<Scalar>, dtype: DType) -> Result<Tensor> {
        crate::norm_scalaropt_dtype(self, p, dtype)
    }

    fn norm_scalaropt_dtype_out(&self, p: Option<Scalar>, dtype: DType, out: &mut Tensor) -> Result<()> {
        crate::norm_scalaropt_dtype_out(self, p, dtype, out)
    }

    #[cfg(feature = "random")]
    fn normal_(&mut self, mean: f64, std: f64) -> Result<()> {
        crate::normal_!(self, mean, std)
    }

    #[cfg(feature = "random")]
    fn normal_functional(&self, mean: f64, std: f64) -> Result<Tensor> {
        crate::normal_functional!(self, mean, std)
    }

    #[cfg(feature = "random")]
    fn normal_out(&self, mean: f64, std: f64, out: &mut Tensor) -> Result<()> {
        crate::normal_out!(self, mean, std, out = out)
    }

    fn not_equal(&self, other: &Tensor) -> Result<Tensor> {
        crate::not_equal(self, other)
    }

    fn not_equal_(&mut self, other: &Tensor) -> Result<()> {
        crate::not_equal_(self, other)
    }

    fn not_equal__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::not_equal__scalar(self, other.into())
    }

    fn not_equal_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::not_equal_scalar(self, other.into())
    }

    fn not_equal_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::not_equal_scalar_out(self, other.into(), out)
    }

    fn not_equal_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::not_equal_tensor_out(self, other, out)
    }

    #[cfg(feature = "linalg")]
    fn nuclear_norm(&self, keepdim: bool) -> Result<Tensor> {
        crate::nuclear_norm(self, keepdim)
    }

    #[cfg(feature = "linalg")]
    fn nuclear_norm_dim(&self, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        crate::nuclear_norm_dim(self, dim, keepdim)
    }

    #[cfg(feature = "linalg")]
    fn nuclear_norm_dim_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::nuclear_norm_dim_out(self, dim, keepdim, out)
    }

    #[cfg(feature = "linalg")]
    fn nuclear_norm_out(&self, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::nuclear_norm_out(self, keepdim, out)
    }

    fn numel(&self) -> Result<i64> {
        crate::numel(self)
    }

    fn numpy_T(&self) -> Result<Tensor> {
        crate::numpy_T(self)
    }

    fn one_hot(&self, num_classes: i64) -> Result<Tensor> {
        crate::one_hot(self, num_classes)
    }

    fn ones_like(&self) -> Result<Tensor> {
        crate::ones_like!(self)
    }

    fn ones_like_out(&self, out: &mut Tensor) -> Result<()> {
        crate::ones_like_out!(self, out = out)
    }

    #[cfg(feature = "linalg")]
    fn orgqr(&self, input2: &Tensor) -> Result<Tensor> {
        crate::orgqr(self, input2)
    }

    #[cfg(feature = "linalg")]
    fn orgqr_out(&self, input2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::orgqr_out(self, input2, out)
    }

    #[cfg(feature = "linalg")]
    fn ormqr(&self, input2: &Tensor, input3: &Tensor, left: bool, transpose: bool) -> Result<Tensor> {
        crate::ormqr(self, input2, input3, left, transpose)
    }

    #[cfg(feature = "linalg")]
    fn ormqr_out(&self, input2: &Tensor, input3: &Tensor, left: bool, transpose: bool, out: &mut Tensor) -> Result<()> {
        crate::ormqr_out(self, input2, input3, left, transpose, out)
    }

    #[cfg(feature = "products")]
    fn outer(&self, vec2: &Tensor) -> Result<Tensor> {
        crate::outer(self, vec2)
    }

    #[cfg(feature = "products")]
    fn outer_out(&self, vec2: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::outer_out(self, vec2, out)
    }

    fn output_nr(&self) -> Result<i64> {
        crate::output_nr(self)
    }

    fn pad(&self, pad: &[i64], mode: &str, value: Option<f64>) -> Result<Tensor> {
        crate::pad(self, pad, mode, value)
    }

    #[cfg(feature = "products")]
    fn pdist(&self, p: f64) -> Result<Tensor> {
        crate::pdist(self, p)
    }

    fn permute(&self, dims: &[i64]) -> Result<Tensor> {
        crate::permute(self, dims)
    }

    fn permute_copy(&self, dims: &[i64]) -> Result<Tensor> {
        crate::permute_copy(self, dims)
    }

    fn permute_copy_out(&self, dims: &[i64], out: &mut Tensor) -> Result<()> {
        crate::permute_copy_out(self, dims, out)
    }

    fn pin_memory(&self, device: Option<Device>) -> Result<Tensor> {
        crate::pin_memory(self, device)
    }

    #[cfg(feature = "linalg")]
    fn pinverse(&self, rcond: f64) -> Result<Tensor> {
        crate::pinverse(self, rcond)
    }

    fn pixel_shuffle(&self, upscale_factor: i64) -> Result<Tensor> {
        crate::pixel_shuffle(self, upscale_factor)
    }

    fn pixel_shuffle_out(&self, upscale_factor: i64, out: &mut Tensor) -> Result<()> {
        crate::pixel_shuffle_out(self, upscale_factor, out)
    }

    fn pixel_unshuffle(&self, downscale_factor: i64) -> Result<Tensor> {
        crate::pixel_unshuffle(self, downscale_factor)
    }

    fn pixel_unshuffle_out(&self, downscale_factor: i64, out: &mut Tensor) -> Result<()> {
        crate::pixel_unshuffle_out(self, downscale_factor, out)
    }

    #[cfg(feature = "random")]
    fn poisson(&self, generator: Option<&Generator>) -> Result<Tensor> {
        crate::poisson(self, generator)
    }

    #[cfg(feature = "random")]
    fn poisson_out(&self, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
        crate::poisson_out(self, generator, out)
    }

    fn polygamma_(&mut self, n: i64) -> Result<()> {
        crate::polygamma_(self, n)
    }

    fn positive(&self) -> Result<Tensor> {
        crate::positive(self)
    }

    fn pow_(&mut self, exponent: &Tensor) -> Result<()> {
        crate::pow_(self, exponent)
    }

    fn pow__scalar(&mut self, exponent: impl Into<Scalar>) -> Result<()> {
        crate::pow__scalar(self, exponent.into())
    }

    fn pow_tensor_scalar(&self, exponent: impl Into<Scalar>) -> Result<Tensor> {
        crate::pow_tensor_scalar(self, exponent.into())
    }

    fn pow_tensor_scalar_out(&self, exponent: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::pow_tensor_scalar_out(self, exponent.into(), out)
    }

    fn pow_tensor_tensor(&self, exponent: &Tensor) -> Result<Tensor> {
        crate::pow_tensor_tensor(self, exponent)
    }

    fn pow_tensor_tensor_out(&self, exponent: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::pow_tensor_tensor_out(self, exponent, out)
    }

    fn prelu(&self, weight: &Tensor) -> Result<Tensor> {
        crate::prelu(self, weight)
    }

    fn prod(&self) -> Result<Tensor> {
        crate::prod!(self)
    }

    fn prod_dim_int(&self, dim: i64, keepdim: bool) -> Result<Tensor> {
        crate::prod_dim_int!(self, dim, keepdim)
    }

    fn prod_int_out(&self, dim: i64, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::prod_int_out!(self, dim, keepdim, out = out)
    }

    fn prod_out(&self, out: &mut Tensor) -> Result<()> {
        crate::prod_out!(self, out = out)
    }

    fn put(&self, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor> {
        crate::put(self, index, source, accumulate)
    }

    fn put_(&mut self, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<()> {
        crate::put_(self, index, source, accumulate)
    }

    fn put_out(&self, index: &Tensor, source: &Tensor, accumulate: bool, out: &mut Tensor) -> Result<()> {
        crate::put_out(self, index, source, accumulate, out)
    }

    #[cfg(feature = "sort")]
    fn quantile(&self, q: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        crate::quantile!(self, q, dim, keepdim)
    }

    #[cfg(feature = "sort")]
    fn quantile_out(&self, q: &Tensor, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::quantile_out!(self, q, dim, keepdim, out = out)
    }

    #[cfg(feature = "sort")]
    fn quantile_scalar(&self, q: f64, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        crate::quantile_scalar!(self, q, dim, keepdim)
    }

    #[cfg(feature = "sort")]
    fn quantile_scalar_out(&self, q: f64, dim: Option<i64>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::quantile_scalar_out!(self, q, dim, keepdim, out = out)
    }

    fn rad2deg(&self) -> Result<Tensor> {
        crate::rad2deg(self)
    }

    fn rad2deg_(&mut self) -> Result<()> {
        crate::rad2deg_(self)
    }

    fn rad2deg_out(&self, out: &mut Tensor) -> Result<()> {
        crate::rad2deg_out(self, out)
    }

    #[cfg(feature = "random")]
    fn rand_like(&self) -> Result<Tensor> {
        crate::rand_like!(self)
    }

    #[cfg(feature = "random")]
    fn rand_like_generator(&self, generator: Option<&Generator>) -> Result<Tensor> {
        crate::rand_like_generator!(self, generator = generator)
    }

    #[cfg(feature = "random")]
    fn rand_like_generator_out(&self, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
        crate::rand_like_generator_out!(self, generator = generator, out = out)
    }

    #[cfg(feature = "random")]
    fn rand_like_out(&self, out: &mut Tensor) -> Result<()> {
        crate::rand_like_out!(self, out = out)
    }

    #[cfg(feature = "random")]
    fn randint_like(&self, high: i64) -> Result<Tensor> {
        crate::randint_like!(self, high)
    }

    #[cfg(feature = "random")]
    fn randint_like_generator(&self, high: i64, generator: Option<&Generator>) -> Result<Tensor> {
        crate::randint_like_generator!(self, high, generator = generator)
    }

    #[cfg(feature = "random")]
    fn randint_like_generator_out(&self, high: i64, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
        crate::randint_like_generator_out!(self, high, generator = generator, out = out)
    }

    #[cfg(feature = "random")]
    fn randint_like_low_dtype(&self, low: i64, high: i64) -> Result<Tensor> {
        crate::randint_like_low_dtype!(self, low, high)
    }

    #[cfg(feature = "random")]
    fn randint_like_low_dtype_out(&self, low: i64, high: i64, out: &mut Tensor) -> Result<()> {
        crate::randint_like_low_dtype_out!(self, low, high, out = out)
    }

    #[cfg(feature = "random")]
    fn randint_like_low_generator_dtype(&self, low: i64, high: i64, generator: Option<&Generator>) -> Result<Tensor> {
        crate::randint_like_low_generator_dtype!(self, low, high, generator = generator)
    }

    #[cfg(feature = "random")]
    fn randint_like_low_generator_dtype_out(&self, low: i64, high: i64, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
        crate::randint_like_low_generator_dtype_out!(self, low, high, generator = generator, out = out)
    }

    #[cfg(feature = "random")]
    fn randint_like_out(&self, high: i64, out: &mut Tensor) -> Result<()> {
        crate::randint_like_out!(self, high, out = out)
    }

    #[cfg(feature = "random")]
    fn randint_like_tensor(&self, high: &Tensor) -> Result<Tensor> {
        crate::randint_like_tensor!(self, high)
    }

    #[cfg(feature = "random")]
    fn randint_like_tensor_generator(&self, high: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        crate::randint_like_tensor_generator!(self, high, generator = generator)
    }

    #[cfg(feature = "random")]
    fn randint_like_tensor_generator_out(&self, high: &Tensor, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
        crate::randint_like_tensor_generator_out!(self, high, generator = generator, out = out)
    }

    #[cfg(feature = "random")]
    fn randint_like_tensor_out(&self, high: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::randint_like_tensor_out!(self, high, out = out)
    }

    #[cfg(feature = "random")]
    fn randn_like(&self) -> Result<Tensor> {
        crate::randn_like!(self)
    }

    #[cfg(feature = "random")]
    fn randn_like_generator(&self, generator: Option<&Generator>) -> Result<Tensor> {
        crate::randn_like_generator!(self, generator = generator)
    }

    #[cfg(feature = "random")]
    fn randn_like_generator_out(&self, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
        crate::randn_like_generator_out!(self, generator = generator, out = out)
    }

    #[cfg(feature = "random")]
    fn randn_like_out(&self, out: &mut Tensor) -> Result<()> {
        crate::randn_like_out!(self, out = out)
    }

    #[cfg(feature = "random")]
    fn random(&self) -> Result<Tensor> {
        crate::random!(self)
    }

    #[cfg(feature = "random")]
    fn random_(&mut self) -> Result<()> {
        crate::random_!(self)
    }

    #[cfg(feature = "random")]
    fn random__from(&mut self, from: i64, to: Option<i64>) -> Result<()> {
        crate::random__from!(self, from, to)
    }

    #[cfg(feature = "random")]
    fn random__to(&mut self, to: i64) -> Result<()> {
        crate::random__to!(self, to)
    }

    #[cfg(feature = "random")]
    fn random_from(&self, from: i64, to: Option<i64>) -> Result<Tensor> {
        crate::random_from!(self, from, to)
    }

    #[cfg(feature = "random")]
    fn random_from_out(&self, from: i64, to: Option<i64>, out: &mut Tensor) -> Result<()> {
        crate::random_from_out!(self, from, to, out = out)
    }

    #[cfg(feature = "random")]
    fn random_out(&self, out: &mut Tensor) -> Result<()> {
        crate::random_out!(self, out = out)
    }

    #[cfg(feature = "random")]
    fn random_to(&self, to: i64) -> Result<Tensor> {
        crate::random_to!(self, to)
    }

    #[cfg(feature = "random")]
    fn random_to_out(&self, to: i64, out: &mut Tensor) -> Result<()> {
        crate::random_to_out!(self, to, out = out)
    }

    fn ravel(&self) -> Result<Tensor> {
        crate::ravel(self)
    }

    fn real(&self) -> Result<Tensor> {
        crate::real(self)
    }

    fn reciprocal(&self) -> Result<Tensor> {
        crate::reciprocal(self)
    }

    fn reciprocal_(&mut self) -> Result<()> {
        crate::reciprocal_(self)
    }

    fn reciprocal_out(&self, out: &mut Tensor) -> Result<()> {
        crate::reciprocal_out(self, out)
    }

    fn reflection_pad1d(&self, padding: &[i64]) -> Result<Tensor> {
        crate::reflection_pad1d(self, padding)
    }

    fn reflection_pad1d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()> {
        crate::reflection_pad1d_out(self, padding, out)
    }

    fn reflection_pad2d(&self, padding: &[i64]) -> Result<Tensor> {
        crate::reflection_pad2d(self, padding)
    }

    fn reflection_pad2d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()> {
        crate::reflection_pad2d_out(self, padding, out)
    }

    fn reflection_pad3d(&self, padding: &[i64]) -> Result<Tensor> {
        crate::reflection_pad3d(self, padding)
    }

    fn reflection_pad3d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()> {
        crate::reflection_pad3d_out(self, padding, out)
    }

    fn relu(&self) -> Result<Tensor> {
        crate::relu(self)
    }

    fn relu6(&self) -> Result<Tensor> {
        crate::relu6(self)
    }

    fn relu6_(&mut self) -> Result<()> {
        crate::relu6_(self)
    }

    fn relu_(&mut self) -> Result<()> {
        crate::relu_(self)
    }

    fn relu_out(&self, out: &mut Tensor) -> Result<()> {
        crate::relu_out(self, out)
    }

    fn remainder(&self, other: &Tensor) -> Result<Tensor> {
        crate::remainder(self, other)
    }

    fn remainder_(&mut self, other: &Tensor) -> Result<()> {
        crate::remainder_(self, other)
    }

    fn remainder__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::remainder__scalar(self, other.into())
    }

    fn remainder_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::remainder_scalar(self, other.into())
    }

    fn remainder_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::remainder_scalar_out(self, other.into(), out)
    }

    fn remainder_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::remainder_tensor_out(self, other, out)
    }

    fn renorm(&self, p: impl Into<Scalar>, dim: i64, maxnorm: impl Into<Scalar>) -> Result<Tensor> {
        crate::renorm(self, p.into(), dim, maxnorm.into())
    }

    fn renorm_(&mut self, p: impl Into<Scalar>, dim: i64, maxnorm: impl Into<Scalar>) -> Result<()> {
        crate::renorm_(self, p.into(), dim, maxnorm.into())
    }

    fn renorm_out(&self, p: impl Into<Scalar>, dim: i64, maxnorm: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::renorm_out(self, p.into(), dim, maxnorm.into(), out)
    }

    fn repeat(&self, repeats: &[i64]) -> Result<Tensor> {
        crate::repeat(self, repeats)
    }

    fn repeat_interleave_self_int(&self, repeats: i64, dim: Option<i64>) -> Result<Tensor> {
        crate::repeat_interleave_self_int!(self, repeats, dim)
    }

    fn repeat_interleave_self_tensor(&self, repeats: &Tensor, dim: Option<i64>) -> Result<Tensor> {
        crate::repeat_interleave_self_tensor!(self, repeats, dim)
    }

    fn repeat_out(&self, repeats: &[i64], out: &mut Tensor) -> Result<()> {
        crate::repeat_out(self, repeats, out)
    }

    fn replication_pad1d(&self, padding: &[i64]) -> Result<Tensor> {
        crate::replication_pad1d(self, padding)
    }

    fn replication_pad1d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()> {
        crate::replication_pad1d_out(self, padding, out)
    }

    fn replication_pad2d(&self, padding: &[i64]) -> Result<Tensor> {
        crate::replication_pad2d(self, padding)
    }

    fn replication_pad2d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()> {
        crate::replication_pad2d_out(self, padding, out)
    }

    fn replication_pad3d(&self, padding: &[i64]) -> Result<Tensor> {
        crate::replication_pad3d(self, padding)
    }

    fn replication_pad3d_out(&self, padding: &[i64], out: &mut Tensor) -> Result<()> {
        crate::replication_pad3d_out(self, padding, out)
    }

    fn reshape(&self, shape: &[i64]) -> Result<Tensor> {
        crate::reshape(self, shape)
    }

    fn reshape_as(&self, other: &Tensor) -> Result<Tensor> {
        crate::reshape_as(self, other)
    }

    fn resize(&self, size: &[i64]) -> Result<Tensor> {
        crate::resize!(self, size)
    }

    fn resize_(&mut self, size: &[i64]) -> Result<()> {
        crate::resize_!(self, size)
    }

    fn resize_as(&self, the_template: &Tensor) -> Result<Tensor> {
        crate::resize_as!(self, the_template)
    }

    fn resize_as_(&mut self, the_template: &Tensor) -> Result<()> {
        crate::resize_as_!(self, the_template)
    }

    fn resize_as_out(&self, the_template: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::resize_as_out!(self, the_template, out = out)
    }

    fn resize_out(&self, size: &[i64], out: &mut Tensor) -> Result<()> {
        crate::resize_out!(self, size, out = out)
    }

    fn resolve_conj(&self) -> Result<Tensor> {
        crate::resolve_conj(self)
    }

    fn resolve_neg(&self) -> Result<Tensor> {
        crate::resolve_neg(self)
    }

    fn retains_grad(&self) -> Result<bool> {
        crate::retains_grad(self)
    }

    fn roll(&self, shifts: &[i64], dims: &[i64]) -> Result<Tensor> {
        crate::roll(self, shifts, dims)
    }

    fn roll_out(&self, shifts: &[i64], dims: &[i64], out: &mut Tensor) -> Result<()> {
        crate::roll_out(self, shifts, dims, out)
    }

    fn rot90(&self, k: i64, dims: &[i64]) -> Result<Tensor> {
        crate::rot90(self, k, dims)
    }

    fn rot90_out(&self, k: i64, dims: &[i64], out: &mut Tensor) -> Result<()> {
        crate::rot90_out(self, k, dims, out)
    }

    fn round(&self) -> Result<Tensor> {
        crate::round(self)
    }

    fn round_(&mut self) -> Result<()> {
        crate::round_(self)
    }

    fn round__decimals(&mut self, decimals: i64) -> Result<()> {
        crate::round__decimals(self, decimals)
    }

    fn round_decimals(&self, decimals: i64) -> Result<Tensor> {
        crate::round_decimals(self, decimals)
    }

    fn round_decimals_out(&self, decimals: i64, out: &mut Tensor) -> Result<()> {
        crate::round_decimals_out(self, decimals, out)
    }

    fn round_out(&self, out: &mut Tensor) -> Result<()> {
        crate::round_out(self, out)
    }

    #[cfg(feature = "random")]
    fn rrelu(&self, lower: impl Into<Scalar>, upper: impl Into<Scalar>, training: bool, generator: Option<&Generator>) -> Result<Tensor> {
        crate::rrelu(self, lower.into(), upper.into(), training, generator)
    }

    #[cfg(feature = "random")]
    fn rrelu_(&mut self, lower: impl Into<Scalar>, upper: impl Into<Scalar>, training: bool, generator: Option<&Generator>) -> Result<()> {
        crate::rrelu_(self, lower.into(), upper.into(), training, generator)
    }

    #[cfg(feature = "random")]
    fn rrelu_with_noise(&self, noise: &mut Tensor, lower: impl Into<Scalar>, upper: impl Into<Scalar>, training: bool, generator: Option<&Generator>) -> Result<Tensor> {
        crate::rrelu_with_noise(self, noise, lower.into(), upper.into(), training, generator)
    }

    #[cfg(feature = "random")]
    fn rrelu_with_noise_(&mut self, noise: &mut Tensor, lower: impl Into<Scalar>, upper: impl Into<Scalar>, training: bool, generator: Option<&Generator>) -> Result<()> {
        crate::rrelu_with_noise_(self, noise, lower.into(), upper.into(), training, generator)
    }

    #[cfg(feature = "random")]
    fn rrelu_with_noise_functional(&self, noise: &Tensor, lower: impl Into<Scalar>, upper: impl Into<Scalar>, training: bool, generator: Option<&Generator>) -> Result<(Tensor, Tensor)> {
        crate::rrelu_with_noise_functional(self, noise, lower.into(), upper.into(), training, generator)
    }

    fn rsqrt(&self) -> Result<Tensor> {
        crate::rsqrt(self)
    }

    fn rsqrt_(&mut self) -> Result<()> {
        crate::rsqrt_(self)
    }

    fn rsqrt_out(&self, out: &mut Tensor) -> Result<()> {
        crate::rsqrt_out(self, out)
    }

    fn rsub(&self, other: &Tensor) -> Result<Tensor> {
        crate::rsub!(self, other)
    }

    fn rsub_scalar(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<Tensor> {
        crate::rsub_scalar(self, other.into(), alpha.into())
    }

    fn rsub_scalar_out(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::rsub_scalar_out(self, other.into(), alpha.into(), out)
    }

    fn rsub_tensor_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::rsub_tensor_out!(self, other, out = out)
    }

    fn scatter__reduce(&mut self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<()> {
        crate::scatter__reduce(self, dim, index, src, reduce)
    }

    fn scatter__src(&mut self, dim: i64, index: &Tensor, src: &Tensor) -> Result<()> {
        crate::scatter__src(self, dim, index, src)
    }

    fn scatter__value(&mut self, dim: i64, index: &Tensor, value: impl Into<Scalar>) -> Result<()> {
        crate::scatter__value(self, dim, index, value.into())
    }

    fn scatter__value_reduce(&mut self, dim: i64, index: &Tensor, value: impl Into<Scalar>, reduce: &str) -> Result<()> {
        crate::scatter__value_reduce(self, dim, index, value.into(), reduce)
    }

    fn scatter_add(&self, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        crate::scatter_add(self, dim, index, src)
    }

    fn scatter_add_(&mut self, dim: i64, index: &Tensor, src: &Tensor) -> Result<()> {
        crate::scatter_add_(self, dim, index, src)
    }

    fn scatter_add_out(&self, dim: i64, index: &Tensor, src: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::scatter_add_out(self, dim, index, src, out)
    }

    fn scatter_reduce(&self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor> {
        crate::scatter_reduce(self, dim, index, src, reduce)
    }

    fn scatter_reduce__two(&mut self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<()> {
        crate::scatter_reduce__two!(self, dim, index, src, reduce)
    }

    fn scatter_reduce_out(&self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str, out: &mut Tensor) -> Result<()> {
        crate::scatter_reduce_out(self, dim, index, src, reduce, out)
    }

    fn scatter_reduce_two(&self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor> {
        crate::scatter_reduce_two!(self, dim, index, src, reduce)
    }

    fn scatter_reduce_two_out(&self, dim: i64, index: &Tensor, src: &Tensor, reduce: &str, out: &mut Tensor) -> Result<()> {
        crate::scatter_reduce_two_out!(self, dim, index, src, reduce, out = out)
    }

    fn scatter_src(&self, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        crate::scatter_src(self, dim, index, src)
    }

    fn scatter_src_out(&self, dim: i64, index: &Tensor, src: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::scatter_src_out(self, dim, index, src, out)
    }

    fn scatter_value(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::scatter_value(self, dim, index, value.into())
    }

    fn scatter_value_out(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::scatter_value_out(self, dim, index, value.into(), out)
    }

    fn scatter_value_reduce(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>, reduce: &str) -> Result<Tensor> {
        crate::scatter_value_reduce(self, dim, index, value.into(), reduce)
    }

    fn scatter_value_reduce_out(&self, dim: i64, index: &Tensor, value: impl Into<Scalar>, reduce: &str, out: &mut Tensor) -> Result<()> {
        crate::scatter_value_reduce_out(self, dim, index, value.into(), reduce, out)
    }

    fn select_copy_int(&self, dim: i64, index: i64) -> Result<Tensor> {
        crate::select_copy_int(self, dim, index)
    }

    fn select_copy_int_out(&self, dim: i64, index: i64, out: &mut Tensor) -> Result<()> {
        crate::select_copy_int_out(self, dim, index, out)
    }

    fn select_int(&self, dim: i64, index: i64) -> Result<Tensor> {
        crate::select_int(self, dim, index)
    }

    fn select_scatter(&self, src: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
        crate::select_scatter(self, src, dim, index)
    }

    fn select_scatter_out(&self, src: &Tensor, dim: i64, index: i64, out: &mut Tensor) -> Result<()> {
        crate::select_scatter_out(self, src, dim, index, out)
    }

    fn selu(&self) -> Result<Tensor> {
        crate::selu(self)
    }

    fn selu_(&mut self) -> Result<()> {
        crate::selu_(self)
    }

    fn set_(&mut self) -> Result<()> {
        crate::set_(self)
    }

    fn set__source_tensor(&mut self, source: &Tensor) -> Result<()> {
        crate::set__source_tensor(self, source)
    }

    fn set__source_tensor_storage_offset(&mut self, source: &Tensor, storage_offset: i64, size: &[i64], stride: &[i64]) -> Result<()> {
        crate::set__source_tensor_storage_offset(self, source, storage_offset, size, stride)
    }

    fn set_data(&mut self, new_data: &Tensor) -> Result<()> {
        crate::set_data(self, new_data)
    }

    fn set_out(&self, out: &mut Tensor) -> Result<()> {
        crate::set_out(self, out)
    }

    fn set_source_tensor(&self, source: &Tensor) -> Result<Tensor> {
        crate::set_source_tensor(self, source)
    }

    fn set_source_tensor_out(&self, source: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::set_source_tensor_out(self, source, out)
    }

    fn sgn(&self) -> Result<Tensor> {
        crate::sgn(self)
    }

    fn sgn_(&mut self) -> Result<()> {
        crate::sgn_(self)
    }

    fn sgn_out(&self, out: &mut Tensor) -> Result<()> {
        crate::sgn_out(self, out)
    }

    fn shallow_copy_data_(&mut self, source: &Tensor) -> Result<()> {
        crate::shallow_copy_data_(self, source)
    }

    fn sigmoid(&self) -> Result<Tensor> {
        crate::sigmoid(self)
    }

    fn sigmoid_(&mut self) -> Result<()> {
        crate::sigmoid_(self)
    }

    fn sigmoid_out(&self, out: &mut Tensor) -> Result<()> {
        crate::sigmoid_out(self, out)
    }

    fn sign(&self) -> Result<Tensor> {
        crate::sign(self)
    }

    fn sign_(&mut self) -> Result<()> {
        crate::sign_(self)
    }

    fn sign_out(&self, out: &mut Tensor) -> Result<()> {
        crate::sign_out(self, out)
    }

    fn signbit(&self) -> Result<Tensor> {
        crate::signbit(self)
    }

    fn signbit_out(&self, out: &mut Tensor) -> Result<()> {
        crate::signbit_out(self, out)
    }

    fn silu(&self) -> Result<Tensor> {
        crate::silu(self)
    }

    fn silu_(&mut self) -> Result<()> {
        crate::silu_(self)
    }

    fn silu_out(&self, out: &mut Tensor) -> Result<()> {
        crate::silu_out(self, out)
    }

    fn sin(&self) -> Result<Tensor> {
        crate::sin(self)
    }

    fn sin_(&mut self) -> Result<()> {
        crate::sin_(self)
    }

    fn sin_out(&self, out: &mut Tensor) -> Result<()> {
        crate::sin_out(self, out)
    }

    fn sinc(&self) -> Result<Tensor> {
        crate::sinc(self)
    }

    fn sinc_(&mut self) -> Result<()> {
        crate::sinc_(self)
    }

    fn sinc_out(&self, out: &mut Tensor) -> Result<()> {
        crate::sinc_out(self, out)
    }

    fn sinh(&self) -> Result<Tensor> {
        crate::sinh(self)
    }

    fn sinh_(&mut self) -> Result<()> {
        crate::sinh_(self)
    }

    fn sinh_out(&self, out: &mut Tensor) -> Result<()> {
        crate::sinh_out(self, out)
    }

    fn size(&self) -> Result<Vec<i64>> {
        crate::size(self)
    }

    fn size_int(&self, dim: i64) -> Result<i64> {
        crate::size_int(self, dim)
    }

    fn slice(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor> {
        crate::slice(self, dim, start, end, step)
    }

    fn slice_copy(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor> {
        crate::slice_copy(self, dim, start, end, step)
    }

    fn slice_copy_tensor_out(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64, out: &mut Tensor) -> Result<()> {
        crate::slice_copy_tensor_out(self, dim, start, end, step, out)
    }

    fn slice_inverse(&self, src: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor> {
        crate::slice_inverse(self, src, dim, start, end, step)
    }

    fn slice_scatter(&self, src: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor> {
        crate::slice_scatter(self, src, dim, start, end, step)
    }

    fn slice_scatter_out(&self, src: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64, out: &mut Tensor) -> Result<()> {
        crate::slice_scatter_out(self, src, dim, start, end, step, out)
    }

    #[cfg(feature = "linalg")]
    fn slogdet(&self) -> Result<(Tensor, Tensor)> {
        crate::slogdet(self)
    }

    #[cfg(feature = "linalg")]
    fn slogdet_out(&self, sign: &mut Tensor, logabsdet: &mut Tensor) -> Result<()> {
        crate::slogdet_out(self, sign, logabsdet)
    }

    #[cfg(feature = "conv")]
    fn slow_conv3d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64]) -> Result<Tensor> {
        crate::slow_conv3d(self, weight, kernel_size, bias, stride, padding)
    }

    #[cfg(feature = "conv")]
    fn slow_conv3d_forward(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64]) -> Result<Tensor> {
        crate::slow_conv3d_forward(self, weight, kernel_size, bias, stride, padding)
    }

    #[cfg(feature = "conv")]
    fn slow_conv3d_forward_output(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], output: &mut Tensor) -> Result<()> {
        crate::slow_conv3d_forward_output(self, weight, kernel_size, bias, stride, padding, output)
    }

    #[cfg(feature = "conv")]
    fn slow_conv3d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], out: &mut Tensor) -> Result<()> {
        crate::slow_conv3d_out(self, weight, kernel_size, bias, stride, padding, out)
    }

    #[cfg(feature = "conv")]
    fn slow_conv_dilated2d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], dilation: &[i64]) -> Result<Tensor> {
        crate::slow_conv_dilated2d(self, weight, kernel_size, bias, stride, padding, dilation)
    }

    #[cfg(feature = "conv")]
    fn slow_conv_dilated2d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], dilation: &[i64], out: &mut Tensor) -> Result<()> {
        crate::slow_conv_dilated2d_out(self, weight, kernel_size, bias, stride, padding, dilation, out)
    }

    #[cfg(feature = "conv")]
    fn slow_conv_dilated3d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], dilation: &[i64]) -> Result<Tensor> {
        crate::slow_conv_dilated3d(self, weight, kernel_size, bias, stride, padding, dilation)
    }

    #[cfg(feature = "conv")]
    fn slow_conv_dilated3d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], dilation: &[i64], out: &mut Tensor) -> Result<()> {
        crate::slow_conv_dilated3d_out(self, weight, kernel_size, bias, stride, padding, dilation, out)
    }

    #[cfg(feature = "conv")]
    fn slow_conv_transpose2d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], output_padding: &[i64], dilation: &[i64]) -> Result<Tensor> {
        crate::slow_conv_transpose2d(self, weight, kernel_size, bias, stride, padding, output_padding, dilation)
    }

    #[cfg(feature = "conv")]
    fn slow_conv_transpose2d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], output_padding: &[i64], dilation: &[i64], out: &mut Tensor) -> Result<()> {
        crate::slow_conv_transpose2d_out(self, weight, kernel_size, bias, stride, padding, output_padding, dilation, out)
    }

    #[cfg(feature = "conv")]
    fn slow_conv_transpose3d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], output_padding: &[i64], dilation: &[i64]) -> Result<Tensor> {
        crate::slow_conv_transpose3d(self, weight, kernel_size, bias, stride, padding, output_padding, dilation)
    }

    #[cfg(feature = "conv")]
    fn slow_conv_transpose3d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], output_padding: &[i64], dilation: &[i64], out: &mut Tensor) -> Result<()> {
        crate::slow_conv_transpose3d_out(self, weight, kernel_size, bias, stride, padding, output_padding, dilation, out)
    }

    #[cfg(feature = "loss")]
    fn smooth_l1_loss(&self, target: &Tensor, reduction: i64, beta: f64) -> Result<Tensor> {
        crate::smooth_l1_loss(self, target, reduction, beta)
    }

    #[cfg(feature = "loss")]
    fn smooth_l1_loss_out(&self, target: &Tensor, reduction: i64, beta: f64, out: &mut Tensor) -> Result<()> {
        crate::smooth_l1_loss_out(self, target, reduction, beta, out)
    }

    #[cfg(feature = "loss")]
    fn soft_margin_loss(&self, target: &Tensor, reduction: i64) -> Result<Tensor> {
        crate::soft_margin_loss(self, target, reduction)
    }

    #[cfg(feature = "loss")]
    fn soft_margin_loss_out(&self, target: &Tensor, reduction: i64, out: &mut Tensor) -> Result<()> {
        crate::soft_margin_loss_out(self, target, reduction, out)
    }

    #[cfg(feature = "norm")]
    fn softmax_int(&self, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
        crate::softmax_int(self, dim, dtype)
    }

    #[cfg(feature = "norm")]
    fn softmax_int_out(&self, dim: i64, dtype: Option<DType>, out: &mut Tensor) -> Result<()> {
        crate::softmax_int_out(self, dim, dtype, out)
    }

    fn softplus(&self, beta: impl Into<Scalar>, threshold: impl Into<Scalar>) -> Result<Tensor> {
        crate::softplus(self, beta.into(), threshold.into())
    }

    fn softplus_out(&self, beta: impl Into<Scalar>, threshold: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::softplus_out(self, beta.into(), threshold.into(), out)
    }

    fn softshrink(&self, lambd: impl Into<Scalar>) -> Result<Tensor> {
        crate::softshrink(self, lambd.into())
    }

    fn softshrink_out(&self, lambd: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::softshrink_out(self, lambd.into(), out)
    }

    #[cfg(feature = "sort")]
    fn sort(&self, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
        crate::sort(self, dim, descending)
    }

    #[cfg(feature = "sort")]
    fn sort_stable(&self, stable: Option<bool>) -> Result<(Tensor, Tensor)> {
        crate::sort_stable!(self, stable = stable)
    }

    #[cfg(feature = "sort")]
    fn sort_values(&self, dim: i64, descending: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::sort_values(self, dim, descending, values, indices)
    }

    #[cfg(feature = "sort")]
    fn sort_values_stable(&self, stable: Option<bool>, values: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::sort_values_stable!(self, stable = stable, values = values, indices = indices)
    }

    fn special_bessel_j0(&self) -> Result<Tensor> {
        crate::special_bessel_j0(self)
    }

    fn special_bessel_j0_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_bessel_j0_out(self, out)
    }

    fn special_bessel_j1(&self) -> Result<Tensor> {
        crate::special_bessel_j1(self)
    }

    fn special_bessel_j1_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_bessel_j1_out(self, out)
    }

    fn special_bessel_y0(&self) -> Result<Tensor> {
        crate::special_bessel_y0(self)
    }

    fn special_bessel_y0_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_bessel_y0_out(self, out)
    }

    fn special_bessel_y1(&self) -> Result<Tensor> {
        crate::special_bessel_y1(self)
    }

    fn special_bessel_y1_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_bessel_y1_out(self, out)
    }

    fn special_digamma(&self) -> Result<Tensor> {
        crate::special_digamma(self)
    }

    fn special_digamma_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_digamma_out(self, out)
    }

    fn special_entr(&self) -> Result<Tensor> {
        crate::special_entr(self)
    }

    fn special_entr_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_entr_out(self, out)
    }

    fn special_erf(&self) -> Result<Tensor> {
        crate::special_erf(self)
    }

    fn special_erf_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_erf_out(self, out)
    }

    fn special_erfc(&self) -> Result<Tensor> {
        crate::special_erfc(self)
    }

    fn special_erfc_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_erfc_out(self, out)
    }

    fn special_erfcx(&self) -> Result<Tensor> {
        crate::special_erfcx(self)
    }

    fn special_erfcx_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_erfcx_out(self, out)
    }

    fn special_erfinv(&self) -> Result<Tensor> {
        crate::special_erfinv(self)
    }

    fn special_erfinv_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_erfinv_out(self, out)
    }

    fn special_exp2(&self) -> Result<Tensor> {
        crate::special_exp2(self)
    }

    fn special_exp2_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_exp2_out(self, out)
    }

    fn special_expit(&self) -> Result<Tensor> {
        crate::special_expit(self)
    }

    fn special_expit_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_expit_out(self, out)
    }

    fn special_expm1(&self) -> Result<Tensor> {
        crate::special_expm1(self)
    }

    fn special_expm1_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_expm1_out(self, out)
    }

    fn special_gammainc(&self, other: &Tensor) -> Result<Tensor> {
        crate::special_gammainc(self, other)
    }

    fn special_gammainc_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::special_gammainc_out(self, other, out)
    }

    fn special_gammaincc(&self, other: &Tensor) -> Result<Tensor> {
        crate::special_gammaincc(self, other)
    }

    fn special_gammaincc_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::special_gammaincc_out(self, other, out)
    }

    fn special_gammaln(&self) -> Result<Tensor> {
        crate::special_gammaln(self)
    }

    fn special_gammaln_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_gammaln_out(self, out)
    }

    fn special_i0(&self) -> Result<Tensor> {
        crate::special_i0(self)
    }

    fn special_i0_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_i0_out(self, out)
    }

    fn special_i0e(&self) -> Result<Tensor> {
        crate::special_i0e(self)
    }

    fn special_i0e_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_i0e_out(self, out)
    }

    fn special_i1(&self) -> Result<Tensor> {
        crate::special_i1(self)
    }

    fn special_i1_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_i1_out(self, out)
    }

    fn special_i1e(&self) -> Result<Tensor> {
        crate::special_i1e(self)
    }

    fn special_i1e_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_i1e_out(self, out)
    }

    fn special_log1p(&self) -> Result<Tensor> {
        crate::special_log1p(self)
    }

    fn special_log1p_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_log1p_out(self, out)
    }

    fn special_log_ndtr(&self) -> Result<Tensor> {
        crate::special_log_ndtr(self)
    }

    fn special_log_ndtr_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_log_ndtr_out(self, out)
    }

    #[cfg(feature = "norm")]
    fn special_log_softmax(&self, dim: i64) -> Result<Tensor> {
        crate::special_log_softmax!(self, dim)
    }

    fn special_logit(&self, eps: Option<f64>) -> Result<Tensor> {
        crate::special_logit(self, eps)
    }

    fn special_logit_out(&self, eps: Option<f64>, out: &mut Tensor) -> Result<()> {
        crate::special_logit_out(self, eps, out)
    }

    fn special_logsumexp(&self, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        crate::special_logsumexp(self, dim, keepdim)
    }

    fn special_logsumexp_out(&self, dim: &[i64], keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::special_logsumexp_out(self, dim, keepdim, out)
    }

    fn special_modified_bessel_i0(&self) -> Result<Tensor> {
        crate::special_modified_bessel_i0(self)
    }

    fn special_modified_bessel_i0_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_modified_bessel_i0_out(self, out)
    }

    fn special_modified_bessel_i1(&self) -> Result<Tensor> {
        crate::special_modified_bessel_i1(self)
    }

    fn special_modified_bessel_i1_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_modified_bessel_i1_out(self, out)
    }

    fn special_modified_bessel_k0(&self) -> Result<Tensor> {
        crate::special_modified_bessel_k0(self)
    }

    fn special_modified_bessel_k0_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_modified_bessel_k0_out(self, out)
    }

    fn special_modified_bessel_k1(&self) -> Result<Tensor> {
        crate::special_modified_bessel_k1(self)
    }

    fn special_modified_bessel_k1_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_modified_bessel_k1_out(self, out)
    }

    fn special_multigammaln(&self, p: i64) -> Result<Tensor> {
        crate::special_multigammaln(self, p)
    }

    fn special_multigammaln_out(&self, p: i64, out: &mut Tensor) -> Result<()> {
        crate::special_multigammaln_out(self, p, out)
    }

    fn special_ndtr(&self) -> Result<Tensor> {
        crate::special_ndtr(self)
    }

    fn special_ndtr_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_ndtr_out(self, out)
    }

    fn special_ndtri(&self) -> Result<Tensor> {
        crate::special_ndtri(self)
    }

    fn special_ndtri_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_ndtri_out(self, out)
    }

    fn special_psi(&self) -> Result<Tensor> {
        crate::special_psi(self)
    }

    fn special_psi_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_psi_out(self, out)
    }

    fn special_round(&self) -> Result<Tensor> {
        crate::special_round!(self)
    }

    fn special_round_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_round_out!(self, out = out)
    }

    fn special_sinc(&self) -> Result<Tensor> {
        crate::special_sinc(self)
    }

    fn special_sinc_out(&self, out: &mut Tensor) -> Result<()> {
        crate::special_sinc_out(self, out)
    }

    #[cfg(feature = "norm")]
    fn special_softmax(&self, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
        crate::special_softmax(self, dim, dtype)
    }

    fn special_xlog1py(&self, other: &Tensor) -> Result<Tensor> {
        crate::special_xlog1py(self, other)
    }

    fn special_xlog1py_other_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::special_xlog1py_other_scalar(self, other.into())
    }

    fn special_xlog1py_other_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::special_xlog1py_other_scalar_out(self, other.into(), out)
    }

    fn special_xlog1py_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::special_xlog1py_out(self, other, out)
    }

    fn special_xlogy(&self, other: &Tensor) -> Result<Tensor> {
        crate::special_xlogy(self, other)
    }

    fn special_xlogy_other_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::special_xlogy_other_scalar(self, other.into())
    }

    fn special_xlogy_other_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::special_xlogy_other_scalar_out(self, other.into(), out)
    }

    fn special_xlogy_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::special_xlogy_out(self, other, out)
    }

    fn special_zeta(&self, other: &Tensor) -> Result<Tensor> {
        crate::special_zeta(self, other)
    }

    fn special_zeta_other_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::special_zeta_other_scalar(self, other.into())
    }

    fn special_zeta_other_scalar_out(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::special_zeta_other_scalar_out(self, other.into(), out)
    }

    fn special_zeta_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::special_zeta_out(self, other, out)
    }

    fn split(&self, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
        crate::split(self, split_size, dim)
    }

    fn split_copy(&self, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
        crate::split_copy(self, split_size, dim)
    }

    fn split_copy_tensor_out(&self, split_size: i64, dim: i64, out: &mut [Tensor]) -> Result<()> {
        crate::split_copy_tensor_out(self, split_size, dim, out)
    }

    fn split_sizes(&self, split_size: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        crate::split_sizes(self, split_size, dim)
    }

    fn split_with_sizes(&self, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        crate::split_with_sizes(self, split_sizes, dim)
    }

    fn split_with_sizes_copy(&self, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        crate::split_with_sizes_copy(self, split_sizes, dim)
    }

    fn split_with_sizes_copy_out(&self, split_sizes: &[i64], dim: i64, out: &mut [Tensor]) -> Result<()> {
        crate::split_with_sizes_copy_out(self, split_sizes, dim, out)
    }

    fn sqrt(&self) -> Result<Tensor> {
        crate::sqrt(self)
    }

    fn sqrt_(&mut self) -> Result<()> {
        crate::sqrt_(self)
    }

    fn sqrt_out(&self, out: &mut Tensor) -> Result<()> {
        crate::sqrt_out(self, out)
    }

    fn square(&self) -> Result<Tensor> {
        crate::square(self)
    }

    fn square_(&mut self) -> Result<()> {
        crate::square_(self)
    }

    fn square_out(&self, out: &mut Tensor) -> Result<()> {
        crate::square_out(self, out)
    }

    fn squeeze(&self) -> Result<Tensor> {
        crate::squeeze(self)
    }

    fn squeeze_(&mut self) -> Result<()> {
        crate::squeeze_(self)
    }

    fn squeeze__dim(&mut self, dim: i64) -> Result<()> {
        crate::squeeze__dim(self, dim)
    }

    fn squeeze__dims(&mut self, dim: &[i64]) -> Result<()> {
        crate::squeeze__dims(self, dim)
    }

    fn squeeze_copy(&self) -> Result<Tensor> {
        crate::squeeze_copy(self)
    }

    fn squeeze_copy_dim(&self, dim: i64) -> Result<Tensor> {
        crate::squeeze_copy_dim(self, dim)
    }

    fn squeeze_copy_dim_out(&self, dim: i64, out: &mut Tensor) -> Result<()> {
        crate::squeeze_copy_dim_out(self, dim, out)
    }

    fn squeeze_copy_dims(&self, dim: &[i64]) -> Result<Tensor> {
        crate::squeeze_copy_dims(self, dim)
    }

    fn squeeze_copy_dims_out(&self, dim: &[i64], out: &mut Tensor) -> Result<()> {
        crate::squeeze_copy_dims_out(self, dim, out)
    }

    fn squeeze_copy_out(&self, out: &mut Tensor) -> Result<()> {
        crate::squeeze_copy_out(self, out)
    }

    fn squeeze_dim(&self, dim: i64) -> Result<Tensor> {
        crate::squeeze_dim(self, dim)
    }

    fn squeeze_dims(&self, dim: &[i64]) -> Result<Tensor> {
        crate::squeeze_dims(self, dim)
    }

    fn std(&self, unbiased: bool) -> Result<Tensor> {
        crate::std(self, unbiased)
    }

    fn std_correction(&self, dim: Option<&[i64]>) -> Result<Tensor> {
        crate::std_correction!(self, dim)
    }

    fn std_correction_out(&self, dim: Option<&[i64]>, out: &mut Tensor) -> Result<()> {
        crate::std_correction_out!(self, dim, out = out)
    }

    fn std_dim(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
        crate::std_dim(self, dim, unbiased, keepdim)
    }

    fn std_mean(&self, unbiased: bool) -> Result<(Tensor, Tensor)> {
        crate::std_mean(self, unbiased)
    }

    fn std_mean_correction(&self, dim: Option<&[i64]>) -> Result<(Tensor, Tensor)> {
        crate::std_mean_correction!(self, dim)
    }

    fn std_mean_correction_out(&self, dim: Option<&[i64]>, out0: &mut Tensor, out1: &mut Tensor) -> Result<()> {
        crate::std_mean_correction_out!(self, dim, out0 = out0, out1 = out1)
    }

    fn std_mean_dim(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)> {
        crate::std_mean_dim(self, dim, unbiased, keepdim)
    }

    fn std_out(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::std_out(self, dim, unbiased, keepdim, out)
    }

    #[cfg(feature = "fft")]
    fn stft(&self, n_fft: i64, hop_length: Option<i64>, win_length: Option<i64>, window: Option<&Tensor>, normalized: bool, onesided: Option<bool>, return_complex: Option<bool>, align_to_window: Option<bool>) -> Result<Tensor> {
        crate::stft(self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window)
    }

    #[cfg(feature = "fft")]
    fn stft_center(&self, n_fft: i64, hop_length: Option<i64>, win_length: Option<i64>, window: Option<&Tensor>, center: bool, pad_mode: &str, normalized: bool, onesided: Option<bool>, return_complex: Option<bool>, align_to_window: Option<bool>) -> Result<Tensor> {
        crate::stft_center(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex, align_to_window)
    }

    fn storage_offset(&self) -> Result<i64> {
        crate::storage_offset(self)
    }

    fn stride(&self) -> Result<Vec<i64>> {
        crate::stride(self)
    }

    fn stride_int(&self, dim: i64) -> Result<i64> {
        crate::stride_int(self, dim)
    }

    fn sub(&self, other: &Tensor) -> Result<Tensor> {
        crate::sub!(self, other)
    }

    fn sub_(&mut self, other: &Tensor) -> Result<()> {
        crate::sub_!(self, other)
    }

    fn sub__scalar(&mut self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<()> {
        crate::sub__scalar(self, other.into(), alpha.into())
    }

    fn sub_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::sub_out!(self, other, out = out)
    }

    fn sub_scalar(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<Tensor> {
        crate::sub_scalar(self, other.into(), alpha.into())
    }

    fn sub_scalar_out(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::sub_scalar_out(self, other.into(), alpha.into(), out)
    }

    fn subtract(&self, other: &Tensor) -> Result<Tensor> {
        crate::subtract!(self, other)
    }

    fn subtract_(&mut self, other: &Tensor) -> Result<()> {
        crate::subtract_!(self, other)
    }

    fn subtract__scalar(&mut self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<()> {
        crate::subtract__scalar(self, other.into(), alpha.into())
    }

    fn subtract_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::subtract_out!(self, other, out = out)
    }

    fn subtract_scalar(&self, other: impl Into<Scalar>, alpha: impl Into<Scalar>) -> Result<Tensor> {
        crate::subtract_scalar(self, other.into(), alpha.into())
    }

    fn sum(&self) -> Result<Tensor> {
        crate::sum!(self)
    }

    fn sum_dim_intlist(&self, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        crate::sum_dim_intlist!(self, dim, keepdim)
    }

    fn sum_intlist_out(&self, dim: Option<&[i64]>, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::sum_intlist_out!(self, dim, keepdim, out = out)
    }

    fn sum_out(&self, out: &mut Tensor) -> Result<()> {
        crate::sum_out!(self, out = out)
    }

    fn sum_to_size(&self, size: &[i64]) -> Result<Tensor> {
        crate::sum_to_size(self, size)
    }

    #[cfg(feature = "linalg")]
    fn svd(&self, some: bool, compute_uv: bool) -> Result<(Tensor, Tensor, Tensor)> {
        crate::svd(self, some, compute_uv)
    }

    #[cfg(feature = "linalg")]
    fn svd_u(&self, some: bool, compute_uv: bool, U: &mut Tensor, S: &mut Tensor, V: &mut Tensor) -> Result<()> {
        crate::svd_u(self, some, compute_uv, U, S, V)
    }

    fn swapaxes(&self, axis0: i64, axis1: i64) -> Result<Tensor> {
        crate::swapaxes(self, axis0, axis1)
    }

    fn swapaxes_(&mut self, axis0: i64, axis1: i64) -> Result<()> {
        crate::swapaxes_(self, axis0, axis1)
    }

    fn swapdims(&self, dim0: i64, dim1: i64) -> Result<Tensor> {
        crate::swapdims(self, dim0, dim1)
    }

    fn swapdims_(&mut self, dim0: i64, dim1: i64) -> Result<()> {
        crate::swapdims_(self, dim0, dim1)
    }

    fn sym_is_contiguous(&self, memory_format: MemoryFormat) -> Result<bool> {
        crate::sym_is_contiguous(self, memory_format)
    }

    fn sym_numel(&self) -> Result<i64> {
        crate::sym_numel(self)
    }

    fn sym_size(&self) -> Result<Vec<i64>> {
        crate::sym_size(self)
    }

    fn sym_size_int(&self, dim: i64) -> Result<i64> {
        crate::sym_size_int(self, dim)
    }

    fn sym_storage_offset(&self) -> Result<i64> {
        crate::sym_storage_offset(self)
    }

    fn sym_stride(&self) -> Result<Vec<i64>> {
        crate::sym_stride(self)
    }

    fn sym_stride_int(&self, dim: i64) -> Result<i64> {
        crate::sym_stride_int(self, dim)
    }

    fn t(&self) -> Result<Tensor> {
        crate::t(self)
    }

    fn t_(&mut self) -> Result<()> {
        crate::t_(self)
    }

    fn t_copy(&self) -> Result<Tensor> {
        crate::t_copy(self)
    }

    fn t_copy_out(&self, out: &mut Tensor) -> Result<()> {
        crate::t_copy_out(self, out)
    }

    fn take(&self, index: &Tensor) -> Result<Tensor> {
        crate::take(self, index)
    }

    fn take_along_dim(&self, indices: &Tensor, dim: Option<i64>) -> Result<Tensor> {
        crate::take_along_dim(self, indices, dim)
    }

    fn take_along_dim_out(&self, indices: &Tensor, dim: Option<i64>, out: &mut Tensor) -> Result<()> {
        crate::take_along_dim_out(self, indices, dim, out)
    }

    fn take_out(&self, index: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::take_out(self, index, out)
    }

    fn tan(&self) -> Result<Tensor> {
        crate::tan(self)
    }

    fn tan_(&mut self) -> Result<()> {
        crate::tan_(self)
    }

    fn tan_out(&self, out: &mut Tensor) -> Result<()> {
        crate::tan_out(self, out)
    }

    fn tanh(&self) -> Result<Tensor> {
        crate::tanh(self)
    }

    fn tanh_(&mut self) -> Result<()> {
        crate::tanh_(self)
    }

    fn tanh_out(&self, out: &mut Tensor) -> Result<()> {
        crate::tanh_out(self, out)
    }

    fn tensor_split_indices(&self, indices: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        crate::tensor_split_indices(self, indices, dim)
    }

    fn tensor_split_sections(&self, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
        crate::tensor_split_sections(self, sections, dim)
    }

    fn tensor_split_tensor_indices_or_sections(&self, tensor_indices_or_sections: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
        crate::tensor_split_tensor_indices_or_sections(self, tensor_indices_or_sections, dim)
    }

    #[cfg(feature = "products")]
    fn tensordot(&self, other: &Tensor, dims_self: &[i64], dims_other: &[i64]) -> Result<Tensor> {
        crate::tensordot(self, other, dims_self, dims_other)
    }

    #[cfg(feature = "products")]
    fn tensordot_out(&self, other: &Tensor, dims_self: &[i64], dims_other: &[i64], out: &mut Tensor) -> Result<()> {
        crate::tensordot_out(self, other, dims_self, dims_other, out)
    }

    #[cfg(feature = "conv")]
    fn thnn_conv2d(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64]) -> Result<Tensor> {
        crate::thnn_conv2d(self, weight, kernel_size, bias, stride, padding)
    }

    #[cfg(feature = "conv")]
    fn thnn_conv2d_out(&self, weight: &Tensor, kernel_size: &[i64], bias: Option<&Tensor>, stride: &[i64], padding: &[i64], out: &mut Tensor) -> Result<()> {
        crate::thnn_conv2d_out(self, weight, kernel_size, bias, stride, padding, out)
    }

    fn threshold(&self, threshold: impl Into<Scalar>, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::threshold(self, threshold.into(), value.into())
    }

    fn threshold_(&mut self, threshold: impl Into<Scalar>, value: impl Into<Scalar>) -> Result<()> {
        crate::threshold_(self, threshold.into(), value.into())
    }

    fn threshold_out(&self, threshold: impl Into<Scalar>, value: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::threshold_out(self, threshold.into(), value.into(), out)
    }

    fn tile(&self, dims: &[i64]) -> Result<Tensor> {
        crate::tile(self, dims)
    }

    fn to_device(&self, device: Device, dtype: DType, non_blocking: bool, copy: bool, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
        crate::to_device(self, device, dtype, non_blocking, copy, memory_format)
    }

    fn to_dtype(&self, dtype: DType, non_blocking: bool, copy: bool, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
        crate::to_dtype(self, dtype, non_blocking, copy, memory_format)
    }

    fn to_dtype_layout(&self) -> Result<Tensor> {
        crate::to_dtype_layout!(self)
    }

    fn to_other(&self, other: &Tensor, non_blocking: bool, copy: bool, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
        crate::to_other(self, other, non_blocking, copy, memory_format)
    }

    #[cfg(feature = "sort")]
    fn topk(&self, k: i64, dim: i64, largest: bool, sorted: bool) -> Result<(Tensor, Tensor)> {
        crate::topk(self, k, dim, largest, sorted)
    }

    #[cfg(feature = "sort")]
    fn topk_values(&self, k: i64, dim: i64, largest: bool, sorted: bool, values: &mut Tensor, indices: &mut Tensor) -> Result<()> {
        crate::topk_values(self, k, dim, largest, sorted, values, indices)
    }

    fn trace(&self) -> Result<Tensor> {
        crate::trace(self)
    }

    fn trace_out(&self, out: &mut Tensor) -> Result<()> {
        crate::trace_out(self, out)
    }

    fn transpose_(&mut self, dim0: i64, dim1: i64) -> Result<()> {
        crate::transpose_(self, dim0, dim1)
    }

    fn transpose_copy_int(&self, dim0: i64, dim1: i64) -> Result<Tensor> {
        crate::transpose_copy_int(self, dim0, dim1)
    }

    fn transpose_copy_int_out(&self, dim0: i64, dim1: i64, out: &mut Tensor) -> Result<()> {
        crate::transpose_copy_int_out(self, dim0, dim1, out)
    }

    fn transpose_int(&self, dim0: i64, dim1: i64) -> Result<Tensor> {
        crate::transpose_int(self, dim0, dim1)
    }

    #[cfg(feature = "linalg")]
    fn triangular_solve(&self, A: &Tensor, upper: bool, transpose: bool, unitriangular: bool) -> Result<(Tensor, Tensor)> {
        crate::triangular_solve(self, A, upper, transpose, unitriangular)
    }

    #[cfg(feature = "linalg")]
    fn triangular_solve_x(&self, A: &Tensor, upper: bool, transpose: bool, unitriangular: bool, X: &mut Tensor, M: &mut Tensor) -> Result<()> {
        crate::triangular_solve_x(self, A, upper, transpose, unitriangular, X, M)
    }

    fn tril(&self, diagonal: i64) -> Result<Tensor> {
        crate::tril(self, diagonal)
    }

    fn tril_(&mut self, diagonal: i64) -> Result<()> {
        crate::tril_(self, diagonal)
    }

    fn tril_out(&self, diagonal: i64, out: &mut Tensor) -> Result<()> {
        crate::tril_out(self, diagonal, out)
    }

    fn triu(&self, diagonal: i64) -> Result<Tensor> {
        crate::triu(self, diagonal)
    }

    fn triu_(&mut self, diagonal: i64) -> Result<()> {
        crate::triu_(self, diagonal)
    }

    fn triu_out(&self, diagonal: i64, out: &mut Tensor) -> Result<()> {
        crate::triu_out(self, diagonal, out)
    }

    fn true_divide(&self, other: &Tensor) -> Result<Tensor> {
        crate::true_divide(self, other)
    }

    fn true_divide_(&mut self, other: &Tensor) -> Result<()> {
        crate::true_divide_(self, other)
    }

    fn true_divide__scalar(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::true_divide__scalar(self, other.into())
    }

    fn true_divide_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::true_divide_out(self, other, out)
    }

    fn true_divide_scalar(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::true_divide_scalar(self, other.into())
    }

    fn trunc(&self) -> Result<Tensor> {
        crate::trunc(self)
    }

    fn trunc_(&mut self) -> Result<()> {
        crate::trunc_(self)
    }

    fn trunc_out(&self, out: &mut Tensor) -> Result<()> {
        crate::trunc_out(self, out)
    }

    fn type_as(&self, other: &Tensor) -> Result<Tensor> {
        crate::type_as(self, other)
    }

    fn unbind_copy_int(&self, dim: i64) -> Result<Vec<Tensor>> {
        crate::unbind_copy_int(self, dim)
    }

    fn unbind_copy_int_out(&self, dim: i64, out: &mut [Tensor]) -> Result<()> {
        crate::unbind_copy_int_out(self, dim, out)
    }

    fn unbind_int(&self, dim: i64) -> Result<Vec<Tensor>> {
        crate::unbind_int(self, dim)
    }

    fn unflatten_int(&self, dim: i64, sizes: &[i64]) -> Result<Tensor> {
        crate::unflatten_int(self, dim, sizes)
    }

    fn unfold(&self, dimension: i64, size: i64, step: i64) -> Result<Tensor> {
        crate::unfold(self, dimension, size, step)
    }

    fn unfold_copy(&self, dimension: i64, size: i64, step: i64) -> Result<Tensor> {
        crate::unfold_copy(self, dimension, size, step)
    }

    fn unfold_copy_out(&self, dimension: i64, size: i64, step: i64, out: &mut Tensor) -> Result<()> {
        crate::unfold_copy_out(self, dimension, size, step, out)
    }

    #[cfg(feature = "random")]
    fn uniform(&self, from: f64, to: f64) -> Result<Tensor> {
        crate::uniform!(self, from, to)
    }

    #[cfg(feature = "random")]
    fn uniform_(&mut self, from: f64, to: f64) -> Result<()> {
        crate::uniform_!(self, from, to)
    }

    #[cfg(feature = "random")]
    fn uniform_out(&self, from: f64, to: f64, out: &mut Tensor) -> Result<()> {
        crate::uniform_out!(self, from, to, out = out)
    }

    #[cfg(feature = "sort")]
    fn unique_consecutive(&self, return_inverse: bool, return_counts: bool, dim: Option<i64>) -> Result<(Tensor, Tensor, Tensor)> {
        crate::unique_consecutive(self, return_inverse, return_counts, dim)
    }

    #[cfg(feature = "sort")]
    fn unique_consecutive_out(&self, return_inverse: bool, return_counts: bool, dim: Option<i64>, out0: &mut Tensor, out1: &mut Tensor, out2: &mut Tensor) -> Result<()> {
        crate::unique_consecutive_out(self, return_inverse, return_counts, dim, out0, out1, out2)
    }

    #[cfg(feature = "sort")]
    fn unique_dim(&self, dim: i64, sorted: bool, return_inverse: bool, return_counts: bool) -> Result<(Tensor, Tensor, Tensor)> {
        crate::unique_dim(self, dim, sorted, return_inverse, return_counts)
    }

    #[cfg(feature = "sort")]
    fn unique_dim_consecutive(&self, dim: i64, return_inverse: bool, return_counts: bool) -> Result<(Tensor, Tensor, Tensor)> {
        crate::unique_dim_consecutive(self, dim, return_inverse, return_counts)
    }

    #[cfg(feature = "sort")]
    fn unique_dim_consecutive_out(&self, dim: i64, return_inverse: bool, return_counts: bool, out0: &mut Tensor, out1: &mut Tensor, out2: &mut Tensor) -> Result<()> {
        crate::unique_dim_consecutive_out(self, dim, return_inverse, return_counts, out0, out1, out2)
    }

    #[cfg(feature = "sort")]
    fn unique_dim_out(&self, dim: i64, sorted: bool, return_inverse: bool, return_counts: bool, out0: &mut Tensor, out1: &mut Tensor, out2: &mut Tensor) -> Result<()> {
        crate::unique_dim_out(self, dim, sorted, return_inverse, return_counts, out0, out1, out2)
    }

    fn unsafe_chunk(&self, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
        crate::unsafe_chunk(self, chunks, dim)
    }

    fn unsafe_split(&self, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
        crate::unsafe_split(self, split_size, dim)
    }

    fn unsafe_split_tensor_out(&self, split_size: i64, dim: i64, out: &mut [Tensor]) -> Result<()> {
        crate::unsafe_split_tensor_out(self, split_size, dim, out)
    }

    fn unsafe_split_with_sizes(&self, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        crate::unsafe_split_with_sizes(self, split_sizes, dim)
    }

    fn unsafe_split_with_sizes_out(&self, split_sizes: &[i64], dim: i64, out: &mut [Tensor]) -> Result<()> {
        crate::unsafe_split_with_sizes_out(self, split_sizes, dim, out)
    }

    fn unsqueeze(&self, dim: i64) -> Result<Tensor> {
        crate::unsqueeze(self, dim)
    }

    fn unsqueeze_(&mut self, dim: i64) -> Result<()> {
        crate::unsqueeze_(self, dim)
    }

    fn unsqueeze_copy(&self, dim: i64) -> Result<Tensor> {
        crate::unsqueeze_copy(self, dim)
    }

    fn unsqueeze_copy_out(&self, dim: i64, out: &mut Tensor) -> Result<()> {
        crate::unsqueeze_copy_out(self, dim, out)
    }

    #[cfg(feature = "resize")]
    fn upsample_bicubic2d(&self, output_size: &[i64], align_corners: bool, scales_h: Option<f64>, scales_w: Option<f64>) -> Result<Tensor> {
        crate::upsample_bicubic2d(self, output_size, align_corners, scales_h, scales_w)
    }

    #[cfg(feature = "resize")]
    fn upsample_bicubic2d_out(&self, output_size: &[i64], align_corners: bool, scales_h: Option<f64>, scales_w: Option<f64>, out: &mut Tensor) -> Result<()> {
        crate::upsample_bicubic2d_out(self, output_size, align_corners, scales_h, scales_w, out)
    }

    #[cfg(feature = "resize")]
    fn upsample_bilinear2d(&self, output_size: &[i64], align_corners: bool, scales_h: Option<f64>, scales_w: Option<f64>) -> Result<Tensor> {
        crate::upsample_bilinear2d(self, output_size, align_corners, scales_h, scales_w)
    }

    #[cfg(feature = "resize")]
    fn upsample_bilinear2d_out(&self, output_size: &[i64], align_corners: bool, scales_h: Option<f64>, scales_w: Option<f64>, out: &mut Tensor) -> Result<()> {
        crate::upsample_bilinear2d_out(self, output_size, align_corners, scales_h, scales_w, out)
    }

    #[cfg(feature = "resize")]
    fn upsample_linear1d(&self, output_size: &[i64], align_corners: bool, scales: Option<f64>) -> Result<Tensor> {
        crate::upsample_linear1d(self, output_size, align_corners, scales)
    }

    #[cfg(feature = "resize")]
    fn upsample_linear1d_out(&self, output_size: &[i64], align_corners: bool, scales: Option<f64>, out: &mut Tensor) -> Result<()> {
        crate::upsample_linear1d_out(self, output_size, align_corners, scales, out)
    }

    #[cfg(feature = "resize")]
    fn upsample_nearest1d(&self, output_size: &[i64], scales: Option<f64>) -> Result<Tensor> {
        crate::upsample_nearest1d(self, output_size, scales)
    }

    #[cfg(feature = "resize")]
    fn upsample_nearest1d_out(&self, output_size: &[i64], scales: Option<f64>, out: &mut Tensor) -> Result<()> {
        crate::upsample_nearest1d_out(self, output_size, scales, out)
    }

    #[cfg(feature = "resize")]
    fn upsample_nearest2d(&self, output_size: &[i64], scales_h: Option<f64>, scales_w: Option<f64>) -> Result<Tensor> {
        crate::upsample_nearest2d(self, output_size, scales_h, scales_w)
    }

    #[cfg(feature = "resize")]
    fn upsample_nearest2d_out(&self, output_size: &[i64], scales_h: Option<f64>, scales_w: Option<f64>, out: &mut Tensor) -> Result<()> {
        crate::upsample_nearest2d_out(self, output_size, scales_h, scales_w, out)
    }

    #[cfg(feature = "resize")]
    fn upsample_nearest3d(&self, output_size: &[i64], scales_d: Option<f64>, scales_h: Option<f64>, scales_w: Option<f64>) -> Result<Tensor> {
        crate::upsample_nearest3d(self, output_size, scales_d, scales_h, scales_w)
    }

    #[cfg(feature = "resize")]
    fn upsample_nearest3d_out(&self, output_size: &[i64], scales_d: Option<f64>, scales_h: Option<f64>, scales_w: Option<f64>, out: &mut Tensor) -> Result<()> {
        crate::upsample_nearest3d_out(self, output_size, scales_d, scales_h, scales_w, out)
    }

    #[cfg(feature = "resize")]
    fn upsample_trilinear3d(&self, output_size: &[i64], align_corners: bool, scales_d: Option<f64>, scales_h: Option<f64>, scales_w: Option<f64>) -> Result<Tensor> {
        crate::upsample_trilinear3d(self, output_size, align_corners, scales_d, scales_h, scales_w)
    }

    #[cfg(feature = "resize")]
    fn upsample_trilinear3d_out(&self, output_size: &[i64], align_corners: bool, scales_d: Option<f64>, scales_h: Option<f64>, scales_w: Option<f64>, out: &mut Tensor) -> Result<()> {
        crate::upsample_trilinear3d_out(self, output_size, align_corners, scales_d, scales_h, scales_w, out)
    }

    fn var(&self, unbiased: bool) -> Result<Tensor> {
        crate::var(self, unbiased)
    }

    fn var_correction(&self, dim: Option<&[i64]>) -> Result<Tensor> {
        crate::var_correction!(self, dim)
    }

    fn var_correction_out(&self, dim: Option<&[i64]>, out: &mut Tensor) -> Result<()> {
        crate::var_correction_out!(self, dim, out = out)
    }

    fn var_dim(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
        crate::var_dim(self, dim, unbiased, keepdim)
    }

    fn var_mean(&self, unbiased: bool) -> Result<(Tensor, Tensor)> {
        crate::var_mean(self, unbiased)
    }

    fn var_mean_correction(&self, dim: Option<&[i64]>) -> Result<(Tensor, Tensor)> {
        crate::var_mean_correction!(self, dim)
    }

    fn var_mean_correction_out(&self, dim: Option<&[i64]>, out0: &mut Tensor, out1: &mut Tensor) -> Result<()> {
        crate::var_mean_correction_out!(self, dim, out0 = out0, out1 = out1)
    }

    fn var_mean_dim(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)> {
        crate::var_mean_dim(self, dim, unbiased, keepdim)
    }

    fn var_out(&self, dim: Option<&[i64]>, unbiased: bool, keepdim: bool, out: &mut Tensor) -> Result<()> {
        crate::var_out(self, dim, unbiased, keepdim, out)
    }

    #[cfg(feature = "products")]
    fn vdot(&self, other: &Tensor) -> Result<Tensor> {
        crate::vdot(self, other)
    }

    #[cfg(feature = "products")]
    fn vdot_out(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::vdot_out(self, other, out)
    }

    fn view(&self, size: &[i64]) -> Result<Tensor> {
        crate::view(self, size)
    }

    fn view_as(&self, other: &Tensor) -> Result<Tensor> {
        crate::view_as(self, other)
    }

    fn view_as_complex(&self) -> Result<Tensor> {
        crate::view_as_complex(self)
    }

    fn view_as_complex_copy(&self) -> Result<Tensor> {
        crate::view_as_complex_copy(self)
    }

    fn view_as_complex_copy_out(&self, out: &mut Tensor) -> Result<()> {
        crate::view_as_complex_copy_out(self, out)
    }

    fn view_as_real(&self) -> Result<Tensor> {
        crate::view_as_real(self)
    }

    fn view_as_real_copy(&self) -> Result<Tensor> {
        crate::view_as_real_copy(self)
    }

    fn view_as_real_copy_out(&self, out: &mut Tensor) -> Result<()> {
        crate::view_as_real_copy_out(self, out)
    }

    fn view_copy(&self, size: &[i64]) -> Result<Tensor> {
        crate::view_copy(self, size)
    }

    fn view_copy_dtype(&self, dtype: DType) -> Result<Tensor> {
        crate::view_copy_dtype(self, dtype)
    }

    fn view_copy_dtype_out(&self, dtype: DType, out: &mut Tensor) -> Result<()> {
        crate::view_copy_dtype_out(self, dtype, out)
    }

    fn view_copy_out(&self, size: &[i64], out: &mut Tensor) -> Result<()> {
        crate::view_copy_out(self, size, out)
    }

    fn view_dtype(&self, dtype: DType) -> Result<Tensor> {
        crate::view_dtype(self, dtype)
    }

    fn vsplit_array(&self, indices: &[i64]) -> Result<Vec<Tensor>> {
        crate::vsplit_array(self, indices)
    }

    fn vsplit_int(&self, sections: i64) -> Result<Vec<Tensor>> {
        crate::vsplit_int(self, sections)
    }

    fn xlogy(&self, other: &Tensor) -> Result<Tensor> {
        crate::xlogy(self, other)
    }

    fn xlogy_(&mut self, other: &Tensor) -> Result<()> {
        crate::xlogy_(self, other)
    }

    fn xlogy__scalar_other(&mut self, other: impl Into<Scalar>) -> Result<()> {
        crate::xlogy__scalar_other(self, other.into())
    }

    fn xlogy_outscalar_other(&self, other: impl Into<Scalar>, out: &mut Tensor) -> Result<()> {
        crate::xlogy_outscalar_other(self, other.into(), out)
    }

    fn xlogy_outtensor(&self, other: &Tensor, out: &mut Tensor) -> Result<()> {
        crate::xlogy_outtensor(self, other, out)
    }

    fn xlogy_scalar_other(&self, other: impl Into<Scalar>) -> Result<Tensor> {
        crate::xlogy_scalar_other(self, other.into())
    }

    fn zero(&self) -> Result<Tensor> {
        crate::zero(self)
    }

    fn zero_(&mut self) -> Result<()> {
        crate::zero_(self)
    }

    fn zero_out(&self, out: &mut Tensor) -> Result<()> {
        crate::zero_out(self, out)
    }

    fn zeros_like(&self) -> Result<Tensor> {
        crate::zeros_like!(self)
    }

    fn zeros_like_out(&self, out: &mut Tensor) -> Result<()> {
        crate::zeros_like_out!(self, out = out)
    }
}
