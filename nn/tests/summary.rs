//! Tests of summaries: the tree of modules, numbers of parameters, and sizes of outputs.

use aten::prelude::*;
use dispatch_nn::{self as nn, Forward, Module};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

#[derive(Clone, Module)]
struct Net {
    embedding: nn::Embedding,
    lstm: nn::LSTM,
    blocks: Vec<Block>,
    head: nn::Linear,
}

#[derive(Clone, Module)]
struct Block {
    fc: nn::Sequential,
    act: nn::ReLU,
    norm: nn::BatchNorm1d,
}

impl Net {
    fn new() -> Result<Self> {
        let block = || {
            let fc = nn::Sequential::new().add(nn::Linear::new(6, 6)?).add(nn::ReLU).add(nn::ReLU);
            Ok(Block { fc, act: nn::ReLU, norm: nn::BatchNorm1d::new(6)? })
        };
        let embedding = nn::Embedding::new(10, 6)?;
        let head = nn::Linear { weight: embedding.weight.clone(), bias: None };
        embedding.requires_grad_(false)?;
        let blocks = (0..2).map(|_| block()).collect::<Result<_>>()?;
        Ok(Self { embedding, lstm: nn::LSTM::new(6, 6)?, blocks, head })
    }
}

impl Forward for Net {
    type Output = Tensor;

    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        let (x, _) = self.lstm.forward(&self.embedding.forward(tokens)?, None)?;
        let mut x = x.i(-1)?;
        for block in &self.blocks {
            x = block.norm.forward(&block.act.forward(&block.fc.forward(&x)?)?)?;
        }
        self.head.forward(&x)
    }
}

#[test]
fn the_table_has_the_tree_and_the_sizes_of_outputs() -> Result<()> {
    let net = Net::new()?;
    let tokens = Tensor::zeros((5, 3), DType::I64)?;
    let text = net.summary_with(|net| net.forward(&tokens))?.to_string();
    let expected = "\
Module                 Output                           Parameters  Trainable
Net                    [3, 10]                                 504        444
├─ embedding: Embedding  [5, 3, 6]                              60          0
├─ lstm: LSTM          [5, 3, 6], [1, 3, 6], [1, 3, 6]         336        336
";
    let words = |text: &str| {
        text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect::<Vec<Vec<_>>>()
    };
    assert_eq!(words(&text)[..4], words(expected)[..], "{text}");
    for line in [
        "├─ blocks.0: Block     -                                        54         54",
        "│  ├─ fc: Sequential [3, 6] 42 42",
        "│  │  ├─ 0: Linear [3, 6] 42 42",
        "│  │  └─ 2: ReLU [3, 6] 0 0",
        "│  └─ norm: BatchNorm1d [3, 6] 12 12",
        "└─ head: Linear [3, 10] 60 0",
        "504 parameters, 444 of them trainable, 2,016 bytes",
    ] {
        assert!(words(&text).contains(&words(line)[0]), "{line}\n{text}");
    }
    Ok(())
}

#[test]
fn a_tied_parameter_counts_once_in_each_module() -> Result<()> {
    let (net, summary) = (Net::new()?, Net::new()?.summary());
    assert_eq!(summary.num_parameters, net.num_parameters());
    let count =
        |path: &str| summary.modules.iter().find(|module| module.path == path).map(|module| module.num_parameters);
    assert_eq!([count(""), count("embedding"), count("head")], [Some(net.num_parameters()), Some(60), Some(60)]);
    assert_eq!((count("blocks.1.fc.0"), count("blocks.1.act")), (Some(42), Some(0)));
    assert!(summary.modules.iter().all(|module| module.output_sizes.is_empty()));
    Ok(())
}

#[test]
fn the_call_changes_nothing() -> Result<()> {
    let net = nn::Sequential::new().add(nn::BatchNorm1d::new(4)?).add(nn::Dropout::new(0.5)?);
    let x = Tensor::randn((8, 4), ())?;
    let before = net.buffers().into_iter().map(|(_, buffer)| buffer.deep_clone()).collect::<Result<Vec<_>>>()?;
    net.summary_with(|net| net.forward(&x))?;
    for ((name, buffer), before) in net.buffers().iter().zip(&before) {
        assert!(buffer.equal(before)?, "{name}");
    }
    let y = net.forward(&x)?;
    assert!(y.requires_grad() && y.eq(0.0)?.any()?.item::<bool>()?, "the model is in training mode");
    Ok(())
}

#[test]
fn each_use_of_a_layer_without_fields_gets_the_output_of_its_call() -> Result<()> {
    let net = nn::Sequential::new()
        .add(nn::ReLU)
        .add(nn::Linear::new(4, 5)?)
        .add(nn::ReLU)
        .add(nn::Linear::new(5, 6)?)
        .add(nn::ReLU);
    let x = Tensor::zeros((2, 4), ())?;
    let summary = net.summary_with(|net| net.forward(&x))?;
    let outputs: Vec<_> = summary.modules.iter().map(|module| module.output_sizes[0].clone()).collect();
    assert_eq!(outputs, [[2, 6], [2, 4], [2, 5], [2, 5], [2, 6], [2, 6]]);
    Ok(())
}

#[test]
fn a_call_that_fails_gives_its_error_and_the_next_one_works() -> Result<()> {
    let net = nn::Sequential::new().add(nn::Linear::new(4, 5)?);
    let wrong = Tensor::zeros((2, 3), ())?;
    assert!(net.summary_with(|net| net.forward(&wrong)).is_err());
    let x = Tensor::zeros((2, 4), ())?;
    let summary = net.summary_with(|net| {
        // A summary inside of the call does not disturb it.
        net.summary_with(|net| net.forward(&Tensor::zeros((7, 4), ())?))?;
        net.forward(&x)
    })?;
    assert_eq!(summary.modules[1].output_sizes, [[2, 5]]);
    Ok(())
}

#[test]
fn a_layer_of_a_name_that_exists_replaces_the_other() -> Result<()> {
    let net = nn::Sequential::new().add_named("head", nn::Linear::new(2, 3)?).add_named("head", nn::ReLU);
    assert_eq!(net.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["head"]);
    assert_eq!((net.len(), net.num_parameters()), (1, 0));
    assert!(net.get(0).is_some() && net.get(1).is_none());
    Ok(())
}

#[test]
fn module_dicts_keep_their_order_and_refuse_points() -> Result<()> {
    let mut dict = nn::ModuleDict::new();
    for name in ["c", "a", "b"] {
        assert!(dict.insert(name, nn::Linear::new(1, 2)?)?.is_none());
    }
    assert!(dict.insert("a", nn::Linear::without_bias(3, 4)?)?.is_some());
    let names: Vec<String> = dict.parameters().into_iter().map(|parameter| parameter.name).collect();
    assert_eq!(names, ["c.weight", "c.bias", "a.weight", "b.weight", "b.bias"]);
    assert!(dict.remove("c").is_some() && dict.remove("c").is_none());
    assert_eq!(dict.keys().collect::<Vec<_>>(), ["a", "b"]);
    for name in ["", "a.b"] {
        assert!(dict.insert(name, nn::Linear::new(1, 2)?).unwrap_err().to_string().contains("`name`"));
    }
    Ok(())
}
