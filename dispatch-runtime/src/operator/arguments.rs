//! The arguments of a boxed call: their names, the keys that they add, and their text.

use std::fmt;

use super::Operator;
use crate::error::{Error, ErrorKind};
use crate::key::{Device, KeySet};
use crate::value::{Stack, Value};

impl Stack {
    /// Returns the arguments of a call of `operator` in printable form.
    #[must_use]
    pub fn display_args<'a>(&'a self, operator: &'a Operator) -> impl fmt::Display + 'a {
        DisplayArguments { values: self.top(operator.argument_count()).unwrap_or_else(|| self.values()) }
    }
}

struct DisplayArguments<'a> {
    values: &'a [Value],
}

impl fmt::Display for DisplayArguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, value) in self.values.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{value:?}")?;
        }
        f.write_str(")")
    }
}

impl Operator {
    /// Returns the keys that these arguments add to a call.
    #[inline]
    pub(crate) fn keys_of_arguments(&self, arguments: &[Value]) -> KeySet {
        let mut keys = KeySet::EMPTY;
        for (i, value) in arguments.iter().enumerate() {
            if self.argument_carries_keys(i) {
                keys |= value.keys();
            }
        }
        match self.definition.device_argument.and_then(|device| arguments.get(device)) {
            Some(device) => keys | keys_of_device_value(device),
            None => keys,
        }
    }

    /// Returns the keys that each of these arguments adds to a call.
    pub(crate) fn keys_of_each_argument(&self, arguments: &[Value]) -> Vec<KeySet> {
        let keys = |(i, value): (usize, &Value)| match value {
            _ if self.argument_carries_keys(i) => value.keys(),
            device if self.definition.device_argument == Some(i) => keys_of_device_value(device),
            _ => KeySet::EMPTY,
        };
        arguments.iter().enumerate().map(keys).collect()
    }

    /// Returns the name of an argument in the schema.
    pub(crate) fn argument_name(&self, position: usize) -> String {
        self.schema().arguments.get(position).map(|argument| argument.name.clone()).unwrap_or_default()
    }

    /// Whether an argument can add keys to a call: it carries keys, or it is the device argument.
    pub(crate) fn can_argument_add_keys(&self, argument: usize) -> bool {
        self.argument_carries_keys(argument) || self.definition.device_argument == Some(argument)
    }

    #[inline]
    pub(crate) const fn argument_carries_keys(&self, argument: usize) -> bool {
        argument < 64 && self.definition.key_arguments & 1 << argument != 0
    }
}

/// Returns the keys of a `Device?` argument. Without a device, a tensor is made on the CPU.
pub(crate) fn keys_of_device_value(device: &Value) -> KeySet {
    match device {
        Value::Device(device) => device.keys(),
        _ => Device::CPU.keys(),
    }
}

/// Makes the error of a boxed call with fewer arguments than its operator takes.
#[cold]
pub fn too_few_arguments_error(operator: &Operator, found: usize) -> Error {
    ErrorKind::TooFewArguments { operator: operator.name(), expected: operator.argument_count(), found }.into()
}

#[cold]
pub(crate) fn too_many_arguments_error(operator: &Operator, found: usize) -> Error {
    ErrorKind::TooManyArguments { operator: operator.name(), expected: operator.argument_count(), found }.into()
}
