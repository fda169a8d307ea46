//! What is said of a few operators, word for word.

use dispatch_inspect::{Failure, Found, Style, run};
use dispatch_runtime::prelude::*;

/// Multiplies.
///
/// Elements meet one by one.
#[op_def("mul(Tensor self, Tensor other) -> Tensor", shape = pointwise)]
pub fn mul(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(mul, CPU)]
fn mul_cpu(this: &Tensor, _: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(mul, CUDA)]
fn mul_cuda(this: &Tensor, _: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(mul, Autograd, boxed)]
fn mul_autograd(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(keys::Autograd), stack)
}

/// Multiplies by itself.
#[op_def("square(Tensor self) -> Tensor")]
pub fn square(this: &Tensor) -> Result<Tensor> {
    mul(this, this)
}

#[op_def("pick.first(Tensor self, Tensor? other=None) -> Tensor")]
pub fn pick_first(this: &Tensor, other: Option<&Tensor>) -> Result<Tensor>;

#[op_def("pick.last(Tensor[] tensors) -> Tensor")]
pub fn pick_last(tensors: &[Tensor]) -> Result<Tensor>;

#[op_impl(pick_first, CPU, when(other.is_none()), priority = 1)]
fn pick_alone(this: &Tensor, other: Option<&Tensor>) -> Tensor {
    other.unwrap_or(this).clone()
}

#[op_impl(pick_first, CPU)]
fn pick_any(this: &Tensor, _: Option<&Tensor>) -> Tensor {
    this.clone()
}

#[op_def("made(int n, *, Device? device=None) -> Tensor")]
pub fn made(n: i64, device: Option<Device>) -> Result<Tensor>;

#[op_impl(made, CPU)]
fn made_cpu(_: i64, _: Option<Device>) -> Result<Tensor> {
    Ok(Tensor::from_slice(&[1.0_f32]))
}

fn ask(words: &str) -> Result<(String, Found), Failure> {
    let mut out = Vec::new();
    let found = run(words.split(' ').map(str::to_owned), &mut out, Style::Plain)?;
    // Lines move; what is said of them must not.
    let text = String::from_utf8(out).unwrap();
    let lines = text.lines().map(|line| {
        let Some((before, after)) = line.split_once("small.rs:") else { return line.to_owned() };
        let before = before.rsplit_once(['/', '\\', ' ', '(']).map_or("", |(before, _)| before);
        let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
        format!("{before}@{after}")
    });
    Ok((lines.collect::<Vec<_>>().join("\n"), found))
}

fn told(words: &str) -> String {
    ask(words).unwrap().0
}

#[test]
fn list_has_every_operator_whose_name_fits() {
    assert_eq!(
        told("list small::pick*"),
        "small::pick.first(Tensor self, Tensor? other=None) -> Tensor\nsmall::pick.last(Tensor[] tensors) -> Tensor"
    );
}

#[test]
fn show_has_all_that_is_known() {
    println!("{}", told("show mul"));
}

#[test]
fn table_has_every_cell_that_something_fills() {
    println!("{}", told("table square"));
}

#[test]
fn explain_says_which_kernel_runs_and_why_others_do_not() {
    for words in [
        "explain mul cuda,f16",
        "explain mul cpu cuda",
        "explain pick.first",
        "explain made cpu",
        "explain pick.last SparseCPU",
    ] {
        println!("{words}\n{}\n", told(words));
    }
}

#[test]
fn what_if_has_the_cells_that_would_change() {
    println!("{}", told("what-if mul Meta -CUDA"));
    println!("{}", told("what-if square CPU"));
}

#[test]
fn coverage_has_operators_by_keys() {
    println!("{}", told("coverage small::"));
}
