//! Fuzzes the reader of safetensors files: any header and bytes give tensors or a typed error.
#![no_main]

use dispatch_files::read_safetensors;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    // A header up to a zero, with the right length in front, so that inputs get past it.
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (header, data) = bytes.split_at(end);
    let data = data.get(1..).unwrap_or_default();
    check(&[&(header.len() as u64).to_le_bytes(), header, data].concat());
});

fn check(bytes: &[u8]) {
    match read_safetensors(bytes) {
        Ok((tensors, metadata)) => {
            assert!(tensors.values().all(|tensor| tensor.storage().size() <= bytes.len()));
            // No entry of the metadata is a tie: its value is the name of no tensor, or of one that is tied itself.
            for (key, value) in &metadata {
                let Some(tensor) = tensors.get(value) else { continue };
                let is_tied = || tensors.iter().any(|(name, other)| name != value && other.same(tensor));
                assert!(tensors.contains_key(key) || is_tied());
            }
        }
        Err(error) => assert!(error.to_string().starts_with("bytes in memory")),
    }
}
