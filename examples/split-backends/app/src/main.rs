//! An application that links operators, three backends and a layer from other crates.
#![forbid(unsafe_code)]

use {my_npu as _, myops_cpu as _, myops_cuda as _};

use opdispatch::prelude::*;

/// A composite that the application defines, of operators of another crate.
#[op_def("halved_square(Tensor self) -> Tensor")]
fn halved_square(this: &Tensor) -> Result<Tensor> {
    let mut squared = myops::square(this)?;
    myops::scale_(&mut squared, 0.5.into())?;
    Ok(squared)
}

/// Copies elements to a device, computes squares there, and copies the result back.
fn print_squares(device: Device) -> Result<()> {
    let a = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]).to(device)?;
    println!("on {device}: square(a) = {:?}", myops::square(&a)?.to(Device::CPU)?.to_vec::<f32>()?);
    Ok(())
}

/// Calls an operator with a plan, which has kernels on two independent backends.
fn print_normalized_rows() -> Result<()> {
    let mut a = Tensor::from_slice(&[1.0_f32, 3.0, 2.0, 2.0]).reshape((2, 2))?;
    let on_npu = my_npu::upload(&a)?;
    println!("normalized rows on the CPU {:?}", myops::normalize_rows(&a)?.to_vec::<f32>()?);
    println!("normalized rows on the NPU {:?}", &*my_npu::download(&myops::normalize_rows(&on_npu)?)?.read::<f32>()?);
    myops::normalize_rows_(&mut a)?;
    assert_eq!(a.to_vec::<f32>()?, [0.25, 0.75, 0.5, 0.5]);
    let vector = Tensor::from_slice(&[1.0_f32]);
    let errors =
        [&vector, &my_npu::upload(&vector)?].map(|vector| myops::normalize_rows(vector).unwrap_err().to_string());
    assert_eq!(errors[0], errors[1]);
    println!("error of the plan: {}", errors[0]);
    Ok(())
}

fn main() -> Result<()> {
    print_squares(Device::CPU)?;
    match kernels_cuda::device_properties(0) {
        Ok(gpu) => {
            println!("{}:", gpu.name);
            print_squares("cuda:0".parse()?)?;
        }
        Err(missing) => println!("not on a GPU: {missing}"),
    }

    let a = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]);
    let on_npu = my_npu::upload(&a)?;
    let squared = myops::square(&on_npu)?;
    println!("on the NPU: square(a) is {squared:?}, downloaded {:?}", &*my_npu::download(&squared)?.read::<f32>()?);

    print_normalized_rows()?;

    println!("calls that the audit layer prints:");
    {
        let _auditing = my_audit::enable_call_printing();
        halved_square!(&a)?;
        myops::mymul(&on_npu, &on_npu)?;
    }

    println!("\nno kernel for the NPU:\n{}", myops::scale_(&mut on_npu.clone(), 0.5.into()).unwrap_err());
    println!("\n{}", myops::mymul::operator().explain(&[(&on_npu).into(), (&a).into()]));

    let findings = opdispatch::backend::verify();
    assert!(findings.is_empty(), "{findings:?}");
    Ok(())
}
