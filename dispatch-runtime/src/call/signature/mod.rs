//! The adapters between typed calls and the stack, compiled once for each signature.
//!
//! A generic implementation cannot match functions over references, because each reference has its own lifetime. So an operator states its
//! signature with types without lifetimes, [`ArgumentKind`]s. The types of its functions follow from them.
//!
//! An adapter is a kernel in a slot. It finds its operator through the call's table. Every caller passes the table on, because it has it in
//! a register.

mod argument;
mod results;

use std::any::TypeId;
use std::marker::PhantomData;

use crate::call::boxed::ConditionState;
use crate::call::dispatch;
use crate::error::{Error, ErrorKind, Result};
use crate::guard;
use crate::key::KeySet;
use crate::operator::{CodePointer, Operator, Signature, TableRef, TypedAdapters, too_few_arguments_error};
use crate::tensor::Marks;
use crate::value::{Argument, KIND_NAMES, Stack, Value, stack_from_arguments};
use argument::ArgumentKind;
use results::{ResultOrigins, Results, are_written_arguments_in_order, result_position, results_on_stack};

pub use argument::{DeviceArgument, HasDeviceKeys, Mut, OptMut, OptOwned, OptRef, Owned, Ref};
pub use results::{NewResult, WrittenArgument};

/// A signature with arguments `A`, new results `R`, and the origin `O` of each result. `O` is `()` if all results are new.
pub struct Sig<A, R, O = ()>(PhantomData<(A, R, O)>);

