//! Fuzzes the machine of pickles: any pickle in a `.pt` file gives a value or a typed error, and tensors stay inside their storage.
#![no_main]

use std::io::{Cursor, Write};

use dispatch_files::{PtValue, read_pt_value};
use dispatch_runtime::{DType, Tensor};
use libfuzzer_sys::fuzz_target;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The elements of each storage: four floats, or 16 bytes.
const STORAGE: [f32; 4] = [1.0, 2.0, 3.0, 4.0];

fuzz_target!(|pickle: &[u8]| {
    match read_pt_value(&archive(pickle)) {
        Ok(value) => check(&value),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

/// Returns a `.pt` file with this pickle, and with the storages `0` to `2`.
fn archive(pickle: &[u8]) -> Vec<u8> {
    let storage = STORAGE.map(f32::to_le_bytes).concat();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in
        [("x/data.pkl", pickle), ("x/data/0", &storage), ("x/data/1", &storage), ("x/data/2", &storage)]
    {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(name, options).expect("the name is new");
        zip.write_all(bytes).expect("memory takes bytes");
    }
    zip.finish().expect("memory takes bytes").into_inner()
}

fn check(value: &PtValue) {
    match value {
        PtValue::Tensor(tensor) => check_tensor(tensor),
        PtValue::List(items) | PtValue::Tuple(items) => items.iter().for_each(check),
        PtValue::Dict(pairs) => pairs.iter().for_each(|(key, value)| {
            check(key);
            check(value);
        }),
        _ => {}
    }
}

fn check_tensor(tensor: &Tensor) {
    assert!(tensor.storage().size() <= 16);
    // A tensor of strides 0 may have many elements.
    if tensor.dtype() == DType::F32 && tensor.geometry().count() < 1000 && tensor.math_bits().is_empty() {
        let elements = tensor.to_vec::<f32>().expect("the elements are in memory");
        assert!(elements.iter().all(|element| STORAGE.contains(element)));
    }
}
