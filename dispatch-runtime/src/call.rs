//! The door for generated code: everything that `#[op_def]` and `#[op_impl]` expand to, and nothing else.
//!
//! Not public API. The hot path is [`keys`], then [`kernel`], then a jump through the pointer that it gives.

use crate::convert::{Argument, Output};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{BadArgument, Error, ErrorKind, Problem, Result};
use crate::explain;
use crate::guard;
use crate::key::{Key, Slot};
use crate::key_set::KeySet;
use crate::name::in_schema;
use crate::operation::Operation;
use crate::operator::{self, Conditions, Operator};
use crate::shape;
use crate::stack::Stack;
use crate::table::{Code, Entry, Table};
use crate::tensor::{Marks, Tensor};
use crate::value::{KINDS, Value};

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
        shape::on_meta(self)
    }
}

impl OnMeta for &mut Tensor {
    fn on_meta(&self) -> Result<(), Problem> {
        shape::on_meta(self)
    }
}

impl OnMeta for Option<&Tensor> {
    fn on_meta(&self) -> Result<(), Problem> {
        self.map_or(Ok(()), shape::on_meta)
    }
}

impl OnMeta for &[Tensor] {
    fn on_meta(&self) -> Result<(), Problem> {
        self.iter().try_for_each(shape::on_meta)
    }
}

impl OnMeta for &[Option<Tensor>] {
    fn on_meta(&self) -> Result<(), Problem> {
        self.iter().flatten().try_for_each(shape::on_meta)
    }
}

