//! The door for generated code: everything that `#[op_def]` and `#[op_impl]` expand to, and nothing else.
//!
//! Not public API. The hot path is [`keys`], then [`kernel`], then a jump through the pointer that it gives.

use crate::call::{Signature, signature};
use crate::error::{BadArgument, Error, ErrorKind, Problem, Result};
use crate::introspection::explain;
use crate::key::{Device, Key, KeySet, Slot};
use crate::name::in_schema;
use crate::operator::{self, Code, Entry, Operation, Operator, Table, TableRef};
use crate::scalar::DType;
use crate::tensor::Tensor;
use crate::value::{Argument, ToValue};
use crate::{guard, plan};

/// The keys of a call whose arguments carry `carried`.
#[inline(always)]
#[must_use]
pub fn keys(carried: KeySet) -> KeySet {
    guard::call_keys(carried)
}

/// The keys that one argument carries.
#[inline(always)]
pub fn carried<'a>(argument: &impl Argument<'a>) -> KeySet {
    argument.keys()
}

/// Arguments that hold tensors, as a kernel for Meta looks at them.
pub trait OnMeta {
    /// Makes sure that all of them are on Meta.
    fn on_meta(&self) -> Result<(), Problem>;
}

impl OnMeta for &Tensor {
    fn on_meta(&self) -> Result<(), Problem> {
        plan::on_meta(self)
    }
}

impl OnMeta for &mut Tensor {
    fn on_meta(&self) -> Result<(), Problem> {
        plan::on_meta(self)
    }
}

impl OnMeta for Option<&Tensor> {
    fn on_meta(&self) -> Result<(), Problem> {
        self.map_or(Ok(()), plan::on_meta)
    }
}

impl OnMeta for &[Tensor] {
    fn on_meta(&self) -> Result<(), Problem> {
        self.iter().try_for_each(plan::on_meta)
    }
}

impl OnMeta for &[Option<Tensor>] {
    fn on_meta(&self) -> Result<(), Problem> {
        self.iter().flatten().try_for_each(plan::on_meta)
    }
}

/// Refuses a call on Meta with a tensor that is elsewhere.
pub fn check_on_meta<O: Operation>(argument: &impl OnMeta, position: usize) -> Result<()> {
    argument.on_meta().map_err(|problem| {
        let operator = O::operator();
        Error::from(BadArgument::new(operator.argument_name(position), problem)).in_operator(operator.name())
    })
}

/// An argument that says where a call without tensors goes.
pub trait NamesDevice {
    /// The keys of that place.
    fn device_keys(&self) -> KeySet;
}

impl NamesDevice for Device {
    #[inline(always)]
    fn device_keys(&self) -> KeySet {
        self.keys()
    }
}

impl NamesDevice for Option<Device> {
    #[inline(always)]
    fn device_keys(&self) -> KeySet {
        self.unwrap_or(Device::CPU).keys()
    }
}

/// The keys of a call that is to land on `key`.
pub fn keys_for(carried: KeySet, key: Key) -> Result<KeySet> {
    operator::lowered(guard::call_keys(carried), key)
}

/// A pointer to a kernel of an operator.
pub type Kernel<O> = <<O as Operation>::Signature as Signature>::Kernel;

/// A pointer to a condition of an operator's kernels.
pub type Predicate<O> = <<O as Operation>::Signature as Signature>::Predicate;

/// Where a call with these keys goes, and the table that says so.
///
/// # Safety
///
/// The kernel is called with these keys and this table, if at all.
#[inline(always)]
#[must_use]
pub unsafe fn kernel<O: Operation>(keys: KeySet) -> (Kernel<O>, TableRef) {
    let table = O::operator().published();
    // SAFETY: `Operation` says that all code of the operator's own is of its type; `bind` adds no kernel of another operator.
    (unsafe { table.code(keys).to() }, table)
}

