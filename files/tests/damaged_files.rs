//! Damaged files are errors that name the file: never a panic, and never an allocation of sizes that only the header promises.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use dispatch_files::{FileError, FileProblem, load_npy, load_npz, load_safetensors, save_safetensors};
use dispatch_runtime::Tensor;
use proptest::prelude::*;

/// Loads a file of any format. Returns whether that succeeds.
fn load(path: &Path) -> Result<(), FileError> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => load_npy(path).map(drop),
        Some("npz") => load_npz(path).map(drop),
        _ => load_safetensors(path).map(drop),
    }
}

fn sound_files() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/numpy");
    ["f4.npy", "fortran.npy", "b1.npy", "plain.npz", "compressed.npz", "model.safetensors"]
        .into_iter()
        .map(|name| (name.to_owned(), fs::read(folder.join(name)).unwrap()))
        .collect()
}

fn load_bytes(name: &str, bytes: &[u8]) -> Result<(), FileError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    load(&path)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]
    #[test]
    fn changed_bytes_are_values_or_errors(
        file in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let files = sound_files();
        let (name, bytes) = file.get(&files);
        let mut bytes = bytes.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Err(error) = load_bytes(name, &bytes) {
            prop_assert!(error.to_string().contains(name.as_str()), "{}", error);
        }
    }

    #[test]
    fn bytes_without_structure_are_errors(bytes in prop::collection::vec(any::<u8>(), 0..200), marked in any::<bool>()) {
        let bytes = if marked { [b"\x93NUMPY\x01\x00", &bytes[..]].concat() } else { bytes };
        for name in ["x.npy", "x.npz", "x.safetensors"] {
            prop_assert!(load_bytes(name, &bytes).is_err());
        }
    }
}

#[test]
fn every_prefix_of_a_file_is_an_error() {
    for (name, bytes) in sound_files() {
        for length in 0..bytes.len() {
            let error = load_bytes(&name, &bytes[..length]).unwrap_err();
            assert!(error.to_string().contains(&name), "{error}");
        }
        load_bytes(&name, &bytes).unwrap();
    }
}

fn npy(header: &str, elements: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
}

#[test]
fn promised_sizes_are_compared_with_the_file_before_memory_is_allocated() {
    for (sizes, is_too_large) in [
        ("1000000000000,", false),
        ("4611686018427387904, 4", true),
        ("18446744073709551615,", true),
        ("0, 9223372036854775807, 2", true),
    ] {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({sizes}), }}\n");
        let error = load_bytes("x.npy", &npy(&header, &[0; 8])).unwrap_err();
        let expected = if is_too_large {
            matches!(*error.problem, FileProblem::TooLarge { .. })
        } else {
            matches!(*error.problem, FileProblem::Truncated { expected: 4_000_000_000_000, found: 8 })
        };
        assert!(expected, "{sizes}: {error}");
    }
}

#[test]
fn problems_are_told_apart() {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
    let problem = |bytes: &[u8]| *load_bytes("x.npy", bytes).unwrap_err().problem;
    assert!(matches!(problem(b"PK\x03\x04 a zip"), FileProblem::NotNpy));
    assert!(matches!(problem(b"\x93NUMPY\x09\x00  "), FileProblem::NpyVersion { major: 9, minor: 0 }));
    assert!(matches!(problem(&npy(header, &[0; 7])), FileProblem::Truncated { expected: 8, found: 7 }));
    assert!(matches!(problem(&npy(header, &[0; 9])), FileProblem::TrailingBytes));
    assert!(matches!(problem(&npy("{'descr': '<f4'}", &[])), FileProblem::NpyHeader { .. }));
    assert!(matches!(problem(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"), FileProblem::NpyHeader { .. }));
}

#[test]
fn types_without_a_dtype_in_safetensors_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    save_safetensors(&path, [("steps", &Tensor::from([1_i64, 2]))]).unwrap();
    let text = fs::read(&path).unwrap();
    let at = text.windows(3).position(|window| window == b"I64").unwrap();
    let mut changed = text.clone();
    changed[at] = b'U';
    let error = load_bytes("x.safetensors", &changed).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::UnsupportedElements { .. }), "{error}");
    assert!(error.to_string().contains("entry `steps`") && error.to_string().contains("U64"), "{error}");
}

#[test]
fn an_entry_of_an_archive_that_is_no_array_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    archive.start_file("readme.txt", zip::write::SimpleFileOptions::default()).unwrap();
    archive.finish().unwrap();
    let error = load_npz(&path).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::NotAnArray) && error.to_string().contains("readme.txt"), "{error}");
}
