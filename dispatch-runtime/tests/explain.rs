//! Tests of the exact text of explanations, dumps and errors.

use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;

#[op_def("blend(Tensor self, Tensor? mask, float weight=0.5, *, Tensor[] rest) -> Tensor")]
#[rustfmt::skip]
fn blend(this: &Tensor, mask: Option<&Tensor>, weight: f64, rest: &[Tensor]) -> Result<Tensor>;

#[op_impl(blend, CPU)]
fn blend_cpu(this: &Tensor, _: Option<&Tensor>, _: f64, _: &[Tensor]) -> Tensor {
    this.clone()
}

#[op_impl(blend, CUDA, SparseCPU)]
fn blend_cuda(this: &Tensor, _: Option<&Tensor>, _: f64, _: &[Tensor]) -> Tensor {
    this.clone()
}

#[op_impl(blend, Autograd)]
fn blend_autograd(this: &Tensor, mask: Option<&Tensor>, weight: f64, rest: &[Tensor], keys: KeySet) -> Result<Tensor> {
    blend::redispatch(keys.below(keys::Autograd), this, mask, weight, rest)
}

#[op_impl(blend, CompositeExplicitAutograd)]
fn blend_composite(this: &Tensor, _: Option<&Tensor>, _: f64, _: &[Tensor]) -> Tensor {
    this.clone()
}

