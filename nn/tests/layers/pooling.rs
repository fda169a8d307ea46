//! Pooling and unpooling.

use aten::{AvgPoolOptions, MaxPoolOptions};
use dispatch_nn::{
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d,
    AvgPool1d, AvgPool2d, AvgPool3d, LPPool1d, LPPool2d, LPPool3d, LPPoolOptions, MaxPool1d, MaxPool2d, MaxPool3d,
    MaxUnpool1d, MaxUnpool2d, MaxUnpool3d, MaxUnpoolOptions,
};
use dispatch_runtime::prelude::*;

use crate::recording::Group;

macro_rules! compare_pools {
    ($group:ident, $rank:literal, $max:ident $unpool:ident $avg:ident $lp:ident $adaptive_avg:ident $adaptive_max:ident) => {{
        let first = |numbers: [i64; 3]| numbers[..$rank].to_vec();
        let with_options = |name: &str| format!("{name} options");
        let name = stringify!($max);
        $group.layer(name, $max::new(2))?;
        let options = MaxPoolOptions {
            stride: first([2, 1, 2]).into(),
            padding: 1.into(),
            dilation: first([2, 1, 1]).into(),
            ceil_mode: true,
        };
        $group.layer(&with_options(name), $max::with(first([2, 3, 2]), options))?;
        $group.function(&format!("{name} indices"), $max::new(first([2, 3, 2])), |layer, x| {
            let (maxima, indices) = layer.forward_with_indices(&x[0])?;
            Ok(vec![maxima, indices])
        })?;
        let name = stringify!($unpool);
        $group.function(name, $unpool::new(2), |layer, x| Ok(vec![layer.forward(&x[0], &x[1])?]))?;
        let options = MaxUnpoolOptions { stride: 2.into(), padding: 1.into() };
        $group.function(&with_options(name), $unpool::with(3, options), |layer, x| {
            Ok(vec![layer.forward_with_output_size(&x[0], &x[1], first([8, 6, 4]))?])
        })?;
        let name = stringify!($avg);
        $group.layer(name, $avg::new(2))?;
        let options = AvgPoolOptions {
            stride: first([2, 1, 2]).into(),
            padding: 1.into(),
            ceil_mode: true,
            count_include_pad: false,
            divisor: None,
        };
        $group.layer(&with_options(name), $avg::with(first([2, 3, 2]), options))?;
        if $rank > 1 {
            let options = AvgPoolOptions { divisor: Some(3), ..AvgPoolOptions::default() };
            $group.layer(&format!("{name} divisor"), $avg::with(2, options))?;
        }
        let name = stringify!($lp);
        $group.layer(name, $lp::new(2.0, 2))?;
        $group.layer(&with_options(name), $lp::with(3.0, 2, LPPoolOptions { stride: 1.into(), ceil_mode: true }))?;
        $group.layer(&format!("{name} negative"), $lp::new(3.0, 2))?;
        $group.layer(&format!("{name} zero"), $lp::new(2.0, 2))?;
        let name = stringify!($adaptive_avg);
        $group.layer(name, $adaptive_avg::new(first([3, 2, 2])))?;
        $group.layer(&format!("{name} without items"), $adaptive_avg::new(1))?;
        let name = stringify!($adaptive_max);
        $group.layer(name, $adaptive_max::new(first([3, 2, 2])))?;
        $group.function(&format!("{name} indices"), $adaptive_max::new(2), |layer, x| {
            let (maxima, indices) = layer.forward_with_indices(&x[0])?;
            Ok(vec![maxima, indices])
        })?;
    }};
}

#[test]
fn pooling_is_as_recorded() -> Result<()> {
    let mut group = Group::load("pooling")?;
    compare_pools!(group, 1, MaxPool1d MaxUnpool1d AvgPool1d LPPool1d AdaptiveAvgPool1d AdaptiveMaxPool1d);
    compare_pools!(group, 2, MaxPool2d MaxUnpool2d AvgPool2d LPPool2d AdaptiveAvgPool2d AdaptiveMaxPool2d);
    compare_pools!(group, 3, MaxPool3d MaxUnpool3d AvgPool3d LPPool3d AdaptiveAvgPool3d AdaptiveMaxPool3d);
    group.finish();
    Ok(())
}
