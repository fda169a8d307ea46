//! Tests of invalid memory accesses and launches: the emulator ends the program with a message, and a launch that a device refuses is an
//! error.
#![expect(unsafe_code, reason = "kernels are native code")]

use std::error::Error as _;
use std::process::Command;

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use kernels_cuda::{CudaError, Grid, Kernel, Launch};

use crate::{device, to};

// SAFETY: the invalid templates are launched by `it_ends` alone, in a separate process, which the emulator ends.
static WRONG: Kernel = unsafe {
    Kernel::new(
        "wrong",
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
        SHARED_BYTES(bytes);
        ((T *)bytes)[3 + one] = 0;
    }
    template <class T> __global__ void apart(T *out, u32 one) {
        if (threadIdx.x < one) __syncthreads();
        else __syncwarp();
    }
    "#,
        |instances| {
            for template in ["misaligned", "outside", "shifted", "behind", "apart"] {
                instances.each(template, &[DType::I32]);
            }
        },
    )
};

/// The templates that a process launches, and the messages that it ends with.
const ENDS: [(&str, &str); 5] = [
    ("misaligned", "wrong:3: an address that is not aligned"),
    ("outside", "an index that is outside of 'int [4]'"),
    ("shifted", "a shift by too many bits of 'unsigned int'"),
    ("behind", "wrote behind the 16 bytes that a block shares"),
    ("apart", "a barrier that not all threads of block 0,0,0 reach"),
];
const TEMPLATE: &str = "KERNELS_CUDA_TEMPLATE";

#[test]
fn what_a_device_does_not_survive_ends_the_program_with_the_kernel_and_the_line() {
    let Some((_, _alone)) = device() else { return };
    if !is_emulated() {
        return println!("skipped: there is a device");
    }
    for (template, problem) in ENDS {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", "memory_errors::it_ends", "--ignored", "--nocapture"]).env(TEMPLATE, template);
        let output = program.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{template} goes on");
        assert!(said.contains(&format!("`wrong: {template}<i32>`")) && said.contains(problem), "{template}: {said}");
    }
}

#[test]
#[ignore = "a child process of the test above runs it, because it ends the process"]
fn it_ends() {
    let Some((cuda, _alone)) = device() else { return };
    let Ok(wanted) = std::env::var(TEMPLATE) else { return };
    let (template, _) = ENDS.into_iter().find(|(template, _)| *template == wanted).unwrap();
    let out = Spec::contiguous(DType::I32, &[8]).on(cuda).unwrap();
    let launch = Launch::on(&out).unwrap();
    let (place, grid) = (launch.place(&out).unwrap(), Grid::new(1, 32).sharing(16));
    launch.run(&WRONG, template, &[DType::I32], grid, (place, 1_u32)).unwrap();
    cuda.synchronize().unwrap();
}

fn is_emulated() -> bool {
    kernels_cuda::properties(0).unwrap().architecture == 0
}

#[test]
fn a_launch_that_no_device_takes_is_refused_and_later_ones_are_not() {
    let Some((cuda, _alone)) = device() else { return };
    let out = Spec::contiguous(DType::I32, &[8]).on(cuda).unwrap();
    let launch = Launch::on(&out).unwrap();
    let place = launch.place(&out).unwrap();
    let threads = Grid { threads: [32, 33, 1], ..Grid::new(1, 1) };
    let deep = Grid { blocks: [1, 1, 70_000], ..Grid::new(1, 1) };
    for (grid, wanted, limit) in [
        (Grid { blocks: [1, 70_000, 1], ..threads }, "blocks in their second dimension", 65_535),
        (deep, "blocks in their third dimension", 65_535),
        (threads, "threads", 1024),
        (Grid::new(u32::MAX, 32), "blocks", 0x7fff_ffff),
    ] {
        let refused: Error = launch.run(&WRONG, "shifted", &[DType::I32], grid, (place, 0_u32)).unwrap_err().into();
        let cause = refused.source().and_then(|source| source.downcast_ref::<CudaError>());
        let expected = matches!(cause, Some(CudaError::Launch { what, most, .. }) if *what == wanted && *most == limit);
        assert!(expected, "{refused}");
    }
    let much = Grid::new(1, 32).sharing(1 << 20);
    let refused = launch.run(&WRONG, "shifted", &[DType::I32], much, (place, 0_u32)).unwrap_err().to_string();
    assert!(refused.contains("asks for 1048576 bytes that a block shares"), "{refused}");
    launch.run(&WRONG, "shifted", &[DType::I32], Grid::new(1, 1), (place, 0_u32)).unwrap();
    cuda.synchronize().unwrap();
}

#[test]
fn parameters_that_a_kernel_does_not_declare_are_refused_before_anything_runs() {
    let Some((cuda, _alone)) = device() else { return };
    let out = to(&Tensor::from_slice(&[7_i32; 8]), cuda);
    let launch = Launch::on(&out).unwrap();
    let (place, one) = (launch.place(&out).unwrap(), Grid::new(1, 1));
    let refused = [
        (vec![8], launch.run(&WRONG, "shifted", &[DType::I32], one, (place,))),
        (vec![8, 8], launch.run(&WRONG, "shifted", &[DType::I32], one, (place, 0_u64))),
        (vec![8, 4, 4], launch.run(&WRONG, "shifted", &[DType::I32], one, (place, 0_u32, 0_u32))),
    ];
    for (sizes, refused) in refused {
        match refused {
            Err(CudaError::Parameters { kernel: "wrong", template: "shifted", takes, given }) => {
                assert_eq!((takes, given), (vec![8, 4], sizes));
            }
            other => panic!("{sizes:?}: {other:?}"),
        }
    }
    assert_eq!(to(&out, Device::CPU).to_vec::<i32>().unwrap(), [7; 8]);
}

#[test]
fn a_template_is_a_name_and_no_text_that_would_be_compiled() {
    let Some((cuda, _alone)) = device() else { return };
    let out = Spec::contiguous(DType::I32, &[8]).on(cuda).unwrap();
    let launch = Launch::on(&out).unwrap();
    let text = "shifted<i32>>>(\"\", *launched); abort(); } void more() { int x = (1";
    match launch.run(&WRONG, text, &[], Grid::new(1, 1), (launch.place(&out).unwrap(), 0_u32)) {
        Err(CudaError::Compile { log, .. }) => assert!(log.contains("has no instance"), "{log}"),
        other => panic!("{other:?}"),
    }
    let many = [DType::I32; 64];
    let refused = launch.run(&WRONG, "shifted", &many, Grid::new(1, 1), (launch.place(&out).unwrap(), 0_u32));
    assert!(matches!(refused, Err(CudaError::Compile { .. })), "{refused:?}");
}
