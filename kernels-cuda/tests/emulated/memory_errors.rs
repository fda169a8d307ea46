//! Tests of invalid memory accesses and launches: the emulator ends the program with a message, and a launch that a device refuses is an
//! error.
#![expect(unsafe_code, reason = "kernels are native code")]

use std::error::Error as _;
use std::process::Command;

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use kernels_cuda::{CudaError, Grid, Kernel, Launch};

use crate::{copy_to_device, lock_first_device};

// SAFETY: the invalid templates are launched by `run_invalid_template` alone, in a separate process, which the emulator ends.
static INVALID_TEMPLATES: Kernel = unsafe {
    Kernel::new(
        "invalid",
        r#"
    #include "opdispatch.cuh"
    template <class T> __global__ void misaligned(T *out, u32 one) { *(Pack<T, 4> *)(out + one) = Pack<T, 4>{}; }
    template <class T> __global__ void outside(T *out, u32 one) {
        __shared__ T few[4];
        few[one + 3] = 0;
        *out = few[0];
    }
    template <class T> __global__ void shifted(T *out, u32 one) { *out = one << (31 + one); }
    template <class T> __global__ void behind(T *out, u32 one) {
        DYNAMIC_SHARED_MEMORY(bytes);
        ((T *)bytes)[3 + one] = 0;
    }
    template <class T> __global__ void apart(T *out, u32 one) {
        if (threadIdx.x < one) __syncthreads();
        else __syncwarp();
    }
    "#,
        |instances| {
            for template in ["misaligned", "outside", "shifted", "behind", "apart"] {
                instances.add_for_each_dtype(template, &[DType::I32]);
            }
        },
    )
};

/// The templates that a process launches, and the messages that it ends with.
const EXPECTED_MESSAGES: [(&str, &str); 5] = [
    ("misaligned", "invalid:3: a misaligned address"),
    ("outside", "an index out of bounds of 'int [4]'"),
    ("shifted", "a shift by too many bits of 'unsigned int'"),
    ("behind", "wrote past the end of the 16 bytes of shared memory"),
    ("apart", "not all threads of block 0,0,0 reach a barrier"),
];
const TEMPLATE_VARIABLE: &str = "KERNELS_CUDA_TEMPLATE";

#[test]
fn an_invalid_access_ends_the_program_with_a_message() {
    let Some((_, _lock)) = lock_first_device() else { return };
    if !is_emulated() {
        return println!("skipped: a GPU is present");
    }
    for (template, problem) in EXPECTED_MESSAGES {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program
            .args(["--exact", "memory_errors::run_invalid_template", "--ignored", "--nocapture"])
            .env(TEMPLATE_VARIABLE, template);
        let output = program.output().unwrap();
        let output_text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{template} does not end the program");
        assert!(
            output_text.contains(&format!("`invalid: {template}<i32>`")) && output_text.contains(problem),
            "{template}: {output_text}"
        );
    }
}

#[test]
#[ignore = "a child process of `an_invalid_access_ends_the_program_with_a_message` runs this test, because it ends the process"]
fn run_invalid_template() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let Ok(wanted) = std::env::var(TEMPLATE_VARIABLE) else { return };
    let (template, _) = EXPECTED_MESSAGES.into_iter().find(|(template, _)| *template == wanted).unwrap();
    let out = Spec::contiguous(DType::I32, &[8]).on(cuda).unwrap();
    let launch = Launch::on_device_of(&out).unwrap();
    let (pointer, grid) = (launch.pointer(&out).unwrap(), Grid::new(1, 32).with_shared_memory(16));
    launch.run(&INVALID_TEMPLATES, template, &[DType::I32], grid, (pointer, 1_u32)).unwrap();
    cuda.synchronize().unwrap();
}

fn is_emulated() -> bool {
    kernels_cuda::device_properties(0).unwrap().architecture == 0
}

