//! One row of the dispatcher: an operator, and the ways to call it.

mod edition;
mod operation;
mod record;
mod retirable;
mod rules;
mod sync;
mod table;

use std::any::{TypeId, type_name};
use std::fmt;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;

use dispatch_schema::Schema;

use crate::call::{BoxedKernel, Redispatch, boxed_kernel};
use crate::error::{Error, ErrorKind, Result};
use crate::guard;
use crate::key::{Device, Key, KeySet};
use crate::location::Location;
use crate::name::Name;
use crate::plan::Shape;
use crate::registration::registry;
use crate::spec::Spec;
use crate::value::{Stack, Value, kind_of};
use rules::Rules;
use sync::{PUBLISH, READ};

pub use edition::Edition;
pub use operation::Operation;
pub(crate) use record::{Condition, StaticKernel};
pub use record::{FallbackRecord, KernelRecord, Record};
pub(crate) use retirable::Counted;
pub use rules::RuleRecord;
pub(crate) use table::{Choice, Code, Entry, Table};
pub use table::{Head, TableRef};

/// An operator: a name, a schema, and one table of kernels.
///
/// Operators are found by name with [`Operator::find`], or through the type that shares an operator's name:
/// `myops::mymul::operator()`.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("twice(Tensor self) -> Tensor")]
/// pub fn twice(this: &Tensor) -> Result<Tensor>;
///
/// let operator = twice::operator();
/// assert_eq!(operator.schema().arguments[0].name, "self");
/// assert_eq!(operator.argument_count(), 1);
/// ```
#[repr(C)]
pub struct Operator {
    table: AtomicPtr<Head>,
    unbound: &'static Head,
    definition: Definition,
    schema: OnceLock<Schema>,
    rules: Rules,
}

/// What `#[op_def]` says about an operator, in a form that costs nothing at start-up.
#[doc(hidden)]
#[derive(Debug)]
pub struct Definition {
    pub name: Name<'static>,
    /// The schema after the name.
    pub signature: &'static str,
    pub docs: &'static str,
    pub location: Location,
    pub arguments: usize,
    /// How many results it gives, if all are tensors; otherwise [`u8::MAX`].
    pub tensor_results: u8,
    /// Which arguments carry keys: one bit each.
    pub carriers: u64,
    /// Whether the schema has alias annotations on arguments.
    pub aliasing: bool,
    /// It gives views of its arguments.
    pub viewing: bool,
    /// The device that stands for the keys of tensors where there are none.
    pub device: Option<usize>,
    /// What its results look like.
    pub shape: Option<Shape>,
    /// Describes the results of a boxed call.
    pub plan: Option<Outline>,
    /// What its results look like depends on the elements of its arguments.
    pub data_dependent: bool,
    /// The operator that this is another form of.
    pub functional: Option<fn() -> &'static Operator>,
    pub typed: Option<&'static Typed>,
    /// The function of an operator with types.
    pub function: Option<Code>,
    /// Kernels that come with the definition.
    pub kernels: &'static [KernelRecord],
}

/// What the results of a boxed call with these arguments look like.
pub(crate) type Outline = fn(&mut [Value]) -> Result<Vec<Spec>>;

/// The generated functions that know an operator's types.
#[doc(hidden)]
#[derive(Debug)]
pub struct Typed {
    /// Has the kernel's type: whatever a slot cannot say by itself.
    pub slow: Code,
    /// Has the kernel's type: puts the arguments on a stack and runs the slot's boxed kernel.
    pub boxed: Code,
    /// Has the kernel's type: hands the call on where the slot's boxed kernel may be passed over, and else is `boxed`.
    pub marked: Code,
    /// Takes the arguments off the stack and calls a kernel with these keys, or the arguments' own kernel with their own keys. The code
    /// is a kernel of this operator's type.
    pub unbox: unsafe fn(&Operator, Option<Code>, KeySet, &mut Stack) -> Result<()>,
    /// The type of the operator's function.
    pub function: TypeId,
    /// The type of a closure that is like the function.
    pub closure: TypeId,
    /// Has the kernel's type: calls a box of such a closure, whose address is in the place of the keys.
    pub call_closure: Code,
}

