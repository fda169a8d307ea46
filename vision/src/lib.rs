//! torchvision's operators on boxes and on regions of images, in the namespace `torchvision`: non-maximum suppression, pooled regions, and
//! deformable convolution. They have torchvision's names, schemas, results and gradients.
//!
//! ```
//! use dispatch_vision::{nms, roi_align};
//! use {aten::prelude::*, dispatch_runtime::prelude::*};
//!
//! # fn main() -> Result<()> {
//! let image = Tensor::arange(0.0..64.0, DType::F64)?.reshape([1, 1, 8, 8])?;
//! let boxes = Tensor::from([[0.0, 0.0, 4.0, 4.0], [0.5, 0.0, 4.0, 4.0], [4.0, 4.0, 8.0, 8.0]]);
//! let kept = boxes.index_select(0, &nms(&boxes, &Tensor::from([0.9, 0.8, 0.7]), 0.5)?)?;
//! let regions = aten::cat(&[Tensor::zeros((2, 1), &kept)?, kept], 1)?;    // the number of the image, then the edges
//! assert_eq!(roi_align(&image, &regions, 1.0, 1, 1, 2, true)?.to_vec::<f64>()?, [13.5, 49.5]);
//! # Ok(())
//! # }
//! ```
//!
//! A program that calls operators by name, such as an exported program, links the crate with `use dispatch_vision as _;`.
//!
//! The kernels are for the CPU. A call with tensors on another device is a typed error ([`ErrorKind::NoKernel`]) that names the device
//! and the kernels that exist. Any crate can add a kernel, with `#[op_impl(dispatch_vision::nms, CUDA)]`, as the crate
//! examples/split-backends/myops-cuda does for its operator.
//!
//! # An operator library of your own
//!
//! This crate is also an example. It uses public interfaces only, and no other library knows it, so a third party can write such a crate in
//! the same way. A library of operators needs these parts. Only the first and a kernel are necessary:
//!
//! | part | written as | gives | here |
//! |---|---|---|---|
//! | definition | `#[op_def("namespace::name(..) -> ..")]` | a function, a macro with named arguments, and an operator for every layer | `operators/` |
//! | plan | `#[op_plan]` | typed errors before any kernel runs; shapes on Meta, for tracing and for `vmap` | `operators/` |
//! | kernel | `#[op_impl(name, CPU, dtypes(floating))]` | the elements, in any floating dtype | `kernels/` |
//! | derivative | `#[op_grad]`, `not_differentiable!` | gradients, also of composites that call the operator | `derivatives.rs` |
//! | batch rule | `#[op_vmap]` | `vmap` with one call; without a rule it loops over slices | `batch_rules.rs` |
//! | autocast policy | `autocast!`, or a kernel for the key `Autocast` | computation in a wider or a shorter dtype in autocast regions | `autocast.rs` |
//!
//! A library depends on the crates of its parts: `dispatch-runtime` for definitions and plans, `aten` for PyTorch's operators, `kernels-cpu` for
//! the loops and threads of kernels, and `dispatch-autograd`, `dispatch-vmap` and `dispatch-autocast` for rules. Each has `default-features =
//! false`, so the program decides about families of operators. An application adds `opdispatch`, which has the same items under other paths:
//!
//! | library | application |
//! |---|---|
//! | `dispatch_runtime::{prelude, Spec, ..}` | `opdispatch::{prelude, backend::Spec, ..}` |
//! | `aten::prelude`, `dispatch_autograd::Differentiable` | `opdispatch::prelude` |
//! | `dispatch_autograd`, `dispatch_vmap`, `dispatch_autocast` | `opdispatch::autograd`, `opdispatch::vmap`, `opdispatch::autocast` |
//! | `kernels_cpu::engine` | `opdispatch::backend::cpu` |
//!
//! This is a complete library of one operator:
//!
//! ```
//! use aten::prelude::*;
//! use dispatch_autograd::{Differentiable, op_grad};
//! use dispatch_runtime::{BadArgument, DTypes, Spec, prelude::*};
//! use dispatch_vmap::{Batch, Mapped, op_vmap, vmap};
//! use kernels_cpu::engine::parallel_chunks;
//!
//! /// The areas of boxes: rows of a left, upper, right and lower edge.
//! #[op_def("boxes::area(Tensor boxes) -> Tensor", plan)]
//! pub fn area(boxes: &Tensor) -> Result<Tensor>;
//!
//! // The contract: which arguments are right, and the dtype and sizes of the result.
//! #[op_plan(area)]
//! fn area_plan(boxes: &Tensor) -> Result<Plan<()>, BadArgument> {
//!     let &[count, 4] = boxes.sizes() else { return Err(BadArgument::value("boxes", format!("of sizes {:?}", boxes.sizes()), "rows of four")) };
//!     if !boxes.dtype().is_floating() {
//!         return Err(BadArgument::dtype("boxes", boxes.dtype(), DTypes::Floating));
//!     }
//!     Ok(Plan::new((), [Spec::contiguous(boxes.dtype(), &[count])]))
//! }
//!
//! // A kernel checks nothing again. It writes the result that the plan describes; the backend's threads are open to it.
//! #[op_impl(area, CPU, dtypes(floating))]
//! fn area_cpu<T: Floating>(_plan: &(), out: &mut Tensor, boxes: &Tensor) -> Result<()> {
//!     let edges = boxes.to_vec::<T>()?;
//!     parallel_chunks(&mut out.write::<T>()?, 1, 4096, |row, area| {
//!         let [left, upper, right, lower] = [0, 1, 2, 3].map(|edge| edges[4 * row + edge]);
//!         area[0] = (right - left) * (lower - upper);
//!     });
//!     Ok(())
//! }
//!
//! // A derivative is made of operators, so it has a derivative itself.
//! #[op_grad(area)]
//! fn area_grad(grad: &Tensor, boxes: &Tensor) -> Result<Tensor> {
//!     let [left, upper, right, lower] = [0, 1, 2, 3].map(|edge| boxes.select(1, edge));
//!     let (width, height) = (((right? - left?)? * grad)?, ((lower? - upper?)? * grad)?);
//!     aten::stack(&[(-&height)?, (-&width)?, height, width], 1)
//! }
//!
//! // The boxes of all slices are the boxes of one call.
//! #[op_vmap(area)]
//! fn area_batched(batch: &Batch, boxes: Mapped) -> Result<Mapped> {
//!     let all = area(&boxes.batch_first()?.flatten_dims(0, 1)?)?;
//!     Ok(Mapped::from_batch_first(all.reshape([batch.size(), -1])?))
//! }
//!
//! # fn main() -> Result<()> {
//! let boxes = Tensor::from([[0.0, 0.0, 2.0, 3.0], [1.0, 1.0, 2.0, 2.0]]).requires_grad_(true)?;
//! let areas = area(&boxes)?;
//! assert_eq!(areas.to_vec::<f64>()?, [6.0, 1.0]);
//! areas.sum()?.backward()?;
//! assert_eq!(boxes.grad().unwrap().to_vec::<f64>()?, [-3.0, -2.0, 3.0, 2.0, -1.0, -1.0, 1.0, 1.0]);
//! let batch = aten::stack(&[boxes.detach()?, boxes.detach()?], 0)?;
//! assert_eq!(vmap(|boxes| area(boxes), &batch)?.sizes(), [2, 2]);
//! assert_eq!(
//!     area(&Tensor::from([1.0, 2.0])).unwrap_err().to_string(),
//!     "`boxes::area`: argument `boxes` is of sizes [2], but must be rows of four"
//! );
//! # Ok(())
//! # }
//! ```
//!
//! What the operators here show beyond that:
//!
//! * `nms` has results whose sizes depend on elements: its definition says `data_dependent`, and its kernel makes the result. Meta, tracing and
//!   `vmap` then refuse it with an error that says so.
//! * `roi_align` has an argument without a gradient, `not_differentiable(rois)`, and saves only the sizes of its images, as `&TensorOutline`.
//! * Eight operators share one contract (`operators/region_sizes.rs`), whose value the kernels get in place of unchecked numbers.
//! * `_deform_conv2d_backward` computes five gradients in one call. It has no derivative and no statement that it needs none, so a second
//!   backward pass is an error with its name.
//! * The batch rule of `roi_align` covers only `float32` and `float64`, because shorter dtypes cannot count all images; for others it
//!   returns `None`, and `vmap` loops.
//! * `roi_align` has an autocast policy of its own, a kernel for the key `Autocast`.
//!
//! [`ErrorKind::NoKernel`]: dispatch_runtime::ErrorKind::NoKernel
#![forbid(unsafe_code)]

mod autocast;
mod batch_rules;
mod checks;
mod derivatives;
mod kernels;
mod operators;

pub use operators::cuda_version::_cuda_version;
pub use operators::deform_conv2d::{_deform_conv2d_backward, DeformableConvolution, deform_conv2d};
pub use operators::nms::nms;
pub use operators::ps_roi_align::{_ps_roi_align_backward, ps_roi_align};
pub use operators::ps_roi_pool::{_ps_roi_pool_backward, ps_roi_pool};
pub use operators::region_sizes::RegionSizes;
pub use operators::roi_align::{_roi_align_backward, roi_align};
pub use operators::roi_pool::{_roi_pool_backward, roi_pool};
