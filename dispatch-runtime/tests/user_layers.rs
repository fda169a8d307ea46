//! Tests of the order of layers that crates declare at one insertion point.

use std::sync::Mutex;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Finding, InsertionPoint, guard, verify};

/// A layer that would run before `Ant` if names decided the order.
#[dispatch_key(layer, above = Autograd)]
static Zebra: Key;

#[dispatch_key(layer, above = Zebra)]
static Ant: Key;

mod outer {
    #[dispatch_runtime::dispatch_key(layer, above = super::Ant)]
    pub(super) static Bee: dispatch_runtime::Key;
}

use outer::Bee;

#[dispatch_key(layer, above = Everything)]
static Fly: Key;

#[dispatch_key(layer, above = Everything)]
static Gnu: Key;

static LAYERS_OF_CALL: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

macro_rules! define_recording_fallbacks {
    ($($key:ident $name:ident),*) => {$(
        #[op_fallback($key)]
        fn $name(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
            LAYERS_OF_CALL.lock().unwrap().push(stringify!($key));
            op.redispatch_boxed(keys.below($key), stack)
        }
    )*};
}

define_recording_fallbacks! { Zebra zebra, Ant ant, Bee bee }

#[op_def("identity(Tensor self) -> Tensor")]
fn identity(this: &Tensor) -> Result<Tensor>;

#[op_impl(identity, CPU)]
fn identity_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

#[test]
fn a_layer_runs_before_the_one_that_it_is_declared_above() {
    let _inside = guard::include(Zebra | Ant | Bee);
    identity(&Tensor::from_slice(&[1.0_f32])).unwrap();
    assert_eq!(*LAYERS_OF_CALL.lock().unwrap(), ["Bee", "Ant", "Zebra"]);
}

#[test]
fn only_an_order_that_follows_from_names_is_a_finding() {
    let findings = verify();
    let orders: Vec<_> =
        findings.iter().filter(|finding| matches!(finding, Finding::LayersOrderedByName { .. })).collect();
    let [Finding::LayersOrderedByName { above, layers }] = &orders[..] else { panic!("{findings:?}") };
    assert_eq!((*above, layers[0].0, layers[1].0), (InsertionPoint::Everything, "Gnu", "Fly"));
    assert!(orders[0].to_string().contains("\n  Gnu (") && orders[0].to_string().contains("above `Everything`"));
}
