//! The model: a GPT as in nanoGPT.

use opdispatch::aten::AttentionOptions;
use opdispatch::nn::{Dropout, Embedding, GELU, LayerNorm, Linear, Sequential, init};
use opdispatch::prelude::*;

/// The sizes of a model.
pub(crate) struct GptConfig {
    pub(crate) vocab_size: i64,
    pub(crate) block_size: i64,
    pub(crate) n_layer: i64,
    pub(crate) n_head: i64,
    pub(crate) n_embd: i64,
    pub(crate) dropout: f64,
}

#[derive(Clone, Module)]
struct CausalSelfAttention {
    c_attn: Linear,
    c_proj: Linear,
    resid_dropout: Dropout,
    n_head: i64,
}

impl Forward for CausalSelfAttention {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let &[batch, time, width] = x.sizes() else { return Err("the sizes are batch, time and width".into()) };
        let heads = |part: &Tensor| part.view([batch, time, self.n_head, width / self.n_head])?.transpose(1, 2);
        let parts = self.c_attn.forward(x)?.split(width, 2)?;
        let [query, key, value] = [heads(&parts[0])?, heads(&parts[1])?, heads(&parts[2])?];
        let causal = AttentionOptions { is_causal: true, ..AttentionOptions::default() };
        let y = query.scaled_dot_product_attention(&key, &value, causal)?;
        self.resid_dropout.forward(&self.c_proj.forward(&y.transpose(1, 2)?.reshape([batch, time, width])?)?)
    }
}

#[derive(Clone, Module)]
struct Block {
    ln_1: LayerNorm,
    attn: CausalSelfAttention,
    ln_2: LayerNorm,
    mlp: Sequential,
}

impl Block {
    fn new(config: &GptConfig) -> Result<Self> {
        let width = config.n_embd;
        Ok(Self {
            ln_1: LayerNorm::new(width)?,
            attn: CausalSelfAttention {
                c_attn: Linear::new(width, 3 * width)?,
                c_proj: Linear::new(width, width)?,
                resid_dropout: Dropout::new(config.dropout)?,
                n_head: config.n_head,
            },
            ln_2: LayerNorm::new(width)?,
            mlp: Sequential::new()
                .add_named("c_fc", Linear::new(width, 4 * width)?)
                .add_named("gelu", GELU::new())
                .add_named("c_proj", Linear::new(4 * width, width)?)
                .add_named("dropout", Dropout::new(config.dropout)?),
        })
    }
}

impl Forward for Block {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = expr!(x + self.attn.forward(&self.ln_1.forward(x)?))?;
        expr!(x + self.mlp.forward(&self.ln_2.forward(&x)?))
    }
}

/// A GPT: it maps tokens to the scores of the next tokens.
#[derive(Clone, Module)]
pub(crate) struct Gpt {
    wte: Embedding,
    wpe: Embedding,
    drop: Dropout,
    h: Vec<Block>,
    ln_f: LayerNorm,
    lm_head: Linear,
}

impl Gpt {
    pub(crate) fn new(config: &GptConfig) -> Result<Self> {
        let wte = Embedding::new(config.vocab_size, config.n_embd)?;
        let gpt = Self {
            wpe: Embedding::new(config.block_size, config.n_embd)?,
            drop: Dropout::new(config.dropout)?,
            h: (0..config.n_layer).map(|_| Block::new(config)).collect::<Result<_>>()?,
            ln_f: LayerNorm::new(config.n_embd)?,
            // The head and the embedding are one parameter.
            lm_head: Linear { weight: wte.weight.clone(), bias: None },
            wte,
        };
        for parameter in gpt.parameters() {
            match parameter.sizes().len() {
                2 => init::normal_(&parameter, 0.0, 0.02)?,
                _ if parameter.name.ends_with("bias") => init::zeros_(&parameter)?,
                _ => {}
            }
        }
        Ok(gpt)
    }
}

impl Forward for Gpt {
    type Output = Tensor;

    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        let positions = Tensor::arange(0..tokens.sizes()[1], tokens.device())?;
        let x = self.drop.forward(&expr!(self.wte.forward(tokens) + self.wpe.forward(&positions))?)?;
        let x = self.h.iter().try_fold(x, |x, block| block.forward(&x))?;
        self.lm_head.forward(&self.ln_f.forward(&x)?)
    }
}
