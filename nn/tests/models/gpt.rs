//! A small GPT, with nanoGPT's names.

use aten::prelude::*;
use dispatch_nn::{self as nn, Forward, Module};
use dispatch_runtime::prelude::*;

const WIDTH: i64 = 8;
const HEADS: i64 = 2;
const VOCABULARY: i64 = 11;
const BLOCK_SIZE: i64 = 6;

#[derive(Clone, Module)]
struct CausalSelfAttention {
    c_attn: nn::Linear,
    c_proj: nn::Linear,
}

impl Forward for CausalSelfAttention {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let &[batch, length, width] = x.sizes() else { return Err("the input has three dimensions".into()) };
        let parts = self.c_attn.forward(x)?.reshape((batch, length, 3, HEADS, width / HEADS))?;
        let parts = parts.permute([2, 0, 3, 1, 4])?;
        let (query, key, value) = (parts.i(0)?, parts.i(1)?, parts.i(2)?);
        let y = aten::scaled_dot_product_attention(&query, &key, &value, None, 0.0, true, None, false)?;
        self.c_proj.forward(&y.transpose(1, 2)?.reshape((batch, length, width))?)
    }
}

#[derive(Clone, Module)]
struct Mlp {
    c_fc: nn::Linear,
    c_proj: nn::Linear,
}

#[derive(Clone, Module)]
struct Block {
    ln_1: nn::LayerNorm,
    attn: CausalSelfAttention,
    ln_2: nn::LayerNorm,
    mlp: Mlp,
}

impl Block {
    fn new() -> Result<Self> {
        let (c_attn, c_proj) = (nn::Linear::new(WIDTH, 3 * WIDTH)?, nn::Linear::new(WIDTH, WIDTH)?);
        Ok(Self {
            ln_1: nn::LayerNorm::new(WIDTH)?,
            attn: CausalSelfAttention { c_attn, c_proj },
            ln_2: nn::LayerNorm::new(WIDTH)?,
            mlp: Mlp { c_fc: nn::Linear::new(WIDTH, 4 * WIDTH)?, c_proj: nn::Linear::new(4 * WIDTH, WIDTH)? },
        })
    }
}

impl Forward for Block {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = (x + self.attn.forward(&self.ln_1.forward(x)?)?)?;
        let inner = self.mlp.c_fc.forward(&self.ln_2.forward(&x)?)?.gelu()?;
        &x + self.mlp.c_proj.forward(&inner)?
    }
}

#[derive(Clone, Module)]
struct Transformer {
    wte: nn::Embedding,
    wpe: nn::Embedding,
    h: nn::ModuleList<Block>,
    ln_f: nn::LayerNorm,
}

#[derive(Clone, Module)]
pub(crate) struct Gpt {
    transformer: Transformer,
    lm_head: nn::Linear,
}

impl Gpt {
    pub(crate) fn new() -> Result<Self> {
        let transformer = Transformer {
            wte: nn::Embedding::new(VOCABULARY, WIDTH)?,
            wpe: nn::Embedding::new(BLOCK_SIZE, WIDTH)?,
            h: (0..2).map(|_| Block::new()).collect::<Result<_>>()?,
            ln_f: nn::LayerNorm::new(WIDTH)?,
        };
        let lm_head = nn::Linear { weight: transformer.wte.weight.clone(), bias: None };
        Ok(Self { transformer, lm_head })
    }
}

impl Forward for Gpt {
    type Output = Tensor;

    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        let Transformer { wte, wpe, h, ln_f } = &self.transformer;
        let positions = Tensor::arange(0..tokens.sizes()[1], ())?;
        let x = (wte.forward(tokens)? + wpe.forward(&positions)?)?;
        let x = h.iter().try_fold(x, |x, block| block.forward(&x))?;
        self.lm_head.forward(&ln_f.forward(&x)?)
    }
}

#[test]
fn a_gpt_is_that_of_pytorch() -> Result<()> {
    let loss = |logits: &Tensor, target: &Tensor| {
        nn::CrossEntropyLoss::new().forward(&logits.reshape((-1, VOCABULARY))?, &target.reshape(-1)?)
    };
    crate::recording::check("gpt", &Gpt::new()?, Gpt::forward, loss)
}

#[test]
fn the_head_of_a_gpt_stays_tied() -> Result<()> {
    let gpt = Module::to(Gpt::new()?.deep_clone()?, DType::F64)?;
    assert!(gpt.lm_head.weight.same(&gpt.transformer.wte.weight));
    assert_eq!(gpt.summary().num_parameters, gpt.num_parameters());
    Ok(())
}