/// What is known of the conditions of a slot's kernels when a boxed kernel is looked for. Only typed code can ask them.
#[derive(Clone, Copy)]
pub(crate) enum Conditions {
    Open,
    /// They were asked, and what runs is the default.
    NoneHolds,
}

impl Operator {
    /// Not public API: `#[op_def]` expands to it.
    ///
    /// # Safety
    ///
    /// If the definition has types, the code of `unbound` and all code of [`Typed`] is of the `Kernel` of one
    /// [`Operation`](crate::Operation), which returns this operator, and the function is of the type that [`Typed`] names.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn new(unbound: &'static Head, definition: Definition) -> Self {
        let table = AtomicPtr::new(std::ptr::from_ref(unbound).cast_mut());
        Self { table, unbound, definition, schema: OnceLock::new(), rules: Rules::new() }
    }

    /// An operator that is called through a stack alone, whose schema is parsed already.
    pub(crate) fn without_types(unbound: &'static Head, mut definition: Definition, schema: Schema) -> Self {
        let table = AtomicPtr::new(std::ptr::from_ref(unbound).cast_mut());
        definition.typed = None;
        Self { table, unbound, definition, schema: OnceLock::from(schema), rules: Rules::new() }
    }

    /// The operator of this name, such as `aten::add.Tensor`.
    ///
    /// # Errors
    ///
    /// Where there is none; the error suggests names that are close.
    ///
    /// ```
    /// let error = dispatch_runtime::Operator::find("nowhere::add").unwrap_err();
    /// assert!(error.to_string().contains("nowhere::add"));
    /// ```
    pub fn find(name: &str) -> Result<&'static Self> {
        registry::find(name)
    }

    /// Every operator of the program, sorted by name.
    ///
    /// ```
    /// let names = dispatch_runtime::Operator::all();
    /// assert!(names.is_sorted_by_key(|operator| operator.name()));
    /// ```
    #[must_use]
    pub fn all() -> Vec<&'static Self> {
        registry::all()
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> Name<'static> {
        self.definition.name
    }

    /// Its schema.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| {
            let name = Name { namespace: "", ..self.name() };
            let text = format!("{name}{}", self.definition.signature);
            // The namespace is a crate's name, which need not be a name that a schema could spell.
            let mut schema = Schema::parse(text.trim_start_matches("::"))
                .unwrap_or_else(|errors| unreachable!("checked when it was defined: {}", errors.render(&text)));
            schema.name.namespace = Some(self.name().namespace.to_owned());
            schema
        })
    }

    /// What its author wrote about it.
    #[must_use]
    pub const fn docs(&self) -> &'static str {
        self.definition.docs
    }

    /// Where it was defined.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.definition.location
    }

    /// How many arguments it takes.
    #[must_use]
    pub const fn argument_count(&self) -> usize {
        self.definition.arguments
    }

    /// Calls it with the arguments on top of the stack, and leaves the results there.
    ///
    /// # Errors
    ///
    /// Where there are too few arguments or they are of the wrong kind, where there is no kernel for them, and where the kernel fails.
    #[inline]
    pub fn call_boxed(&self, stack: &mut Stack) -> Result<()> {
        if let Some(typed) = self.adapters() {
            // SAFETY: there is no code.
            return unsafe { (typed.unbox)(self, None, KeySet::EMPTY, stack) };
        }
        let Some(arguments) = stack.top(self.argument_count()) else {
            return Err(too_few_arguments(self, stack.len()));
        };
        let keys = guard::call_keys(self.keys_of(arguments));
        self.run_boxed::<false>(self.published(), keys, stack, Conditions::Open)
    }

    /// The operator's function, if it is of this type: for calls of an operator that is known by its name alone.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OtherFunction`] if its function is of another type, and [`ErrorKind::NoFunction`] if it has none, as it was defined
    /// while the program runs.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    ///
    /// #[op_def("repeat(Tensor self, int times) -> Tensor")]
    /// pub fn repeat(this: &Tensor, times: i64) -> Result<Tensor> {
    ///     Ok(Tensor::from(this.to_vec::<f32>()?.repeat(times as usize)))
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// # let name = repeat::operator().name().to_string();
    /// let repeat = Operator::find(&name)?.typed::<fn(&Tensor, i64) -> Result<Tensor>>()?;
    /// assert_eq!(repeat(&Tensor::from_slice(&[1.0_f32]), 3)?.sizes(), [3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn typed<F: Copy + 'static>(&self) -> Result<F> {
        self.types_like(TypeId::of::<F>(), |typed| typed.function, type_name::<F>)?;
        let function = self.definition.function.ok_or_else(|| self.no_function())?;
        // SAFETY: `Operator::new` says that the function is of the type that `Typed` names.
        Ok(unsafe { function.to() })
    }

    /// The operator's types, if the one that `has` takes of them is `asked`, whose name is given.
    pub(crate) fn types_like(
        &self,
        asked: TypeId,
        has: impl FnOnce(&Typed) -> TypeId,
        name: impl FnOnce() -> &'static str,
    ) -> Result<&'static Typed> {
        let typed = self.adapters().ok_or_else(|| self.no_function())?;
        if has(typed) != asked {
            let (operator, expected) = (self.name(), dispatch_schema::rust_function(self.schema()));
            return Err(ErrorKind::OtherFunction { operator, expected, found: name() }.into());
        }
        Ok(typed)
    }

    fn no_function(&self) -> Error {
        ErrorKind::NoFunction { operator: self.name(), location: self.location() }.into()
    }

    /// Calls it with exactly these keys: neither the arguments' nor the thread's have a say. This is how a layer hands a call on.
    ///
    /// # Errors
    ///
    /// As [`call_boxed`](Self::call_boxed), and [`ErrorKind::EndlessRedispatch`] if the call comes back to where it is made.
    #[inline]
    pub fn redispatch_boxed(&self, keys: KeySet, stack: &mut Stack) -> Result<()> {
        self.run_boxed::<true>(self.published(), keys, stack, Conditions::Open)
    }

    /// Calls it anew, with the keys that its arguments have now, below `key`: how a layer hands on a call whose arguments it changed.
    ///
    /// # Errors
    ///
    /// As [`call_boxed`](Self::call_boxed).
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    /// # use dispatch_runtime::{Spec, guard};
    ///
    /// #[op_def("place(Tensor self) -> Device")]
    /// fn place(this: &Tensor) -> Result<Device>;
    ///
    /// #[op_impl(place, CPU)]
    /// fn here(this: &Tensor) -> Device { this.device() }
    ///
    /// #[op_fallback(PreDispatch)]
    /// fn bring_here(op: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    ///     stack.drop_top(1);
    ///     stack.push(Tensor::from_slice(&[1.0_f32]));
    ///     op.call_boxed_below(keys::PreDispatch, stack)
    /// }
    ///
    /// let far = Spec::contiguous(DType::F32, &[1]).on(Device::META).unwrap();
    /// let _bring = guard::include(KeySet::from(keys::PreDispatch));
    /// assert_eq!(place(&far).unwrap(), Device::CPU);
    /// ```
    pub fn call_boxed_below(&self, key: Key, stack: &mut Stack) -> Result<()> {
        let Some(arguments) = stack.top(self.argument_count()) else {
            return Err(too_few_arguments(self, stack.len()));
        };
        let keys = guard::call_keys(self.keys_of(arguments)).below(key);
        self.redispatch_boxed(keys, stack)
    }

    /// Calls the kernel for one key, whatever the arguments' keys.
    ///
    /// # Errors
    ///
    /// As [`call_boxed`](Self::call_boxed), and where `key` is not one runtime key: an alias key stands for many.
    pub fn call_boxed_for(&self, key: Key, stack: &mut Stack) -> Result<()> {
        let Some(arguments) = stack.top(self.argument_count()) else {
            return Err(too_few_arguments(self, stack.len()));
        };
        let keys = lowered(guard::call_keys(self.keys_of(arguments)), key)?;
        self.redispatch_boxed(keys, stack)
    }

    /// Calls it with these arguments, and gives the results.
    ///
    /// # Errors
    ///
    /// As [`call_boxed`](Self::call_boxed), and where there are too many arguments.
    ///
    /// ```
    /// # use dispatch_runtime::prelude::*;
    /// #[op_def("first(Tensor[] tensors) -> Tensor")]
    /// pub fn first(tensors: &[Tensor]) -> Result<Tensor> { Ok(tensors[0].clone()) }
    ///
    /// let results = first::operator().call([vec![Tensor::from_slice(&[1_i64])].into()]).unwrap();
    /// assert_eq!(results.len(), 1);
    /// ```
    pub fn call(&self, arguments: impl IntoIterator<Item = Value>) -> Result<Vec<Value>> {
        let mut stack: Stack = arguments.into_iter().collect();
        if stack.len() > self.argument_count() {
            // On a stack, they would be somebody else's and stay below the results.
            return Err(too_many_arguments(self, stack.len()));
        }
        self.call_boxed(&mut stack)?;
        Ok(stack.into_values())
    }

    /// The keys that these arguments add to a call.
    #[inline]
    pub(crate) fn keys_of(&self, arguments: &[Value]) -> KeySet {
        let mut keys = KeySet::EMPTY;
        for (i, value) in arguments.iter().enumerate() {
            if self.carries(i) {
                keys |= value.keys();
            }
        }
        match self.definition.device.and_then(|device| arguments.get(device)) {
            Some(device) => keys | device_keys(device),
            None => keys,
        }
    }

    /// What its results look like, where a word says it.
    #[must_use]
    pub const fn shape(&self) -> Option<Shape> {
        self.definition.shape
    }

    /// Describes the results of a boxed call, if the operator has a plan.
    pub(crate) const fn outline(&self) -> Option<Outline> {
        self.definition.plan
    }

    /// Whether the shapes of its results depend on the elements of its arguments.
    #[must_use]
    pub const fn is_data_dependent(&self) -> bool {
        self.definition.data_dependent
    }

    /// The operator that this is the in-place or the `out=` form of.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    ///
    /// #[op_def("half(Tensor self) -> Tensor", shape = pointwise, inplace, out = "out")]
    /// pub fn half(this: &Tensor) -> Result<Tensor>;
    ///
    /// assert_eq!(half_::operator().functional(), Some(half::operator()));
    /// assert_eq!(half_out::operator().schema().to_string(), "rust_out::half.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
    /// ```
    #[must_use]
    pub fn functional(&self) -> Option<&'static Self> {
        self.definition.functional.map(|functional| functional())
    }

    /// The kernels that come with the definition.
    pub(crate) const fn kernels_of_definition(&self) -> &'static [KernelRecord] {
        self.definition.kernels
    }

    pub(crate) const fn is_aliasing(&self) -> bool {
        self.definition.aliasing
    }

    /// How many results it gives, if all are tensors; otherwise more than there can be.
    #[inline]
    pub(crate) const fn tensor_results(&self) -> usize {
        self.definition.tensor_results as usize
    }

    pub(crate) const fn gives_views(&self) -> bool {
        self.definition.viewing
    }

    pub(crate) const fn adapters(&self) -> Option<&'static Typed> {
        self.definition.typed
    }

    pub(crate) const fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) const fn signature(&self) -> &'static str {
        self.definition.signature
    }

    /// The table as it is now.
    #[inline(always)]
    pub(crate) fn published(&self) -> TableRef {
        // SAFETY: the pointer is never null: it is `unbound`, or comes from `Table::head`. Both live as long as the program.
        unsafe { TableRef::new(NonNull::new_unchecked(self.table.load(READ))) }
    }

    /// The table, made now if this is the first call.
    pub(crate) fn bound_table(&self) -> Result<&'static Table> {
        match self.published().bound() {
            Some(table) => Ok(table),
            None => registry::bind(self),
        }
    }

    /// Whether this is not its table any more: somebody registered something, or a library was loaded that did.
    #[cold]
    pub(crate) fn was_changed(&self, table: &Table) -> bool {
        registry::load();
        self.published().bound().is_none_or(|now| !std::ptr::eq(now, table))
    }

    pub(crate) fn publish(&self, table: NonNull<Head>) {
        self.table.store(table.as_ptr(), PUBLISH);
    }

    /// Makes the next call bind anew.
    pub(crate) fn unbind(&self) {
        if self.published().bound().is_some() {
            self.table.store(std::ptr::from_ref(self.unbound).cast_mut(), PUBLISH);
            edition::change();
        }
    }

    /// The kernel for these keys, if it has the operator's type.
    #[inline(always)]
    pub(crate) fn typed_kernel(&self, keys: KeySet) -> Option<Code> {
        let (code, entry) = self.published().bound()?.at(keys);
        (entry == Entry::Typed).then_some(code)
    }

    /// A kernel of the operator's own type, or a boxed one that is part of the program, is one jump away; all else is out of line. A
    /// redispatch that does not end at a typed kernel may come back here, so it is counted.
    #[inline]
    pub(crate) fn run_boxed<const REDISPATCH: bool>(
        &self,
        table: TableRef,
        keys: KeySet,
        stack: &mut Stack,
        conditions: Conditions,
    ) -> Result<()> {
        let mut own = None;
        if let Some(table) = table.bound() {
            let (code, entry) = table.at(keys);
            if entry == Entry::Typed
                && let Some(typed) = self.definition.typed
            {
                // SAFETY: a slot that says `Typed` has a kernel of the operator's type.
                return unsafe { (typed.unbox)(self, Some(code), keys, stack) };
            }
            if let Entry::Boxed(at) = entry
                && let BoxedKernel::Function(kernel) = &table.boxed[usize::from(at)]
            {
                own = Some(kernel);
            }
        }
        let _inside = if REDISPATCH { Some(Redispatch::enter(|| self, keys)?) } else { None };
        match (own, conditions) {
            // Typed code checks the results itself, and has nothing else on its stack.
            (Some(kernel), Conditions::NoneHolds) => kernel(self, keys, stack),
            (Some(kernel), Conditions::Open) => boxed_kernel::run_function(self, *kernel, keys, stack),
            (None, _) => self.run_boxed_otherwise(keys, stack, conditions),
        }
    }

    #[inline(never)]
    pub(crate) fn run_boxed_otherwise(&self, keys: KeySet, stack: &mut Stack, conditions: Conditions) -> Result<()> {
        if let Some(table) = self.published().bound()
            && let (_, Entry::Boxed(at)) = table.at(keys)
            && let BoxedKernel::Function(kernel) = &table.boxed[usize::from(at)]
        {
            return boxed_kernel::run(kernel, self, keys, stack);
        }
        self.run_boxed_in_the_end(keys, stack, conditions)
    }

    #[cold]
    fn run_boxed_in_the_end(&self, mut keys: KeySet, stack: &mut Stack, mut conditions: Conditions) -> Result<()> {
        loop {
            let table = self.bound_table()?;
            let (slot, code, mut entry) = table.slot(keys);
            if let (Entry::Choose(at), Conditions::NoneHolds) = (entry, conditions)
                && let Some(Choice { filling: (_, default @ Entry::Boxed(_)), .. }) =
                    table.choices[usize::from(at)].last()
            {
                entry = *default;
            }
            match entry {
                Entry::Boxed(at) => {
                    if let Some(result) = table.boxed[usize::from(at)].call(self, keys, stack) {
                        return result;
                    }
                    // It was taken away after the table was loaded; by now there is another.
                }
                Entry::Typed | Entry::Choose(_) => {
                    return match self.adapters() {
                        // SAFETY: all code in the slots of an operator with types is of its type.
                        Some(typed) => unsafe { (typed.unbox)(self, Some(code), keys, stack) },
                        None => Err(self.refusal(keys, stack)),
                    };
                }
                Entry::Skip => (keys, conditions) = (Table::below(keys, slot), Conditions::Open),
                Entry::Refuse if self.was_changed(table) => {}
                Entry::Refuse => return Err(self.refusal(keys, stack)),
            }
        }
    }

    #[cold]
    fn refusal(&self, keys: KeySet, stack: &Stack) -> Error {
        let arguments = stack.top(self.argument_count()).unwrap_or(&[]);
        let error = crate::introspection::explain::refusal(self, keys, &self.each_carried(arguments));
        match error.kind() {
            // A value that is no tensor has no keys.
            ErrorKind::NoKernel(explanation) if explanation.key.is_none() => self.misfit(arguments).unwrap_or(error),
            _ => error,
        }
    }

    /// The error of the first argument that is not of its type.
    fn misfit(&self, arguments: &[Value]) -> Option<Error> {
        let types = self.schema().arguments.iter().map(|argument| &argument.ty);
        let (position, (value, ty)) =
            arguments.iter().zip(types).enumerate().find(|(_, (value, ty))| !value.fits(ty))?;
        let (argument, expected) = (self.argument_name(position), kind_of(ty)?);
        let (operator, found) = (self.name(), value.kind());
        Some(ErrorKind::WrongArgument { operator, position, argument, expected, found }.into())
    }

    /// The keys that each of these arguments adds to a call.
    pub(crate) fn each_carried(&self, arguments: &[Value]) -> Vec<KeySet> {
        let keys = |(i, value): (usize, &Value)| match value {
            _ if self.carries(i) => value.keys(),
            device if self.definition.device == Some(i) => device_keys(device),
            _ => KeySet::EMPTY,
        };
        arguments.iter().enumerate().map(keys).collect()
    }

    /// The name of an argument, as the schema has it.
    pub(crate) fn argument_name(&self, position: usize) -> String {
        self.schema().arguments.get(position).map(|argument| argument.name.clone()).unwrap_or_default()
    }

    /// Whether an argument can add keys to a call: because it has some, or because it is the device that stands for them.
    pub(crate) fn has_a_say(&self, argument: usize) -> bool {
        self.carries(argument) || self.definition.device == Some(argument)
    }

    #[inline]
    pub(crate) const fn carries(&self, argument: usize) -> bool {
        argument < 64 && self.definition.carriers & 1 << argument != 0
    }
}

/// The keys of a `Device?`: without one, a tensor is made on the CPU.
pub(crate) fn device_keys(device: &Value) -> KeySet {
    match device {
        Value::Device(device) => device.keys(),
        _ => Device::CPU.keys(),
    }
}

/// The error of a boxed call with fewer arguments than its operator takes.
#[cold]
pub fn too_few_arguments(operator: &Operator, found: usize) -> Error {
    ErrorKind::TooFewArguments { operator: operator.name(), expected: operator.argument_count(), found }.into()
}

#[cold]
fn too_many_arguments(operator: &Operator, found: usize) -> Error {
    ErrorKind::TooManyArguments { operator: operator.name(), expected: operator.argument_count(), found }.into()
}

/// The keys of a call that is to land on `key`: the layers below it and its own, on its backend where it has one.
pub(crate) fn lowered(keys: KeySet, key: Key) -> Result<KeySet> {
    if key == Key::UNDEFINED {
        return Ok(KeySet::EMPTY);
    }
    key.slot()?;
    let below = keys.below(key);
    let own = KeySet::from(key);
    Ok(if own.backends().is_empty() { below | own } else { below.layers() | own })
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
        write!(f, "{}{}", self.name(), self.signature())
    }
}
