//! Parsing of key names.
//!
//! The text of every key parses, also that of a user's key for which no index was free. Only an `Invalid` key does not parse. Key names are
//! derived from the lists of layers and backends, so no second list can miss one. PyTorch's old names parse too.

use super::alias::Alias;
use super::error::UnknownKey;
use super::layer::{BACKEND_NAMES, DENSE, LAYER_ORDER};
use super::slot::Slot;
use super::user::UserKey;
use super::{Key, KeyRepr, index_assignment, keys};

/// Returns the built-in or declared key with this name.
pub(crate) fn find_key(name: &str) -> Result<Key, UnknownKey> {
    let declared = index_assignment::user_keys();
    let all_keys = || all_keys(&declared);
    let canonical = current_name_of_synonym(name).unwrap_or(name);
    all_keys()
        .find(|key| key.to_string() == canonical || replaced_built_in_name(*key).as_deref() == Some(canonical))
        .ok_or_else(|| {
            let names: Vec<String> = all_keys().map(|key| key.to_string()).collect();
            let suggestion = dispatch_schema::suggest(name, names.iter().map(String::as_str)).map(str::to_owned);
            UnknownKey { name: name.to_owned(), suggestion }
        })
}

/// Iterates over all keys: runtime keys from low to high, layers that need a backend, aliases, and users' keys, also those for which no
/// index was free.
fn all_keys(declared: &[&'static UserKey]) -> impl Iterator<Item = Key> {
    Slot::all().map(Key::from_slot).chain(keys_without_slot(declared))
}

fn keys_without_slot(declared: &[&'static UserKey]) -> impl Iterator<Item = Key> {
    let without_backend = [keys::Quantized, keys::Sparse, keys::SparseCsr, keys::NestedTensor];
    std::iter::once(Key::UNDEFINED)
        .chain(without_backend)
        .chain(Alias::ALL.map(Key::from_alias))
        .chain(declared.iter().copied().map(Key::from_user_key))
}

/// Returns the built-in name of the layer or backend that a user's key took over. The built-in name still parses.
fn replaced_built_in_name(key: Key) -> Option<String> {
    match key.0 {
        KeyRepr::User(user) if user.is_backend() => Some(built_in_name(DENSE, Some(user.index()?))),
        KeyRepr::User(user) => Some(built_in_name(user.index()?, None)),
        KeyRepr::OnUserBackend(layer, user) => Some(built_in_name(layer, Some(user.index()?))),
        _ => None,
    }
}

/// Whether this is the name or a synonym of a built-in key.
pub(super) fn is_built_in(name: &str) -> bool {
    let runtime =
        || Slot::all().filter_map(Slot::layer_and_backend).map(|(layer, backend)| built_in_name(layer, backend));
    let others = || keys_without_slot(&[]).map(|key| key.to_string());
    current_name_of_synonym(name).is_some() || runtime().chain(others()).any(|built_in| built_in == name)
}

fn built_in_name(layer: u8, backend: Option<u8>) -> String {
    let layer_name = LAYER_ORDER[layer as usize].name;
    match backend.map(|backend| BACKEND_NAMES[backend as usize]) {
        Some(backend) if layer == DENSE => backend.to_owned(),
        Some(backend) => format!("{layer_name}{backend}"),
        None => layer_name.to_owned(),
    }
}

fn current_name_of_synonym(name: &str) -> Option<&'static str> {
    Some(match name {
        "CatchAll" => "Undefined",
        "DefaultBackend" => "CompositeExplicitAutograd",
        "Math" => "CompositeImplicitAutograd",
        "CPUTensorId" => "CPU",
        "CUDATensorId" => "CUDA",
        "PrivateUse1_PreAutograd" => "AutogradPrivateUse1",
        "PrivateUse2_PreAutograd" => "AutogradPrivateUse2",
        "PrivateUse3_PreAutograd" => "AutogradPrivateUse3",
        // Names of PyTorch's first batching implementation, which the second one replaced.
        "Batched" => "FuncTorchBatched",
        "VmapMode" => "FuncTorchVmapMode",
        // PyTorch's keys for experiments. Here, other crates may take their layers.
        "DeferredInit" | "TESTING_ONLY_GenericWrapper" => "AboveEverything1",
        "TESTING_ONLY_GenericMode" => "AboveEverything2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_prints_parses_back() {
        for key in all_keys(&index_assignment::user_keys()) {
            assert_eq!(key.to_string().parse(), Ok(key), "{key}");
        }
    }

    #[test]
    fn every_key_name_of_pytorch_parses() {
        let layers = ["", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd", "Autocast"];
        for (layer, backend) in layers.iter().flat_map(|layer| BACKEND_NAMES.map(|backend| (layer, backend))) {
            let name = format!("{layer}{backend}");
            assert!(name.parse::<Key>().is_ok(), "{name}");
        }
        for name in
            ["FPGA", "MkldnnCPU", "CustomRNGKeyId", "Tracer", "Batched", "DeferredInit", "Math", "CatchAll", "Autocast"]
        {
            assert!(name.parse::<Key>().is_ok(), "{name}");
        }
    }

    #[test]
    fn a_misspelt_key_name_suggests_the_right_one() {
        let error = "CompositeImplictAutograd".parse::<Key>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown dispatch key `CompositeImplictAutograd`; did you mean `CompositeImplicitAutograd`?"
        );
    }
}
