//! Normalisation.

use dispatch_nn::{
    BatchNorm1d, BatchNorm2d, BatchNorm3d, BatchNormOptions, GroupNorm, GroupNormOptions, InstanceNorm1d,
    InstanceNorm2d, InstanceNorm3d, InstanceNormOptions, LayerNorm, LayerNormOptions, LocalResponseNorm, RMSNorm,
    RMSNormOptions,
};
use dispatch_runtime::prelude::*;

use crate::recording::Group;

macro_rules! compare_channel_norms {
    ($group:ident, $batch:ident, $instance:ident) => {{
        let name = stringify!($batch);
        let default = BatchNormOptions::default();
        $group.layer(name, $batch::new(2))?;
        let options = BatchNormOptions { momentum: None, ..default };
        $group.layer(&format!("{name} cumulative"), $batch::with(2, options))?;
        let options = BatchNormOptions { eps: 0.125, momentum: Some(0.25), bias: false, ..default };
        $group.layer(&format!("{name} options"), $batch::with(2, options))?;
        let options = BatchNormOptions { affine: false, track_running_stats: false, ..default };
        $group.layer(&format!("{name} plain"), $batch::with(2, options))?;
        let name = stringify!($instance);
        let default = InstanceNormOptions::default();
        $group.layer(name, $instance::new(2))?;
        $group.layer(&format!("{name} without items"), $instance::new(2))?;
        let options =
            InstanceNormOptions { eps: 0.125, momentum: 0.25, affine: true, track_running_stats: true, ..default };
        $group.layer(&format!("{name} options"), $instance::with(2, options))?;
        let options = InstanceNormOptions { affine: true, bias: false, ..default };
        $group.layer(&format!("{name} without bias"), $instance::with(2, options))?;
    }};
}

#[test]
fn normalisation_is_as_recorded() -> Result<()> {
    let mut group = Group::load("norm")?;
    compare_channel_norms!(group, BatchNorm1d, InstanceNorm1d);
    compare_channel_norms!(group, BatchNorm2d, InstanceNorm2d);
    compare_channel_norms!(group, BatchNorm3d, InstanceNorm3d);
    group.layer("BatchNorm1d without length", BatchNorm1d::new(3))?;
    group.layer("GroupNorm", GroupNorm::new(2, 4))?;
    let options = GroupNormOptions { eps: 0.125, bias: false, ..GroupNormOptions::default() };
    group.layer("GroupNorm options", GroupNorm::with(2, 4, options))?;
    let options = GroupNormOptions { affine: false, ..GroupNormOptions::default() };
    group.layer("GroupNorm plain", GroupNorm::with(4, 4, options))?;
    group.layer("LayerNorm", LayerNorm::new(4))?;
    group.layer("LayerNorm of two dimensions", LayerNorm::new((3, 4)))?;
    let options = LayerNormOptions { eps: 0.125, bias: false, ..LayerNormOptions::default() };
    group.layer("LayerNorm options", LayerNorm::with(4, options))?;
    let options = LayerNormOptions { elementwise_affine: false, ..LayerNormOptions::default() };
    group.layer("LayerNorm plain", LayerNorm::with(4, options))?;
    group.layer("RMSNorm", RMSNorm::new(4))?;
    group.layer("RMSNorm of two dimensions", RMSNorm::new((3, 4)))?;
    let options = RMSNormOptions { eps: Some(0.125), elementwise_affine: false };
    group.layer("RMSNorm options", RMSNorm::with(4, options))?;
    group.layer("LocalResponseNorm", Ok(LocalResponseNorm::new(2)))?;
    let layer = LocalResponseNorm { alpha: 0.5, beta: 0.5, k: 2.0, ..LocalResponseNorm::new(3) };
    group.layer("LocalResponseNorm options", Ok(layer))?;
    let layer = LocalResponseNorm { alpha: 0.5, ..LocalResponseNorm::new(3) };
    group.layer("LocalResponseNorm of volumes", Ok(layer))?;
    group.finish();
    Ok(())
}
