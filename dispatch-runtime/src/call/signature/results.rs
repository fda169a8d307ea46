//! Conversion of an operator's results between Rust types and the stack.

use crate::error::{Error, ErrorKind, Result};
use crate::operator::Operator;
use crate::value::{KIND_NAMES, Output, Stack, Value};

/// The results that are not written arguments: one value, or a tuple.
pub trait Results: Sized + 'static {
    /// The number of results.
    const COUNT: usize;

    /// Replaces the arguments of a boxed call on the stack with the results.
    fn replace_arguments<const ARGUMENTS: usize>(self, stack: &mut Stack);

    /// Appends the results.
    fn append_to(self, values: &mut Vec<Value>);

    /// Takes the results off the stack of a boxed kernel, which has no other values.
    #[inline]
    fn pop(operator: &Operator, stack: &mut Stack) -> Result<Self> {
        Self::take_new_results(operator, results_on_stack(operator, stack, Self::COUNT)?, &[])
    }

    /// Takes the new results out of all results of a boxed kernel. `origins` has the origin of each result.
    fn take_new_results(operator: &Operator, results: &mut [Value], origins: &[Option<usize>]) -> Result<Self>;
}

impl<T: Output + 'static> Results for T {
    const COUNT: usize = 1;

    #[inline(always)]
    fn replace_arguments<const ARGUMENTS: usize>(self, stack: &mut Stack) {
        stack.replace_top::<ARGUMENTS, 1>(|| [self.into_value()]);
    }

    fn append_to(self, values: &mut Vec<Value>) {
        values.push(self.into_value());
    }

    #[inline(always)]
    fn pop(operator: &Operator, stack: &mut Stack) -> Result<Self> {
        let value = convert_result(operator, stack.pop())?;
        if stack.is_empty() { Ok(value) } else { Err(surplus_results_error(operator, stack.len() + 1)) }
    }

    #[inline]
    fn take_new_results(operator: &Operator, results: &mut [Value], origins: &[Option<usize>]) -> Result<Self> {
        take_result(operator, results, new_result_position(0, origins))
    }
}

macro_rules! impl_results_for_tuple {
    ($(($result:ident $name:ident $at:literal))*) => {
        impl<$($result: Output + 'static),*> Results for ($($result,)*) {
            const COUNT: usize = <[usize]>::len(&[$($at),*]);

            #[inline(always)]
            fn replace_arguments<const ARGUMENTS: usize>(self, stack: &mut Stack) {
                let ($($name,)*) = self;
                stack.replace_top::<ARGUMENTS, { <[usize]>::len(&[$($at),*]) }>(|| [$($name.into_value()),*]);
            }

            #[allow(unused_variables, reason = "the tuple may be empty")]
            fn append_to(self, values: &mut Vec<Value>) {
                let ($($name,)*) = self;
                values.extend([$($name.into_value()),*]);
            }

            #[inline]
            #[allow(unused_variables, reason = "the tuple may be empty")]
            fn take_new_results(operator: &Operator, results: &mut [Value], origins: &[Option<usize>]) -> Result<Self> {
                Ok(($(take_result::<$result>(operator, results, new_result_position($at, origins))?,)*))
            }
        }
    };
}

/// Implements [`Results`] for no result, and for two and more.
macro_rules! impl_results_for_tuples {
    ([$($before:tt)*]) => {
        impl_results_for_tuple! { $($before)* }
    };
    ([$($before:tt)*] $first:tt $($rest:tt)*) => {
        impl_results_for_tuples! { @unless_one $($before)* }
        impl_results_for_tuples! { [$($before)* $first] $($rest)* }
    };
    (@unless_one $one:tt) => {};
    (@unless_one $($several:tt)*) => {
        impl_results_for_tuple! { $($several)* }
    };
}

impl_results_for_tuples! {
    [] (A a 0) (B b 1) (C c 2) (D d 3) (E e 4) (F f 5) (G g 6) (H h 7) (I i 8) (J j 9) (K k 10) (L l 11) (M m 12) (N n 13) (O o 14) (P p 15)
}

#[inline]
fn take_result<T: Output>(operator: &Operator, results: &mut [Value], at: usize) -> Result<T> {
    convert_result(operator, results.get_mut(at).map(std::mem::take))
}

