//! Changes of shape, and resizing.

use aten::functional::InterpolationMode;
use dispatch_nn::{
    ChannelShuffle, Flatten, Fold, FoldOptions, Identity, PixelShuffle, PixelUnshuffle, Unflatten, Unfold, Upsample,
    UpsamplingBilinear2d, UpsamplingNearest2d,
};
use dispatch_runtime::prelude::*;

use crate::recording::Group;

#[test]
fn changes_of_shape_are_as_recorded() -> Result<()> {
    let mut group = Group::load("shape")?;
    group.layer("Identity", Ok(Identity))?;
    group.layer("Flatten", Ok(Flatten::new()))?;
    group.layer("Flatten options", Ok(Flatten { start_dim: 0, end_dim: 1 }))?;
    group.layer("Unflatten", Ok(Unflatten::new(1, (2, -1))))?;
    group.layer("PixelShuffle", PixelShuffle::new(2))?;
    group.layer("PixelUnshuffle", PixelUnshuffle::new(2))?;
    group.layer("ChannelShuffle", ChannelShuffle::new(3))?;
    let options = FoldOptions { dilation: (2, 1).into(), padding: (1, 2).into(), stride: (1, 2).into() };
    group.layer("Unfold", Unfold::new(2))?;
    group.layer("Unfold options", Unfold::with((2, 3), options.clone()))?;
    group.layer("Fold", Fold::new((4, 3), 2))?;
    group.layer("Fold options", Fold::with((4, 3), (2, 3), options))?;
    group.finish();
    Ok(())
}

#[test]
fn resizing_is_as_recorded() -> Result<()> {
    let mut group = Group::load("upsample")?;
    let modes = [
        ("nearest", 1),
        ("nearest", 2),
        ("nearest", 3),
        ("nearest-exact", 1),
        ("nearest-exact", 2),
        ("linear", 1),
        ("bilinear", 2),
        ("trilinear", 3),
        ("bicubic", 2),
        ("area", 1),
        ("area", 2),
    ];
    for (word, rank) in modes {
        let mode = word.parse()?;
        group.layer(&format!("size {word} {rank}"), Ok(Upsample::to_size(&[6, 5, 3][..rank], mode)))?;
        group.layer(&format!("factor {word} {rank}"), Upsample::by_factor(&[2.0, 1.5, 1.5][..rank], mode))?;
        let align_corners = true;
        let corners = match mode {
            InterpolationMode::Linear { .. } => InterpolationMode::Linear { align_corners },
            InterpolationMode::Cubic { .. } => InterpolationMode::Cubic { align_corners },
            _ => continue,
        };
        group.layer(&format!("corners {word} {rank}"), Upsample::by_factor([2.0], corners))?;
    }
    group.layer("UpsamplingNearest2d", UpsamplingNearest2d::by_factor([2.0]))?;
    group.layer("UpsamplingNearest2d size", Ok(UpsamplingNearest2d::to_size((4, 5))))?;
    group.layer("UpsamplingBilinear2d", UpsamplingBilinear2d::by_factor([2.0]))?;
    group.layer("UpsamplingBilinear2d size", Ok(UpsamplingBilinear2d::to_size((4, 5))))?;
    group.finish();
    Ok(())
}
