//! Tests of key sets through the public API, with the cases of PyTorch's own tests.

use dispatch_runtime::keys::*;
use dispatch_runtime::{ErrorKind, Finding, Key, KeySet, Registrar, dispatch_key, guard, verify};

/// Five layers at an insertion point that has room for four.
mod five_layers {
    use super::*;

    #[dispatch_key(layer, above = Everything)]
    pub(super) static L1: Key;
    #[dispatch_key(layer, above = Everything)]
    pub(super) static L2: Key;
    #[dispatch_key(layer, above = Everything)]
    pub(super) static L3: Key;
    #[dispatch_key(layer, above = Everything)]
    pub(super) static L4: Key;
    #[dispatch_key(layer, above = Everything)]
    pub(super) static L5: Key;
}

use five_layers::{L1, L2, L3, L4, L5};

/// The keys of all backends, lowest first.
const BACKENDS: [Key; 16] =
    [CPU, CUDA, HIP, XLA, MPS, IPU, XPU, HPU, VE, Lazy, MTIA, MAIA, PrivateUse1, PrivateUse2, PrivateUse3, Meta];

fn layer_on_every_backend(layer: Key) -> Vec<Key> {
    BACKENDS.iter().map(|&backend| layer.on(backend)).collect()
}

fn runtime_keys() -> Vec<Key> {
    KeySet::FULL.iter().collect()
}

#[test]
fn the_empty_set_has_no_keys() {
    assert!(KeySet::EMPTY.is_empty());
    assert_eq!(
        (KeySet::EMPTY.highest(), KeySet::EMPTY.iter().count(), KeySet::EMPTY.to_string()),
        (None, 0, "{}".to_owned())
    );
    assert_eq!(KeySet::from(Undefined), KeySet::EMPTY);
    assert!(runtime_keys().into_iter().all(|key| !KeySet::EMPTY.has(key)));
}

#[test]
fn a_set_of_one_key_has_only_that_key() {
    for key in runtime_keys() {
        let set = KeySet::from(key);
        assert_eq!((set.iter().collect::<Vec<_>>(), set.highest()), (vec![key], Some(key)));
        assert_eq!(set.to_string(), format!("{{{key}}}"));
        assert_eq!(set - set, KeySet::from_bits(set.bits() & 0xffff), "only the layer is removed");
        assert_eq!(set.with(key), set);
        assert_eq!(set & set, set);
    }
}

#[test]
fn a_backend_and_its_layer_key_are_two_keys() {
    for layer in [Quantized, Sparse, SparseCsr, NestedTensor, Autograd, Autocast] {
        for backend in BACKENDS {
            let set = layer.on(backend) | backend;
            assert_eq!(set.iter().collect::<Vec<_>>(), [backend, layer.on(backend)]);
            assert_eq!(set.highest(), Some(layer.on(backend)));
        }
    }
}

#[test]
fn a_set_has_each_of_its_layers_on_each_of_its_backends() {
    let set = CPU | AutogradCUDA | SparseMeta | Tracer;
    let all = [CPU, CUDA, Meta, SparseCPU, SparseCUDA, SparseMeta, AutogradCPU, AutogradCUDA, AutogradMeta, Tracer];
    assert_eq!(set.iter().collect::<Vec<_>>(), all);
    assert!(all.into_iter().all(|key| set.has(key)));
    assert!(!set.has(AutogradXLA) && !set.has(QuantizedCPU));
}

#[test]
fn the_full_set_has_every_key_once_and_in_order() {
    let keys = runtime_keys();
    assert!(keys.iter().all(|&key| KeySet::FULL.has(key)));
    assert!(keys.iter().enumerate().all(|(i, key)| !keys[..i].contains(key)));
    for layer in [Quantized, Sparse, SparseCsr, NestedTensor, Autograd, Autocast] {
        let first = keys.iter().position(|&key| key == layer.on(CPU)).unwrap();
        assert_eq!(keys[first..first + 16], layer_on_every_backend(layer), "a layer's keys are adjacent");
    }
    assert_eq!(keys[..16], BACKENDS);
}

#[test]
fn meta_is_higher_than_every_other_backend() {
    for backend in BACKENDS {
        assert_eq!((backend | Meta).highest(), Some(Meta));
    }
    assert_eq!((AutogradCPU | Meta).highest(), Some(AutogradMeta));
}

