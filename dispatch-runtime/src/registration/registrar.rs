//! Registering while the program runs.
//!
//! What a [`Registrar`] adds stays for good, unless it is asked to be removed: by [`Registration::remove`], or when a
//! [`Scoped`] registration goes out of scope. Removing restores exactly what was there before, in whatever order. Here, and only
//! here, a kernel may be put on top of another for the same key: the newest one runs, and removing it brings back the one below.
//!
//! A table that was called through is kept for good, because a call may still be reading it, as are operators and the places of closures.
//! What comes again is the same, so a program that registers and removes in a loop does not grow.

use dispatch_schema::{OperatorName, Schema, is_identifier, rust_argument};

use super::handle::{Registration, What};
use super::listener::{self, Change};
use super::registry;
use crate::call::{BoxedClosure, CLOSURE, boxed_closure};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Key, KeySet, Target};
use crate::location::Location;
use crate::name::Name;
use crate::operator::{Code, Definition, Head, Operator};
use crate::table::Registered;
use crate::value::Stack;

/// Defines operators of one namespace and registers kernels while the program runs.
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
    /// A registrar for one namespace.
    #[must_use]
    pub fn new(namespace: &str) -> Self {
        Self { namespace: namespace.to_owned() }
    }

    /// Defines an operator, given its schema. It can be called through a stack. A definition that was removed and comes again from the same
    /// line is the same operator.
    ///
    /// # Errors
    ///
    /// Where the schema has mistakes, belongs to another namespace, or is defined already.
    #[track_caller]
    pub fn define(&self, schema: &str) -> Result<Registration> {
        let location = Location::caller();
        let mut parsed = Schema::parse(schema)
            .map_err(|errors| Error::from(ErrorKind::Schema { text: schema.to_owned(), errors }))?;
        check_fit(schema, &parsed)?;
        parsed.name = self.resolve(&parsed.name.to_string())?;
        let full_name = parsed.name.clone();
        let name = as_name(&full_name);
        let operator = {
            let mut registry = registry::lock();
            if let Some(row) = registry.row(name).filter(|row| row.definition().is_some()) {
                let mut locations: Vec<Location> = row.definitions.iter().map(|operator| operator.location()).collect();
                locations.push(location);
                return Err(ErrorKind::DuplicateOperator { operator: row.name, locations }.into());
            }
            let text = parsed.to_string();
            let signature = text.find('(').map_or("", |at| &text[at..]);
            let former = registry.row(name).and_then(|row| row.former(signature, location));
            let operator = former.unwrap_or_else(|| new_operator(registry.intern(name), parsed, signature, location));
            registry.define(operator);
            operator
        };
        listener::tell(Change::Defined, operator);
        Ok(Registration(What::Operator(operator)))
    }

    /// Registers a boxed kernel. Its operator may be defined later.
    ///
    /// # Errors
    ///
    /// Where the name belongs to another namespace, the key has no place, or there is a kernel for it already:
    /// [`override_kernel`](Self::override_kernel) says that this is meant.
    #[track_caller]
    pub fn kernel(
        &self,
        operator: &str,
        key: Key,
        kernel: impl Fn(&Operator, KeySet, &mut Stack) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Registration> {
        self.add(operator, key, Some(Box::new(kernel)), None, false)
    }

    /// Registers a boxed kernel on top of any that is there. [`Operator::kernels`] gives those that it displaces.
    ///
    /// # Errors
    ///
    /// Where the name belongs to another namespace, or the key has no place.
    #[track_caller]
    pub fn override_kernel(
        &self,
        operator: &str,
        key: Key,
        kernel: impl Fn(&Operator, KeySet, &mut Stack) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Registration> {
        self.add(operator, key, Some(Box::new(kernel)), None, true)
    }

    /// Registers a kernel with the operator's own types, as a boxed closure.
    ///
    /// # Errors
    ///
    /// As [`kernel`](Self::kernel), and if the operator is not defined, or the closure is not of its types: see [`Operator::typed`].
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
        self.add_typed(operator, key, kernel, false)
    }

    /// Registers a kernel with the operator's own types on top of any that is there.
    ///
    /// # Errors
    ///
    /// As [`override_kernel`](Self::override_kernel) and [`typed_kernel`](Self::typed_kernel).
    #[track_caller]
    pub fn override_typed_kernel<F>(&self, operator: &str, key: Key, kernel: Box<F>) -> Result<Registration>
    where
        F: ?Sized + Send + Sync + 'static,
    {
        self.add_typed(operator, key, kernel, true)
    }

    /// Makes calls of an operator pass over a key.
    ///
    /// # Errors
    ///
    /// As [`kernel`](Self::kernel).
    #[track_caller]
    pub fn fallthrough(&self, operator: &str, key: Key) -> Result<Registration> {
        self.add(operator, key, None, None, false)
    }

    #[track_caller]
    fn add_typed<F>(&self, operator: &str, key: Key, kernel: Box<F>, overrides: bool) -> Result<Registration>
    where
        F: ?Sized + Send + Sync + 'static,
    {
        let definition = Operator::find(&self.resolve(operator)?.to_string())?;
        self.add(operator, key, Some(boxed_closure(definition, kernel)?), Some(definition), overrides)
    }

    /// Without a closure, calls pass over the key. A closure with types serves one definition alone.
    #[track_caller]
    fn add(
        &self,
        operator: &str,
        key: Key,
        closure: Option<BoxedClosure>,
        types_of: Option<&'static Operator>,
        overrides: bool,
    ) -> Result<Registration> {
        let (location, label) = (Location::caller(), label(closure.as_ref()));
        let name = self.resolve(operator)?;
        let name = as_name(&name);
        let target = key.registrable()?;
        let mut registry = registry::lock();
        if let Some(row) = registry.row(name).filter(|_| !overrides)
            && let Some(cell) = row.cell(target).filter(|cell| cell.has_own())
        {
            let mut kernels: Vec<_> = cell.newest_first().iter().map(|kernel| (kernel.name, kernel.location)).collect();
            kernels.push((label, location));
            return Err(ErrorKind::DuplicateKernel { operator: row.name, key, kernels }.into());
        }
        let (operator, source) = (registry.intern(name), registry.next_source());
        let kernel = closure.map(|closure| registry.keep_closure((Some(operator), target), closure));
        let mut kernel = Registered::running(kernel.into(), label, location, source);
        (kernel.compiled_for, kernel.overrides) = (types_of, overrides);
        registry.push_kernel(operator, target, kernel);
        Ok(Registration(What::Kernel { operator, target, source }))
    }

    /// The name in full, if it is one that a schema can spell, and in this namespace.
    fn resolve(&self, operator: &str) -> Result<OperatorName> {
        let name = |text: &str| {
            OperatorName::parse(text).map_err(|errors| Error::from(ErrorKind::Schema { text: text.to_owned(), errors }))
        };
        let written = name(operator)?;
        if written.namespace.as_ref().is_some_and(|namespace| *namespace != self.namespace) {
            return Err(
                ErrorKind::WrongNamespace { name: operator.to_owned(), namespace: self.namespace.clone() }.into()
            );
        }
        if !is_identifier(&self.namespace) {
            return Err(ErrorKind::UnfitNamespace { namespace: self.namespace.clone() }.into());
        }
        let namespace = Some(self.namespace.clone());
        name(&OperatorName { namespace, ..written }.to_string())
    }
}

