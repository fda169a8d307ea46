//! The application links operators, three backends and a layer. None of them edits another.
#![forbid(unsafe_code)]

use {my_npu as _, myops_cpu as _, myops_cuda as _};

use opdispatch::prelude::*;

/// An operator of the application's own, made of somebody else's.
#[op_def("halved_square(Tensor self) -> Tensor")]
fn halved_square(this: &Tensor) -> Result<Tensor> {
    let mut squared = myops::square(this)?;
    myops::scale_(&mut squared, 0.5.into())?;
    Ok(squared)
}

/// The same program on every device: elements travel there, are computed with, and come back.
fn squares(device: Device) -> Result<()> {
    let a = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]).to(device)?;
    println!("on {device}: square(a) = {:?}", myops::square(&a)?.to(Device::CPU)?.to_vec::<f32>()?);
    Ok(())
}

/// A planned operator: one contract, and a kernel on each of two backends that do not know each other.
fn shares() -> Result<()> {
    let mut a = Tensor::from_slice(&[1.0_f32, 3.0, 2.0, 2.0]).reshape(&[2, 2])?;
    let on_npu = my_npu::upload(&a)?;
    println!("shares on the CPU {:?}", myops::shares(&a)?.to_vec::<f32>()?);
    println!("shares on the NPU {:?}", &*my_npu::download(&myops::shares(&on_npu)?)?.read::<f32>()?);
    myops::shares_(&mut a)?;
    assert_eq!(a.to_vec::<f32>()?, [0.25, 0.75, 0.5, 0.5]);
    let line = Tensor::from_slice(&[1.0_f32]);
    let errors = [&line, &my_npu::upload(&line)?].map(|line| myops::shares(line).unwrap_err().to_string());
    assert_eq!(errors[0], errors[1]);
    println!("refused by the plan: {}", errors[0]);
    Ok(())
}

fn main() -> Result<()> {
    squares(Device::CPU)?;
    match kernels_cuda::properties(0) {
        Ok(gpu) => {
            println!("{}:", gpu.name);
            squares("cuda:0".parse()?)?;
        }
        Err(missing) => println!("not on a GPU: {missing}"),
    }

    let a = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]);
    let on_npu = my_npu::upload(&a)?;
    let squared = myops::square(&on_npu)?;
    println!("on the NPU: square(a) is {squared:?}, downloaded {:?}", &*my_npu::download(&squared)?.read::<f32>()?);

    shares()?;

    println!("audited:");
    {
        let _auditing = my_audit::audited();
        halved_square!(&a)?;
        myops::mymul(&on_npu, &on_npu)?;
    }

    println!("\nno kernel for the NPU:\n{}", myops::scale_(&mut on_npu.clone(), 0.5.into()).unwrap_err());
    println!("\n{}", myops::mymul::operator().explain(&[(&on_npu).into(), (&a).into()]));

    let findings = opdispatch::verify();
    assert!(findings.is_empty(), "{findings:?}");
    Ok(())
}
