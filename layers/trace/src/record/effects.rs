//! Detection of a call's effects, by a comparison of the state before and after it.

use dispatch_runtime::{Generator, Operator, Tensor, Value};

/// The versions of the arguments' storages, and the count of random draws, before a call.
pub(super) struct StateBeforeCall {
    versions: Vec<(Tensor, u64)>,
    reservations: u64,
}

impl StateBeforeCall {
    pub(super) fn capture(operator: &Operator, arguments: &[Value]) -> Self {
        let tensors = arguments.iter().flat_map(Value::tensors);
        let mut versions: Vec<_> = tensors.map(|tensor| (tensor.clone(), tensor.storage().version())).collect();
        for (value, described) in arguments.iter().zip(&operator.schema().arguments) {
            if described.is_written() {
                // Memory without versions, such as Meta's, counts as written if the schema says so.
                for (_, version) in versions.iter_mut().filter(|(known, _)| value.tensors().any(|it| known.same(it))) {
                    *version = u64::MAX;
                }
            }
        }
        Self { versions, reservations: Generator::reservation_count() }
    }

    pub(super) fn written_tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.versions
            .iter()
            .filter(|(tensor, version)| tensor.storage().version() != *version)
            .map(|(tensor, _)| tensor)
    }

    pub(super) fn drew_random_numbers(&self) -> bool {
        Generator::reservation_count() != self.reservations
    }
}
