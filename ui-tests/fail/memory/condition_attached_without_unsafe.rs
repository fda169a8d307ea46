use dispatch_runtime::__private::TableRef;
use dispatch_runtime::{KernelRecord, KeySet, Location, Result, Tensor, keys};

fn kernel(this: &Tensor, _: &Tensor, _: KeySet, _: TableRef) -> Result<Tensor> {
    Ok(this.clone())
}

fn holds(_: &Tensor) -> bool {
    true
}

static RECORD: KernelRecord =
    KernelRecord::typed::<myops::mymul>(kernel, &[&keys::CPU], "kernel", Location::new(file!(), line!()))
        .when::<myops::square>(holds, "always");

fn main() {}
