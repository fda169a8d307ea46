//! The keys that the linked crates declare.
//!
//! A key needs its place before there is a registry: its bits and its name depend on it. So `#[dispatch_key]` submits the key twice, as
//! a record and to this list.

use super::user::UserKey;

/// Not public API: what a declared key is submitted as.
#[cfg(feature = "inventory")]
#[doc(hidden)]
pub struct DeclaredKey(pub &'static UserKey);

#[cfg(feature = "inventory")]
inventory::collect!(DeclaredKey);

/// Not public API: what a declared key is submitted to.
#[cfg(feature = "linkme")]
#[doc(hidden)]
#[linkme::distributed_slice]
pub static KEYS: [&'static UserKey];

/// Every key that a linked crate declares. A key can be in the list twice.
pub(crate) fn linked() -> Vec<&'static UserKey> {
    let mut keys: Vec<&'static UserKey> = Vec::new();
    #[cfg(feature = "inventory")]
    keys.extend(inventory::iter::<DeclaredKey>.into_iter().map(|declared| declared.0));
    #[cfg(feature = "linkme")]
    keys.extend(KEYS);
    keys
}

/// Adds a key to the lists of the features that are on. Not public API.
#[cfg(all(feature = "inventory", not(feature = "linkme")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_key {
    ($key:expr) => {
        $crate::__private::inventory::submit! { $crate::__private::DeclaredKey($key) }
    };
}

/// Adds a key to the lists of the features that are on. Not public API.
#[cfg(all(feature = "linkme", not(feature = "inventory")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_key {
    ($key:expr) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::__private::KEYS)]
            #[linkme(crate = $crate::__private::linkme)]
            static DECLARED: &$crate::UserKey = $key;
        };
    };
}

/// Adds a key to the lists of the features that are on. Not public API.
#[cfg(all(feature = "linkme", feature = "inventory"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_key {
    ($key:expr) => {
        $crate::__private::inventory::submit! { $crate::__private::DeclaredKey($key) }

        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::__private::KEYS)]
            #[linkme(crate = $crate::__private::linkme)]
            static DECLARED: &$crate::UserKey = $key;
        };
    };
}
