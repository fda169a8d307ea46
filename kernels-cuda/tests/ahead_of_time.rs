//! Tests of ahead-of-time compilation, for architectures that this machine lacks.
#![expect(unsafe_code, reason = "kernels are native code")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use dispatch_runtime::DType;
use kernels_cuda::{CompileStatistics, CudaError, Kernel, cache_folder, compile_statistics, compiler_version, kernel};

kernel! {
    // SAFETY: nothing launches it.
    static TWICE_KERNEL = unsafe { Kernel::new("twice", "template <class T> __global__ void twice(T *out) {\n    out[0] += out[0];\n}\n",
    |instances| instances.add_for_each_dtype("twice", &[DType::F32, DType::F64])) };
}

/// Runs one of the ignored tests below in another process, with the disk cache in `folder`.
fn run_ignored_test(test: &str, folder: &Path) {
    let arguments = ["--exact", test, "--ignored", "--nocapture"];
    let output = Command::new(env::current_exe().unwrap())
        .args(arguments)
        .env("OPDISPATCH_CUDA_CACHE", folder)
        .output()
        .unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && output_text.contains("1 passed"), "{test}: {output_text}");
}

#[test]
fn cached_kernels_are_not_compiled_again() {
    let Some(_) = test_tools::tool_or_skip(test_tools::Tool::Nvrtc, compiler_version()) else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ahead");
    _ = fs::remove_dir_all(&folder);
    run_ignored_test("all_instances_are_compiled", &folder);
    run_ignored_test("no_instance_is_compiled", &folder);
    // The file is truncated, as after an interrupted copy.
    let file = cached_files(&folder).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    run_ignored_test("all_instances_are_compiled", &folder);
    assert_eq!(fs::read(&file).unwrap(), whole);
    fs::remove_dir_all(&folder).unwrap();

    fs::write(&folder, "not a folder").unwrap();
    run_ignored_test("an_invalid_cache_folder_is_an_error", &folder);
    fs::remove_file(&folder).unwrap();
}

fn cached_files(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    inside(folder).iter().flat_map(|kernel| inside(kernel)).collect()
}

#[test]
#[ignore = "a child process of the test `cached_kernels_are_not_compiled_again` runs this test"]
fn all_instances_are_compiled() {
    assert_eq!(TWICE_KERNEL.source().compile_into_cache(90), Ok(2));
    assert_eq!(compile_statistics().instances, 2);
    assert!(!compile_statistics().time.is_zero());
    assert_eq!(TWICE_KERNEL.source().compile_into_cache(90), Ok(0));
}

#[test]
#[ignore = "a child process of the test `cached_kernels_are_not_compiled_again` runs this test"]
fn no_instance_is_compiled() {
    assert_eq!(TWICE_KERNEL.source().compile_into_cache(90), Ok(0));
    assert_eq!(compile_statistics(), CompileStatistics::default());
}

#[test]
#[ignore = "a child process of the test `cached_kernels_are_not_compiled_again` runs this test"]
fn an_invalid_cache_folder_is_an_error() {
    match TWICE_KERNEL.source().compile_into_cache(90) {
        Err(error @ CudaError::CacheWrite { .. }) => {
            let folder = cache_folder().unwrap();
            assert!(error.to_string().contains(folder.to_str().unwrap()), "{error}");
        }
        other => panic!("{other:?}"),
    }
}
