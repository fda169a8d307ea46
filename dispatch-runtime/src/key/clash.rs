//! Keys from other crates whose names clash.

use super::layer::BACKEND_NAMES;
use super::user::UserKey;

/// Names that do not tell keys apart.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clash {
    /// Two keys of one name.
    Key(&'static UserKey, &'static UserKey),
    /// Two backends whose devices have one name, which is the key's in lower case.
    Device(&'static UserKey, &'static UserKey),
    /// A key with the name of a built-in one, or of its device. `#[dispatch_key]` refuses the first, but not every key is made by it.
    BuiltIn(&'static UserKey),
}

/// Every clash among these keys, in an order that does not depend on theirs.
pub(crate) fn clashes(mut keys: Vec<&'static UserKey>) -> Vec<Clash> {
    keys.sort_by_key(|key| (key.name, key.location));
    let names = keys.windows(2).filter(|pair| pair[0].name == pair[1].name).map(|pair| Clash::Key(pair[0], pair[1]));
    let mut backends: Vec<_> = keys.iter().copied().filter(|key| key.is_backend()).collect();
    backends.sort_by_key(|key| (key.name.to_ascii_lowercase(), key.name, key.location));
    let same_device = |a: &UserKey, b: &UserKey| a.name != b.name && a.name.eq_ignore_ascii_case(b.name);
    let devices = backends.windows(2).filter(|pair| same_device(pair[0], pair[1]));
    let devices = devices.map(|pair| Clash::Device(pair[0], pair[1]));
    let of_built_in_device =
        |key: &UserKey| key.is_backend() && BACKEND_NAMES.iter().any(|name| name.eq_ignore_ascii_case(key.name));
    let built_in = keys.iter().copied().filter(|key| super::parse::is_built_in(key.name) || of_built_in_device(key));
    names.chain(devices).chain(built_in.map(Clash::BuiltIn)).collect()
}