/// Implements [`Signature`] for each number of arguments.
macro_rules! impl_signatures {
    ([$($before:tt)*] $count:literal) => {
        impl_signatures! { @ $count $($before)* }
    };
    ([$($before:tt)*] ($kind:ident $argument:ident $life:lifetime $count:literal) $($rest:tt)*) => {
        impl_signatures! { @ $count $($before)* }
        impl_signatures! { [$($before)* ($kind $argument $life $count)] $($rest)* }
    };
    (@ $count:literal $(($kind:ident $argument:ident $life:lifetime $at:literal))*) => {
        #[allow(unused_lifetimes, reason = "there may be no argument")]
        impl<$($kind: ArgumentKind,)* R: Results, O: ResultOrigins> Signature for Sig<($($kind,)*), R, O> {
            type Kernel = for<'a> fn($($kind::RustType<'a>,)* KeySet, TableRef) -> Result<R>;
            type ConditionFn = for<'a> fn($($kind::ConditionType<'a>),*) -> bool;
            const TYPED_ADAPTERS: &'static TypedAdapters = &TypedAdapters {
                slow_path: CodePointer::from_fn::<Self::Kernel>(Self::slow_path),
                run_boxed: CodePointer::from_fn::<Self::Kernel>(Self::run_boxed),
                run_boxed_unless_skipped: CodePointer::from_fn::<Self::Kernel>(Self::run_boxed_unless_skipped),
                run_typed: Self::run_typed,
                function_type: TypeId::of::<for<$($life),*> fn($($kind::RustType<$life>),*) -> Result<R>>(),
                closure_type: TypeId::of::<dyn for<$($life),*> Fn($($kind::RustType<$life>),*) -> Result<R> + Send + Sync>(),
                call_typed_closure: CodePointer::from_fn::<Self::Kernel>(Self::call_typed_closure),
            };
        }

        #[allow(clippy::too_many_arguments, reason = "they are the operators' arguments")]
        #[allow(clippy::extra_unused_lifetimes, unused_lifetimes, unused_mut, unused_variables, reason = "there may be no argument")]
        #[allow(clippy::elidable_lifetime_names, reason = "there may be one argument")]
        impl<$($kind: ArgumentKind,)* R: Results, O: ResultOrigins> Sig<($($kind,)*), R, O> {
            /// Whether each argument is written, but is not a result.
            const WRITTEN_NOT_RETURNED: [bool; $count] = [$($kind::IS_WRITTEN && result_position($at, O::ARGUMENT_POSITIONS).is_none()),*];
            const HAS_WRITTEN_NOT_RETURNED: bool = false $(|| Self::WRITTEN_NOT_RETURNED[$at])*;

            /// Binds the operator, skips a layer, chooses between kernels, or returns the error of a missing kernel.
            #[cold]
            fn slow_path<'a>($($argument: $kind::RustType<'a>,)* keys: KeySet, table: TableRef) -> Result<R> {
                // SAFETY: adapters are called through tables of operators with types.
                let operator = unsafe { table.operator() };
                let mut holds = |condition: CodePointer| {
                    // SAFETY: `KernelRecord::when` takes the operator's predicate type, and `bind` adds no record of another operator.
                    let holds: <Self as Signature>::ConditionFn = unsafe { condition.to_fn() };
                    holds($($kind::as_condition_argument(&$argument)),*)
                };
                let (code, keys, table) = dispatch::find_kernel_slow(operator, keys, &mut holds, &[$(&$argument),*])?;
                // SAFETY: the slots of the operator's tables hold kernels of its type.
                let kernel: <Self as Signature>::Kernel = unsafe { code.to_fn() };
                kernel($($argument,)* keys, table)
            }

            /// Puts the arguments on a stack and runs the slot's boxed kernel. Its conditions were evaluated before.
            fn run_boxed<'a>($($argument: $kind::RustType<'a>,)* keys: KeySet, table: TableRef) -> Result<R> {
                // SAFETY: as in `slow_path`.
                let operator = unsafe { table.operator() };
                let mut stack = if $count < MIN_ARGUMENTS_FOR_SHARED_CODE {
                    Stack::from_array([$($argument.to_value()),*])
                } else {
                    stack_from_arguments(&[$(&$argument),*])
                };
                if O::ARGUMENT_POSITIONS.is_empty() {
                    return call_boxed_kernel(operator, table, keys, &mut stack);
                }
                let results = call_for_unconverted_results(operator, table, keys, &mut stack, O::ARGUMENT_POSITIONS.len())?;
                $(if let Some(position) = const { result_position($at, O::ARGUMENT_POSITIONS) } {
                    $kind::replace_written($argument, operator, results.get_mut(position).map(std::mem::take))?;
                })*
                R::take_new_results(operator, results, O::ARGUMENT_POSITIONS)
            }

            /// Skips the slot's boxed kernel if the tensors' marks permit it; otherwise runs it.
            fn run_boxed_unless_skipped<'a>($($argument: $kind::RustType<'a>,)* keys: KeySet, table: TableRef) -> Result<R> {
                let has_any_mark = |marks: Marks| false $(|| $argument.has_any_mark(marks))*;
                match table.as_bound().and_then(|table| table.lookup_below_skipped_unless_marked(keys, has_any_mark)) {
                    Some((code, keys)) => {
                        // SAFETY: as in `slow_path`.
                        let kernel: <Self as Signature>::Kernel = unsafe { code.to_fn() };
                        kernel($($argument,)* keys, table)
                    }
                    None => Self::run_boxed($($argument,)* keys, table),
                }
            }

            /// Implements [`TypedAdapters::run_typed`].
            unsafe fn run_typed(operator: &Operator, code: Option<CodePointer>, keys: KeySet, stack: &mut Stack) -> Result<()> {
                let arguments: &mut [Value; $count] = match stack.top_array() {
                    Ok(arguments) => arguments,
                    Err(found) => return Err(too_few_arguments_error(operator, found)),
                };
                let (code, keys) = match code {
                    Some(code) => (code, keys),
                    None => {
                        let [$($argument),*] = &*arguments;
                        $(let Some($argument) = $kind::keys_in_value($argument) else {
                            return call_boxed_with_wrong_value_kind(operator, stack);
                        };)*
                        let keys = guard::call_keys(KeySet::EMPTY $(| $argument)*);
                        match operator.typed_kernel(keys) {
                            Some(code) => (code, keys),
                            None => return operator.run_boxed_out_of_line(keys, stack, ConditionState::NotEvaluated),
                        }
                    }
                };
                let results = if Self::HAS_WRITTEN_NOT_RETURNED {
                    let before: [Option<Value>; $count] =
                        std::array::from_fn(|position| Self::WRITTEN_NOT_RETURNED[position].then(|| arguments[position].clone()));
                    // SAFETY: the code is a kernel of the operator, as below.
                    let results = unsafe { Self::convert_and_call(operator, arguments, code, keys) }?;
                    check_arguments_not_replaced(operator, arguments, &before)?;
                    results
                } else {
                    // SAFETY: the caller guarantees that the code is a kernel of the operator, or `typed_kernel` does.
                    unsafe { Self::convert_and_call(operator, arguments, code, keys) }?
                };
                if O::ARGUMENT_POSITIONS.is_empty() {
                    results.replace_arguments::<$count>(stack);
                } else {
                    replace_arguments_with_results(results, stack, $count, O::ARGUMENT_POSITIONS);
                }
                Ok(())
            }

            /// Implements [`TypedAdapters::call_typed_closure`].
            fn call_typed_closure<'a>($($argument: $kind::RustType<'a>,)* address: KeySet, _: TableRef) -> Result<R> {
                type Closure<$($kind,)* R> = dyn for<$($life),*> Fn($(<$kind as ArgumentKind>::RustType<$life>),*) -> Result<R> + Send + Sync;
                // SAFETY: `Registrar` calls this with the address of such a box, which lives during the call.
                let closure = unsafe { &*closure_from_address::<Box<Closure<$($kind,)* R>>>(address) };
                closure($($argument),*)
            }

            /// Converts the arguments to the kernel's types, and calls the kernel.
            ///
            /// # Safety
            ///
            /// The code is a kernel of the operator.
            #[inline(always)]
            unsafe fn convert_and_call(operator: &Operator, arguments: &mut [Value; $count], code: CodePointer, keys: KeySet) -> Result<R> {
                // SAFETY: the caller guarantees it.
                let kernel: <Self as Signature>::Kernel = unsafe { code.to_fn() };
                let [$($argument),*] = arguments;
                kernel($(convert_argument::<$kind::RustType<'_>>(operator, $argument, $at)?,)* keys, operator.published_table())
            }
        }
    };
}

