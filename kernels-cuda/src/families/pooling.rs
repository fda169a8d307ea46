//! CUDA kernels of pooling: maxima and averages over windows, adaptive windows and random windows.
//!
//! A thread computes one element of the result. A backward thread computes the gradient of one element of an image, from the windows that
//! contain it: no two threads write the same element, and sums have a fixed order.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::FractionalPoolPlan;

use crate::engine::images::{Images, Window};
use crate::prelude::*;

kernel! {
    // SAFETY: each side comes with its own sizes and strides, and `aten` checked them. Indices that are elements are checked where they are
    // read.
    static POOLING_KERNEL = unsafe { Kernel::new("pooling", include_str!("../../kernels/pooling/pooling.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["max_pool", "max_pool_backward", "avg_pool", "avg_pool_backward"], &NUMERIC_DTYPES);
        instances.add_templates_for_each_dtype(&["fractional_max_pool", "max_pool_backward_outside"], &FLOATING_DTYPES);
    }) };
}

define_parameters! {
    /// The kernels' `struct PoolWindows`: the windows and the divisor of averages.
    struct PoolWindows {
        window: Window,
        divisor: i64,
        kind: u32,
        counts_padding: u32,
    }
}

/// The way in which the windows of pooling are placed. The discriminant is the kernels' number of it.
#[derive(Clone, Copy)]
enum WindowKind {
    Regular,
    Adaptive,
    Random,
}

impl PoolWindows {
    fn new(window: &aten::Window, kind: WindowKind) -> Self {
        let window = Window::from_aten(window);
        Self { window, divisor: 0, kind: kind as u32, counts_padding: 1 }
    }

    fn regular(window: &aten::Window) -> Self {
        Self::new(window, WindowKind::Regular)
    }

    fn adaptive(rank: usize) -> Self {
        Self::with_unit_stride(&[1; 3][..rank], WindowKind::Adaptive)
    }

    fn random(random_windows: &FractionalPoolPlan) -> Self {
        Self::with_unit_stride(&random_windows.kernel, WindowKind::Random)
    }

    fn with_unit_stride(kernel: &[i64], kind: WindowKind) -> Self {
        let each = |number: i64| Dims::from_elem(number, kernel.len());
        let window =
            aten::Window { kernel: Dims::from_slice(kernel), stride: each(1), padding: each(0), dilation: each(1) };
        Self::new(&window, kind)
    }

    fn with_average_divisor(self, padding: bool, divisor: Option<i64>) -> Self {
        Self { counts_padding: padding.into(), divisor: divisor.unwrap_or(0), ..self }
    }
}

macro_rules! define_pools {
    ($($rank:literal $max:ident $max_backward:ident $avg:ident $avg_backward:ident
       $adaptive:ident $adaptive_backward:ident $adaptive_max:ident $adaptive_max_backward:ident;)*) => {$(
        #[op_impl(aten::$max, CUDA)]
        fn $max(plan: &aten::Window, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            check_dtype(aten::$max::operator(), "self", this.dtype(), &NUMERIC_DTYPES)?;
            max_pool($rank, this, out, PoolWindows::regular(plan))
        }

        #[op_impl(aten::$max_backward, CUDA)]
        fn $max_backward(plan: &aten::Window, out: &mut Tensor, _: ...) -> Result<()> {
            check_dtype(aten::$max_backward::operator(), "grad_output", out.dtype(), &NUMERIC_DTYPES)?;
            let site = fault_site!(concat!("aten::", stringify!($max_backward)), "indices");
            max_pool_backward($rank, grad_output, out, indices, PoolWindows::regular(plan), site)
        }

        #[op_impl(aten::$avg, CUDA)]
        fn $avg(plan: &aten::Window, out: &mut Tensor, _: ...) -> Result<()> {
            check_dtype(aten::$avg::operator(), "self", this.dtype(), &NUMERIC_DTYPES)?;
            average_pool("avg_pool", $rank, this, out, PoolWindows::regular(plan).with_average_divisor(count_include_pad, divisor_override))
        }

        #[op_impl(aten::$avg_backward, CUDA)]
        fn $avg_backward(plan: &aten::Window, out: &mut Tensor, _: ...) -> Result<()> {
            check_dtype(aten::$avg_backward::operator(), "grad_output", out.dtype(), &NUMERIC_DTYPES)?;
            average_pool("avg_pool_backward", $rank, grad_output, out, PoolWindows::regular(plan).with_average_divisor(count_include_pad, divisor_override))
        }

        #[op_impl(aten::$adaptive, CUDA)]
        fn $adaptive(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
            check_dtype(aten::$adaptive::operator(), "self", this.dtype(), &FLOATING_DTYPES)?;
            average_pool("avg_pool", $rank, this, out, PoolWindows::adaptive($rank))
        }

        #[op_impl(aten::$adaptive_backward, CUDA)]
        fn $adaptive_backward(_plan: &(), out: &mut Tensor, grad_output: &Tensor) -> Result<()> {
            check_dtype(aten::$adaptive_backward::operator(), "grad_output", out.dtype(), &FLOATING_DTYPES)?;
            average_pool("avg_pool_backward", $rank, grad_output, out, PoolWindows::adaptive($rank))
        }

        #[op_impl(aten::$adaptive_max, CUDA)]
        fn $adaptive_max(_plan: &(), out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            check_dtype(aten::$adaptive_max::operator(), "self", this.dtype(), &FLOATING_DTYPES)?;
            max_pool($rank, this, out, PoolWindows::adaptive($rank))
        }

        #[op_impl(aten::$adaptive_max_backward, CUDA)]
        fn $adaptive_max_backward(_plan: &(), out: &mut Tensor, grad_output: &Tensor, indices: &Tensor) -> Result<()> {
            check_dtype(aten::$adaptive_max_backward::operator(), "grad_output", out.dtype(), &FLOATING_DTYPES)?;
            let site = fault_site!(concat!("aten::", stringify!($adaptive_max_backward)), "indices");
            max_pool_backward($rank, grad_output, out, indices, PoolWindows::adaptive($rank), site)
        }
    )*};
}