/// The crate at the root of a module path: an operator's namespace, unless its schema spells one.
#[must_use]
pub const fn crate_of(module: &'static str) -> &'static str {
    let bytes = module.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b':' {
        end += 1;
    }
    module.split_at(end).0
}

/// The kernel for these keys, and the keys and the table that it gets: binds the operator, passes over layers and chooses between kernels, or says why
/// there is none.
#[cold]
pub(crate) fn find(
    operator: &Operator,
    mut keys: KeySet,
    holds: &mut dyn FnMut(Code) -> bool,
    arguments: &[&dyn ToValue],
) -> Result<(Code, KeySet, TableRef)> {
    loop {
        let table = operator.bound_table()?;
        let (slot, mut code, mut entry) = table.slot(keys);
        if let Entry::Choose(at) = entry {
            let mut choices = table.choices[usize::from(at)].iter();
            let Some(fit) = choices.find(|choice| choice.condition.is_none_or(|when| holds(when.holds))) else {
                if operator.was_changed(table) {
                    continue;
                }
                return Err(explain::none_fits(operator, slot));
            };
            (code, entry) = fit.filling;
        }
        match entry {
            Entry::Typed | Entry::Boxed(_) => return Ok((code, keys, table.published())),
            // Below a call without keys there is nothing. A slot that always skips is not there at all; a choice may be.
            Entry::Skip if slot != Slot::UNDEFINED => keys = Table::below(keys, slot),
            Entry::Skip | Entry::Choose(_) | Entry::Refuse if operator.was_changed(table) => {}
            Entry::Skip | Entry::Choose(_) | Entry::Refuse => {
                let carried = operator.each_carried(signature::stack_of(arguments).values());
                return Err(explain::refusal(operator, keys, &carried));
            }
        }
    }
}

/// What a kernel may return: the operator's result, alone or with an error of any type.
///
/// The parameter names the operator, so that the compiler's message can.
#[diagnostic::on_unimplemented(
    message = "a kernel of operator `{O}` must return `{T}` or `Result<{T}>`, found `{Self}`",
    label = "expected `{T}` or `Result<{T}>`"
)]
pub trait Returns<O, T> {
    /// The result.
    fn returned(self) -> Result<T>;
}

impl<O, T> Returns<O, T> for T {
    #[inline(always)]
    fn returned(self) -> Result<T> {
        Ok(self)
    }
}

impl<O: Operation, T, E: KernelError<O>> Returns<O, T> for Result<T, E> {
    #[inline(always)]
    fn returned(self) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(failed::<O>(error.into())),
        }
    }
}

/// The error of a kernel: whatever a `?` turns into the runtime's.
#[diagnostic::on_unimplemented(
    message = "a kernel of operator `{O}` fails with `{Self}`, which does not turn into `dispatch_runtime::Error`",
    label = "turn it into one: `.map_err(Error::kernel)`"
)]
pub trait KernelError<O>: Into<Error> {}

#[diagnostic::do_not_recommend]
impl<O, E: Into<Error>> KernelError<O> for E {}

/// An error in the name of this operator.
#[cold]
#[inline(never)]
#[must_use]
pub fn failed<O: Operation>(error: Error) -> Error {
    error.in_operator(O::operator().name())
}

/// The error of a composite: what its own check says of the arguments, or else the error of its body.
#[cold]
#[inline(never)]
#[must_use]
pub fn explained(operator: &Operator, of_body: Error, check: Result<()>) -> Error {
    check.map_or_else(|own| own.in_operator(operator.name()), |()| of_body)
}

/// The error of an operator that is a call of `callee`; see `Error::in_call`.
#[cold]
#[inline(never)]
#[must_use]
pub fn in_call(error: Error, callee: &Operator, operator: &Operator, names: &[&'static str]) -> Error {
    error.in_call(callee, operator, names)
}

/// An error of operator `O` in a call of its form `F`, whose first output has this name.
#[cold]
pub fn in_form<O: Operation, F: Operation>(output: &'static str) -> impl FnOnce(Error) -> Error {
    move |error| error.in_form(O::operator().name(), F::operator(), output)
}

/// What a kernel may ask for where the operator passes a `T`: a `T`. Arguments are counted from 1.
#[diagnostic::on_unimplemented(
    message = "argument {I} of operator `{O}` is passed as `{T}`, but the kernel takes `{Self}`",
    label = "write `{T}`"
)]
pub trait Takes<O, const I: usize, T> {
    /// The argument.
    fn taken(argument: T) -> Self;
}

impl<O, const I: usize, T> Takes<O, I, T> for T {
    #[inline(always)]
    fn taken(argument: T) -> Self {
        argument
    }
}

