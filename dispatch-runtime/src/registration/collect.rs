//! Where records come from.
//!
//! Linking a crate is enough for its records to be found, through `inventory` or, with the feature of that name, `linkme`. Where
//! neither works - a static library in a C program, a test that wants its own - records are handed to [`register`].
//! All of it is one set: a record that comes twice counts once.
//!
//! A library that is loaded while the program runs, and shares its runtime, submits its records then. The registry looks for such records
//! whenever it is used; a call that finds its kernel in a table does not use it.

use std::sync::{Mutex, PoisonError};

use super::record::Record;
use super::registry;

#[cfg(not(any(feature = "inventory", feature = "linkme", test)))]
compile_error!(
    "no source of registrations is switched on: enable the feature `inventory` or `linkme` of `dispatch-runtime`"
);

/// Not public API: what the macros' records are submitted as.
#[cfg(feature = "inventory")]
#[doc(hidden)]
pub struct Submitted(pub Record);

#[cfg(feature = "inventory")]
inventory::collect!(Submitted);

/// Not public API: what the macros' records are submitted to.
#[cfg(feature = "linkme")]
#[doc(hidden)]
#[linkme::distributed_slice]
pub static RECORDS: [Record];

static REGISTERED: Mutex<Vec<&'static [Record]>> = Mutex::new(Vec::new());

/// Adds records that no source collects, for as long as the program runs.
///
/// Registering the same records again changes nothing.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{Record, register};
///
/// #[op_def("negate(Tensor self) -> Tensor")]
/// pub fn negate(this: &Tensor) -> Result<Tensor>;
///
/// let records: &'static [Record] = vec![Record::Operator(negate::operator())].leak();
/// register(records);
/// assert!(Operator::find(&negate::operator().name().to_string()).is_ok());
/// ```
pub fn register(records: &'static [Record]) {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).push(records);
    registry::add(records.iter().copied());
}

/// Every record there is, some perhaps twice.
pub(crate) fn records() -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    #[cfg(feature = "inventory")]
    records.extend(inventory::iter::<Submitted>.into_iter().map(|submitted| submitted.0));
    #[cfg(feature = "linkme")]
    records.extend(RECORDS);
    let registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    records.extend(registered.iter().copied().flatten());
    records
}

/// Changes when a library that was loaded adds records: they are put in front of the others.
pub(crate) fn newest() -> usize {
    #[cfg(feature = "inventory")]
    let newest = inventory::iter::<Submitted>.into_iter().next().map_or(0, |first| std::ptr::from_ref(first).addr());
    #[cfg(not(feature = "inventory"))]
    let newest = 0;
    newest
}

/// Hands one record to the sources that are switched on. Not public API.
#[cfg(all(feature = "inventory", not(feature = "linkme")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __submit {
    ($record:expr) => {
        $crate::__private::inventory::submit! { $crate::__private::Submitted($record) }
    };
}

/// Hands one record to the sources that are switched on. Not public API.
#[cfg(all(feature = "linkme", not(feature = "inventory")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __submit {
    ($record:expr) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::__private::RECORDS)]
            #[linkme(crate = $crate::__private::linkme)]
            static RECORD: $crate::__private::Record = $record;
        };
    };
}

/// Hands one record to the sources that are switched on. Not public API.
#[cfg(all(feature = "linkme", feature = "inventory"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __submit {
    ($record:expr) => {
        $crate::__private::inventory::submit! { $crate::__private::Submitted($record) }

        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::__private::RECORDS)]
            #[linkme(crate = $crate::__private::linkme)]
            static RECORD: $crate::__private::Record = $record;
        };
    };
}
