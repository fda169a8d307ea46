//! The vmap transform, and its layer: composite operators are decomposed here, all others go on to their batch rules.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use dispatch_runtime::{Key, KeySet, Operator, Provenance, Result, Stack, TableVersion, Value, keys, op_fallback};
use dispatch_transform::{Level, Transform, unwrap_ended_levels};

use crate::batch::Batch;
use crate::call;
use crate::rule::BatchRule;
use crate::vmap::Randomness;

/// The transform of a vmap level: its batch size and its random numbers.
pub(crate) struct VmapTransform {
    pub(crate) size: i64,
    pub(crate) randomness: Randomness,
}

impl Transform for VmapTransform {
    fn layer_keys(&self) -> KeySet {
        KeySet::layers_of(keys::FuncTorchBatched) | self.mode_keys()
    }

    fn mode_keys(&self) -> KeySet {
        KeySet::layers_of(keys::FuncTorchVmapMode)
    }

    fn prepare_arguments(&self, _: &Level, _: &Operator, arguments: &mut [Value]) -> Result<()> {
        for value in arguments {
            value.tensors_mut().for_each(|tensor| *tensor = unwrap_ended_levels(tensor));
        }
        Ok(())
    }

    fn call_below(
        &self,
        level: &Level,
        operator: &Operator,
        stack: &mut Stack,
        call: &mut dyn FnMut(&mut Stack) -> Result<()>,
    ) -> Result<()> {
        let batch = Batch { level: level.clone(), size: self.size, randomness: self.randomness };
        let count = operator.argument_count();
        let mut arguments = stack.top(count).unwrap_or_default().to_vec();
        if !call::needs_batching(&batch, operator, &arguments) {
            return call(stack);
        }
        stack.drop_top(count);
        for result in call::call_batched(&batch, operator, &mut arguments)? {
            stack.push(result);
        }
        Ok(())
    }
}

/// Decomposes composite operators. It sees every call of a mapped function, because a call without batched tensors may decompose into
/// random operators.
#[op_fallback(FuncTorchVmapMode)]
fn decompose_composite(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    match composite_keys(operator) {
        Some(keys) => operator.redispatch_boxed(keys, stack),
        None => operator.redispatch_boxed(keys.below(keys::FuncTorchVmapMode), stack),
    }
}

/// Whether an operator is decomposed in mapped functions.
pub(crate) fn is_decomposed(operator: &Operator) -> bool {
    composite_keys(operator).is_some()
}

/// Returns the keys for the operator's implicit composite kernel. `None` if it has no such kernel, or if it has a batch rule or a kernel
/// for `FuncTorchBatched`.
fn composite_keys(operator: &Operator) -> Option<KeySet> {
    /// The cached result and table version, by the operator's address. Operators are never freed.
    type CompositeKeysCache = HashMap<usize, (TableVersion, Option<KeySet>)>;
    static COMPOSITE_KEYS_CACHE: LazyLock<RwLock<CompositeKeysCache>> = LazyLock::new(RwLock::default);
    if operator.rule::<BatchRule>().is_some() {
        return None;
    }
    let version = operator.table_version()?;
    let at = std::ptr::from_ref(operator).addr();
    if let Some((of, cached)) = COMPOSITE_KEYS_CACHE.read().unwrap_or_else(PoisonError::into_inner).get(&at)
        && *of == version
    {
        return *cached;
    }
    let found = uncached_composite_keys(operator);
    COMPOSITE_KEYS_CACHE.write().unwrap_or_else(PoisonError::into_inner).insert(at, (version, found));
    found
}

fn uncached_composite_keys(operator: &Operator) -> Option<KeySet> {
    let table = operator.table();
    let serves = |key: Key| table.iter().any(|cell| cell.key == key && cell.registered_for.is_some());
    if serves(keys::FuncTorchBatched) {
        return None;
    }
    let composite = table.iter().find(|cell| {
        cell.provenance == Provenance::MathKernel && cell.registered_for == Some(keys::CompositeImplicitAutograd)
    });
    composite.map(|cell| KeySet::from(cell.key))
}
