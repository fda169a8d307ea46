//! Tests that models as users write them load state dicts of PyTorch, and then compute the same outputs, losses, gradients and buffers
//! (`record.py`).

mod gpt;
mod lstm_classifier;
mod recording;
mod resnet;
mod unet;

use kernels_cpu as _;
