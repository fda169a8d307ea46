//! Transformers.

use aten::prelude::*;
use dispatch_nn::{
    AttentionMasks, Forward, LayerNorm, Module, Transformer, TransformerActivation, TransformerDecoder,
    TransformerDecoderLayer, TransformerEncoder, TransformerEncoderLayer, TransformerLayerOptions, TransformerMasks,
    TransformerOptions,
};
use dispatch_runtime::prelude::*;

use crate::recording::check;

const SOURCE: &[i64] = &[3, 2, 4];
const TARGET: &[i64] = &[5, 2, 4];
const CAUSAL: AttentionMasks<'_> = AttentionMasks { attn_mask: None, key_padding_mask: None, is_causal: true };

fn options() -> TransformerLayerOptions {
    TransformerLayerOptions { dim_feedforward: 6, dropout: 0.0, ..TransformerLayerOptions::default() }
}

fn encoder(options: TransformerLayerOptions) -> Result<TransformerEncoderLayer> {
    TransformerEncoderLayer::with(4, 2, options)
}

fn decoder(options: TransformerLayerOptions) -> Result<TransformerDecoderLayer> {
    TransformerDecoderLayer::with(4, 2, options)
}

fn padding() -> Tensor {
    Tensor::from([[false, false, true], [false, false, false]])
}

#[test]
fn layers_are_those_of_pytorch() {
    let encode = |module: &TransformerEncoderLayer, inputs: &[Tensor]| Ok(vec![module.forward(&inputs[0])?]);
    let decode =
        |module: &TransformerDecoderLayer, inputs: &[Tensor]| Ok(vec![module.forward(&inputs[0], &inputs[1])?]);
    for (name, options) in [
        ("plain", options()),
        ("gelu", TransformerLayerOptions { activation: TransformerActivation::GELU, ..options() }),
        ("norm_first", TransformerLayerOptions { norm_first: true, ..options() }),
        ("no_bias", TransformerLayerOptions { bias: false, ..options() }),
        ("eps", TransformerLayerOptions { layer_norm_eps: 0.1, ..options() }),
    ] {
        check(&format!("encoder_layer_{name}"), encoder(options), &[SOURCE], encode);
        check(&format!("decoder_layer_{name}"), decoder(options), &[TARGET, SOURCE], decode);
    }
    let first = TransformerLayerOptions { batch_first: true, ..options() };
    check("encoder_layer_batch_first", encoder(first), &[&[2, 3, 4]], encode);
    check("decoder_layer_batch_first", decoder(first), &[&[2, 5, 4], &[2, 3, 4]], decode);
    let dropout = encoder(TransformerLayerOptions { dropout: 0.5, ..options() }).map(|mut module| {
        module.eval();
        module
    });
    check("encoder_layer_dropout", dropout, &[SOURCE], encode);
}

#[test]
fn masks_are_those_of_pytorch() {
    let padding = padding();
    check("encoder_layer_masked", encoder(options()), &[SOURCE], |module, inputs| {
        let masks = AttentionMasks { key_padding_mask: Some(&padding), ..CAUSAL };
        Ok(vec![module.forward_masked(&inputs[0], masks)?])
    });
    let memory = AttentionMasks { key_padding_mask: Some(&padding), ..AttentionMasks::default() };
    check("decoder_layer_masked", decoder(options()), &[TARGET, SOURCE], |module, inputs| {
        Ok(vec![module.forward_masked(&inputs[0], &inputs[1], CAUSAL, memory)?])
    });
}

#[test]
fn stacks_are_those_of_pytorch() -> Result<()> {
    let padding = padding();
    let padded = AttentionMasks { key_padding_mask: Some(&padding), ..AttentionMasks::default() };
    let layer = encoder(options())?;
    let stack = TransformerEncoder::with_norm(&layer, 2, LayerNorm::new(4)?);
    check("encoder_stack", stack, &[SOURCE], |module, inputs| Ok(vec![module.forward_masked(&inputs[0], padded)?]));
    let stack = TransformerEncoder::new(&layer, 2);
    check("encoder_stack_no_norm", stack, &[SOURCE], |module, inputs| Ok(vec![module.forward(&inputs[0])?]));
    let stack = TransformerDecoder::with_norm(&decoder(options())?, 2, LayerNorm::new(4)?);
    check("decoder_stack", stack, &[TARGET, SOURCE], |module, inputs| {
        Ok(vec![module.forward_masked(&inputs[0], &inputs[1], CAUSAL, padded)?])
    });
    let layer = TransformerLayerOptions { batch_first: true, ..options() };
    let whole = TransformerOptions { num_encoder_layers: 1, num_decoder_layers: 2, layer };
    check("transformer", Transformer::with(4, 2, whole), &[&[2, 3, 4], &[2, 5, 4]], |module, inputs| {
        let masks = TransformerMasks { tgt: CAUSAL, ..TransformerMasks::default() };
        Ok(vec![module.forward_masked(&inputs[0], &inputs[1], masks)?])
    });
    Ok(())
}

#[test]
fn layers_of_a_stack_start_alike_and_share_nothing() -> Result<()> {
    let layer = encoder(options())?;
    let stack = TransformerEncoder::new(&layer, 2)?;
    let weight = |at: usize| &stack.layers[at].linear1.weight;
    assert!(weight(0).equal(weight(1))? && !weight(0).same(weight(1)));
    assert!(!weight(0).same(&layer.linear1.weight));
    Ok(())
}

#[test]
fn matrices_of_a_transformer_have_the_bound_of_glorot() -> Result<()> {
    let layer = TransformerLayerOptions { dim_feedforward: 128, ..options() };
    let options = TransformerOptions { num_encoder_layers: 1, num_decoder_layers: 1, layer };
    for parameter in Transformer::with(64, 2, options)?.parameters() {
        if let &[rows, columns] = parameter.sizes() {
            #[expect(clippy::cast_precision_loss, reason = "the sizes are small")]
            let bound = (6.0 / (rows + columns) as f32).sqrt();
            let largest = parameter.abs()?.max()?.item::<f32>()?;
            assert!(largest <= bound && largest > 0.99 * bound, "{}: {largest} {bound}", parameter.name);
        }
    }
    Ok(())
}

#[test]
fn mistakes_are_errors_that_name_the_argument() -> Result<()> {
    let wrong = TransformerLayerOptions { dim_feedforward: 0, ..options() };
    assert!(encoder(wrong).unwrap_err().to_string().contains("`dim_feedforward`"));
    assert!(TransformerEncoder::new(&encoder(options())?, 0).unwrap_err().to_string().contains("`num_layers`"));
    assert!(decoder(options())?.forward(&Tensor::zeros((5, 2, 4), ())?, &Tensor::zeros((3, 3, 4), ())?).is_err());
    Ok(())
}
