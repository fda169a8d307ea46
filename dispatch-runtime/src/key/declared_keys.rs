//! The keys that the linked crates declare.
//!
//! A key needs its backend or layer index before the registry exists, because its bits and its name depend on the index. So
//! `#[dispatch_key]` submits the key twice: as a record, and to this list.

use super::user::UserKey;

/// The item that `#[dispatch_key]` submits to `inventory` for a key. Not public API.
#[cfg(feature = "inventory")]
#[doc(hidden)]
pub struct DeclaredKey(pub &'static UserKey);

#[cfg(feature = "inventory")]
inventory::collect!(DeclaredKey);

/// The `linkme` slice to which `#[dispatch_key]` adds a key. Not public API.
#[cfg(feature = "linkme")]
#[doc(hidden)]
#[linkme::distributed_slice]
pub static DECLARED_KEYS: [&'static UserKey];

/// Returns every key that a linked crate declares. A key can occur twice.
pub(crate) fn linked_keys() -> Vec<&'static UserKey> {
    let mut keys: Vec<&'static UserKey> = Vec::new();
    #[cfg(feature = "inventory")]
    keys.extend(inventory::iter::<DeclaredKey>.into_iter().map(|declared| declared.0));
    #[cfg(feature = "linkme")]
    keys.extend(DECLARED_KEYS);
    keys
}

/// Submits a key to the list of each enabled feature (`inventory`, `linkme`). Not public API.
#[cfg(all(feature = "inventory", not(feature = "linkme")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_key {
    ($key:expr) => {
        $crate::__private::inventory::submit! { $crate::__private::DeclaredKey($key) }
    };
}

/// Submits a key to the list of each enabled feature (`inventory`, `linkme`). Not public API.
#[cfg(all(feature = "linkme", not(feature = "inventory")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_key {
    ($key:expr) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::__private::DECLARED_KEYS)]
            #[linkme(crate = $crate::__private::linkme)]
            static DECLARED_KEY: &$crate::__private::UserKey = $key;
        };
    };
}

/// Submits a key to the list of each enabled feature (`inventory`, `linkme`). Not public API.
#[cfg(all(feature = "linkme", feature = "inventory"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_key {
    ($key:expr) => {
        $crate::__private::inventory::submit! { $crate::__private::DeclaredKey($key) }

        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::__private::DECLARED_KEYS)]
            #[linkme(crate = $crate::__private::linkme)]
            static DECLARED_KEY: &$crate::__private::UserKey = $key;
        };
    };
}