impl_signatures! {
    [] (A0 a0 'a0 0) (A1 a1 'a1 1) (A2 a2 'a2 2) (A3 a3 'a3 3) (A4 a4 'a4 4) (A5 a5 'a5 5) (A6 a6 'a6 6) (A7 a7 'a7 7)
    (A8 a8 'a8 8) (A9 a9 'a9 9) (A10 a10 'a10 10) (A11 a11 'a11 11) (A12 a12 'a12 12) (A13 a13 'a13 13) (A14 a14 'a14 14) (A15 a15 'a15 15)
    (A16 a16 'a16 16) (A17 a17 'a17 17) (A18 a18 'a18 18) (A19 a19 'a19 19) (A20 a20 'a20 20) (A21 a21 'a21 21) (A22 a22 'a22 22) (A23 a23 'a23 23)
    (A24 a24 'a24 24) (A25 a25 'a25 25) (A26 a26 'a26 26) (A27 a27 'a27 27) (A28 a28 'a28 28) (A29 a29 'a29 29) (A30 a30 'a30 30) (A31 a31 'a31 31) 32
}

/// Returns the pointer to a typed closure, whose address `box_typed_closure` in registration/registrar.rs passes in place of the keys.
fn closure_from_address<T>(address: KeySet) -> *const T {
    std::ptr::with_exposed_provenance(usize::try_from(address.bits()).unwrap_or_default())
}

/// The smallest number of arguments for which all signatures share the code that fills a boxed kernel's stack. With fewer arguments, each
/// signature has its own code, which is faster but longer.
const MIN_ARGUMENTS_FOR_SHARED_CODE: usize = 4;