define_pools! {
    2 max_pool2d_with_indices max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward
    _adaptive_avg_pool2d _adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward;
    3 max_pool3d_with_indices max_pool3d_with_indices_backward avg_pool3d avg_pool3d_backward
    _adaptive_avg_pool3d _adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward;
}

macro_rules! define_fractional_pools {
    ($($rank:literal $pool:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$pool, CUDA)]
        fn $pool(plan: &FractionalPoolPlan, out: [&mut Tensor; 2], _: ...) -> Result<()> {
            check_dtype(aten::$pool::operator(), "self", this.dtype(), &FLOATING_DTYPES)?;
            fractional_max_pool(this, random_samples, out, plan)
        }

        #[op_impl(aten::$backward, CUDA)]
        fn $backward(plan: &FractionalPoolPlan, out: &mut Tensor, grad_output: &Tensor, indices: &Tensor) -> Result<()> {
            check_dtype(aten::$backward::operator(), "grad_output", out.dtype(), &FLOATING_DTYPES)?;
            let site = fault_site!(concat!("aten::", stringify!($backward)), "indices");
            max_pool_backward($rank, grad_output, out, indices, PoolWindows::random(plan), site)
        }
    )*};
}

define_fractional_pools! {
    2 fractional_max_pool2d fractional_max_pool2d_backward;
    3 fractional_max_pool3d fractional_max_pool3d_backward;
}

fn max_pool(rank: usize, this: &Tensor, [out, found]: [&mut Tensor; 2], windows: PoolWindows) -> Result<()> {
    let (launch, count) = (Launch::on_device_of(out)?, out.geometry().count());
    let images = (Images::from_tensor(out, rank), Images::from_tensor(this, rank));
    let arguments = (count, out, found, this, images.0, images.1, windows);
    launch.run_per_element(&POOLING_KERNEL, "max_pool", &[this.dtype()], count, arguments)
}

fn fractional_max_pool(
    this: &Tensor,
    samples: &Tensor,
    [out, found]: [&mut Tensor; 2],
    random_windows: &FractionalPoolPlan,
) -> Result<()> {
    let rank = random_windows.kernel.len();
    let samples = aten::contiguous(samples, MemoryFormat::Contiguous)?;
    let (launch, count) = (Launch::on_device_of(out)?, out.geometry().count());
    let images = (Images::from_tensor(out, rank), Images::from_tensor(this, rank));
    let arguments =
        (count, out, found, this, images.0, images.1, PoolWindows::random(random_windows), &samples, rank as u64);
    launch.run_per_element(&POOLING_KERNEL, "fractional_max_pool", &[this.dtype()], count, arguments)
}

fn max_pool_backward(
    rank: usize,
    grad_output: &Tensor,
    out: &Tensor,
    indices: &Tensor,
    windows: PoolWindows,
    site: FaultSite,
) -> Result<()> {
    let (launch, count) = (Launch::on_device_of(out)?, out.geometry().count());
    let images =
        (Images::from_tensor(out, rank), Images::from_tensor(grad_output, rank), Images::from_tensor(indices, rank));
    let arguments = (count, out, grad_output, indices, images.0, images.1, images.2, windows);
    launch.run_per_element(&POOLING_KERNEL, "max_pool_backward", &[out.dtype()], count, arguments)?;
    if out.dtype().is_floating() {
        let count = grad_output.geometry().count();
        let faults = launch.fault_record();
        let arguments = (count, out, grad_output, indices, images.0, images.1, images.2, windows, faults, site);
        launch.run_per_element(&POOLING_KERNEL, "max_pool_backward_outside", &[out.dtype()], count, arguments)?;
    }
    Ok(())
}

fn average_pool(template: &'static str, rank: usize, this: &Tensor, out: &Tensor, windows: PoolWindows) -> Result<()> {
    let (launch, count) = (Launch::on_device_of(out)?, out.geometry().count());
    let images = (Images::from_tensor(out, rank), Images::from_tensor(this, rank));
    let arguments = (count, out, this, images.0, images.1, windows);
    launch.run_per_element(&POOLING_KERNEL, template, &[out.dtype()], count, arguments)
}
