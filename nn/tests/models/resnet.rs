//! A small residual network, with torchvision's names.

use aten::MaxPoolOptions;
use aten::prelude::*;
use dispatch_nn::{self as nn, Forward, Module};
use dispatch_runtime::prelude::*;

fn conv3x3(inputs: i64, outputs: i64, stride: i64) -> Result<nn::Conv2d> {
    let options =
        nn::ConvOptions { stride: stride.into(), padding: 1.into(), bias: false, ..nn::ConvOptions::default() };
    nn::Conv2d::with(inputs, outputs, 3, options)
}

#[derive(Clone, Module)]
struct BasicBlock {
    conv1: nn::Conv2d,
    bn1: nn::BatchNorm2d,
    conv2: nn::Conv2d,
    bn2: nn::BatchNorm2d,
    downsample: Option<nn::Sequential>,
}

impl BasicBlock {
    fn new(inputs: i64, outputs: i64, stride: i64) -> Result<Self> {
        let shortcut = || {
            let options = nn::ConvOptions { stride: stride.into(), bias: false, ..nn::ConvOptions::default() };
            let conv = nn::Conv2d::with(inputs, outputs, 1, options)?;
            Ok::<_, Error>(nn::Sequential::new().add(conv).add(nn::BatchNorm2d::new(outputs)?))
        };
        Ok(Self {
            conv1: conv3x3(inputs, outputs, stride)?,
            bn1: nn::BatchNorm2d::new(outputs)?,
            conv2: conv3x3(outputs, outputs, 1)?,
            bn2: nn::BatchNorm2d::new(outputs)?,
            downsample: (stride != 1 || inputs != outputs).then(shortcut).transpose()?,
        })
    }
}

impl Forward for BasicBlock {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let identity = match &self.downsample {
            Some(downsample) => downsample.forward(x)?,
            None => x.clone(),
        };
        let y = self.bn1.forward(&self.conv1.forward(x)?)?.relu()?;
        let y = self.bn2.forward(&self.conv2.forward(&y)?)?;
        (y + identity)?.relu()
    }
}

#[derive(Clone, Module)]
pub(crate) struct ResNet {
    conv1: nn::Conv2d,
    bn1: nn::BatchNorm2d,
    maxpool: nn::MaxPool2d,
    layer1: nn::Sequential,
    layer2: nn::Sequential,
    avgpool: nn::AdaptiveAvgPool2d,
    fc: nn::Linear,
}

impl ResNet {
    pub(crate) fn new() -> Result<Self> {
        let maxpool = MaxPoolOptions { stride: 2.into(), padding: 1.into(), ..MaxPoolOptions::default() };
        Ok(Self {
            conv1: conv3x3(3, 4, 1)?,
            bn1: nn::BatchNorm2d::new(4)?,
            maxpool: nn::MaxPool2d::with(3, maxpool)?,
            layer1: nn::Sequential::new().add(BasicBlock::new(4, 4, 1)?),
            layer2: nn::Sequential::new().add(BasicBlock::new(4, 8, 2)?).add(BasicBlock::new(8, 8, 1)?),
            avgpool: nn::AdaptiveAvgPool2d::new(1)?,
            fc: nn::Linear::new(8, 5)?,
        })
    }
}

impl Forward for ResNet {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.maxpool.forward(&self.bn1.forward(&self.conv1.forward(x)?)?.relu()?)?;
        let x = self.layer2.forward(&self.layer1.forward(&x)?)?;
        self.fc.forward(&self.avgpool.forward(&x)?.flatten_dims(1, -1)?)
    }
}

#[test]
fn a_resnet_is_that_of_torchvision() -> Result<()> {
    let loss = |output: &Tensor, target: &Tensor| nn::CrossEntropyLoss::new().forward(output, target);
    crate::recording::check("resnet", &ResNet::new()?, ResNet::forward, loss)
}
