//! Fuzzes the reader of PyTorch's `.pt` files: any bytes give a value or a typed error, and no more memory than they justify.
#![no_main]

use std::collections::BTreeMap;

use dispatch_files::{PtValue, read_pt_value};
use dispatch_runtime::Tensor;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let value = match read_pt_value(bytes) {
        Ok(value) => value,
        Err(error) => {
            assert!(error.to_string().starts_with("bytes in memory"));
            return;
        }
    };
    let mut tensors = Vec::new();
    collect(&value, &mut tensors);
    let storages: BTreeMap<usize, usize> =
        tensors.iter().map(|tensor| (tensor.storage().identity(), tensor.storage().size())).collect();
    // A byte of compressed data becomes at most 1032.
    assert!(storages.values().sum::<usize>() <= bytes.len() * 1032);
    let _ = value.to_tensors();
});

fn collect(value: &PtValue, tensors: &mut Vec<Tensor>) {
    match value {
        PtValue::Tensor(tensor) => tensors.push(tensor.clone()),
        PtValue::List(items) | PtValue::Tuple(items) => items.iter().for_each(|item| collect(item, tensors)),
        PtValue::Dict(pairs) => pairs.iter().for_each(|(key, value)| {
            collect(key, tensors);
            collect(value, tensors);
        }),
        _ => {}
    }
}