/// Runs the slot's boxed kernel, and returns its results.
#[inline(never)]
fn call_for_unconverted_results<'a>(
    operator: &Operator,
    table: TableRef,
    keys: KeySet,
    stack: &'a mut Stack,
    count: usize,
) -> Result<&'a mut [Value]> {
    operator
        .run_boxed::<false>(table, keys, stack, ConditionState::NoneHolds)
        .map_err(|error| error.with_boxed_caller(operator))?;
    results_on_stack(operator, stack, count)
}

/// Runs the slot's boxed kernel, all of whose results are new. It is out of line, so it is compiled once for each type of results.
#[inline(never)]
fn call_boxed_kernel<R: Results>(operator: &Operator, table: TableRef, keys: KeySet, stack: &mut Stack) -> Result<R> {
    operator
        .run_boxed::<false>(table, keys, stack, ConditionState::NoneHolds)
        .map_err(|error| error.with_boxed_caller(operator))?;
    R::pop(operator, stack)
}

/// Runs a boxed call with a value of the wrong kind. A typed kernel returns an error; a boxed kernel may accept the value.
#[cold]
fn call_boxed_with_wrong_value_kind(operator: &Operator, stack: &mut Stack) -> Result<()> {
    let arguments = stack.top(operator.argument_count()).unwrap_or_default();
    let keys = guard::call_keys(operator.keys_of_arguments(arguments));
    operator.run_boxed_out_of_line(keys, stack, ConditionState::NotEvaluated)
}

/// Converts one argument of a boxed call to the type that a kernel takes.
#[inline]
pub fn convert_argument<'a, T: Argument<'a>>(operator: &Operator, value: &'a mut Value, position: usize) -> Result<T> {
    let found = value.kind_index();
    let Some(argument) = T::from_value(value) else {
        return Err(wrong_argument_error(operator, position, T::KIND_NAME, found));
    };
    Ok(argument)
}

#[cold]
fn wrong_argument_error(operator: &Operator, position: usize, expected: &'static str, found: usize) -> Error {
    let argument = operator.argument_name(position);
    ErrorKind::WrongArgument { operator: operator.name(), position, argument, expected, found: KIND_NAMES[found] }
        .into()
}

/// Checks that written arguments that are not results are the same tensors as before. The caller would not see other tensors.
fn check_arguments_not_replaced(operator: &Operator, arguments: &[Value], before: &[Option<Value>]) -> Result<()> {
    for (position, (now, before)) in arguments.iter().zip(before).enumerate() {
        let is_same = match (before, now) {
            (Some(Value::Tensor(before)), Value::Tensor(now)) => before.same(now),
            (Some(Value::Tensors(before)), Value::Tensors(now)) => before.iter().zip(&**now).all(|(a, b)| a.same(b)),
            _ => true,
        };
        if !is_same {
            return Err(replaced_argument_error(operator, position));
        }
    }
    Ok(())
}

#[cold]
fn replaced_argument_error(operator: &Operator, position: usize) -> Error {
    ErrorKind::ReplacedArgument { operator: operator.name(), argument: operator.argument_name(position) }.into()
}

/// Replaces the arguments on the stack with the results, some of which are written arguments.
#[inline]
fn replace_arguments_with_results<R: Results>(new: R, stack: &mut Stack, count: usize, origins: &[Option<usize>]) {
    let Some(arguments) = stack.top_mut(count) else { return };
    if are_written_arguments_in_order(origins) {
        // No argument has a lower position than the result that it is.
        for (position, origin) in origins.iter().enumerate() {
            arguments.swap(position, origin.unwrap_or(position));
        }
        stack.drop_top(count - origins.len());
        return;
    }
    let mut new_values = Vec::with_capacity(R::COUNT);
    new.append_to(&mut new_values);
    let mut new_values = new_values.into_iter();
    let result = |origin: &Option<usize>| match origin {
        Some(argument) => std::mem::take(&mut arguments[*argument]),
        None => new_values.next().unwrap_or_default(),
    };
    let results: Vec<Value> = origins.iter().map(result).collect();
    stack.drop_top(count);
    for result in results {
        stack.push(result);
    }
}
