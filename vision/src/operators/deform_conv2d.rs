//! `deform_conv2d`: convolution at shifted points.

use dispatch_runtime::{BadArgument, Expected, Sizes, Spec, prelude::*};

use crate::checks::{check_at_least, check_device, check_floating, check_rank, check_same_kind, check_sizes, to_usize};

/// Deformable convolution: a convolution of images whose kernel reads interpolated points, each shifted by an offset of its own.
///
/// For each element of a kernel and each pixel of the result, `offset` has the vertical and then the horizontal shift, and `mask` a factor,
/// which is used only if `use_mask` is set. The channels of `input` are divided into `offset_groups` groups, each with its own offsets and
/// factors. Points outside of the image are zero.
///
/// ```
/// use dispatch_vision::deform_conv2d;
/// use {aten::prelude::*, dispatch_runtime::prelude::*};
///
/// # fn main() -> Result<()> {
/// let image = Tensor::from([[[[1.0, 2.0], [3.0, 4.0]]]]);
/// let (weight, bias, no_mask) = (Tensor::from([[[[10.0]]]]), Tensor::from([0.0]), Tensor::from([[1.0]]));
/// let half_a_pixel_to_the_right = aten::stack(&[Tensor::zeros([1, 2, 2], DType::F64)?, Tensor::full([1, 2, 2], 0.5, DType::F64)?], 1)?;
/// let y = deform_conv2d(&image, &weight, &half_a_pixel_to_the_right, &no_mask, &bias, 1, 1, 0, 0, 1, 1, 1, 1, false)?;
/// assert_eq!(y.to_vec::<f64>()?, [15.0, 10.0, 35.0, 20.0]);
/// # Ok(())
/// # }
/// ```
#[op_def(
    "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
    plan
)]
pub fn deform_conv2d(_: ...) -> Result<Tensor>;

/// The sizes of a deformable convolution: the value of its plan, which kernels get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeformableConvolution {
    /// The number of images.
    pub images: usize,
    /// The number of channels of an image.
    pub channels: usize,
    /// The height and width of an image.
    pub image: [usize; 2],
    /// The number of channels of the result.
    pub out_channels: usize,
    /// The height and width of the result.
    pub result: [usize; 2],
    /// The height and width of the kernel.
    pub kernel: [usize; 2],
    /// The steps of the kernel in the image.
    pub stride: [i64; 2],
    /// The number of zeros around the image.
    pub padding: [i64; 2],
    /// The steps between the elements of the kernel.
    pub dilation: [i64; 2],
    /// The number of groups of channels that are convolved separately.
    pub groups: usize,
    /// The number of groups of channels with offsets of their own.
    pub offset_groups: usize,
}

#[op_plan(deform_conv2d)]
fn deform_conv2d_plan(_: ...) -> Result<Plan<DeformableConvolution>, BadArgument> {
    let steps = Steps {
        stride: [stride_h, stride_w],
        padding: [pad_h, pad_w],
        dilation: [dilation_h, dilation_w],
        groups: [groups, offset_groups],
    };
    let (sizes, result_sizes) = steps.check([input, weight, offset, mask, bias], use_mask)?;
    Ok(Plan::new(sizes, [Spec::contiguous(input.dtype(), &result_sizes)]))
}

/// The gradients of [`deform_conv2d`] for its input, weight, offset, mask and bias. That of a mask that is not used is zero.
///
/// ```
/// use dispatch_vision::_deform_conv2d_backward;
/// use {aten::prelude::*, dispatch_runtime::prelude::*};
///
/// # fn main() -> Result<()> {
/// let image = Tensor::from([[[[1.0, 2.0], [3.0, 4.0]]]]);
/// let (weight, bias, no_mask) = (Tensor::from([[[[10.0]]]]), Tensor::from([0.0]), Tensor::from([[1.0]]));
/// let (grad, offset) = (Tensor::ones([1, 1, 2, 2], DType::F64)?, Tensor::zeros([1, 2, 2, 2], DType::F64)?);
/// let (of_input, of_weight, ..) =
///     _deform_conv2d_backward(&grad, &image, &weight, &offset, &no_mask, &bias, 1, 1, 0, 0, 1, 1, 1, 1, false)?;
/// assert_eq!(of_input.to_vec::<f64>()?, [10.0; 4]);
/// assert_eq!(of_weight.item::<f64>()?, 10.0);
/// # Ok(())
/// # }
/// ```
#[op_def(
    "torchvision::_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    plan
)]
pub fn _deform_conv2d_backward(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)>;

#[op_plan(_deform_conv2d_backward)]
fn deform_conv2d_backward_plan(_: ...) -> Result<Plan<DeformableConvolution, 5>, BadArgument> {
    let steps = Steps {
        stride: [stride_h, stride_w],
        padding: [pad_h, pad_w],
        dilation: [dilation_h, dilation_w],
        groups: [groups, offset_groups],
    };
    let (sizes, result_sizes) = steps.check([input, weight, offset, mask, bias], use_mask)?;
    check_same_kind("grad", grad, ("input", input))?;
    check_sizes("grad", grad, &result_sizes, "the result has")?;
    let specs = [input, weight, offset, mask, bias].map(|tensor| Spec::contiguous(tensor.dtype(), tensor.sizes()));
    Ok(Plan::new(sizes, specs))
}

