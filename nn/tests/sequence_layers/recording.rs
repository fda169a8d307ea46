//! Comparison of a module with a recorded case.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_nn::Module;
use dispatch_runtime::prelude::*;

/// The tensors of each case, by their names.
static CASES: LazyLock<BTreeMap<String, BTreeMap<String, Vec<f64>>>> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sequence_layers/recorded.npz");
    let arrays = dispatch_files::load_npz(path).expect("the recording");
    let index = String::from_utf8(arrays["index"].to_vec::<u8>().expect("bytes")).expect("text");
    let case = |line: &str| {
        let (name, parts) = line.split_once(' ').expect("a name");
        let mut rest = arrays[name].to_vec::<f64>().expect("numbers");
        let mut tensors = BTreeMap::new();
        for part in parts.split(' ') {
            let (key, count) = part.split_once(':').expect("a name with a count");
            let after = rest.split_off(count.parse().expect("a count"));
            tensors.insert(key.to_owned(), std::mem::replace(&mut rest, after));
        }
        (name.to_owned(), tensors)
    };
    index.lines().map(case).collect()
});

/// Returns the elements of the tensor with this number, as in `record.py`.
pub(crate) fn values(number: i64, sizes: &[i64], dtype: DType) -> Result<Tensor> {
    let count: i64 = sizes.iter().product();
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    let element = |at: i64| ((at * 7919 + number * 104_729) % 2003) as f64 / 2003.0 - 0.5;
    let elements: Vec<f64> = (1..=count).map(element).collect();
    Tensor::from_slice(&elements).reshape(sizes)?.to(dtype)
}

/// Returns `count` indices of rows, as in `record.py`.
pub(crate) fn indices(rows: i64, sizes: &[i64]) -> Result<Tensor> {
    let elements: Vec<i64> = (0..sizes.iter().product()).map(|at| (at * 7 + 3) % rows).collect();
    Tensor::from_slice(&elements).reshape(sizes)
}

type Call<'a, M> = dyn Fn(&M, &[Tensor]) -> Result<Vec<Tensor>> + 'a;

/// Compares the outputs of a call, and the gradients of inputs and parameters, with those that PyTorch gave for this case.
#[track_caller]
pub(crate) fn check<M: Module>(
    name: &str,
    module: Result<M>,
    sizes: &[&[i64]],
    call: impl Fn(&M, &[Tensor]) -> Result<Vec<Tensor>>,
) {
    check_dtypes(name, module, sizes, &call).unwrap_or_else(|error| panic!("{name}: {error}"));
}

fn check_dtypes<M: Module>(name: &str, module: Result<M>, sizes: &[&[i64]], call: &Call<'_, M>) -> Result<()> {
    let module = check_dtype(name, module?, sizes, call, DType::F64, (1e-9, 1e-11))?;
    check_dtype(name, module, sizes, call, DType::F32, (1.3e-6, 1e-5))?;
    Ok(())
}

fn check_dtype<M: Module>(
    name: &str,
    module: M,
    sizes: &[&[i64]],
    call: &Call<'_, M>,
    dtype: DType,
    tolerances: (f64, f64),
) -> Result<M> {
    let recorded = CASES.get(name).unwrap_or_else(|| panic!("no recorded case {name}"));
    let module = Module::to(module, dtype)?;
    module.zero_grad();
    for (number, parameter) in (0..).zip(module.parameters()) {
        parameter.detach()?.copy_(&values(number, parameter.sizes(), dtype)?)?;
    }
    let input = |(number, sizes): (i64, &&[i64])| values(100 + number, sizes, dtype)?.requires_grad_(true);
    let inputs = (0..).zip(sizes).map(input).collect::<Result<Vec<_>>>()?;
    let outputs = call(&module, &inputs)?;
    let mut loss = Tensor::zeros((), dtype)?;
    let mut found = BTreeMap::new();
    for (number, output) in (0..).zip(&outputs) {
        assert_eq!(output.dtype(), dtype, "{name}: output {number}");
        loss = (loss + (output * values(200 + number, output.sizes(), dtype)?)?.sum()?)?;
        found.insert(format!("out{number}"), output.clone());
    }
    loss.backward()?;
    let gradients = (0..).zip(&inputs).filter_map(|(number, input)| Some((format!("in{number}"), input.grad()?)));
    found.extend(gradients);
    found.extend(
        module.parameters().into_iter().filter_map(|parameter| Some((parameter.name.clone(), parameter.grad()?))),
    );
    let names = |keys: Vec<&String>| format!("{keys:?}");
    assert_eq!(names(found.keys().collect()), names(recorded.keys().collect()), "{name}: other names");
    for (key, expected) in recorded {
        let elements = found[key].to(DType::F64)?.detach()?.to_vec::<f64>()?;
        assert_eq!(elements.len(), expected.len(), "{name}: {key}");
        for (at, (&found, &expected)) in elements.iter().zip(expected).enumerate() {
            let is_close = (found - expected).abs() <= tolerances.1 + tolerances.0 * expected.abs();
            assert!(is_close, "{name}: {key}[{at}] is {found} in {dtype}, and {expected} in PyTorch");
        }
    }
    Ok(module)
}
