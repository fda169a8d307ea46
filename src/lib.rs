//! PyTorch's operator dispatcher, rebuilt for Rust: annotate a function, get a dispatched operator.
//!
//! An application depends on this crate, and imports the [`prelude`]. The root has the types and modules of applications, and [`backend`]
//! all that authors of backends and layers need. [`runtime`] is the crate [`dispatch_runtime`]: everything that the dispatcher consists of.
//! A crate of operators or kernels can depend on `dispatch_runtime` directly.
//!
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    feature = "cpu",
    doc = r"
```
use opdispatch::prelude::*;

# fn main() -> Result<()> {
let x = Tensor::from([[1.0, -2.0], [3.0, 4.0]]);
let y = (x.relu()? * 2.0)?.i((.., 0))?;
assert_eq!(y.to_vec::<f64>()?, [2.0, 6.0]);
# Ok(())
# }
```
"
)]
//!
//! # Features
//!
//! | feature | content | |
//! |---|---|---|
//! | `aten` | PyTorch's operators as functions (`opdispatch::aten`) and methods | with `cpu` |
//! | `cpu` | CPU kernels of these operators, linked without a `use`, and `opdispatch::backend::cpu`: loops and threads for kernels of your own | default |
//! | `cuda` | CUDA kernels of these operators, `opdispatch::cuda`; builds on any machine | |
//! | `attention`, `conv`, `loss`, `norm`, `optim`, `pooling`, `products`, `random`, `recurrent`, `resize`, `sort` | optional families of operators | default, all by `families` |
//! | `fft`, `linalg`, `quantized` | Fourier transforms; decompositions and linear systems; operators of quantised models | |
//! | `nn` | neural networks, optimisers, data loading and checkpoints: `opdispatch::nn`, `opdispatch::optim` | default |
//! | `autograd` | derivatives and the backward pass: `opdispatch::autograd`, `loss.backward()` | default |
//! | `autocast` | mixed precision: `opdispatch::autocast`, `autocast!` | default |
//! | `modes` | observers of every operator call, `opdispatch::modes`: print, count, profile | default |
//! | `files` | tensors in NumPy's `.npy` and `.npz` files and in safetensors files, and those of PyTorch's `.pt` files: `opdispatch::files` | with `nn` |
//! | `pt2` | programs of `torch.export`, read, run and trained without PyTorch: `opdispatch::pt2` | |
//! | `trace` | records the operator calls of a function as a graph, `opdispatch::trace` | |
//! | `vmap` | runs a function of one sample on a batch, `opdispatch::vmap` | default |
//! | `checks` | checks of your own operators, for tests: `opdispatch::checks` | |
//! | `inventory` | registrations are collected before `main` | default |
//! | `linkme` | registrations are collected by the linker | |
//!
#![cfg_attr(
    all(feature = "cpu", feature = "autograd", feature = "vmap", feature = "products"),
    doc = r"
# Gradients of each sample

`vmap` over `grad` computes the gradient of the loss of each sample, with one call for all samples. Inputs and results of all transforms are
trees of tensors ([`TensorTree`](trait@dispatch_runtime::TensorTree)): tensors, tuples, lists, maps, and structs of these. [`jacrev`](jacobian::jacrev) computes the
derivatives of a function with more than one result, and [`hessian`](jacobian::hessian) second derivatives.

```
use opdispatch::autograd::functional::grad;
use opdispatch::prelude::*;
use opdispatch::vmap::vmap;

# fn main() -> Result<()> {
#[derive(TensorTree)]
struct Linear {
    weight: Tensor,
    bias: Tensor,
}

let model = Linear { weight: Tensor::from([0.5, -1.0]), bias: Tensor::from(0.0) };
let (samples, targets) = (Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), Tensor::from([1.0, 0.0, 1.0]));
let each = vmap(
    |(x, target)| {
        let loss = |model: &Linear| expr!(x.dot(&model.weight) + model.bias - target)?.square();
        grad(loss, &model)
    },
    (&samples, &targets),
)?;
assert_eq!(each.weight.sizes(), [3, 2]);
assert_eq!(each.weight.i(0)?.to_vec::<f64>()?, [-5.0, -10.0]);
assert_eq!(each.bias.to_vec::<f64>()?, [-5.0, -5.0, -9.0]);
# Ok(())
# }
```
"
)]
//!
//! # An operator of your own
//!
//! ```
//! use opdispatch::prelude::*;
//!
//! #[op_def("double(Tensor self) -> Tensor")]
//! pub fn double(this: &Tensor) -> Result<Tensor>;
//!
//! #[op_impl(double, CPU)]
//! fn double_cpu(this: &Tensor) -> Result<Tensor> {
//!     Ok(Tensor::from_slice(&this.read::<f32>()?.iter().map(|x| x * 2.0).collect::<Vec<f32>>()))
//! }
//!
//! # fn main() -> Result<()> {
//! assert_eq!(&*double(&Tensor::from_slice(&[1.5_f32]))?.read::<f32>()?, [3.0]);
//! # Ok(())
//! # }
//! ```

