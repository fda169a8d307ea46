//! Linear layers and convolutions.

use aten::{PadMode, Padding};
use dispatch_nn::{
    Bilinear, Conv1d, Conv2d, Conv3d, ConvOptions, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d,
    ConvTransposeOptions, Linear,
};
use dispatch_runtime::prelude::*;

use crate::recording::Group;

const MODES: [PadMode; 3] = [PadMode::Reflect, PadMode::Replicate, PadMode::Circular];

macro_rules! compare_convolutions {
    ($group:ident, $rank:literal, $conv:ident, $transpose:ident) => {{
        let first = |numbers: [i64; 3]| numbers[..$rank].to_vec();
        let name = stringify!($conv);
        $group.layer(name, $conv::new(2, 3, first([2, 3, 2])))?;
        $group.layer(&format!("{name} without items"), $conv::new(2, 3, 2))?;
        let options = ConvOptions {
            stride: first([2, 1, 2]).into(),
            padding: first([1, 2, 1]).into(),
            dilation: first([2, 1, 1]).into(),
            groups: 2,
            bias: false,
            ..ConvOptions::default()
        };
        $group.layer(&format!("{name} options"), $conv::with(2, 4, first([3, 2, 2]), options))?;
        let same = ConvOptions { padding: Padding::Same, ..ConvOptions::default() };
        let options = ConvOptions { dilation: first([1, 2, 1]).into(), ..same.clone() };
        $group.layer(&format!("{name} same"), $conv::with(1, 2, first([4, 3, 2]), options))?;
        let options = ConvOptions { padding: Padding::Valid, ..ConvOptions::default() };
        $group.layer(&format!("{name} valid"), $conv::with(1, 2, 2, options))?;
        for padding_mode in MODES {
            let padding = first([2, 1, 1]).into();
            let options = ConvOptions { padding, padding_mode, ..ConvOptions::default() };
            $group.layer(&format!("{name} {padding_mode}"), $conv::with(1, 2, 2, options))?;
            let options = ConvOptions { padding_mode, ..same.clone() };
            $group.layer(&format!("{name} {padding_mode} same"), $conv::with(1, 1, first([4, 3, 2]), options))?;
        }
        let name = stringify!($transpose);
        $group.layer(name, $transpose::new(2, 3, first([2, 3, 2])))?;
        $group.layer(&format!("{name} without items"), $transpose::new(2, 3, 2))?;
        let options = ConvTransposeOptions {
            stride: first([3, 2, 2]).into(),
            padding: first([1, 0, 1]).into(),
            output_padding: first([1, 1, 0]).into(),
            groups: 2,
            bias: false,
            dilation: first([2, 1, 1]).into(),
        };
        $group.layer(&format!("{name} options"), $transpose::with(2, 4, first([3, 2, 2]), options))?;
        let options = ConvTransposeOptions { stride: 2.into(), ..ConvTransposeOptions::default() };
        $group.function(&format!("{name} output size"), $transpose::with(1, 1, 2, options), |layer, x| {
            Ok(vec![layer.forward_with_output_size(&x[0], first([7, 4, 5]))?])
        })?;
    }};
}

#[test]
fn products_and_convolutions_are_as_recorded() -> Result<()> {
    let mut group = Group::load("conv")?;
    group.layer("Linear", Linear::new(3, 2))?;
    group.layer("Linear without bias", Linear::without_bias(3, 2))?;
    let bilinear = |layer: &Bilinear, x: &[Tensor]| Ok(vec![layer.forward(&x[0], &x[1])?]);
    group.function("Bilinear", Bilinear::new(2, 3, 2), bilinear)?;
    group.function("Bilinear without bias", Bilinear::without_bias(2, 3, 2), bilinear)?;
    compare_convolutions!(group, 1, Conv1d, ConvTranspose1d);
    compare_convolutions!(group, 2, Conv2d, ConvTranspose2d);
    compare_convolutions!(group, 3, Conv3d, ConvTranspose3d);
    group.finish();
    Ok(())
}
