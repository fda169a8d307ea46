//! Tests of `#[derive(Module)]` on all kinds of structs, without a warning.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use std::collections::BTreeMap;

use dispatch_nn::{Buffer, Forward, Layer, Linear, Module, ModuleDict, Param, ReLU, Sequential, Training};
use dispatch_runtime::prelude::*;

#[derive(Clone, Module)]
struct Net<N, const COUNT: usize>
where
    N: Clone,
{
    norm: N,
    r#type: [Option<Linear>; COUNT],
    by_name: BTreeMap<String, Vec<Scale>>,
    in_order: ModuleDict<Box<dyn Layer>>,
    #[module(name = "lm_head")]
    head: Box<Linear>,
    mask: Buffer,
    heads: i64,
    dropout: f64,
    name: &'static str,
    training: Training,
    #[module(skip)]
    window: std::ops::Range<i64>,
    none: Nothing,
}

#[derive(Clone, Module)]
struct Scale(Param, #[module(skip)] Tensor);

#[derive(Clone, Module)]
struct Nothing;

impl Forward for Nothing {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        Ok(x.clone())
    }
}

fn param() -> Result<Param> {
    Param::new(Tensor::from(1.0))
}

fn linear() -> Result<Linear> {
    Ok(Linear { weight: param()?, bias: None })
}

fn net() -> Result<Net<Sequential, 2>> {
    let mut in_order = ModuleDict::<Box<dyn Layer>>::new();
    in_order.insert("second", Box::new(linear()?))?;
    in_order.insert("first", Box::new(ReLU))?;
    Ok(Net {
        norm: Sequential::new().add(linear()?).add(Nothing),
        r#type: [None, Some(linear()?)],
        by_name: BTreeMap::from([("a".to_owned(), vec![Scale(param()?, Tensor::from(2.0))])]),
        in_order,
        head: Box::new(linear()?),
        mask: Buffer::new(Tensor::from([true])),
        heads: 4,
        dropout: 0.1,
        name: "net",
        training: Training::ON,
        window: 0..4,
        none: Nothing,
    })
}

#[test]
fn all_kinds_of_fields_are_parts() -> Result<()> {
    let mut net = net()?;
    let names: Vec<String> = net.parameters().into_iter().map(|parameter| parameter.name).collect();
    assert_eq!(names, ["norm.0.weight", "type.1.weight", "by_name.a.0.0", "in_order.second.weight", "lm_head.weight"]);
    assert_eq!(net.buffers()[0].0, "mask");
    net.eval();
    assert!(!net.training.is_on());
    assert_eq!((net.heads, net.dropout, net.name, net.window.end), (4, 0.1, "net", 4));
    assert!(net.none.forward(&net.by_name["a"][0].1).is_ok());
    Ok(())
}