fn as_name(name: &OperatorName) -> Name<'_> {
    Name { namespace: name.namespace.as_deref().unwrap_or(""), base: &name.base, overload: &name.overload }
}

/// Registers what `key` does for operators that have no kernel for it.
///
/// # Errors
///
/// Where `key` is not one runtime key, or has a fallback already.
///
/// ```
/// use dispatch_runtime::{fallback, keys::*};
///
/// let counting = fallback(PreDispatch, |op, keys, stack| op.redispatch_boxed(keys.below(PreDispatch), stack)).unwrap();
/// counting.remove();
/// ```
#[track_caller]
pub fn fallback(
    key: Key,
    kernel: impl Fn(&Operator, KeySet, &mut Stack) -> Result<()> + Send + Sync + 'static,
) -> Result<Registration> {
    add_fallback(key, Some(Box::new(kernel)))
}

/// Makes calls of all operators that have no kernel for `key` pass over it.
///
/// # Errors
///
/// As [`fallback`].
///
/// ```
/// dispatch_runtime::fallback_fallthrough(dispatch_runtime::keys::Negative).unwrap().remove();
/// ```
#[track_caller]
pub fn fallback_fallthrough(key: Key) -> Result<Registration> {
    add_fallback(key, None)
}

#[track_caller]
fn add_fallback(key: Key, closure: Option<BoxedClosure>) -> Result<Registration> {
    let (location, label) = (Location::caller(), label(closure.as_ref()));
    let slot = match key.target()? {
        Target::Slot(slot) if slot.key().is_some() => slot,
        _ => return Err(ErrorKind::NotARuntimeKey { key }.into()),
    };
    let mut registry = registry::lock();
    let present = &registry.fallbacks[slot.position()].kernels;
    if !present.is_empty() {
        let mut fallbacks: Vec<_> = present.iter().map(|kernel| (kernel.name, kernel.location)).collect();
        fallbacks.push((label, location));
        return Err(ErrorKind::DuplicateFallback { key, fallbacks }.into());
    }
    let source = registry.next_source();
    let kernel = closure.map(|closure| registry.keep_closure((None, Target::Slot(slot)), closure));
    registry.set_fallback(slot, Registered::running(kernel.into(), label, location, source));
    Ok(Registration(What::Fallback { slot, source }))
}