#[test]
fn removing_a_key_removes_its_layer_from_every_backend() {
    let set = CPU | CUDA | AutogradCPU | AutogradCUDA;
    assert_eq!(set - KeySet::from(AutogradCUDA), CPU | CUDA);
    assert_eq!(set - KeySet::from(CUDA), set - KeySet::layers_of(CPU), "the dense layer is removed, the backends stay");
    assert!((set - KeySet::from(CPU)).has(AutogradCUDA));
}

#[test]
fn an_alias_stands_for_layers_but_is_in_no_set() {
    assert_eq!(KeySet::layers_of(Autograd), KeySet::layers_of(AutogradCPU) | AutogradOther | AutogradNestedTensor);
    assert_eq!(KeySet::layers_of(Autocast), KeySet::layers_of(AutocastXLA));
    assert_eq!(KeySet::layers_of(FuncTorchBatchedDecomposition), KeySet::from(FuncTorchBatched));
    for alias in [Autograd, Autocast, CompositeImplicitAutograd, CompositeExplicitAutograd] {
        assert!(alias.is_alias() && KeySet::from(alias).is_empty() && !runtime_keys().contains(&alias));
    }
}

#[test]
fn a_layer_without_backend_is_skipped() {
    let set = KeySet::layers_of(Autograd) | BackendSelect;
    assert_eq!(set.highest(), Some(AutogradNestedTensor));
    let set = KeySet::layers_of(AutogradCPU) | BackendSelect;
    assert_eq!((set.highest(), set.iter().collect::<Vec<_>>()), (Some(BackendSelect), vec![BackendSelect]));
}

#[test]
fn below_keeps_only_the_lower_layers() {
    let keys = runtime_keys();
    for (i, &key) in keys.iter().enumerate() {
        for (j, &other) in keys.iter().enumerate() {
            let same_layer = KeySet::layers_of(key) == KeySet::layers_of(other);
            assert_eq!(KeySet::FULL.below(key).has(other), j < i && !same_layer, "{other} below {key}");
        }
    }
    assert_eq!(KeySet::FULL.below(Undefined), KeySet::FULL);
}

#[test]
fn printed_keys_parse_to_the_same_key() {
    for key in runtime_keys() {
        assert_eq!(key.to_string().parse(), Ok(key));
    }
    for (name, key) in
        [("CPU", CPU), ("QuantizedHIP", QuantizedHIP), ("AutogradMTIA", AutogradMTIA), ("SparseCsrXPU", SparseCsrXPU)]
    {
        assert_eq!((name.parse(), key.to_string()), (Ok(key), name.to_owned()));
    }
}

#[test]
fn a_layer_beyond_the_capacity_of_its_insertion_point_is_reported() {
    for (key, name) in [(L1, "L1"), (L2, "L2"), (L3, "L3"), (L4, "L4"), (L5, "L5")] {
        assert_eq!((name.parse(), key.to_string().as_str()), (Ok(key), name));
        assert_eq!(KeySet::from(key).is_empty(), key == L5);
    }
    let before = guard::included();
    let _nothing = guard::include(L5.into());
    assert_eq!(guard::included(), before);

    let registrar = Registrar::new("crowded");
    let operator = registrar.define("crowded() -> ()").unwrap().operator().unwrap();
    let errors = [
        registrar.kernel("crowded", L5, |_, _, _| Ok(())).unwrap_err(),
        operator.call_boxed_for_key(L5, &mut dispatch_runtime::Stack::new()).unwrap_err(),
    ];
    for error in errors {
        assert!(
            matches!(error.kind(), ErrorKind::NoFreeKeyIndex(full) if full.key == "L5" && full.assigned_keys.len() == 4),
            "{error}"
        );
    }
    let found = verify();
    assert!(
        matches!(&found[..], [Finding::LayersOrderedByName { .. }, Finding::Error(error)] if error.to_string().starts_with("no index is left for the key `L5`")),
        "{found:?}"
    );
}

#[test]
fn the_built_in_name_of_an_occupied_layer_parses_to_the_new_key() {
    assert_eq!("AboveEverything1".parse(), Ok(L1));
    assert_eq!("DeferredInit".parse(), Ok(L1));
}
