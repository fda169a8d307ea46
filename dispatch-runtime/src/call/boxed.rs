//! Boxed calls: arguments and results on a stack.

use super::boxed_kernel;
use super::dispatch::keys_up_to;
use super::redispatch::RedispatchGuard;
use crate::error::{Error, ErrorKind, Result};
use crate::guard;
use crate::key::{Key, KeySet};
use crate::operator::{
    BoxedKernel, CandidateKernel, Operator, SlotKind, Table, TableRef, too_few_arguments_error,
    too_many_arguments_error,
};
use crate::value::{Stack, Value, kind_of_type};

/// Whether the conditions of a slot's kernels were evaluated before a boxed kernel is chosen. Only typed code can evaluate them.
#[derive(Clone, Copy)]
pub(crate) enum ConditionState {
    NotEvaluated,
    /// All conditions were evaluated and none holds, so the default kernel runs.
    NoneHolds,
}

impl Operator {
    /// Calls the operator with the arguments on top of the stack, and replaces them with the results.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too few arguments or one has the wrong kind, if there is no kernel for them, or if the kernel fails.
    #[inline]
    pub fn call_boxed(&self, stack: &mut Stack) -> Result<()> {
        if let Some(typed) = self.typed_adapters() {
            // SAFETY: no code is passed.
            return unsafe { (typed.run_typed)(self, None, KeySet::EMPTY, stack) };
        }
        let Some(arguments) = stack.top(self.argument_count()) else {
            return Err(too_few_arguments_error(self, stack.len()));
        };
        let keys = guard::call_keys(self.keys_of_arguments(arguments));
        self.run_boxed::<false>(self.published_table(), keys, stack, ConditionState::NotEvaluated)
    }

    /// Calls the operator with exactly these keys; the keys of the arguments and of the thread are ignored. Layers redispatch with it.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`call_boxed`](Self::call_boxed), and [`ErrorKind::EndlessRedispatch`] if redispatches nest
    /// without end.
    #[inline]
    pub fn redispatch_boxed(&self, keys: KeySet, stack: &mut Stack) -> Result<()> {
        self.run_boxed::<true>(self.published_table(), keys, stack, ConditionState::NotEvaluated)
    }

    /// Calls the operator with the keys that its arguments have now, below `key`. Layers that change arguments redispatch with this.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`call_boxed`](Self::call_boxed).
    ///
    /// ```standalone_crate
    /// use dispatch_runtime::prelude::*;
    /// # use dispatch_runtime::{Spec, guard};
    ///
    /// #[op_def("place(Tensor self) -> Device")]
    /// fn place(this: &Tensor) -> Result<Device>;
    ///
    /// #[op_impl(place, CPU)]
    /// fn here(this: &Tensor) -> Device { this.device() }
    ///
    /// #[op_fallback(PreDispatch)]
    /// fn bring_here(op: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    ///     stack.drop_top(1);
    ///     stack.push(Tensor::from_slice(&[1.0_f32]));
    ///     op.call_boxed_below(keys::PreDispatch, stack)
    /// }
    ///
    /// let far = Spec::contiguous(DType::F32, &[1]).on(Device::META).unwrap();
    /// let _bring = guard::include(KeySet::from(keys::PreDispatch));
    /// assert_eq!(place(&far).unwrap(), Device::CPU);
    /// ```
    pub fn call_boxed_below(&self, key: Key, stack: &mut Stack) -> Result<()> {
        let Some(arguments) = stack.top(self.argument_count()) else {
            return Err(too_few_arguments_error(self, stack.len()));
        };
        let keys = guard::call_keys(self.keys_of_arguments(arguments)).below(key);
        self.redispatch_boxed(keys, stack)
    }

    /// Calls the operator's kernel for one key. The arguments' keys are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`call_boxed`](Self::call_boxed), and if `key` is not one runtime key: an alias key stands for
    /// several.
    pub fn call_boxed_for_key(&self, key: Key, stack: &mut Stack) -> Result<()> {
        let Some(arguments) = stack.top(self.argument_count()) else {
            return Err(too_few_arguments_error(self, stack.len()));
        };
        let keys = keys_up_to(guard::call_keys(self.keys_of_arguments(arguments)), key)?;
        self.redispatch_boxed(keys, stack)
    }

    /// Calls the operator with these arguments, and returns the results.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`call_boxed`](Self::call_boxed), and if there are too many arguments.
    ///
    /// ```
    /// # use dispatch_runtime::prelude::*;
    /// #[op_def("first(Tensor[] tensors) -> Tensor")]
    /// pub fn first(tensors: &[Tensor]) -> Result<Tensor> { Ok(tensors[0].clone()) }
    ///
    /// let results = first::operator().call([vec![Tensor::from_slice(&[1_i64])].into()]).unwrap();
    /// assert_eq!(results.len(), 1);
    /// ```
    pub fn call(&self, arguments: impl IntoIterator<Item = Value>) -> Result<Vec<Value>> {
        let mut stack: Stack = arguments.into_iter().collect();
        if stack.len() > self.argument_count() {
            // On a stack, the surplus arguments would belong to an outer call and stay below the results.
            return Err(too_many_arguments_error(self, stack.len()));
        }
        self.call_boxed(&mut stack)?;
        Ok(stack.into_values())
    }

