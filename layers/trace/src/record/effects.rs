//! What a call does beside giving results: found out by looking, before and after.

use dispatch_runtime::{Generator, Operator, Tensor, Value};

/// What a call may change without saying so.
pub(super) struct Before {
    versions: Vec<(Tensor, u64)>,
    reservations: u64,
}

impl Before {
    pub(super) fn of(operator: &Operator, arguments: &[Value]) -> Self {
        let tensors = arguments.iter().flat_map(Value::tensors);
        let mut versions: Vec<_> = tensors.map(|tensor| (tensor.clone(), tensor.storage().version())).collect();
        for (value, described) in arguments.iter().zip(&operator.schema().arguments) {
            if described.is_written() {
                // Where memory has no version, such as Meta's, the schema alone says it.
                for (_, version) in versions.iter_mut().filter(|(known, _)| value.tensors().any(|it| known.same(it))) {
                    *version = u64::MAX;
                }
            }
        }
        Self { versions, reservations: Generator::reservations() }
    }

    pub(super) fn written(&self) -> impl Iterator<Item = &Tensor> {
        self.versions
            .iter()
            .filter(|(tensor, version)| tensor.storage().version() != *version)
            .map(|(tensor, _)| tensor)
    }

    pub(super) fn took_random_numbers(&self) -> bool {
        Generator::reservations() != self.reservations
    }
}