/// Refuses a call on Meta with a tensor that is elsewhere.
pub fn check_on_meta<O: Operation>(argument: &impl OnMeta, position: usize) -> Result<()> {
    argument.on_meta().map_err(|problem| {
        let operator = O::operator();
        Error::from(BadArgument::new(argument_name(operator, position), problem)).in_operator(operator.name())
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

/// The keys that a device adds to a boxed call.
#[must_use]
pub fn device_keys(device: &Value) -> KeySet {
    operator::device_keys(device)
}

/// The keys of a call that is to land on `key`.
pub fn keys_for(carried: KeySet, key: Key) -> Result<KeySet> {
    operator::lowered(guard::call_keys(carried), key)
}

/// Where a call with these keys goes.
#[inline(always)]
#[must_use]
pub fn kernel<O: Operation>(keys: KeySet) -> O::Kernel {
    // SAFETY: `Operation` says that all code of the operator's own is of its type; `bind` adds no kernel of another operator.
    unsafe { O::operator().code(keys).to() }
}

/// Erases one of an operator's own functions.
#[must_use]
pub const fn code<O: Operation>(kernel: O::Kernel) -> Code {
    Code::of(kernel)
}

/// The keys that an operator's values add to a call; `CARRIERS` has a bit for each argument that has keys.
#[inline(always)]
#[must_use]
pub fn carried_by<const N: usize, const CARRIERS: u64>(arguments: &[Value; N]) -> KeySet {
    let carriers = arguments.iter().enumerate().filter(|&(i, _)| i < 64 && CARRIERS & 1 << i != 0);
    carriers.fold(KeySet::EMPTY, |keys, (_, value)| keys | value.keys())
}

/// The kernel for these keys, if it is one of the operator's type.
#[inline(always)]
#[must_use]
pub fn typed_kernel<O: Operation>(keys: KeySet) -> Option<Code> {
    O::operator().typed_kernel(keys)
}

/// Runs what is no kernel of the operator's type, or finds out that it is one after all.
#[inline]
pub fn run_otherwise<O: Operation>(keys: KeySet, stack: &mut Stack) -> Result<()> {
    O::operator().run_boxed_otherwise(keys, stack, Conditions::Open)
}

/// Remembers the type of a kernel that came out of a slot.
///
/// # Safety
///
/// The slot is of this operator, and says that its kernel is typed.
#[inline(always)]
#[must_use]
pub unsafe fn typed<O: Operation>(kernel: Code) -> O::Kernel {
    // SAFETY: the caller says so.
    unsafe { kernel.to() }
}

/// Puts the results of a boxed call where its `N` arguments were.
#[inline(always)]
pub fn replace<const N: usize, const M: usize>(stack: &mut Stack, results: impl FnOnce() -> [Value; M]) {
    stack.replace_top::<N, M>(results);
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

/// What the code of a slot does that is not a kernel: binds the operator, passes over a layer, chooses between kernels, or says why
/// there is none. Gives the kernel to go on with, and its keys.
#[cold]
pub fn slow<O: Operation>(
    keys: KeySet,
    holds: &mut dyn FnMut(O::Predicate) -> bool,
    carried: &dyn Fn() -> Vec<KeySet>,
) -> Result<(O::Kernel, KeySet)> {
    // SAFETY: `KernelRecord::when` takes the predicate type of the record's operator, and `bind` adds no record of another one.
    let mut holds = |code: Code| holds(unsafe { code.to() });
    let (code, keys) = find(O::operator(), keys, &mut holds, carried)?;
    // SAFETY: as in `kernel`.
    Ok((unsafe { code.to() }, keys))
}

fn find(
    operator: &Operator,
    mut keys: KeySet,
    holds: &mut dyn FnMut(Code) -> bool,
    carried: &dyn Fn() -> Vec<KeySet>,
) -> Result<(Code, KeySet)> {
    loop {
        let table = operator.bound_table()?;
        let (slot, mut code, mut entry) = table.slot(keys);
        if let Entry::Choose(at) = entry {
            let mut choices = table.choices[usize::from(at)].iter();
            let Some(fit) = choices.find(|choice| choice.condition.is_none_or(|when| holds(when.holds))) else {
                return Err(explain::none_fits(operator, slot));
            };
            (code, entry) = fit.filling;
        }
        match entry {
            Entry::Typed | Entry::Boxed(_) => return Ok((code, keys)),
            // Below a call without keys there is nothing. A slot that always skips is not there at all; a choice may be.
            Entry::Skip if slot != Slot::UNDEFINED => keys = Table::below(keys, slot),
            Entry::Skip | Entry::Choose(_) | Entry::Refuse => {
                return Err(explain::refusal(operator, keys, &carried()));
            }
        }
    }
}

/// The kernel of a call that passes over the boxed one of its slot, and its keys; none where the arguments have one of its marks.
#[inline(always)]
pub fn passed<O: Operation>(keys: KeySet, has_any: impl FnOnce(Marks) -> bool) -> Option<(O::Kernel, KeySet)> {
    let (code, keys) = O::operator().passed(keys, has_any)?;
    // SAFETY: `passed` gives code of this operator's table, all of which has its type.
    Some((unsafe { typed::<O>(code) }, keys))
}

/// Whether a tensor among one argument carries one of these marks.
#[inline(always)]
pub fn has_any<'a>(argument: &impl Argument<'a>, marks: Marks) -> bool {
    argument.has_any(marks)
}

/// Runs the boxed kernel of a slot over arguments that were just pushed: whether its conditions hold was asked before.
#[inline]
pub fn run_boxed<O: Operation>(keys: KeySet, stack: &mut Stack) -> Result<()> {
    O::operator().run_boxed(keys, stack, Conditions::NoneHolds)
}

/// The arguments of a boxed call.
#[inline]
pub fn arguments<O: Operation, const N: usize>(stack: &mut Stack) -> Result<&mut [Value; N]> {
    stack.top_array().map_err(|found| operator::too_few_arguments(O::operator(), found))
}

/// One argument of a boxed call, as the kernel takes it.
#[inline]
pub fn argument<'a, O: Operation, T: Argument<'a>>(value: &'a mut Value, position: usize) -> Result<T> {
    let found = value.variant();
    match T::from_value(value) {
        Some(argument) => Ok(argument),
        None => Err(wrong_argument(O::operator(), position, T::KIND, found)),
    }
}

#[cold]
fn wrong_argument(operator: &Operator, position: usize, expected: &'static str, found: usize) -> Error {
    let found = KINDS[found];
    let argument = argument_name(operator, position);
    ErrorKind::WrongArgument { operator: operator.name(), position, argument, expected, found }.into()
}

/// Takes a written argument off a stack of `count` arguments, to be returned.
#[inline]
pub fn take_written(stack: &mut Stack, count: usize, position: usize) -> Value {
    stack.top_mut(count).and_then(|values| values.get_mut(position)).map(std::mem::take).unwrap_or_default()
}

/// The result of a boxed kernel.
#[inline]
pub fn result<O: Operation, T: Output>(stack: &mut Stack) -> Result<T> {
    let Some(value) = stack.pop() else {
        return Err(wrong_result(O::operator(), T::KIND, None));
    };
    let found = value.variant();
    T::from_value(value).ok_or_else(|| wrong_result(O::operator(), T::KIND, Some(found)))
}

#[cold]
fn wrong_result(operator: &Operator, expected: &'static str, found: Option<usize>) -> Error {
    let found = found.map(|found| KINDS[found]);
    ErrorKind::WrongResult { operator: operator.name(), expected, found }.into()
}

/// Checks that the results that were taken off a stack of their own were all there was.
#[inline]
pub fn finished<O: Operation>(stack: &Stack) -> Result<()> {
    if stack.is_empty() { Ok(()) } else { Err(surplus_results(O::operator(), stack.len())) }
}

#[cold]
fn surplus_results(operator: &Operator, left: usize) -> Error {
    let expected = operator.schema().returns.len();
    ErrorKind::SurplusResults { operator: operator.name(), expected, found: expected + left }.into()
}

/// Checks that a written argument that is not returned is still the same tensor: the caller would not see another one.
pub fn kept<O: Operation>(stack: &Stack, count: usize, position: usize, before: &Value) -> Result<()> {
    let now = stack.top(count).and_then(|values| values.get(position));
    let kept = match (before, now) {
        (Value::Tensor(before), Some(Value::Tensor(now))) => before.same(now),
        (Value::Tensors(before), Some(Value::Tensors(now))) => before.iter().zip(&**now).all(|(a, b)| a.same(b)),
        _ => true,
    };
    if kept { Ok(()) } else { Err(lost_handle(O::operator(), position)) }
}

#[cold]
fn lost_handle(operator: &Operator, position: usize) -> Error {
    ErrorKind::LostHandle { operator: operator.name(), argument: argument_name(operator, position) }.into()
}

fn argument_name(operator: &Operator, position: usize) -> String {
    operator.schema().arguments.get(position).map(|argument| argument.name.clone()).unwrap_or_default()
}

/// An argument that a boxed kernel writes to: the handle that comes back may be another one.
pub trait Written {
    /// Takes the handle that came back.
    fn write_back<O: Operation>(self, stack: &mut Stack) -> Result<()>;
}

impl Written for &mut Tensor {
    #[inline]
    fn write_back<O: Operation>(self, stack: &mut Stack) -> Result<()> {
        *self = result::<O, Tensor>(stack)?;
        Ok(())
    }
}

impl Written for Option<&mut Tensor> {
    fn write_back<O: Operation>(self, stack: &mut Stack) -> Result<()> {
        if let (Some(result), Some(tensor)) = (result::<O, Option<Tensor>>(stack)?, self) {
            *tensor = result;
        }
        Ok(())
    }
}

impl Written for &mut [Tensor] {
    fn write_back<O: Operation>(self, stack: &mut Stack) -> Result<()> {
        let results = result::<O, Vec<Tensor>>(stack)?;
        self.iter_mut().zip(results).for_each(|(tensor, result)| *tensor = result);
        Ok(())
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

#[cold]
fn failed<O: Operation>(error: Error) -> Error {
    error.in_operator(O::operator().name())
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
    type Function;

    /// The function.
    const FUNCTION: Self::Function;
}

/// See [`Named`].
pub struct Anchor;

/// Defines an operator's macro. `$crate` inside is the runtime, wherever the macro is used. Not public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __named_form {
    (($dollar:tt) $name:ident ($schema:literal) ($identity:literal) $($export:tt)*) => {
        #[doc(hidden)]
        #[allow(unused_macros, non_local_definitions)]
        $($export)*
        macro_rules! $name {
            (@kernel $dollar callback:path, $dollar($dollar rest:tt)*) => {
                $dollar callback! { $schema $dollar($dollar rest)* }
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
