//! Operators, the rows of the dispatch table: their definitions, kernels and published tables.

mod arguments;
mod definition;
mod kernel;
mod operation;
mod record;
mod retirable;
mod rules;
mod sync;
mod table;
mod typed_function;

use std::fmt;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;

use dispatch_schema::Schema;

use crate::key::KeySet;
use crate::location::Location;
use crate::name::Name;
use crate::spec::ShapeWord;
use definition::ResultSpecsFn;
use rules::Rules;
use sync::{PUBLISH_ORDERING, READ_ORDERING};

pub use arguments::too_few_arguments_error;
pub(crate) use arguments::{keys_of_device_value, too_many_arguments_error};
pub use definition::{Definition, TypedAdapters};
pub use kernel::BoxedFn;
pub(crate) use kernel::{BoxedClosure, BoxedKernel, Condition, StaticKernel};
pub use operation::{ConditionFn, Kernel, Operation, Signature};
pub use record::{FallbackRecord, KernelRecord};
pub(crate) use retirable::Retirable;
pub use rules::RuleRecord;
pub(crate) use table::{CandidateKernel, CodePointer, SlotKind, Table};
pub use table::{TableHeader, TableRef, TableVersion};

/// An operator: a name, a schema, and one table of kernels.
///
/// [`Operator::find`] returns an operator by name. In Rust code, the type with the operator's name returns it: `myops::mymul::operator()`.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("negated(Tensor self) -> Tensor")]
/// pub fn negated(this: &Tensor) -> Result<Tensor>;
///
/// let operator = negated::operator();
/// assert_eq!(operator.schema().arguments[0].name, "self");
/// assert_eq!(operator.argument_count(), 1);
/// ```
#[repr(C)]
pub struct Operator {
    table: AtomicPtr<TableHeader>,
    unbound_table: &'static TableHeader,
    pub(crate) definition: Definition,
    schema: OnceLock<Schema>,
    rules: Rules,
}

impl Operator {
    /// Makes an operator with the table of an unbound one. `#[op_def]` expands to this call. Not public API.
    ///
    /// # Safety
    ///
    /// If the definition has types, then the code of `unbound_table` and all code of [`TypedAdapters`] has the `Kernel` type of one
    /// [`Operation`](crate::Operation), which returns this operator. The function has the type that [`TypedAdapters`] names.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn new(unbound_table: &'static TableHeader, definition: Definition) -> Self {
        let table = AtomicPtr::new(std::ptr::from_ref(unbound_table).cast_mut());
        Self { table, unbound_table, definition, schema: OnceLock::new(), rules: Rules::new() }
    }

    /// Makes an operator that can only be called through a stack, from a parsed schema.
    pub(crate) fn new_untyped(unbound_table: &'static TableHeader, mut definition: Definition, schema: Schema) -> Self {
        let table = AtomicPtr::new(std::ptr::from_ref(unbound_table).cast_mut());
        definition.typed = None;
        Self { table, unbound_table, definition, schema: OnceLock::from(schema), rules: Rules::new() }
    }

    /// Returns the operator's name.
    #[must_use]
    pub const fn name(&self) -> Name<'static> {
        self.definition.name
    }

    /// Returns the operator's schema.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| {
            let name = Name { namespace: "", ..self.name() };
            let text = format!("{name}{}", self.definition.signature);
            // The namespace is a crate's name, which may not be a valid name in a schema.
            let mut schema = Schema::parse(text.trim_start_matches("::"))
                .unwrap_or_else(|errors| unreachable!("checked when it was defined: {}", errors.render(&text)));
            schema.name.namespace = Some(self.name().namespace.to_owned());
            schema
        })
    }

    /// Returns the documentation of the operator's definition.
    #[must_use]
    pub const fn docs(&self) -> &'static str {
        self.definition.docs
    }

    /// Returns the location of the operator's definition.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.definition.location
    }

    /// Returns the number of arguments.
    #[must_use]
    pub const fn argument_count(&self) -> usize {
        self.definition.argument_count
    }

    /// Returns the operator's shape word, if it has one. It determines the dtype and sizes of the results.
    #[must_use]
    pub const fn shape_word(&self) -> Option<ShapeWord> {
        self.definition.shape
    }

    /// Returns the function that computes the specs of a boxed call's results, if the operator has a plan.
    pub(crate) const fn result_specs_fn(&self) -> Option<ResultSpecsFn> {
        self.definition.plan
    }

    /// Whether the sizes of the operator's results depend on the elements of its arguments.
    #[must_use]
    pub const fn is_data_dependent(&self) -> bool {
        self.definition.data_dependent
    }

    /// Returns the functional operator, if this is its in-place or `out=` form.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    ///
    /// #[op_def("halved(Tensor self) -> Tensor", shape = pointwise, inplace, out = "out")]
    /// pub fn halved(this: &Tensor) -> Result<Tensor>;
    ///
    /// assert_eq!(halved_::operator().functional(), Some(halved::operator()));
    /// let schema = halved_out::operator().schema().to_string();
    /// assert!(schema.ends_with("halved.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"));
    /// ```
    #[must_use]
    pub fn functional(&self) -> Option<&'static Self> {
        self.definition.functional.map(|functional| functional())
    }

    /// Returns the kernels that the definition contains.
    pub(crate) const fn kernels_of_definition(&self) -> &'static [KernelRecord] {
        self.definition.kernels
    }

    pub(crate) const fn is_aliasing(&self) -> bool {
        self.definition.aliasing
    }

    /// Returns the number of results if all are tensors; otherwise a number greater than any number of results.
    #[inline]
    pub(crate) const fn result_count_if_all_tensors(&self) -> usize {
        self.definition.tensor_result_count as usize
    }

    pub(crate) const fn returns_views(&self) -> bool {
        self.definition.returns_views
    }

    pub(crate) const fn typed_adapters(&self) -> Option<&'static TypedAdapters> {
        self.definition.typed
    }

    pub(crate) const fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) const fn signature_text(&self) -> &'static str {
        self.definition.signature
    }

    /// Returns the operator's current table.
    #[inline(always)]
    pub(crate) fn published_table(&self) -> TableRef {
        // SAFETY: the pointer is never null: it is `unbound_table`, or comes from `Table::header`. Both live as long as the program.
        unsafe { TableRef::new(NonNull::new_unchecked(self.table.load(READ_ORDERING))) }
    }

    pub(crate) fn publish_table(&self, table: NonNull<TableHeader>) {
        self.table.store(table.as_ptr(), PUBLISH_ORDERING);
    }

    /// Replaces the operator's table with the unbound one, so that the next call binds again.
    pub(crate) fn unbind(&self) {
        if self.published_table().as_bound().is_some() {
            self.table.store(std::ptr::from_ref(self.unbound_table).cast_mut(), PUBLISH_ORDERING);
            table::increment_table_version();
        }
    }

    /// Returns the kernel for these keys, if it has the operator's type.
    #[inline(always)]
    pub(crate) fn typed_kernel(&self, keys: KeySet) -> Option<CodePointer> {
        let (code, kind) = self.published_table().as_bound()?.lookup(keys);
        (kind == SlotKind::Typed).then_some(code)
    }
}

impl PartialEq for Operator {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Operator {}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name(), f)
    }
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name(), self.signature_text())
    }
}
