//! The application links operators, two backends and a layer. None of them edits another.

use {my_npu as _, myops_cpu as _};

use opdispatch::prelude::*;

/// An operator of the application's own, made of somebody else's.
#[op_def("halved_square(Tensor self) -> Tensor")]
fn halved_square(this: &Tensor) -> Result<Tensor> {
    let mut squared = myops::square(this)?;
    myops::scale_(&mut squared, 0.5.into())?;
    Ok(squared)
}

fn main() -> Result<()> {
    let a = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]);
    println!("on the CPU: square(a) = {:?}", &*myops::square(&a)?.read::<f32>()?);

    let on_npu = my_npu::upload(&a)?;
    let squared = myops::square(&on_npu)?;
    println!("on the NPU: square(a) is {squared:?}, downloaded {:?}", &*my_npu::download(&squared)?.read::<f32>()?);

    println!("audited:");
    {
        let _auditing = my_audit::audited();
        halved_square!(&a)?;
        (&on_npu * &on_npu)?;
    }

    println!("\nno kernel for the NPU:\n{}", myops::scale_(&mut on_npu.clone(), 0.5.into()).unwrap_err());
    println!("\n{}", myops::mymul::operator().explain(&[(&on_npu).into(), (&a).into()]));

    let findings = opdispatch::verify();
    assert!(findings.is_empty(), "{findings:?}");
    Ok(())
}
