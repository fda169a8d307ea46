//! A small U-Net.

use aten::prelude::*;
use dispatch_nn::{self as nn, Forward, Module};
use dispatch_runtime::prelude::*;

#[derive(Clone, Module)]
struct DoubleConv {
    double_conv: nn::Sequential,
}

impl DoubleConv {
    fn new(inputs: i64, outputs: i64) -> Result<Self> {
        let options = || nn::ConvOptions { padding: 1.into(), bias: false, ..nn::ConvOptions::default() };
        let double_conv = nn::Sequential::new()
            .add(nn::Conv2d::with(inputs, outputs, 3, options())?)
            .add(nn::BatchNorm2d::new(outputs)?)
            .add(nn::ReLU)
            .add(nn::Conv2d::with(outputs, outputs, 3, options())?)
            .add(nn::BatchNorm2d::new(outputs)?)
            .add(nn::ReLU);
        Ok(Self { double_conv })
    }
}

impl Forward for DoubleConv {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.double_conv.forward(x)
    }
}

#[derive(Clone, Module)]
struct Down {
    maxpool_conv: nn::Sequential,
}

#[derive(Clone, Module)]
struct Up {
    up: nn::ConvTranspose2d,
    conv: DoubleConv,
}

#[derive(Clone, Module)]
struct OutConv {
    conv: nn::Conv2d,
}

#[derive(Clone, Module)]
struct UNet {
    inc: DoubleConv,
    down1: Down,
    up1: Up,
    outc: OutConv,
}

impl UNet {
    fn new() -> Result<Self> {
        let maxpool_conv = nn::Sequential::new().add(nn::MaxPool2d::new(2)?).add(DoubleConv::new(4, 8)?);
        let up = nn::ConvTranspose2d::with(
            8,
            4,
            2,
            nn::ConvTransposeOptions { stride: 2.into(), ..nn::ConvTransposeOptions::default() },
        )?;
        Ok(Self {
            inc: DoubleConv::new(1, 4)?,
            down1: Down { maxpool_conv },
            up1: Up { up, conv: DoubleConv::new(8, 4)? },
            outc: OutConv { conv: nn::Conv2d::new(4, 2, 1)? },
        })
    }
}

impl Forward for UNet {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let first = self.inc.forward(x)?;
        let second = self.down1.maxpool_conv.forward(&first)?;
        let up = self.up1.up.forward(&second)?;
        let joined = self.up1.conv.forward(&Tensor::cat(&[first, up], 1)?)?;
        self.outc.conv.forward(&joined)
    }
}

#[test]
fn a_u_net_is_that_of_pytorch() -> Result<()> {
    let loss = |output: &Tensor, target: &Tensor| nn::MSELoss::new().forward(output, target);
    crate::recording::check("unet", &UNet::new()?, UNet::forward, loss)
}
