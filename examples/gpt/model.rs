//! The model: a GPT with the names and the initial values of nanoGPT.

use opdispatch::aten::AttentionOptions;
use opdispatch::nn::{self, init};
use opdispatch::prelude::*;

/// The sizes of a model.
#[derive(Clone, Copy, Debug)]
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
    c_attn: nn::Linear,
    c_proj: nn::Linear,
    resid_dropout: nn::Dropout,
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
        let y = y.transpose(1, 2)?.reshape([batch, time, width])?;
        self.resid_dropout.forward(&self.c_proj.forward(&y)?)
    }
}

#[derive(Clone, Module)]
struct Mlp {
    c_fc: nn::Linear,
    c_proj: nn::Linear,
    dropout: nn::Dropout,
}

impl Forward for Mlp {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.dropout.forward(&self.c_proj.forward(&self.c_fc.forward(x)?.gelu()?)?)
    }
}

#[derive(Clone, Module)]
struct Block {
    ln_1: nn::LayerNorm,
    attn: CausalSelfAttention,
    ln_2: nn::LayerNorm,
    mlp: Mlp,
}

impl Block {
    fn new(config: &GptConfig) -> Result<Self> {
        let (width, dropout) = (config.n_embd, nn::Dropout::new(config.dropout)?);
        Ok(Self {
            ln_1: nn::LayerNorm::new(width)?,
            attn: CausalSelfAttention {
                c_attn: nn::Linear::new(width, 3 * width)?,
                c_proj: nn::Linear::new(width, width)?,
                resid_dropout: dropout.clone(),
                n_head: config.n_head,
            },
            ln_2: nn::LayerNorm::new(width)?,
            mlp: Mlp { c_fc: nn::Linear::new(width, 4 * width)?, c_proj: nn::Linear::new(4 * width, width)?, dropout },
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

#[derive(Clone, Module)]
struct Transformer {
    wte: nn::Embedding,
    wpe: nn::Embedding,
    drop: nn::Dropout,
    h: Vec<Block>,
    ln_f: nn::LayerNorm,
}

/// A GPT: it maps tokens to the scores of the next tokens.
#[derive(Clone, Module)]
pub(crate) struct Gpt {
    transformer: Transformer,
    lm_head: nn::Linear,
    block_size: i64,
}

impl Gpt {
    /// Creates a model. The head and the embedding of tokens are one parameter.
    pub(crate) fn new(config: &GptConfig) -> Result<Self> {
        let transformer = Transformer {
            wte: nn::Embedding::new(config.vocab_size, config.n_embd)?,
            wpe: nn::Embedding::new(config.block_size, config.n_embd)?,
            drop: nn::Dropout::new(config.dropout)?,
            h: (0..config.n_layer).map(|_| Block::new(config)).collect::<Result<_>>()?,
            ln_f: nn::LayerNorm::new(config.n_embd)?,
        };
        let lm_head = nn::Linear { weight: transformer.wte.weight.clone(), bias: None };
        let gpt = Self { transformer, lm_head, block_size: config.block_size };
        #[expect(clippy::cast_precision_loss, reason = "a model has few layers")]
        let residual_std = 0.02 / (2.0 * config.n_layer as f64).sqrt();
        for parameter in gpt.parameters() {
            match parameter.sizes().len() {
                2 if parameter.name.ends_with("c_proj.weight") => init::normal_(&parameter, 0.0, residual_std)?,
                2 => init::normal_(&parameter, 0.0, 0.02)?,
                _ if parameter.name.ends_with("bias") => init::zeros_(&parameter)?,
                _ => {}
            }
        }
        Ok(gpt)
    }

    /// Continues `tokens`, of sizes `[1, time]`, by `count` sampled ones.
    pub(crate) fn generate(&self, tokens: &Tensor, count: usize, temperature: f64) -> Result<Tensor> {
        let _no_grad = opdispatch::autograd::no_grad();
        let mut tokens = tokens.clone();
        for _ in 0..count {
            let time = tokens.sizes()[1];
            let context = tokens.i((.., (time - self.block_size).max(0)..))?;
            let scores = (self.forward(&context)?.i((.., -1))? / temperature)?;
            tokens = aten::cat(&[tokens, scores.softmax(-1)?.multinomial(1, false)?], 1)?;
        }
        Ok(tokens)
    }
}

impl Forward for Gpt {
    type Output = Tensor;

    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        let Transformer { wte, wpe, drop, h, ln_f } = &self.transformer;
        let positions = Tensor::arange(0..tokens.sizes()[1], tokens.device())?;
        let x = drop.forward(&expr!(wte.forward(tokens) + wpe.forward(&positions))?)?;
        let x = h.iter().try_fold(x, |x, block| block.forward(&x))?;
        self.lm_head.forward(&ln_f.forward(&x)?)
    }
}
