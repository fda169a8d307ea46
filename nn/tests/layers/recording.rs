//! The recording, and the comparison of a layer with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_nn::{Layer, Module};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

/// The recorded cases of a group, and the names of those that a test compared.
pub(crate) struct Group {
    name: &'static str,
    cases: BTreeMap<String, Case>,
    compared: BTreeSet<String>,
}

/// The tensors of a case, by kind and name.
type Case = BTreeMap<(String, String), Tensor>;

impl Group {
    pub(crate) fn load(name: &'static str) -> Result<Self> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layers/layers.npz");
        let arrays = dispatch_files::load_npz(file)?;
        let names = String::from_utf8(arrays["names"].to_vec::<u8>()?).unwrap();
        let (shapes, values) = (arrays["shapes"].to_vec::<i64>()?, arrays["values"].to_vec::<f64>()?);
        let (mut shapes, mut values) = (shapes.as_slice(), values.as_slice());
        let mut cases = BTreeMap::<_, Case>::new();
        for line in names.lines() {
            let [group, case, kind, tensor_name, letter] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("a line has five parts: {line}");
            };
            let (rank, rest) = shapes.split_first().unwrap();
            let (sizes, rest) = rest.split_at(usize::try_from(*rank).unwrap());
            let (elements, other) = values.split_at(usize::try_from(sizes.iter().product::<i64>()).unwrap());
            (shapes, values) = (rest, other);
            if group == name {
                let dtype = match letter {
                    "f" => DType::F64,
                    "i" => DType::I64,
                    _ => DType::Bool,
                };
                let tensor = Tensor::from(elements.to_vec()).reshape(sizes)?.to(dtype)?;
                cases.entry(case.to_owned()).or_default().insert((kind.to_owned(), tensor_name.to_owned()), tensor);
            }
        }
        assert!(!cases.is_empty(), "no cases of {name}");
        Ok(Self { name, cases, compared: BTreeSet::new() })
    }

    /// Compares a layer of one tensor.
    pub(crate) fn layer(&mut self, name: &str, layer: Result<impl Layer + 'static>) -> Result<()> {
        let layer: Box<dyn Layer> = Box::new(layer?);
        self.function(name, Ok(layer), |layer, inputs| Ok(vec![layer.forward(&inputs[0])?]))
    }

    /// Compares a function of a layer and its inputs.
    pub(crate) fn function<M: Module + Clone>(
        &mut self,
        name: &str,
        layer: Result<M>,
        run: impl Fn(&M, &[Tensor]) -> Result<Vec<Tensor>>,
    ) -> Result<()> {
        let layer = layer?;
        let case = self.cases.get(name).unwrap_or_else(|| panic!("no case {name} of {}", self.name));
        for dtype in [DType::F64, DType::F32] {
            let mut layer = Module::to(layer.deep_clone()?, dtype)?;
            layer.load_state_dict(&by_name(case, "state").into_iter().map(|(name, t)| (name, t.clone())).collect())?;
            if self.name != "random" {
                layer.train();
                compare(case, name, "train", dtype, &layer, &run)?;
                layer.zero_grad();
            }
            layer.eval();
            compare(case, name, "eval", dtype, &layer, &run)?;
        }
        self.compared.insert(name.to_owned());
        Ok(())
    }

    /// Fails if a recorded case was not compared.
    pub(crate) fn finish(self) {
        let missing: Vec<_> = self.cases.keys().filter(|name| !self.compared.contains(*name)).collect();
        assert!(missing.is_empty(), "cases of {} that no test compares: {missing:?}", self.name);
    }
}

fn by_name<'a>(case: &'a Case, kind: &str) -> BTreeMap<String, &'a Tensor> {
    case.iter().filter(|(key, _)| key.0 == kind).map(|(key, tensor)| (key.1.clone(), tensor)).collect()
}

fn compare<M: Module>(
    case: &Case,
    name: &str,
    mode: &str,
    dtype: DType,
    layer: &M,
    run: impl Fn(&M, &[Tensor]) -> Result<Vec<Tensor>>,
) -> Result<()> {
    let expected = |kind: &str| {
        // Evaluation is recorded only if it differs.
        let mut tensors = by_name(case, &format!("train.{kind}"));
        tensors.extend(by_name(case, &format!("{mode}.{kind}")));
        tensors
    };
    let gradients = expected("grad_input");
    let inputs: Vec<Tensor> = by_name(case, "input")
        .into_iter()
        .map(|(index, tensor)| {
            let converted = convert(tensor, dtype)?.detach()?;
            converted.requires_grad_(gradients.contains_key(&index))
        })
        .collect::<Result<_>>()?;
    let context = format!("{name}, {mode}, {dtype}");
    let outputs = run(layer, &inputs).unwrap_or_else(|error| panic!("{context}: {error}"));
    let named = |tensors: &[Tensor]| (0..).map(|index: i32| index.to_string()).zip(tensors.iter().cloned()).collect();
    compare_all(&context, "output", &expected("output"), named(&outputs))?;
    for output in outputs.iter().filter(|output| output.requires_grad()) {
        let seeds: Vec<f64> = (1..=output.numel()).map(|n| (n as f64).cos()).collect();
        let seed = Tensor::from(seeds).reshape(output.sizes())?.to(dtype)?;
        (output * seed)?.sum()?.backward()?;
    }
    let own = inputs.iter().enumerate().filter_map(|(index, input)| Some((index.to_string(), input.grad()?))).collect();
    compare_all(&context, "gradient of input", &gradients, own)?;
    let own = layer.parameters().into_iter().filter_map(|p| Some((p.name.clone(), p.grad()?))).collect();
    compare_all(&context, "gradient of parameter", &expected("grad"), own)?;
    compare_all(&context, "buffer", &expected("buffer"), layer.buffers().into_iter().collect())
}

fn compare_all(
    context: &str,
    kind: &str,
    expected: &BTreeMap<String, &Tensor>,
    found: BTreeMap<String, Tensor>,
) -> Result<()> {
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>(), "{context}: each {kind}");
    for (name, found) in found {
        let expected = convert(expected[&name], found.dtype())?;
        assert_eq!(found.sizes(), expected.sizes(), "{context}: sizes of {kind} {name}");
        let (rtol, atol) = match found.dtype() {
            // PyTorch multiplies by 1/6 in float32.
            DType::F64 if context.starts_with("Hardsigmoid") => (1e-7, 1e-7),
            DType::F64 => (1e-9, 1e-9),
            _ => (1.3e-6, 1e-5),
        };
        let close = aten::allclose(&found.detach()?, &expected, rtol, atol, true)?;
        let gap = (found.to(DType::F64)? - expected.to(DType::F64)?)?.abs()?;
        assert!(close, "{context}: {kind} {name}\nfound {found:?}\nexpected {expected:?}\ngap {gap:?}");
    }
    Ok(())
}

/// Converts numbers with a fraction, and keeps others.
fn convert(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    if tensor.is_floating_point() { tensor.to(dtype) } else { Ok(tensor.clone()) }
}