pub mod backend;
#[cfg(all(feature = "autograd", feature = "vmap"))]
pub mod jacobian;

#[cfg(feature = "aten")]
pub use aten;
#[cfg(feature = "autocast")]
pub use dispatch_autocast::{self as autocast, autocast};
#[cfg(feature = "autograd")]
pub use dispatch_autograd as autograd;
#[cfg(feature = "checks")]
pub use dispatch_checks as checks;
#[cfg(feature = "files")]
pub use dispatch_files as files;
#[cfg(feature = "modes")]
pub use dispatch_modes as modes;
#[cfg(feature = "nn")]
pub use dispatch_nn as nn;
#[cfg(feature = "nn")]
pub use dispatch_optim as optim;
#[cfg(feature = "pt2")]
pub use dispatch_pt2 as pt2;
pub use dispatch_runtime::{self as runtime, DType, Device, Error, Result, Scalar, Tensor, manual_seed};
#[cfg(feature = "trace")]
pub use dispatch_trace as trace;
#[cfg(feature = "vmap")]
pub use dispatch_vmap as vmap;
#[cfg(feature = "cpu")]
pub use kernels_cpu::thread_pool::{num_threads, set_num_threads};
#[cfg(feature = "cuda")]
pub use kernels_cuda as cuda;

/// The usual imports of an application: tensors with their methods, the operators, and what defines operators and kernels.
///
/// Authors of backends and layers import more from [`backend`].
///
/// ```
/// use opdispatch::prelude::*;
/// assert_eq!(Tensor::from([1, 2, 3]).dtype(), DType::I32);
/// ```
pub mod prelude {
    #[cfg(feature = "aten")]
    pub use aten::{self, TensorOptions, prelude::*};
    #[cfg(feature = "autograd")]
    pub use dispatch_autograd::{Differentiable, not_differentiable, op_grad};
    #[cfg(feature = "nn")]
    pub use dispatch_nn::{Forward, Module};
    #[cfg(feature = "nn")]
    pub use dispatch_optim::{Optimizer, Schedule};
    pub use dispatch_runtime::{
        Arithmetic, Complex32, Complex64, DType, Device, Element, Error, ErrorKind, Floating, Generator, Number, Plan,
        PlanList, Result, Scalar, Tensor, bf16, expr, f16, link, op_def, op_impl, op_plan,
    };
    // The derive macro without the trait, which would give numbers methods.
    pub use dispatch_runtime::prelude::TensorTree;
}

/// Not public API: the items that generated code uses.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "autograd")]
    pub use dispatch_autograd::__private as autograd;
    #[cfg(feature = "nn")]
    pub use dispatch_nn::__private as nn;
    pub use dispatch_runtime::__private::*;
    #[cfg(feature = "vmap")]
    pub use dispatch_vmap::__private as vmap;
}

/// The examples of the README, as doctests.
#[cfg(all(doctest, feature = "cpu", feature = "pt2"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// The chapters of the guide, as doctests.
#[cfg(all(doctest, feature = "cpu", feature = "autograd", feature = "modes", feature = "families"))]
mod guide {
    #[doc = include_str!("../docs/guide/src/introduction.md")]
    struct Introduction;
    #[doc = include_str!("../docs/guide/src/tensors.md")]
    struct Tensors;
    #[cfg(all(feature = "autocast", feature = "nn"))]
    #[doc = include_str!("../docs/guide/src/training.md")]
    struct Training;
    #[cfg(feature = "nn")]
    #[doc = include_str!("../docs/guide/src/networks.md")]
    struct Networks;
    #[cfg(feature = "pt2")]
    #[doc = include_str!("../docs/guide/src/programs.md")]
    struct Programs;
    #[doc = include_str!("../docs/guide/src/first-operator.md")]
    struct FirstOperator;
    #[doc = include_str!("../docs/guide/src/kernels-and-plans.md")]
    struct KernelsAndPlans;
    #[doc = include_str!("../docs/guide/src/derivatives.md")]
    struct Derivatives;
    #[cfg(feature = "vmap")]
    #[doc = include_str!("../docs/guide/src/transforms.md")]
    struct Transforms;
    #[cfg(feature = "checks")]
    #[doc = include_str!("../docs/guide/src/checking.md")]
    struct Checking;
    #[doc = include_str!("../docs/guide/src/backend.md")]
    struct Backend;
    #[doc = include_str!("../docs/guide/src/layer.md")]
    struct Layer;
    #[doc = include_str!("../docs/guide/src/mode.md")]
    struct Mode;
    #[doc = include_str!("../docs/guide/src/explain.md")]
    struct Explain;
    #[doc = include_str!("../docs/guide/src/performance.md")]
    struct Performance;
    #[doc = include_str!("../docs/guide/src/how-a-call-works.md")]
    struct HowACallWorks;
}
