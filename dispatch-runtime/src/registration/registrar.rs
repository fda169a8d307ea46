//! Registration of operators and kernels at run time.
//!
//! A registration by a [`Registrar`] stays until it is removed: by [`Registration::remove`], or when a
//! [`ScopedRegistration`](crate::ScopedRegistration) goes out of scope. Removal restores the state without the registration, in any order
//! of removals. Only a registrar can register a kernel on top of another one for the same key. The newest one runs, and removing it
//! restores the one below.
//!
//! A table that was used is never freed, because a call may still read it. Operators and the allocations of closures are never freed
//! either. Equal tables and operators are reused, so a program that registers and removes in a loop does not grow.

use std::any::{TypeId, type_name};

use dispatch_schema::{OperatorName, is_identifier};

use super::registration_handle::{Registration, RegistrationKind};
use super::registry;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Key, KeySet};
use crate::location::Location;
use crate::name::{CLOSURE_KERNEL_NAME, Name};
use crate::operator::{BoxedClosure, Operator};
use crate::table::KernelRegistration;
use crate::value::Stack;

/// Defines operators of one namespace and registers kernels at run time.
///
/// ```
/// use dispatch_runtime::{Registrar, Operator, keys::*};
///
/// let registrar = Registrar::new("lab");
/// registrar.define("count(Tensor[] tensors) -> int").unwrap();
/// registrar.kernel("count", CompositeExplicitAutograd, |_, _, stack| {
///     let tensors = stack.pop();
///     stack.push(if let Some(dispatch_runtime::Value::Tensors(list)) = tensors { list.len() as i64 } else { 0 });
///     Ok(())
/// }).unwrap();
///
/// let results = Operator::find("lab::count").unwrap().call([Vec::<dispatch_runtime::Tensor>::new().into()]).unwrap();
/// assert_eq!(format!("{results:?}"), "[0]");
/// ```
#[derive(Clone, Debug)]
pub struct Registrar {
    namespace: String,
}

impl Registrar {
    /// Makes a registrar for one namespace.
    #[must_use]
    pub fn new(namespace: &str) -> Self {
        Self { namespace: namespace.to_owned() }
    }