    /// Runs the kernel for these keys. Kernels of the operator's own type and boxed functions are one jump away; all else is out of line. A
    /// redispatch that does not end at a typed kernel can come back here, so it is counted.
    #[inline]
    pub(crate) fn run_boxed<const REDISPATCH: bool>(
        &self,
        table: TableRef,
        keys: KeySet,
        stack: &mut Stack,
        conditions: ConditionState,
    ) -> Result<()> {
        let mut own = None;
        if let Some(table) = table.as_bound() {
            let (code, kind) = table.lookup(keys);
            if kind == SlotKind::Typed
                && let Some(typed) = self.definition.typed
            {
                // SAFETY: a slot that says `Typed` has a kernel of the operator's type.
                return unsafe { (typed.run_typed)(self, Some(code), keys, stack) };
            }
            if let SlotKind::Boxed(at) = kind
                && let BoxedKernel::Function(kernel) = &table.boxed[usize::from(at)]
            {
                own = Some(kernel);
            }
        }
        let _inside = if REDISPATCH { Some(RedispatchGuard::enter(|| self, keys)?) } else { None };
        match (own, conditions) {
            // Typed code checks the results itself, and its stack has only the arguments.
            (Some(kernel), ConditionState::NoneHolds) => kernel(self, keys, stack),
            (Some(kernel), ConditionState::NotEvaluated) => {
                boxed_kernel::run_function_and_check_results(self, *kernel, keys, stack)
            }
            (None, _) => self.run_boxed_out_of_line(keys, stack, conditions),
        }
    }

    #[inline(never)]
    pub(crate) fn run_boxed_out_of_line(
        &self,
        keys: KeySet,
        stack: &mut Stack,
        conditions: ConditionState,
    ) -> Result<()> {
        if let Some(table) = self.published_table().as_bound()
            && let (_, SlotKind::Boxed(at)) = table.lookup(keys)
            && let BoxedKernel::Function(kernel) = &table.boxed[usize::from(at)]
        {
            return boxed_kernel::run_and_check_results(kernel, self, keys, stack);
        }
        self.bind_and_run_boxed(keys, stack, conditions)
    }

    #[cold]
    fn bind_and_run_boxed(&self, mut keys: KeySet, stack: &mut Stack, mut conditions: ConditionState) -> Result<()> {
        loop {
            let table = self.bound_table()?;
            let (slot, code, mut kind) = table.lookup_slot(keys);
            if let (SlotKind::Conditional(at), ConditionState::NoneHolds) = (kind, conditions)
                && let Some(CandidateKernel { contents: (_, default @ SlotKind::Boxed(_)), .. }) =
                    table.candidates[usize::from(at)].last()
            {
                kind = *default;
            }
            match kind {
                SlotKind::Boxed(at) => {
                    if let Some(result) = table.boxed[usize::from(at)].call(self, keys, stack) {
                        return result;
                    }
                    // The kernel was removed after the table was loaded. By now there is a new table.
                }
                SlotKind::Typed | SlotKind::Conditional(_) => {
                    return match self.typed_adapters() {
                        // SAFETY: all code in the slots of an operator with types is of its type.
                        Some(typed) => unsafe { (typed.run_typed)(self, Some(code), keys, stack) },
                        None => Err(self.no_kernel_error(keys, stack)),
                    };
                }
                SlotKind::Skip => (keys, conditions) = (Table::keys_below(keys, slot), ConditionState::NotEvaluated),
                SlotKind::NoKernel if self.is_table_outdated(table) => {}
                SlotKind::NoKernel => return Err(self.no_kernel_error(keys, stack)),
            }
        }
    }

    #[cold]
    fn no_kernel_error(&self, keys: KeySet, stack: &Stack) -> Error {
        let arguments = stack.top(self.argument_count()).unwrap_or(&[]);
        let error = crate::introspection::explain::no_kernel_error(self, keys, &self.keys_of_each_argument(arguments));
        match error.kind() {
            // If an argument is not a tensor as it should be, it has no keys. Then the wrong argument is the better error.
            ErrorKind::NoKernel(explanation) if explanation.key.is_none() => {
                self.wrong_argument_error(arguments).unwrap_or(error)
            }
            _ => error,
        }
    }

    /// Returns the error of the first argument that does not have its schema type.
    fn wrong_argument_error(&self, arguments: &[Value]) -> Option<Error> {
        let types = self.schema().arguments.iter().map(|argument| &argument.ty);
        let (position, (value, ty)) =
            arguments.iter().zip(types).enumerate().find(|(_, (value, ty))| !value.has_schema_type(ty))?;
        let (argument, expected) = (self.argument_name(position), kind_of_type(ty)?);
        let (operator, found) = (self.name(), value.kind());
        Some(ErrorKind::WrongArgument { operator, position, argument, expected, found }.into())
    }
}