/// Removes line numbers from a text, because they change with the file.
fn without_line_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(".rs:") {
        out.push_str(&rest[..at + 4]);
        out.push('_');
        rest = rest[at + 4..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    (out + rest).replace("dispatch-runtime/tests/", "")
}

fn blend_arguments(first: &Tensor) -> [Value; 4] {
    [first.into(), Value::None, 0.5.into(), vec![first.clone()].into()]
}

#[test]
fn an_explanation_lists_keys_guards_winner_and_losers() {
    let tensor = Tensor::from_slice(&[1.0_f32]);
    let _below = guard::exclude(KeySet::from(keys::ADInplaceOrView));
    let text = blend::operator().explain(&blend_arguments(&tensor)).to_string();
    assert_eq!(
        without_line_numbers(&text),
        "  \
  explain::blend(Tensor self, Tensor? mask, float weight=0.5, *, Tensor[] rest) -> Tensor    explain.rs:_
  self   -> {CPU, ADInplaceOrView, AutogradCPU, AutocastCPU}
  mask   -> {}
  rest   -> {CPU, ADInplaceOrView, AutogradCPU, AutocastCPU}
  guards -> plus {BackendSelect, ADInplaceOrView}, minus {ADInplaceOrView, AutocastCPU}    entered at explain.rs:_
  key    -> AutogradCPU
  runs Autograd `blend_autograd` (explain.rs:_): autograd kernel
  not  CPU `blend_cpu` (explain.rs:_): is below AutogradCPU
  not  CUDA `blend_cuda` (explain.rs:_): the call does not have this key
  not  SparseCPU `blend_cuda` (explain.rs:_): the call does not have this key
  not  CompositeExplicitAutograd `blend_composite` (explain.rs:_): does not cover AutogradCPU"
    );
}

#[test]
fn a_dump_lists_every_registration_by_key() {
    assert_eq!(
        without_line_numbers(&blend::operator().dump()),
        "\
name: explain::blend
schema: explain::blend(Tensor self, Tensor? mask, float weight=0.5, *, Tensor[] rest) -> Tensor
defined: explain.rs:_
CPU: `blend_cpu` (explain.rs:_) [ typed ]
CUDA: `blend_cuda` (explain.rs:_) [ typed ]
SparseCPU: `blend_cuda` (explain.rs:_) [ typed ]
Autograd[alias]: `blend_autograd` (explain.rs:_) [ typed ]
CompositeExplicitAutograd[alias]: `blend_composite` (explain.rs:_) [ typed ]
"
    );
}

#[test]
fn a_table_dump_lists_every_filled_cell() {
    let table = without_line_numbers(&blend::operator().dump_table());
    let line =
        |key: &str| table.lines().find(|line| line.starts_with(&format!("{key}:"))).unwrap_or_default().to_owned();
    assert_eq!(line("Undefined"), "Undefined: `blend_composite` (explain.rs:_) [default backend kernel]");
    assert_eq!(line("CPU"), "CPU: `blend_cpu` (explain.rs:_) [kernel]");
    assert_eq!(line("Meta"), "Meta: `blend_composite` (explain.rs:_) [default backend kernel]");
    assert_eq!(line("AutogradXLA"), "AutogradXLA: `blend_autograd` (explain.rs:_) [autograd kernel]");
    assert_eq!(line("NestedTensorCPU"), "");
    assert_eq!(table.lines().count(), 1 + 4 * 16 + 5 + 18);
}

#[test]
fn the_error_for_a_missing_kernel_contains_the_explanation() {
    let nested = Tensor::from_slice(&[1.0_f32]).with_keys(KeySet::from(keys::NestedTensorCPU));
    let error = blend(&nested, None, 0.5, &[]).unwrap_err().to_string();
    assert_eq!(
        without_line_numbers(&error),
        "\
no kernel of `explain::blend` for NestedTensorCPU

  explain::blend(Tensor self, Tensor? mask, float weight=0.5, *, Tensor[] rest) -> Tensor    explain.rs:_
  self   -> {NestedTensorCPU}
  mask   -> {}
  rest   -> {}
  guards -> plus {BackendSelect, ADInplaceOrView}
  skips  -> {BackendSelect, ADInplaceOrView}    nothing to do there
  key    -> NestedTensorCPU

  kernels: CPU (explain.rs:_), CUDA (explain.rs:_), SparseCPU (explain.rs:_), Autograd (explain.rs:_), \
CompositeExplicitAutograd (explain.rs:_)
  Nothing in this program registers kernels for NestedTensorCPU. If a crate does, link it: `use that_crate as _;`"
    );
}

#[test]
fn typed_and_boxed_calls_fail_with_the_same_message() {
    let nested = Tensor::from_slice(&[1.0_f32]).with_keys(KeySet::from(keys::NestedTensorCPU));
    let typed = blend(&nested, None, 0.5, &[]).unwrap_err().to_string();
    let boxed = blend::operator().call([(&nested).into(), Value::None, 0.5.into(), Vec::<Tensor>::new().into()]);
    assert_eq!(boxed.unwrap_err().to_string(), typed);
}

#[op_def("with_conditions(Tensor self) -> int")]
fn with_conditions(this: &Tensor) -> Result<i64>;

#[op_impl(with_conditions, CPU, when(this.sizes().is_empty()), priority = 1)]
fn with_conditions_rank_0_cpu(_: &Tensor) -> i64 {
    1
}

#[op_impl(with_conditions, CPU, when(this.sizes().len() > 2), priority = 2)]
fn with_conditions_rank_3_cpu(_: &Tensor) -> i64 {
    2
}

#[op_impl(with_conditions, Meta, when(this.sizes().is_empty()), priority = 1)]
fn with_conditions_rank_0_meta(_: &Tensor) -> i64 {
    3
}

#[op_impl(with_conditions, Meta, boxed)]
fn with_conditions_default_meta(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Err("never".into())
}

#[test]
fn conditional_kernels_are_listed_in_the_order_of_evaluation() {
    let tensor = Tensor::from_slice(&[1_i64]);
    let candidates = |tensor: &Tensor| {
        let text = with_conditions::operator().explain(&[tensor.into()]).to_string();
        without_line_numbers(&text[text.find("  runs").unwrap_or_default()..])
    };
    assert_eq!(
        candidates(&tensor),
        "  \
runs the first whose condition holds: kernel
    CPU `with_conditions_rank_3_cpu` (explain.rs:_) when this.sizes().len() > 2
    CPU `with_conditions_rank_0_cpu` (explain.rs:_) when this.sizes().is_empty()
  not  Meta `with_conditions_rank_0_meta` (explain.rs:_): the call does not have this key
  not  Meta `with_conditions_default_meta` (explain.rs:_): the call does not have this key"
    );
    let meta = tensor.with_keys(KeySet::from(keys::Meta));
    assert!(
        candidates(&meta).contains("    Meta `with_conditions_default_meta` (explain.rs:_) otherwise\n"),
        "{}",
        candidates(&meta)
    );
}

#[test]
fn the_error_if_no_condition_holds_lists_only_the_conditions_of_its_key() {
    // A kernel for another key has the same condition.
    let error = with_conditions(&Tensor::from_slice(&[1_i64])).unwrap_err().to_string();
    assert_eq!(
        without_line_numbers(&error),
        "\
no kernel of `explain::with_conditions` for CPU accepts this call, because no condition holds:
  when this.sizes().len() > 2    explain.rs:_
  when this.sizes().is_empty()    explain.rs:_"
    );
}