/// Converts one result of a boxed kernel.
#[inline]
pub(crate) fn convert_result<T: Output>(operator: &Operator, value: Option<Value>) -> Result<T> {
    let Some(value) = value else {
        return Err(wrong_result_error(operator, T::KIND_NAME, None));
    };
    let found = value.kind_index();
    T::from_value(value).ok_or_else(|| wrong_result_error(operator, T::KIND_NAME, Some(found)))
}

/// Returns all results that a boxed kernel left on the stack, or an error if there are too many.
#[inline]
pub(crate) fn results_on_stack<'a>(operator: &Operator, stack: &'a mut Stack, count: usize) -> Result<&'a mut [Value]> {
    let results = stack.values_mut();
    if results.len() > count { Err(surplus_results_error(operator, results.len())) } else { Ok(results) }
}

#[cold]
fn surplus_results_error(operator: &Operator, found: usize) -> Error {
    let expected = operator.schema().returns.len();
    ErrorKind::SurplusResults { operator: operator.name(), expected, found, kernel: None }.into()
}

#[cold]
fn wrong_result_error(operator: &Operator, expected: &'static str, found: Option<usize>) -> Error {
    let found = found.map(|found| KIND_NAMES[found]);
    ErrorKind::WrongResult { operator: operator.name(), expected, found, kernel: None }.into()
}

/// The origin of one result: a new value or a written argument.
pub trait ResultOrigin: 'static {
    /// The position of the written argument, or `None` for a new value.
    const ARGUMENT_POSITION: Option<usize>;
}

/// The origin of a result that is a new value.
pub struct NewResult;

/// The origin of a result that is a written argument, by the argument's position.
pub struct WrittenArgument<const ARGUMENT: usize>;

impl ResultOrigin for NewResult {
    const ARGUMENT_POSITION: Option<usize> = None;
}

impl<const ARGUMENT: usize> ResultOrigin for WrittenArgument<ARGUMENT> {
    const ARGUMENT_POSITION: Option<usize> = Some(ARGUMENT);
}

/// The origins of all results.
pub trait ResultOrigins: 'static {
    /// The origins in the order of the results. The list is empty if all results are new.
    const ARGUMENT_POSITIONS: &'static [Option<usize>];
}

impl ResultOrigins for () {
    const ARGUMENT_POSITIONS: &'static [Option<usize>] = &[];
}

macro_rules! impl_result_origins {
    ([$($before:ident)*]) => {
        impl_result_origins! { @ $($before)* }
    };
    ([$($before:ident)*] $next:ident $($rest:ident)*) => {
        impl_result_origins! { @ $($before)* }
        impl_result_origins! { [$($before)* $next] $($rest)* }
    };
    (@) => {};
    (@ $($origin:ident)*) => {
        impl<$($origin: ResultOrigin),*> ResultOrigins for ($($origin,)*) {
            const ARGUMENT_POSITIONS: &'static [Option<usize>] = &[$($origin::ARGUMENT_POSITION),*];
        }
    };
}

impl_result_origins! { [] A B C D E F G H I J K L M N O P }

/// Returns the position of a written argument among the results.
pub(crate) const fn result_position(argument: usize, origins: &[Option<usize>]) -> Option<usize> {
    let mut position = 0;
    while position < origins.len() {
        if let Some(origin) = origins[position]
            && origin == argument
        {
            return Some(position);
        }
        position += 1;
    }
    None
}

/// Returns the position of the new result with number `new_index` among all results.
pub(crate) const fn new_result_position(new_index: usize, origins: &[Option<usize>]) -> usize {
    let (mut position, mut before) = (0, 0);
    while position < origins.len() {
        if origins[position].is_none() {
            if before == new_index {
                return position;
            }
            before += 1;
        }
        position += 1;
    }
    new_index
}

/// Whether all results are written arguments, in the order of the arguments.
pub(crate) const fn are_written_arguments_in_order(origins: &[Option<usize>]) -> bool {
    let (mut position, mut next) = (0, 0);
    while position < origins.len() {
        match origins[position] {
            Some(argument) if argument >= next => next = argument + 1,
            _ => return false,
        }
        position += 1;
    }
    true
}