/// What a named call may give for an optional `T`: a `T`, or an option of one.
#[diagnostic::on_unimplemented(
    message = "this argument is an optional `{T}`, not `{Self}`",
    label = "write a `{T}`, or `Some(..)` or `None`"
)]
pub trait Given<T> {
    /// The argument.
    fn given(self) -> Option<T>;
}

#[diagnostic::do_not_recommend]
impl<T> Given<T> for T {
    #[inline]
    fn given(self) -> Option<T> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Given<T> for Option<T> {
    #[inline]
    fn given(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T> Given<&'a [T]> for &'a Vec<T> {
    #[inline]
    fn given(self) -> Option<&'a [T]> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T, const N: usize> Given<&'a [T]> for &'a [T; N] {
    #[inline]
    fn given(self) -> Option<&'a [T]> {
        Some(self)
    }
}

/// Stands for a key's name that no built-in key has.
#[derive(Clone, Copy, Debug)]
pub struct Fresh;

/// What [`Fresh`] alone is.
#[diagnostic::on_unimplemented(message = "there is a built-in key of this name", label = "choose another name")]
pub trait FreshName {}

impl FreshName for Fresh {}

/// Fails to compile where a name turns out to be a built-in key's.
pub const fn fresh_name<T: FreshName + Copy>(_name: T) {}

/// The dtype that a kernel over several is chosen by.
pub trait HasDType {
    /// None for a list without tensors, or a tensor that was not given.
    fn dtype_of(&self) -> Option<DType>;
}

impl HasDType for &Tensor {
    fn dtype_of(&self) -> Option<DType> {
        Some(self.dtype())
    }
}

impl HasDType for &mut Tensor {
    fn dtype_of(&self) -> Option<DType> {
        Some(self.dtype())
    }
}

impl HasDType for Option<&Tensor> {
    fn dtype_of(&self) -> Option<DType> {
        self.map(Tensor::dtype)
    }
}

impl HasDType for &[Tensor] {
    fn dtype_of(&self) -> Option<DType> {
        self.first().map(Tensor::dtype)
    }
}

impl HasDType for DType {
    fn dtype_of(&self) -> Option<DType> {
        Some(*self)
    }
}

impl HasDType for Option<DType> {
    fn dtype_of(&self) -> Option<DType> {
        *self
    }
}

/// The error of a kernel over several dtypes that met another one.
#[cold]
#[must_use]
pub fn unsupported_dtype<O: Operation>(
    argument: &'static str,
    dtype: Option<DType>,
    supported: &'static [DType],
) -> Error {
    let (operator, argument) = (O::operator().name(), in_schema(argument));
    match dtype {
        Some(dtype) => ErrorKind::UnsupportedDType { operator, argument, dtype, supported }.into(),
        None => Error::kernel(format!("`{argument}` holds no tensor to tell the dtype by")).in_operator(operator),
    }
}

/// How an operator's macro finds the operator's function, wherever it is and whatever it is called there.
///
/// A definition implements this for [`Anchor`], with its own number and type. A macro knows the number alone; as no other implementation
/// has it, the compiler infers the type.
pub trait Named<const ID: u64, O> {
    /// A pointer to the function.
    type Function: Copy;

    /// The function.
    const FUNCTION: Self::Function;
}

/// See [`Named`].
pub struct Anchor;

/// An operator's function, for its definition.
#[must_use]
pub const fn function<const ID: u64, O>() -> Code
where
    Anchor: Named<ID, O>,
{
    Code::of::<<Anchor as Named<ID, O>>::Function>(<Anchor as Named<ID, O>>::FUNCTION)
}

/// Defines an operator's macro. `$crate` inside is the runtime, wherever the macro is used. Not public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __named_form {
    (($dollar:tt) $name:ident ($schema:literal) ($contract:tt) ($identity:literal) $($export:tt)*) => {
        #[doc(hidden)]
        #[allow(unused_macros, non_local_definitions)]
        $($export)*
        macro_rules! $name {
            (@kernel $dollar callback:path, $dollar($dollar rest:tt)*) => {
                $dollar callback! { $schema $contract $dollar($dollar rest)* }
            };
            ($dollar($dollar argument:tt)*) => {
                $crate::__private::__call! {
                    [$crate]
                    $schema
                    [<$crate::__private::Anchor as $crate::__private::Named<$identity, _>>::FUNCTION]
                    $dollar($dollar argument)*
                }
            };
        }
    };
}
