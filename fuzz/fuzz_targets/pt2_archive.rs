//! Fuzzes the reader of `.pt2` archives: any bytes give programs or a typed error, and tensors stay inside of the file.
#![no_main]

use std::collections::BTreeMap;

use dispatch_nn::Module;
use dispatch_pt2::Archive;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let archive = match Archive::from_bytes(bytes) {
        Ok(archive) => archive,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let _ = archive.extra_texts().count();
    let mut storages = BTreeMap::new();
    let mut programs = Vec::new();
    for name in archive.program_names() {
        let _ = archive.sample_inputs(name);
        match archive.program(name) {
            Ok(program) => {
                let tensors = program.parameters().into_iter().map(|named| named.param.storage().clone());
                let tensors = tensors.chain(program.buffers().into_iter().map(|(_, buffer)| buffer.storage().clone()));
                storages.extend(tensors.map(|storage| (storage.identity(), storage.size())));
                programs.push(program);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    // Entries share no bytes.
    assert!(storages.values().sum::<usize>() <= bytes.len());
});
