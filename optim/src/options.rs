//! The options of an optimiser by name, so that schedules change them and checkpoints save them.

use dispatch_nn::{State, StateReader};
use dispatch_runtime::BadArgument;

/// An option of an optimiser that can be changed.
///
/// ```
/// use dispatch_optim::{OptionMut, SGDOptions, UpdateRule};
/// let mut options = SGDOptions::default();
/// for (name, option) in options.options() {
///     if let ("lr", OptionMut::Number(lr)) = (name, option) {
///         *lr = 0.5;
///     }
/// }
/// assert_eq!(options.lr, 0.5);
/// ```
#[derive(PartialEq, Debug)]
#[non_exhaustive]
pub enum OptionMut<'a> {
    /// A number.
    Number(&'a mut f64),
    /// Two numbers.
    Pair(&'a mut (f64, f64)),
    /// A flag.
    Flag(&'a mut bool),
    /// A number of steps or of other things.
    Count(&'a mut usize),
}

macro_rules! impl_from {
    ($($variant:ident $ty:ty;)*) => {$(
        impl<'a> From<&'a mut $ty> for OptionMut<'a> {
            fn from(option: &'a mut $ty) -> Self {
                Self::$variant(option)
            }
        }
    )*};
}

impl_from! {
    Number f64;
    Pair (f64, f64);
    Flag bool;
    Count usize;
}

impl OptionMut<'_> {
    /// Adds the option to a state.
    pub(crate) fn save(&self, name: &str, state: &mut State) {
        match self {
            Self::Number(number) => state.set_value(name, number),
            Self::Flag(flag) => state.set_value(name, flag),
            Self::Count(count) => state.set_value(name, count),
            Self::Pair((first, second)) => {
                state.set_value(format!("{name}.0"), first);
                state.set_value(format!("{name}.1"), second);
            }
        }
    }

    /// Sets the option to its value in a state.
    pub(crate) fn load(self, name: &str, reader: &mut StateReader<'_>) {
        fn read<T: std::str::FromStr>(option: &mut T, name: &str, reader: &mut StateReader<'_>) {
            if let Some(value) = reader.value(name) {
                *option = value;
            }
        }
        match self {
            Self::Number(number) => read(number, name, reader),
            Self::Flag(flag) => read(flag, name, reader),
            Self::Count(count) => read(count, name, reader),
            Self::Pair((first, second)) => {
                read(first, &format!("{name}.0"), reader);
                read(second, &format!("{name}.1"), reader);
            }
        }
    }
}

/// Defines the options of an optimiser: a struct with PyTorch's defaults, and its fields by name.
macro_rules! options {
    ($(#[$attribute:meta])* pub struct $name:ident { $($(#[$field_attribute:meta])* $field:ident: $ty:ty = $default:expr,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $name {
            $($(#[$field_attribute])* pub $field: $ty,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            fn named_options(&mut self) -> Vec<(&'static str, $crate::options::OptionMut<'_>)> {
                vec![$((stringify!($field), (&mut self.$field).into()),)*]
            }
        }
    };
}

pub(crate) use options;

/// Checks that an option is not negative, and not NaN.
pub(crate) fn check_not_negative(name: &'static str, number: f64) -> Result<(), BadArgument> {
    if number >= 0.0 { Ok(()) } else { Err(BadArgument::value(name, number, "a number from 0")) }
}

/// Checks that both factors are in the range from 0 to 1, without 1.
pub(crate) fn check_betas(betas: (f64, f64)) -> Result<(), BadArgument> {
    for (name, beta) in [("betas.0", betas.0), ("betas.1", betas.1)] {
        if !(0.0..1.0).contains(&beta) {
            return Err(BadArgument::value(name, beta, "a number from 0 to 1, without 1"));
        }
    }
    Ok(())
}
