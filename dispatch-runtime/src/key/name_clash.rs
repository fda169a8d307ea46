//! Name clashes of keys from other crates.

use super::layer::BACKEND_NAMES;
use super::user::UserKey;

/// A name clash of keys.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NameClash {
    /// Two keys with the same name.
    Key(&'static UserKey, &'static UserKey),
    /// Two backends with the same device name, which is the key's name in lower case.
    Device(&'static UserKey, &'static UserKey),
    /// A key with the name of a built-in key or device. `#[dispatch_key]` rejects names of built-in keys, but a key can be made without it.
    BuiltIn(&'static UserKey),
}

/// Returns every name clash of these keys, in an order that does not depend on the order of the keys.
pub(crate) fn name_clashes(mut keys: Vec<&'static UserKey>) -> Vec<NameClash> {
    keys.sort_by_key(|key| (key.name, key.location));
    let names =
        keys.windows(2).filter(|pair| pair[0].name == pair[1].name).map(|pair| NameClash::Key(pair[0], pair[1]));
    let mut backends: Vec<_> = keys.iter().copied().filter(|key| key.is_backend()).collect();
    backends.sort_by_key(|key| (key.name.to_ascii_lowercase(), key.name, key.location));
    let same_device = |a: &UserKey, b: &UserKey| a.name != b.name && a.name.eq_ignore_ascii_case(b.name);
    let devices = backends.windows(2).filter(|pair| same_device(pair[0], pair[1]));
    let devices = devices.map(|pair| NameClash::Device(pair[0], pair[1]));
    let of_built_in_device =
        |key: &UserKey| key.is_backend() && BACKEND_NAMES.iter().any(|name| name.eq_ignore_ascii_case(key.name));
    let built_in = keys.iter().copied().filter(|key| super::parse::is_built_in(key.name) || of_built_in_device(key));
    names.chain(devices).chain(built_in.map(NameClash::BuiltIn)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::layer::InsertionPoint;
    use crate::location::Location;

    fn describe_clashes(keys: &'static [UserKey]) -> Vec<String> {
        let texts = name_clashes(keys.iter().collect()).into_iter().map(|clash| match clash {
            NameClash::Key(a, b) => format!("key {} {}", a.name, b.name),
            NameClash::Device(a, b) => format!("device {} {}", a.name, b.name),
            NameClash::BuiltIn(key) => format!("built-in {}", key.name),
        });
        texts.collect()
    }

    const TEST_LOCATION: Location = Location::new(file!(), line!());

    #[test]
    fn keys_with_names_of_built_in_keys_or_devices_clash() {
        static KEYS: [UserKey; 9] = [
            UserKey::new_backend("XPU", TEST_LOCATION),
            UserKey::new_backend("Cuda", TEST_LOCATION),
            UserKey::new_layer("Tracer", InsertionPoint::Autograd, TEST_LOCATION),
            UserKey::new_layer("Autograd", InsertionPoint::Autograd, TEST_LOCATION),
            UserKey::new_layer("SparseHIP", InsertionPoint::Autograd, TEST_LOCATION),
            UserKey::new_layer("Sparse", InsertionPoint::Autograd, TEST_LOCATION),
            UserKey::new_layer("Math", InsertionPoint::Autograd, TEST_LOCATION),
            UserKey::new_layer("tracer", InsertionPoint::Autograd, TEST_LOCATION),
            UserKey::new_layer("Audit", InsertionPoint::Autograd, TEST_LOCATION),
        ];
        let found = ["Autograd", "Cuda", "Math", "Sparse", "SparseHIP", "Tracer", "XPU"];
        assert_eq!(describe_clashes(&KEYS), found.map(|name| format!("built-in {name}")));
    }

    #[test]
    fn backends_with_the_same_device_name_clash() {
        static KEYS: [UserKey; 5] = [
            UserKey::new_backend("NPU", TEST_LOCATION),
            UserKey::new_layer("nPU", InsertionPoint::Autograd, TEST_LOCATION),
            UserKey::new_backend("Npv", TEST_LOCATION),
            UserKey::new_backend("Npu", TEST_LOCATION),
            UserKey::new_backend("Npv", TEST_LOCATION),
        ];
        assert_eq!(describe_clashes(&KEYS), ["key Npv Npv", "device NPU Npu"]);
    }
}
