//! The sources of records: `inventory`, `linkme` and [`register`].
//!
//! The records of a linked crate are found through `inventory` or, with the feature of that name, `linkme`. If neither works, as in a
//! static library of a C program, the program passes its records to [`register`]. All records form one set: a record that occurs twice
//! counts once.
//!
//! A library that is loaded at run time, and shares its runtime, submits its records when it is loaded. The registry looks for
//! such records whenever it is used. A call that finds its kernel in a table does not use the registry.

use std::sync::{Mutex, PoisonError};

use super::record::Record;
use super::registry;

#[cfg(not(any(feature = "inventory", feature = "linkme", test)))]
compile_error!(
    "no source of registrations is switched on: enable the feature `inventory` or `linkme` of `dispatch-runtime`"
);

/// The item that the macros submit to `inventory` for a record. Not public API.
#[cfg(feature = "inventory")]
#[doc(hidden)]
pub struct SubmittedRecord(pub Record);

#[cfg(feature = "inventory")]
inventory::collect!(SubmittedRecord);

/// The `linkme` slice to which the macros add records. Not public API.
#[cfg(feature = "linkme")]
#[doc(hidden)]
#[linkme::distributed_slice]
pub static SUBMITTED_RECORDS: [Record];

static REGISTERED_RECORDS: Mutex<Vec<&'static [Record]>> = Mutex::new(Vec::new());

/// Adds records that no source collects. They stay for the rest of the program.
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
    REGISTERED_RECORDS.lock().unwrap_or_else(PoisonError::into_inner).push(records);
    registry::add_records(records.iter().copied());
}

/// Returns the records of all sources. A record can occur twice.
pub(crate) fn collect_records() -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    #[cfg(feature = "inventory")]
    records.extend(inventory::iter::<SubmittedRecord>.into_iter().map(|submitted| submitted.0));
    #[cfg(feature = "linkme")]
    records.extend(SUBMITTED_RECORDS);
    let registered = REGISTERED_RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
    records.extend(registered.iter().copied().flatten());
    records
}

/// Returns a value that changes when a loaded library adds records. `inventory` lists new records before the others.
pub(crate) fn collection_version() -> usize {
    #[cfg(feature = "inventory")]
    let version =
        inventory::iter::<SubmittedRecord>.into_iter().next().map_or(0, |first| std::ptr::from_ref(first).addr());
    #[cfg(not(feature = "inventory"))]
    let version = 0;
    version
}

/// Submits one record to the enabled sources. Not public API.
#[cfg(all(feature = "inventory", not(feature = "linkme")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __submit {
    ($record:expr) => {
        $crate::__private::inventory::submit! { $crate::__private::SubmittedRecord($record) }
    };
}

/// Submits one record to the enabled sources. Not public API.
#[cfg(all(feature = "linkme", not(feature = "inventory")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __submit {
    ($record:expr) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::__private::SUBMITTED_RECORDS)]
            #[linkme(crate = $crate::__private::linkme)]
            static RECORD: $crate::__private::Record = $record;
        };
    };
}

/// Submits one record to the enabled sources. Not public API.
#[cfg(all(feature = "linkme", feature = "inventory"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __submit {
    ($record:expr) => {
        $crate::__private::inventory::submit! { $crate::__private::SubmittedRecord($record) }

        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::__private::SUBMITTED_RECORDS)]
            #[linkme(crate = $crate::__private::linkme)]
            static RECORD: $crate::__private::Record = $record;
        };
    };
}
