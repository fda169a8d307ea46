//! Ones and zeros.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use aten::GROUP;

use super::filled;
use crate::math::vectorised;
use crate::moves::copy_called;

/// A word is below this with the chance `p`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a chance is between zero and one")]
fn threshold(p: f64) -> u64 {
    (p * 4_294_967_296.0).round() as u64
}

fn coins(this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    aten::check_chance(this, p)?;
    let limit = threshold(p);
    filled::<u8, 4>(this, generator, |words, _| {
        let mut rows = [[0; GROUP]; 4];
        vectorised(
            #[inline(always)]
            || {
                for (to, word) in rows.as_flattened_mut().iter_mut().zip(words.as_flattened()) {
                    *to = u8::from(u64::from(*word) < limit);
                }
            },
        );
        rows
    })
}

#[op_impl(aten::bernoulli_p, CPU)]
fn bernoulli_p(this: &Tensor, p: f64, generator: Option<&Generator>) -> Result<Tensor> {
    let mut made = Spec::pointwise(&[this], this.dtype())?.on(this.device())?;
    coins(&mut made, p, generator)?;
    Ok(made)
}

#[op_impl(aten::bernoulli__float, CPU)]
fn bernoulli_float_(this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    coins(this, p, generator)
}

fn coins_of(this: &mut Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<()> {
    aten::check_chances(this, p)?;
    let mut chances = Spec::contiguous(DType::F64, this.sizes()).on(this.device())?;
    copy_called("p", &mut chances, p)?;
    let chances = chances.read::<f64>()?;
    if let Some(bad) = chances.iter().find(|chance| !(0.0..=1.0).contains(*chance)) {
        return Err(BadArgument::value("p", bad, "between 0 and 1").into());
    }
    filled::<u8, 4>(this, generator, |words, at| {
        let mut rows = [[0; GROUP]; 4];
        let coins = rows.as_flattened_mut().iter_mut().zip(words.as_flattened());
        for ((to, word), chance) in coins.zip(&chances[at..]) {
            *to = u8::from(u64::from(*word) < threshold(*chance));
        }
        rows
    })
}

#[op_impl(aten::bernoulli_tensor, CPU)]
fn bernoulli_tensor(this: &Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let mut made = Spec::pointwise(&[this], this.dtype())?.on(this.device())?;
    coins_of(&mut made, p, generator)?;
    Ok(made)
}

#[op_impl(aten::bernoulli__tensor, CPU)]
fn bernoulli_tensor_(this: &mut Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<()> {
    coins_of(this, p, generator)
}
