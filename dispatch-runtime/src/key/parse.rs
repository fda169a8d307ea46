//! Parsing of key names.
//!
//! The text of every key parses, also that of a user's key for which no index was free. Only an `Invalid` key does not parse. Key names are
//! derived from the lists of layers and backends, so no second list can miss one. PyTorch's old names parse too.

use super::alias::Alias;
use super::error::UnknownKey;
use super::layer::{BACKEND_NAMES, DENSE, ORDER};
use super::slot::Slot;
use super::user::UserKey;
use super::{Key, Repr, keys, places};

/// Returns the built-in or declared key with this name.
pub(crate) fn find(name: &str) -> Result<Key, UnknownKey> {
    let declared = places::declared();
    let all = || all(&declared);
    let canonical = synonym(name).unwrap_or(name);
    all().find(|key| key.to_string() == canonical || built_in_name(*key).as_deref() == Some(canonical)).ok_or_else(
        || {
            let names: Vec<String> = all().map(|key| key.to_string()).collect();
            let suggestion = dispatch_schema::suggest(name, names.iter().map(String::as_str)).map(str::to_owned);
            UnknownKey { name: name.to_owned(), suggestion }
        },
    )
}

/// Iterates over all keys: runtime keys from low to high, layers that need a backend, aliases, and users' keys, also those for which no
/// index was free.
fn all(declared: &[&'static UserKey]) -> impl Iterator<Item = Key> {
    Slot::all().map(Key::of_slot).chain(all_but_runtime(declared))
}

fn all_but_runtime(declared: &[&'static UserKey]) -> impl Iterator<Item = Key> {
    let wanting_a_backend = [keys::Quantized, keys::Sparse, keys::SparseCsr, keys::NestedTensor];
    std::iter::once(Key::UNDEFINED)
        .chain(wanting_a_backend)
        .chain(Alias::ALL.map(Key::alias))
        .chain(declared.iter().copied().map(Key::user))
}

/// Returns the built-in name of the layer or backend that a user's key took over. The built-in name still parses.
fn built_in_name(key: Key) -> Option<String> {
    match key.0 {
        Repr::User(user) if user.is_backend() => Some(name_of_place(DENSE, Some(user.number()?))),
        Repr::User(user) => Some(name_of_place(user.number()?, None)),
        Repr::OnUser(layer, user) => Some(name_of_place(layer, Some(user.number()?))),
        _ => None,
    }
}

/// Whether this is the name or a synonym of a built-in key.
pub(super) fn is_built_in(name: &str) -> bool {
    let runtime = || Slot::all().filter_map(Slot::key).map(|(layer, backend)| name_of_place(layer, backend));
    let others = || all_but_runtime(&[]).map(|key| key.to_string());
    synonym(name).is_some() || runtime().chain(others()).any(|built_in| built_in == name)
}

fn name_of_place(layer: u8, backend: Option<u8>) -> String {
    let layer_name = ORDER[layer as usize].name;
    match backend.map(|backend| BACKEND_NAMES[backend as usize]) {
        Some(backend) if layer == DENSE => backend.to_owned(),
        Some(backend) => format!("{layer_name}{backend}"),
        None => layer_name.to_owned(),
    }
}

fn synonym(name: &str) -> Option<&'static str> {
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
        for key in all(&places::declared()) {
            assert_eq!(key.to_string().parse(), Ok(key), "{key}");
        }
    }

    #[test]
    fn every_name_pytorch_knows_is_understood() {
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
    fn a_misspelt_name_gets_the_one_that_was_meant() {
        let error = "CompositeImplictAutograd".parse::<Key>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown dispatch key `CompositeImplictAutograd`; did you mean `CompositeImplicitAutograd`?"
        );
    }
}