fn label(closure: Option<&BoxedClosure>) -> &'static str {
    if closure.is_some() { CLOSURE } else { "fallthrough" }
}

static UNBOUND: Head = {
    fn never() {}
    Head::unbound(None, Code::of(never as fn()))
};

/// An operator without Rust types, which lives as long as the program.
fn new_operator(name: Name<'static>, schema: Schema, signature: &str, location: Location) -> &'static Operator {
    let carriers = schema.arguments.iter().enumerate().filter(|(_, argument)| argument.ty.carries_keys());
    let definition = Definition {
        name,
        signature: Box::leak(signature.into()),
        docs: "",
        location,
        arguments: schema.arguments.len(),
        tensor_results: schema.tensor_returns().and_then(|count| u8::try_from(count).ok()).unwrap_or(u8::MAX),
        carriers: carriers.fold(0, |bits, (i, _)| bits | 1 << i),
        aliasing: schema.is_aliasing(),
        viewing: !schema.views().is_empty(),
        device: schema.device_argument(),
        shape: None,
        plan: None,
        data_dependent: false,
        functional: None,
        typed: None,
        function: None,
        kernels: &[],
    };
    Box::leak(Box::new(Operator::without_types(&UNBOUND, definition, schema)))
}

fn check_fit(text: &str, schema: &Schema) -> Result<()> {
    let unfit = |reason| Err(ErrorKind::UnfitSchema { text: text.to_owned(), reason }.into());
    if schema.varargs || schema.varreturns {
        return unfit("an operator's arguments and results are counted, so `...` cannot stand for them");
    }
    if schema.arguments.len() > 64 {
        return unfit("an operator has at most 64 arguments");
    }
    if schema.arguments.iter().any(|argument| rust_argument(argument).is_none()) {
        return unfit(
            "a list of lists of tensors is no argument, as dispatch looks into lists one level deep; pass a list of tensors",
        );
    }
    Ok(())
}
