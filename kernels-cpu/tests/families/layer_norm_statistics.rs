//! Tests of the accuracy of means and variances.

use dispatch_runtime::{Result, Tensor};

#[test]
fn layer_norm_statistics_are_accurate_for_any_offset() -> Result<()> {
    let mut state = 1_u32;
    // A few roundings for each of the 64 elements that a lane adds before it continues in double precision; most lines lose far less.
    let lost = 4.0 * 64.0 * f64::from(f32::EPSILON);
    for length in [1_u32, 63, 64, 65, 1000, 5000] {
        for (first, center) in [(0.0, 0.0), (1e4, 0.0), (-1e6, 1.0), (1e6, 1e6)] {
            let mut line: Vec<f32> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    center + f32::from(u16::try_from(state >> 16).unwrap()) / 16384.0 - 2.0
                })
                .collect();
            line[0] += first;
            let exact = |f: &dyn Fn(f64) -> f64| line.iter().map(|&x| f(x.into())).sum::<f64>() / f64::from(length);
            let mean = exact(&|x| x);
            let variance = exact(&|x| (x - mean) * (x - mean));
            let size = i64::from(length);
            let (_, found, scale) =
                aten::native_layer_norm(&Tensor::from_vec(line.clone(), [size])?, &[size], None, None, 0.0)?;
            let [found, scale] = [found.read::<f32>()?[0], scale.read::<f32>()?[0]].map(f64::from);
            let what = format!("{length} about {center}: {found} and {scale} for {mean} and {variance}");
            assert!((found - mean).abs() <= lost * (mean.abs() + variance.sqrt()), "{what}");
            // One element has the variance zero.
            let is_near =
                if length == 1 { scale.is_infinite() } else { (scale * scale * variance - 1.0).abs() <= lost };
            assert!(is_near, "{what}");
        }
    }
    Ok(())
}
