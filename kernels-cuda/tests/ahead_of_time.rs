//! Tests of ahead-of-time compilation, for architectures that this machine lacks.
#![expect(unsafe_code, reason = "kernels are native code")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use dispatch_runtime::DType;
use kernels_cuda::{Compiled, CudaError, Kernel, cache_folder, compiled, compiler_version, kernel};

kernel! {
    // SAFETY: nothing launches it.
    static TWICE = unsafe { Kernel::new("twice", "template <class T> __global__ void twice(T *out) {\n    out[0] += out[0];\n}\n",
    |instances| instances.each("twice", &[DType::F32, DType::F64])) };
}

/// Runs one of the ignored tests below in another process, with the disk cache in `folder`.
fn run(test: &str, folder: &Path) {
    let arguments = ["--exact", test, "--ignored", "--nocapture"];
    let output = Command::new(env::current_exe().unwrap())
        .args(arguments)
        .env("OPDISPATCH_CUDA_CACHE", folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{test}: {said}");
}

#[test]
fn what_is_on_disk_is_not_compiled_again() {
    let Some(_) = test_tools::tool_or_skip(test_tools::Tool::Nvrtc, compiler_version()) else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ahead");
    _ = fs::remove_dir_all(&folder);
    run("all_of_it_is_compiled", &folder);
    run("none_of_it_is_compiled", &folder);
    // The file is truncated, as after an interrupted copy.
    let file = files(&folder).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    run("all_of_it_is_compiled", &folder);
    assert_eq!(fs::read(&file).unwrap(), whole);
    fs::remove_dir_all(&folder).unwrap();

    fs::write(&folder, "not a folder").unwrap();
    run("it_cannot_be_kept", &folder);
    fs::remove_file(&folder).unwrap();
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    inside(folder).iter().flat_map(|kernel| inside(kernel)).collect()
}

#[test]
#[ignore = "a child process of `what_is_on_disk_is_not_compiled_again` runs it"]
fn all_of_it_is_compiled() {
    assert_eq!(TWICE.source().prepare(90), Ok(2));
    assert_eq!(compiled().instances, 2);
    assert!(!compiled().time.is_zero());
    assert_eq!(TWICE.source().prepare(90), Ok(0));
}

#[test]
#[ignore = "a child process of `what_is_on_disk_is_not_compiled_again` runs it"]
fn none_of_it_is_compiled() {
    assert_eq!(TWICE.source().prepare(90), Ok(0));
    assert_eq!(compiled(), Compiled::default());
}

#[test]
#[ignore = "a child process of `what_is_on_disk_is_not_compiled_again` runs it"]
fn it_cannot_be_kept() {
    match TWICE.source().prepare(90) {
        Err(error @ CudaError::NotKept { .. }) => {
            let folder = cache_folder().unwrap();
            assert!(error.to_string().contains(folder.to_str().unwrap()), "{error}");
        }
        other => panic!("{other:?}"),
    }
}