/// The numbers among the arguments, vertical before horizontal.
struct Steps {
    stride: [i64; 2],
    padding: [i64; 2],
    dilation: [i64; 2],
    /// The numbers of groups of the weight and of the offsets.
    groups: [i64; 2],
}

impl Steps {
    /// Checks all arguments, and returns the sizes of the convolution and of its result.
    fn check(
        &self,
        [input, weight, offset, mask, bias]: [&Tensor; 5],
        use_mask: bool,
    ) -> Result<(DeformableConvolution, [i64; 4]), BadArgument> {
        check_floating("input", input)?;
        for (name, tensor) in [("weight", weight), ("offset", offset), ("bias", bias)] {
            check_same_kind(name, tensor, ("input", input))?;
        }
        self.check_numbers()?;
        let [images, channels, height, width]: [i64; 4] = check_rank("input", input)?;
        let [out_channels, ..] = self.check_weight(weight, channels)?;
        check_sizes("bias", bias, &[out_channels], "`weight` has in dimension 0")?;
        let [group_count, offset_groups] = self.groups;
        if channels % offset_groups != 0 {
            let divisor = Expected::DivisorOf(channels.into());
            return Err(
                BadArgument::number("offset_groups", offset_groups, divisor).because("`input` has so many channels")
            );
        }
        let kernel = [weight.sizes()[2], weight.sizes()[3]];
        let result = [self.result_size(height, kernel, 0)?, self.result_size(width, kernel, 1)?];
        let points = offset_groups.saturating_mul(kernel[0]).saturating_mul(kernel[1]);
        let reason = "the result and the kernel need";
        check_sizes("offset", offset, &[images, points.saturating_mul(2), result[0], result[1]], reason)?;
        if use_mask {
            check_same_kind("mask", mask, ("input", input))?;
            check_sizes("mask", mask, &[images, points, result[0], result[1]], reason)?;
        } else {
            check_device("mask", mask, input)?;
        }
        let sizes = DeformableConvolution {
            images: to_usize(images),
            channels: to_usize(channels),
            image: [height, width].map(to_usize),
            out_channels: to_usize(out_channels),
            result: result.map(to_usize),
            kernel: kernel.map(to_usize),
            stride: self.stride,
            padding: self.padding,
            dilation: self.dilation,
            groups: to_usize(group_count),
            offset_groups: to_usize(offset_groups),
        };
        Ok((sizes, [images, out_channels, result[0], result[1]]))
    }

    fn check_numbers(&self) -> Result<(), BadArgument> {
        let Self { stride, padding, dilation, groups } = self;
        let numbers = [
            ("stride_h", stride[0], 1),
            ("stride_w", stride[1], 1),
            ("pad_h", padding[0], 0),
            ("pad_w", padding[1], 0),
            ("dilation_h", dilation[0], 1),
            ("dilation_w", dilation[1], 1),
            ("groups", groups[0], 1),
            ("offset_groups", groups[1], 1),
        ];
        numbers.into_iter().try_for_each(|(name, number, least)| check_at_least(name, number, least))
    }

    /// Checks the sizes of the weight, and returns them.
    fn check_weight(&self, weight: &Tensor, channels: i64) -> Result<[i64; 4], BadArgument> {
        let sizes: [i64; 4] = check_rank("weight", weight)?;
        let [groups, _] = self.groups;
        if sizes[1].saturating_mul(groups) != channels {
            let expected =
                format!("sizes with {channels} / {groups} in dimension 1, the channels of `input` in a group");
            return Err(BadArgument::value("weight", format!("of sizes {sizes:?}"), expected));
        }
        if sizes[0] % groups != 0 {
            let size = Expected::MultipleOf(groups);
            return Err(BadArgument::sizes("weight", &sizes, Sizes::Dim { dim: 0, size })
                .because(format!("`groups` is {groups}")));
        }
        for dim in [2, 3] {
            if sizes[dim] < 1 {
                return Err(BadArgument::size("weight", &sizes, dim, Expected::AtLeast(1)));
            }
        }
        Ok(sizes)
    }

    /// Returns the size of the result along an axis.
    fn result_size(&self, image: i64, kernel: [i64; 2], axis: usize) -> Result<i64, BadArgument> {
        let wide = i128::from;
        let extent = wide(self.dilation[axis]) * (wide(kernel[axis]) - 1) + 1;
        let room = wide(image) + 2 * wide(self.padding[axis]) - extent;
        if room < 0 {
            let found = format!("a kernel that covers {extent} pixels along an axis");
            return Err(BadArgument::value("weight", found, "no larger than the image with its padding"));
        }
        Ok(i64::try_from(room / wide(self.stride[axis]) + 1).unwrap_or(i64::MAX))
    }
}
