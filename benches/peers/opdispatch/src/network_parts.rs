//! Parts of networks, forward and backward, as in `../../pytorch/parts.py`.

use opdispatch::autograd::Differentiation;
use opdispatch::prelude::*;
use peer::{Job, new_job};

use crate::train::random_tensor;

type NetworkPartFn = Box<dyn Fn(&[Tensor]) -> Result<Tensor>>;

/// Returns the job for the part with this name. If the name ends in `, backward`, the job computes the gradients of all inputs.
pub(crate) fn job_for_workload(name: &str) -> Option<Job> {
    let (name, is_backward) = name.strip_suffix(", backward").map_or((name, false), |name| (name, true));
    let (sizes, part) = part_with_input_sizes(name)?;
    let inputs = sizes.iter().map(|sizes| random_tensor(sizes, 1.0)?.requires_grad_(is_backward));
    let inputs: Vec<Tensor> = inputs.collect::<Result<_>>().expect("the CPU has memory for these tensors");
    if is_backward {
        let result = part(&inputs).expect("the forward call succeeds");
        let result_gradient = Tensor::ones(result.sizes(), &result).expect("the CPU has memory for these tensors");
        new_job(move || {
            let inputs: Vec<&Tensor> = inputs.iter().collect();
            Differentiation::of_outputs(&[&result])
                .with_seeds(&[&result_gradient])
                .retain_graph()
                .grad(&inputs)
                .expect("autograd recorded the forward call")
        })
    } else {
        new_job(move || part(&inputs).expect("the forward call succeeds"))
    }
}

/// Returns the sizes of a part's inputs, and its function.
fn part_with_input_sizes(name: &str) -> Option<(Vec<Vec<i64>>, NetworkPartFn)> {
    Some(match name {
        "conv2d stem" => convolution_part([8, 3, 224, 224], 64, 7, 2, 1),
        "conv2d 64 3x3" => convolution_part([8, 64, 56, 56], 64, 3, 1, 1),
        "conv2d 256 3x3" => convolution_part([8, 256, 14, 14], 256, 3, 1, 1),
        "conv2d 256 to 64 1x1" => convolution_part([8, 256, 56, 56], 64, 1, 1, 1),
        "conv2d 64 to 256 1x1" => convolution_part([8, 64, 56, 56], 256, 1, 1, 1),
        "conv2d 128 depthwise" => convolution_part([8, 128, 56, 56], 128, 3, 1, 128),
        "conv2d 512 depthwise" => convolution_part([8, 512, 14, 14], 512, 3, 1, 512),
        "attention" => attention_part(false),
        "attention, causal" => attention_part(true),
        "log_softmax 4096x1000" => log_softmax_part(4096, 1000),
        "log_softmax 64x32000" => log_softmax_part(64, 32000),
        "cross_entropy 4096x1000" => cross_entropy_part(4096, 1000),
        "cross_entropy 64x32000" => cross_entropy_part(64, 32000),
        "batch_norm 64x56x56" => batch_norm_part([32, 64, 56, 56]),
        "batch_norm 256x14x14" => batch_norm_part([32, 256, 14, 14]),
        "group_norm 64x56x56" => group_norm_part([32, 64, 56, 56]),
        "group_norm 256x14x14" => group_norm_part([32, 256, 14, 14]),
        _ => return None,
    })
}

fn convolution_part(
    pictures: [i64; 4],
    channels: i64,
    width: i64,
    stride: i64,
    groups: i64,
) -> (Vec<Vec<i64>>, NetworkPartFn) {
    let sizes = vec![pictures.to_vec(), vec![channels, pictures[1] / groups, width, width], vec![channels]];
    let part = move |inputs: &[Tensor]| {
        let (stride, padding) = ([stride, stride], [width / 2, width / 2]);
        aten::conv2d(&inputs[0], &inputs[1], Some(&inputs[2]), &stride, &padding, &[1, 1], groups)
    };
    (sizes, Box::new(part))
}

fn attention_part(is_causal: bool) -> (Vec<Vec<i64>>, NetworkPartFn) {
    let part = move |inputs: &[Tensor]| {
        let [query, key, value] = [0, 1, 2].map(|input: usize| &inputs[input]);
        aten::scaled_dot_product_attention(query, key, value, None, 0.0, is_causal, None, false)
    };
    (vec![vec![8, 8, 512, 64]; 3], Box::new(part))
}

fn log_softmax_part(rows: i64, columns: i64) -> (Vec<Vec<i64>>, NetworkPartFn) {
    (vec![vec![rows, columns]], Box::new(|inputs| aten::log_softmax_int(&inputs[0], 1, None)))
}

fn cross_entropy_part(rows: i64, columns: i64) -> (Vec<Vec<i64>>, NetworkPartFn) {
    let labels = Tensor::from((0..rows).map(|row| row * 7 % columns).collect::<Vec<i64>>());
    (vec![vec![rows, columns]], Box::new(move |inputs| aten::cross_entropy_loss!(&inputs[0], &labels)))
}

fn batch_norm_part(sizes: [i64; 4]) -> (Vec<Vec<i64>>, NetworkPartFn) {
    let channels = vec![sizes[1]];
    let [mean, var] =
        [(); 2].map(|()| Tensor::ones(&channels, DType::F32).expect("the CPU has memory for these tensors"));
    let part = move |inputs: &[Tensor]| {
        let (weight, bias) = (Some(&inputs[1]), Some(&inputs[2]));
        aten::batch_norm(&inputs[0], weight, bias, Some(&mean), Some(&var), true, 0.1, 1e-5, false)
    };
    (vec![sizes.to_vec(), channels.clone(), channels], Box::new(part))
}

fn group_norm_part(sizes: [i64; 4]) -> (Vec<Vec<i64>>, NetworkPartFn) {
    let channels = vec![sizes[1]];
    let part = |inputs: &[Tensor]| aten::group_norm(&inputs[0], 32, Some(&inputs[1]), Some(&inputs[2]), 1e-5, false);
    (vec![sizes.to_vec(), channels.clone(), channels], Box::new(part))
}