    /// Registers a boxed kernel. Its operator may be defined later.
    ///
    /// # Errors
    ///
    /// Returns an error if the name belongs to another namespace, if the key has no cell, or if it has a kernel already.
    /// [`override_kernel`](Self::override_kernel) replaces an existing kernel.
    #[track_caller]
    pub fn kernel(
        &self,
        operator: &str,
        key: Key,
        kernel: impl Fn(&Operator, KeySet, &mut Stack) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Registration> {
        self.add_kernel(operator, key, Some(Box::new(kernel)), None, false)
    }

    /// Registers a boxed kernel that replaces existing ones. [`Operator::kernels_for_key`] returns the replaced kernels too.
    ///
    /// # Errors
    ///
    /// Returns an error if the name belongs to another namespace, or if the key has no cell.
    #[track_caller]
    pub fn override_kernel(
        &self,
        operator: &str,
        key: Key,
        kernel: impl Fn(&Operator, KeySet, &mut Stack) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Registration> {
        self.add_kernel(operator, key, Some(Box::new(kernel)), None, true)
    }

    /// Registers a kernel with the operator's own types, as a boxed closure.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`kernel`](Self::kernel), if the operator is not defined, or if the closure does not have the
    /// operator's types: see [`Operator::typed`].
    ///
    /// ```
    /// use dispatch_runtime::{Registrar, prelude::*};
    ///
    /// #[op_def("lab::scaled(Tensor self, float by) -> Tensor")]
    /// pub fn scaled(this: &Tensor, by: f64) -> Result<Tensor>;
    ///
    /// type Scale = dyn Fn(&Tensor, f64) -> Result<Tensor> + Send + Sync;
    ///
    /// let offset = 1.0;
    /// let kernel: Box<Scale> = Box::new(move |this, by| Ok(Tensor::from(offset + by * this.read::<f64>()?[0])));
    /// Registrar::new("lab").typed_kernel("scaled", keys::CPU, kernel).unwrap();
    /// assert_eq!(scaled(&Tensor::from_slice(&[2.0]), 3.0).unwrap().to_vec::<f64>().unwrap(), [7.0]);
    /// ```
    #[track_caller]
    pub fn typed_kernel<F>(&self, operator: &str, key: Key, kernel: Box<F>) -> Result<Registration>
    where
        F: ?Sized + Send + Sync + 'static,
    {
        self.add_typed_kernel(operator, key, kernel, false)
    }

    /// Registers a kernel with the operator's own types, as a boxed closure. It replaces existing kernels.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`override_kernel`](Self::override_kernel) and [`typed_kernel`](Self::typed_kernel).
    #[track_caller]
    pub fn override_typed_kernel<F>(&self, operator: &str, key: Key, kernel: Box<F>) -> Result<Registration>
    where
        F: ?Sized + Send + Sync + 'static,
    {
        self.add_typed_kernel(operator, key, kernel, true)
    }

    /// Makes calls of an operator skip a key.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`kernel`](Self::kernel).
    #[track_caller]
    pub fn fallthrough(&self, operator: &str, key: Key) -> Result<Registration> {
        self.add_kernel(operator, key, None, None, false)
    }

    #[track_caller]
    fn add_typed_kernel<F>(&self, operator: &str, key: Key, kernel: Box<F>, overrides: bool) -> Result<Registration>
    where
        F: ?Sized + Send + Sync + 'static,
    {
        let definition = Operator::find(&self.full_name(operator)?.to_string())?;
        self.add_kernel(operator, key, Some(box_typed_closure(definition, kernel)?), Some(definition), overrides)
    }

    /// Registers a kernel, or a fallthrough if there is no closure. A typed closure serves only the definition `compiled_for`.
    #[track_caller]
    fn add_kernel(
        &self,
        operator: &str,
        key: Key,
        closure: Option<BoxedClosure>,
        compiled_for: Option<&'static Operator>,
        overrides: bool,
    ) -> Result<Registration> {
        let (location, label) = (Location::caller(), kernel_label(closure.as_ref()));
        let name = self.full_name(operator)?;
        let name = to_name(&name);
        let target = key.registration_target()?;
        let mut registry = registry::lock();
        if let Some(row) = registry.row(name).filter(|_| !overrides)
            && let Some(cell) = row.cell(target).filter(|cell| cell.has_own_kernel())
        {
            let mut kernels: Vec<_> =
                cell.kernels_by_precedence().iter().map(|kernel| (kernel.name, kernel.location)).collect();
            kernels.push((label, location));
            return Err(ErrorKind::DuplicateKernel { operator: row.name, key, kernels }.into());
        }
        let (operator, source) = (registry.intern_name(name), registry.next_registrar_source());
        let kernel = closure.map(|closure| registry.store_closure((Some(operator), target), closure));
        let mut kernel = KernelRegistration::new_without_options(kernel.into(), label, location, source);
        (kernel.compiled_for, kernel.overrides) = (compiled_for, overrides);
        registry.push_kernel(operator, target, kernel);
        Ok(Registration(RegistrationKind::Kernel { operator, target, source }))
    }

    /// Returns the full name, if a schema can contain it and it is in this namespace.
    pub(super) fn full_name(&self, operator: &str) -> Result<OperatorName> {
        let name = |text: &str| {
            OperatorName::parse(text)
                .map_err(|errors| Error::from(ErrorKind::SchemaSyntax { text: text.to_owned(), errors }))
        };
        let written = name(operator)?;
        if written.namespace.as_ref().is_some_and(|namespace| *namespace != self.namespace) {
            return Err(
                ErrorKind::WrongNamespace { name: operator.to_owned(), namespace: self.namespace.clone() }.into()
            );
        }
        if !is_identifier(&self.namespace) {
            return Err(ErrorKind::InvalidNamespace { namespace: self.namespace.clone() }.into());
        }
        let namespace = Some(self.namespace.clone());
        name(&OperatorName { namespace, ..written }.to_string())
    }
}

pub(super) fn to_name(name: &OperatorName) -> Name<'_> {
    Name { namespace: name.namespace.as_deref().unwrap_or(""), base: &name.base, overload: &name.overload }
}

pub(super) fn kernel_label(closure: Option<&BoxedClosure>) -> &'static str {
    if closure.is_some() { CLOSURE_KERNEL_NAME } else { "fallthrough" }
}

/// Makes a boxed kernel from a closure with an operator's types. `closure_from_address` in call/signature/mod.rs reads the closure's
/// address.
fn box_typed_closure<F>(operator: &Operator, kernel: Box<F>) -> Result<BoxedClosure>
where
    F: ?Sized + Send + Sync + 'static,
{
    let typed = operator.check_adapter_type(TypeId::of::<F>(), |typed| typed.closure_type, type_name::<F>)?;
    Ok(Box::new(move |operator, _, stack| {
        let address = KeySet::from_bits((&raw const kernel).expose_provenance() as u64);
        // SAFETY: both functions have the same signature. `run_typed` checks the number and kinds of the arguments, for any operator, and
        // `call_typed_closure` gets a box of the type that was compared.
        unsafe { (typed.run_typed)(operator, Some(typed.call_typed_closure), address, stack) }
    }))
}
