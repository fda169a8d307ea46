//! Fuzzes the readers of NumPy's files: any bytes give arrays or a typed error, and no more memory than they justify.
#![no_main]

use dispatch_files::{read_npy, read_npz};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match read_npy(bytes) {
        Ok(array) => assert!(array.storage().size() <= bytes.len()),
        Err(error) => assert!(error.to_string().starts_with("bytes in memory")),
    }
    match read_npz(bytes) {
        // A byte of compressed data becomes at most 1032.
        Ok(arrays) => {
            assert!(arrays.values().map(|array| array.storage().size()).sum::<usize>() <= bytes.len() * 1032);
        }
        Err(error) => assert!(error.to_string().starts_with("bytes in memory")),
    }
});
