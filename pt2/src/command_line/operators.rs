//! Operators of other libraries that exported programs call, beside those of PyTorch and torchvision.

mod grouped_mm_fallback;
mod scale_shift;
