//! A training step of a character-level GPT: forward, cross entropy, backward, fused `AdamW`, and clearing the gradients. The same step in
//! PyTorch is in `../../pytorch/gpt.py`.

use opdispatch::aten::AffineOptions;
use opdispatch::autograd;
use opdispatch::prelude::*;
use peer::{Job, new_job};

const LAYERS: i64 = 4;
const HEADS: i64 = 4;
const WIDTH: i64 = 128;
const BLOCK: i64 = 64;
const BATCH: i64 = 12;
const VOCABULARY: i64 = 100;

/// Returns the job for the workload with this name. Its variants are variants of PyTorch.
pub(crate) fn job_for_workload(name: &str) -> Option<Job> {
    if !name.starts_with("train gpt") {
        return None;
    }
    let mut optimiser = AdamW::default();
    let model = Gpt::new(&mut optimiser).expect("the model is created");
    let (tokens, targets) = text().expect("the text is created");
    let mut step = move || {
        let logits = model.forward(&tokens)?;
        logits.view([-1, VOCABULARY])?.cross_entropy(&targets)?.backward()?;
        optimiser.step()
    };
    new_job(move || step().expect("the training step succeeds"))
}

/// Returns a batch of text: its tokens, and for each the next token.
fn text() -> Result<(Tensor, Tensor)> {
    let text: Vec<i64> = (0..BATCH * (BLOCK + 1)).map(|index| index * 7919 % 983 % VOCABULARY).collect();
    let rows = Tensor::from(text).view([BATCH, BLOCK + 1])?;
    Ok((rows.narrow(1, 0, BLOCK)?.contiguous()?, rows.narrow(1, 1, BLOCK)?.reshape(-1)?))
}

struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    fn new(optimiser: &mut AdamW, from: i64, to: i64) -> Result<Self> {
        Ok(Self { weight: optimiser.add_weight(&[to, from])?, bias: optimiser.add_filled_parameter(to, 0)? })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.linear_bias(&self.weight, &self.bias)
    }
}

struct LayerNorm {
    weight: Tensor,
    bias: Tensor,
}

impl LayerNorm {
    fn new(optimiser: &mut AdamW) -> Result<Self> {
        Ok(Self {
            weight: optimiser.add_filled_parameter(WIDTH, 1)?,
            bias: optimiser.add_filled_parameter(WIDTH, 0)?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let options =
            AffineOptions { weight: Some(&self.weight), bias: Some(&self.bias), ..AffineOptions::default() };
        x.layer_norm_with(WIDTH, options)
    }
}

struct Block {
    first_norm: LayerNorm,
    attention_input: Linear,
    attention_output: Linear,
    second_norm: LayerNorm,
    expansion: Linear,
    contraction: Linear,
}

impl Block {
    fn new(optimiser: &mut AdamW) -> Result<Self> {
        Ok(Self {
            first_norm: LayerNorm::new(optimiser)?,
            attention_input: Linear::new(optimiser, WIDTH, 3 * WIDTH)?,
            attention_output: Linear::new(optimiser, WIDTH, WIDTH)?,
            second_norm: LayerNorm::new(optimiser)?,
            expansion: Linear::new(optimiser, WIDTH, 4 * WIDTH)?,
            contraction: Linear::new(optimiser, 4 * WIDTH, WIDTH)?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = (x + self.attend(&self.first_norm.forward(x)?)?)?;
        let hidden = self.expansion.forward(&self.second_norm.forward(&x)?)?.gelu()?;
        &x + self.contraction.forward(&hidden)?
    }

    fn attend(&self, x: &Tensor) -> Result<Tensor> {
        let parts = self.attention_input.forward(x)?.split(WIDTH, 2)?;
        let heads = parts
            .iter()
            .map(|part| part.view([BATCH, BLOCK, HEADS, WIDTH / HEADS])?.transpose(1, 2))
            .collect::<Result<Vec<_>>>()?;
        let y =
            aten::scaled_dot_product_attention(&heads[0], &heads[1], &heads[2], None, 0.0, true, None, false)?;
        self.attention_output.forward(&y.transpose(1, 2)?.contiguous()?.view([BATCH, BLOCK, WIDTH])?)
    }
}

struct Gpt {
    /// The embedding of tokens, and the weight of the head.
    tokens: Tensor,
    positions: Tensor,
    blocks: Vec<Block>,
    norm: LayerNorm,
}

impl Gpt {
    fn new(optimiser: &mut AdamW) -> Result<Self> {
        Ok(Self {
            tokens: optimiser.add_weight(&[VOCABULARY, WIDTH])?,
            positions: optimiser.add_weight(&[BLOCK, WIDTH])?,
            blocks: (0..LAYERS).map(|_| Block::new(optimiser)).collect::<Result<_>>()?,
            norm: LayerNorm::new(optimiser)?,
        })
    }

    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        let positions = self.positions.embedding(&Tensor::arange(0..BLOCK, DType::I64)?)?;
        let x = (self.tokens.embedding(tokens)? + positions)?;
        let x = self.blocks.iter().try_fold(x, |x, block| block.forward(&x))?;
        self.norm.forward(&x)?.linear(&self.tokens)
    }
}

/// The parameters of a model with the state of `AdamW`; creates and updates them.
#[derive(Default)]
struct AdamW {
    parameters: Vec<Tensor>,
    means: Vec<Tensor>,
    squares: Vec<Tensor>,
    steps: Vec<Tensor>,
}

impl AdamW {
    fn add_weight(&mut self, sizes: &[i64]) -> Result<Tensor> {
        let weight = Tensor::zeros(sizes, DType::F32)?;
        weight.normal_(0.0, 0.02)?;
        self.add_parameter(weight)
    }

    fn add_filled_parameter(&mut self, size: i64, value: i64) -> Result<Tensor> {
        self.add_parameter(Tensor::full(size, value, DType::F32)?)
    }

    fn add_parameter(&mut self, parameter: Tensor) -> Result<Tensor> {
        self.means.push(Tensor::zeros(parameter.sizes(), &parameter)?);
        self.squares.push(Tensor::zeros(parameter.sizes(), &parameter)?);
        self.steps.push(Tensor::zeros((), DType::F32)?);
        let parameter = parameter.requires_grad_(true)?;
        self.parameters.push(parameter.clone());
        Ok(parameter)
    }

    fn step(&mut self) -> Result<()> {
        let _no_grad = autograd::no_grad();
        let mut gradients: Vec<Tensor> = self.parameters.iter().filter_map(Tensor::grad).collect();
        aten::_foreach_add__scalar(&mut self.steps, 1.into())?;
        aten::_fused_adamw_(
            &mut self.parameters,
            &mut gradients,
            &mut self.means,
            &mut self.squares,
            &mut [],
            &self.steps,
            1e-3,
            0.9,
            0.999,
            0.1,
            1e-8,
            false,
            false,
            None,
            None,
        )?;
        self.parameters.iter().for_each(Differentiable::zero_grad);
        Ok(())
    }
}
