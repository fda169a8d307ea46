//! What a call does beside giving results: found out by looking, before and after.

use dispatch_runtime::{Generator, Operator, Tensor, Value};

use super::each_tensor;

/// What a call may change without saying so.
pub(super) struct Before {
    versions: Vec<(Tensor, u64)>,
    reservations: u64,
}

impl Before {
    pub(super) fn of(operator: &Operator, arguments: &[Value]) -> Self {
        let mut versions: Vec<(Tensor, u64)> = Vec::new();
        for value in arguments {
            each_tensor(value, &mut |tensor| versions.push((tensor.clone(), tensor.storage().version())));
        }
        for (value, described) in arguments.iter().zip(&operator.schema().arguments) {
            if described.is_written() {
                // Where memory has no version, such as Meta's, the schema alone says it.
                each_tensor(value, &mut |tensor| {
                    versions
                        .iter_mut()
                        .filter(|(known, _)| known.same(tensor))
                        .for_each(|(_, version)| *version = u64::MAX);
                });
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