#[test]
fn a_launch_over_a_limit_is_an_error_and_the_next_launch_works() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let out = Spec::contiguous(DType::I32, &[8]).on(cuda).unwrap();
    let launch = Launch::on_device_of(&out).unwrap();
    let pointer = launch.pointer(&out).unwrap();
    let threads = Grid { threads: [32, 33, 1], ..Grid::new(1, 1) };
    let deep = Grid { blocks: [1, 1, 70_000], ..Grid::new(1, 1) };
    for (grid, wanted, limit) in [
        (Grid { blocks: [1, 70_000, 1], ..threads }, "blocks in the second dimension", 65_535),
        (deep, "blocks in the third dimension", 65_535),
        (threads, "threads", 1024),
        (Grid::new(u32::MAX, 32), "blocks", 0x7fff_ffff),
    ] {
        let refused: Error =
            launch.run(&INVALID_TEMPLATES, "shifted", &[DType::I32], grid, (pointer, 0_u32)).unwrap_err().into();
        let cause = refused.source().and_then(|source| source.downcast_ref::<CudaError>());
        let expected = matches!(cause, Some(CudaError::LaunchLimit { quantity, limit: found, .. }) if *quantity == wanted && *found == limit);
        assert!(expected, "{refused}");
    }
    let much = Grid::new(1, 32).with_shared_memory(1 << 20);
    let refused =
        launch.run(&INVALID_TEMPLATES, "shifted", &[DType::I32], much, (pointer, 0_u32)).unwrap_err().to_string();
    assert!(refused.contains("needs 1048576 bytes of shared memory"), "{refused}");
    launch.run(&INVALID_TEMPLATES, "shifted", &[DType::I32], Grid::new(1, 1), (pointer, 0_u32)).unwrap();
    cuda.synchronize().unwrap();
}

#[test]
fn a_launch_with_wrong_parameters_is_an_error() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let out = copy_to_device(&Tensor::from_slice(&[7_i32; 8]), cuda);
    let launch = Launch::on_device_of(&out).unwrap();
    let (pointer, one) = (launch.pointer(&out).unwrap(), Grid::new(1, 1));
    let refused = [
        (vec![8], launch.run(&INVALID_TEMPLATES, "shifted", &[DType::I32], one, (pointer,))),
        (vec![8, 8], launch.run(&INVALID_TEMPLATES, "shifted", &[DType::I32], one, (pointer, 0_u64))),
        (vec![8, 4, 4], launch.run(&INVALID_TEMPLATES, "shifted", &[DType::I32], one, (pointer, 0_u32, 0_u32))),
    ];
    for (sizes, refused) in refused {
        match refused {
            Err(CudaError::ParameterMismatch { kernel: "invalid", template: "shifted", expected, passed }) => {
                assert_eq!((expected, passed), (vec![8, 4], sizes));
            }
            other => panic!("{sizes:?}: {other:?}"),
        }
    }
    assert_eq!(copy_to_device(&out, Device::CPU).to_vec::<i32>().unwrap(), [7; 8]);
}

#[test]
fn a_template_name_that_is_no_identifier_is_an_error() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let out = Spec::contiguous(DType::I32, &[8]).on(cuda).unwrap();
    let launch = Launch::on_device_of(&out).unwrap();
    let text = "shifted<i32>>>(\"\", *launched); abort(); } void more() { int x = (1";
    match launch.run(&INVALID_TEMPLATES, text, &[], Grid::new(1, 1), (launch.pointer(&out).unwrap(), 0_u32)) {
        Err(CudaError::Compile { log, .. }) => assert!(log.contains("has no instance"), "{log}"),
        other => panic!("{other:?}"),
    }
    let many = [DType::I32; 64];
    let refused =
        launch.run(&INVALID_TEMPLATES, "shifted", &many, Grid::new(1, 1), (launch.pointer(&out).unwrap(), 0_u32));
    assert!(matches!(refused, Err(CudaError::Compile { .. })), "{refused:?}");
}
