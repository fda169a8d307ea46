//! Mapped files: the same programs, whose writes stay in memory.

#![allow(unsafe_code)]

use aten::prelude::*;
use std::fs;
use std::path::Path;

use dispatch_nn::Module;
use dispatch_pt2::{Archive, Program, Pt2Error, Pt2Problem};
use dispatch_runtime::Tensor;

use crate::zip_builder::program_path;

fn map(path: impl AsRef<Path>) -> Result<Program, Pt2Error> {
    // SAFETY: no test changes a file of the repository, or a temporary file that is mapped.
    unsafe { Program::map(path) }
}

#[test]
fn a_mapped_program_is_that_of_the_file() {
    let x = || Tensor::from([[1.0_f32, 2.0, 3.0, 4.0]]);
    let run = |program: &Program| program.run(x()).unwrap().tensors()[0].detach().unwrap().to_vec::<f32>().unwrap();
    let mapped = map(program_path("mlp")).unwrap();
    assert_eq!(run(&mapped), run(&Program::load(program_path("mlp")).unwrap()));
    for named in mapped.parameters() {
        let address = named.param.read::<f32>().unwrap().as_ptr().addr();
        // PyTorch aligns the data within the file, and a mapping begins at a page.
        assert!(address.is_multiple_of(64), "{}", named.name);
    }
}

#[test]
fn writes_do_not_reach_the_mapped_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("views.pt2");
    fs::copy(program_path("views"), &path).unwrap();
    let before = fs::read(&path).unwrap();
    let program = map(&path).unwrap();
    for _ in 0..3 {
        program.run(Tensor::from([1.0_f32, 1.0])).unwrap();
    }
    let (_, tail) = program.buffers().into_iter().find(|(name, _)| name == "tail").unwrap();
    let fresh = Program::load(&path).unwrap();
    let (_, unchanged) = fresh.buffers().into_iter().find(|(name, _)| name == "tail").unwrap();
    let raised: Vec<f32> = unchanged.to_vec::<f32>().unwrap().iter().map(|value| value + 3.0).collect();
    assert_eq!(tail.to_vec::<f32>().unwrap(), raised);
    assert_eq!(fs::read(&path).unwrap(), before);
    // The file of this name can be replaced, because the mapping keeps the old one.
    fs::remove_file(&path).unwrap();
    assert_eq!(tail.to_vec::<f32>().unwrap(), raised);
}

#[test]
fn files_that_cannot_be_mapped_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pt2");
    fs::write(&empty, "").unwrap();
    assert!(map(&empty).unwrap_err().to_string().contains("the file is empty"));
    // SAFETY: as above.
    let error = unsafe { Archive::map(folder.path().join("missing.pt2")) }.unwrap_err();
    assert!(matches!(&*error.problem, Pt2Problem::Io(_)), "{error}");
    assert!(map(folder.path()).is_err());
}
