//! Safetensors files with metadata, tied tensors and an index: those that Python wrote (safetensors/write.py), and our own.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dispatch_files::{
    FileError, FileProblem, load_safetensors, load_safetensors_with_metadata, read_safetensors, save_safetensors,
    save_safetensors_with_metadata,
};
use dispatch_runtime::{Geometry, Tensor, bf16};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/safetensors").join(name)
}

fn problem(result: Result<impl Sized, FileError>) -> FileProblem {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => *error.problem,
    }
}

#[test]
fn tied_weights_of_python_get_all_their_names() {
    let (tensors, metadata) = load_safetensors_with_metadata(path("tied.safetensors")).unwrap();
    assert_eq!(tensors.keys().collect::<Vec<_>>(), ["lm_head.weight", "ln.bias", "ln.weight", "wte.weight"]);
    assert!(tensors["wte.weight"].same(&tensors["lm_head.weight"]));
    assert_eq!(tensors["wte.weight"].to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let expected = [("epoch", "3"), ("format", "pt")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(metadata, BTreeMap::from(expected));
}

#[test]
fn ties_and_metadata_are_saved_and_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let weight = Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]);
    let same = weight.restride(weight.geometry().clone()).unwrap();
    let transposed = weight.restride(Geometry::strided(&[2, 2], &[1, 2], 0).unwrap()).unwrap();
    let tensors = [("z", &weight), ("a", &same), ("m", &transposed), ("b", &weight)];
    save_safetensors_with_metadata(&path, tensors, [("epoch", "3"), ("m", "z")]).unwrap();

    // `a` and `b` are entries of the metadata only; a transposed view has bytes of its own.
    let text = fs::read(&path).unwrap();
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains(r#""a":"z""#) && text.contains(r#""b":"z""#), "{text}");
    assert!(text.contains(r#""m":{"dtype""#) && !text.contains(r#""a":{"#), "{text}");

    let (tensors, metadata) = load_safetensors_with_metadata(&path).unwrap();
    assert_eq!(tensors.keys().collect::<Vec<_>>(), ["a", "b", "m", "z"]);
    assert!(tensors["a"].same(&tensors["z"]) && tensors["b"].same(&tensors["z"]));
    assert!(!tensors["m"].storage().same(tensors["z"].storage()));
    assert_eq!(tensors["m"].to_vec::<f32>().unwrap(), [1.0, 3.0, 2.0, 4.0]);
    let expected = [("epoch", "3"), ("m", "z")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(metadata, BTreeMap::from(expected));
    // An entry with the name of a tied tensor is no tie: a tie has the name of a saved one.
    save_safetensors_with_metadata(&path, [("z", &weight), ("a", &same)], [("note", "a")]).unwrap();
    let (chained, chained_metadata) = load_safetensors_with_metadata(&path).unwrap();
    assert_eq!((chained.len(), chained_metadata["note"].as_str()), (2, "a"));
    // What was loaded can be saved again.
    save_safetensors_with_metadata(&path, &tensors, metadata).unwrap();
    assert_eq!(load_safetensors(&path).unwrap().len(), 4);
    assert_eq!(read_safetensors(&fs::read(&path).unwrap()).unwrap().0.len(), 4);
}

#[test]
fn names_in_metadata_that_look_like_ties_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let x = Tensor::from([1.0]);
    for (key, value) in [("note", "x"), ("tied", "anything")] {
        let error = save_safetensors_with_metadata(&path, [("x", &x), ("tied", &x)], [(key, value)]).unwrap_err();
        assert!(matches!(&*error.problem, FileProblem::TieInMetadata { key: found } if found == key), "{error}");
        assert!(error.to_string().contains(key), "{error}");
    }
    assert!(matches!(problem(save_safetensors(&path, [("x", &x), ("x", &x)])), FileProblem::DuplicateName));
    let tied_twice = [("x", &x), ("tied", &x), ("tied", &x)];
    assert!(matches!(problem(save_safetensors(&path, tied_twice)), FileProblem::DuplicateName));
    assert!(!path.exists());
}

#[test]
fn all_files_of_an_index_are_loaded() {
    let (tensors, metadata) = load_safetensors_with_metadata(path("sharded/model.safetensors.index.json")).unwrap();
    assert_eq!(tensors.keys().collect::<Vec<_>>(), ["a.bias", "a.weight", "b.steps", "b.weight"]);
    assert_eq!(tensors["a.weight"].to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(tensors["b.weight"].to_vec::<bf16>().unwrap(), [bf16::ONE; 6]);
    assert_eq!(tensors["b.steps"].to_vec::<i64>().unwrap(), [7]);
    assert_eq!(metadata["format"], "pt");
}

/// Returns the bytes of a file with this header.
fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn offsets_that_overflow_are_errors() {
    let size = (1_u64 << 61) - 1;
    let entry = |i: u64| {
        let (start, end) = (i * size, (i + 1) * size);
        format!(r#""{i}": {{"dtype": "U8", "shape": [{size}], "data_offsets": [{start}, {end}]}}"#)
    };
    let header = format!("{{{}}}", (0..8).map(entry).collect::<Vec<_>>().join(", "));
    assert!(matches!(problem(read_safetensors(&with_header(&header, &[]))), FileProblem::Damaged { .. }));
    for header in ["", "{", "[]", r#"{"x": 3}"#, r#"{"__metadata__": {"x": 3}}"#] {
        assert!(
            matches!(problem(read_safetensors(&with_header(header, &[]))), FileProblem::Damaged { .. }),
            "{header}"
        );
    }
    for bytes in [&[][..], &[1; 7], &[255; 8], &[2, 0, 0, 0, 0, 0, 0, 0, b'{']] {
        assert!(matches!(problem(read_safetensors(bytes)), FileProblem::Damaged { .. }), "{bytes:?}");
    }
    let header = r#"{"x": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}"#;
    assert_eq!(read_safetensors(&with_header(header, &[1, 2])).unwrap().0["x"].to_vec::<u8>().unwrap(), [1, 2]);
    for data in [&[1][..], &[1, 2, 3]] {
        assert!(matches!(problem(read_safetensors(&with_header(header, data))), FileProblem::Damaged { .. }));
    }
}

/// Writes an index with this map beside two files, `1` with the tensor `x` and `2` with `y` and `z`, and loads it.
fn load_index(folder: &Path, weight_map: &str) -> Result<BTreeMap<String, Tensor>, FileError> {
    let x = Tensor::from([1.0]);
    save_safetensors(folder.join("1"), [("x", &x)]).unwrap();
    save_safetensors(folder.join("2"), [("y", &x), ("z", &x)]).unwrap();
    fs::write(folder.join("index.json"), weight_map).unwrap();
    load_safetensors(folder.join("index.json"))
}

#[test]
fn broken_indices_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let load = |map: &str| load_index(folder.path(), &format!(r#"{{"weight_map": {map}}}"#));
    let tensors = load(r#"{"x": "1", "y": "2"}"#).unwrap();
    assert!(tensors["y"].same(&tensors["z"]) && tensors.len() == 3);

    let error = load(r#"{"x": "1", "w": "2"}"#).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::MissingTensor), "{error}");
    assert!(error.path.ends_with("2") && error.entry.as_deref() == Some("w"), "{error}");

    let error = load(r#"{"x": "1", "y": "3"}"#).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::Io(_)) && error.path.ends_with("3"), "{error}");

    fs::copy(folder.path().join("1"), folder.path().join("4")).unwrap();
    let error = load(r#"{"x": "1", "y": "2", "v": "4"}"#).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::MissingTensor), "{error}");
    save_safetensors(folder.path().join("4"), [("v", &Tensor::from([1])), ("x", &Tensor::from([2]))]).unwrap();
    let error = load(r#"{"x": "1", "v": "4"}"#).unwrap_err();
    assert!(matches!(*error.problem, FileProblem::DuplicateName) && error.entry.as_deref() == Some("x"), "{error}");

    for outside in ["../1", "/etc/passwd", "a/../../1", ""] {
        let error = load(&format!(r#"{{"x": "{outside}"}}"#)).unwrap_err();
        assert!(matches!(&*error.problem, FileProblem::OutsideFolder { file } if file == outside), "{error}");
    }
    for map in ["3", "[]", r#"{"x": 1}"#, r#"{"x": "1""#] {
        assert!(matches!(problem(load(map)), FileProblem::Damaged { .. }), "{map}");
    }
    assert!(matches!(problem(load_index(folder.path(), "")), FileProblem::Damaged { .. }));
    assert!(matches!(problem(load_index(folder.path(), "[1]")), FileProblem::Damaged { .. }));
}
