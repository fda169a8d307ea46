//! Registering while the program runs.
//!
//! What a [`Registrar`] adds stays for good, unless it is asked to be removed: by [`Registration::remove`], or when a
//! [`Scoped`] registration goes out of scope. Removing restores exactly what was there before, in whatever order. Here, and only
//! here, a kernel may be put on top of another for the same key: the newest one runs, and removing it brings back the one below.

use std::sync::Arc;

use dispatch_schema::{Schema, Type, TypeKind};

use crate::boxed::BoxedKernel;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Key, Slot, Target};
use crate::key_set::KeySet;
use crate::listener::{self, Change};
use crate::location::Location;
use crate::name::Name;
use crate::operator::{Definition, Operator};
use crate::registry::{self, Active, Kernel, Registered, Source};
use crate::stack::Stack;
use crate::table::{Code, Head};

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

/// Something that was registered while the program runs. Dropping it leaves it registered.
#[derive(Debug)]
#[must_use = "keep it to remove the registration later, or drop it explicitly"]
pub struct Registration(What);

#[derive(Debug)]
enum What {
    Operator(&'static Operator),
    Kernel { operator: Name<'static>, target: Target, source: Source },
    Fallback { slot: Slot, source: Source },
    Listener(u64),
}

/// A registration that is removed when this goes out of scope.
#[derive(Debug)]
pub struct Scoped(Option<Registration>);

impl Registrar {
    /// A registrar for one namespace.
    #[must_use]
    pub fn new(namespace: &str) -> Self {
        Self { namespace: namespace.to_owned() }
    }

    /// Defines an operator, given its schema. It can be called through a stack.
    ///
    /// # Errors
    ///
    /// Where the schema has mistakes, belongs to another namespace, or is defined already.
    #[track_caller]
    pub fn define(&self, schema: &str) -> Result<Registration> {
        let location = Location::caller();
        let parsed = Schema::parse(schema)
            .map_err(|errors| Error::from(ErrorKind::Schema { text: schema.to_owned(), errors }))?;
        check_fit(schema, &parsed)?;
        let (base, overload) = (&parsed.name.base, &parsed.name.overload);
        self.check_namespace(schema, parsed.name.namespace.as_deref())?;
        let name = Name { namespace: &self.namespace, base, overload };
        let carriers = parsed.arguments.iter().enumerate().filter(|(_, argument)| carries_keys(&argument.ty));
        let text = parsed.to_string();
        let definition = Definition {
            name: name.leak(),
            signature: text.find('(').map_or("", |at| Box::leak(text[at..].into())),
            docs: "",
            location,
            arguments: parsed.arguments.len(),
            carriers: carriers.fold(0, |bits, (i, _)| bits | 1 << i),
            typed: None,
        };
        let operator: &'static Operator = Box::leak(Box::new(Operator::new(&UNBOUND, definition)));
        {
            let mut registry = registry::lock();
            if let Some(row) = registry.row(name).filter(|row| row.definition().is_some()) {
                let mut locations: Vec<Location> = row.definitions.iter().map(|operator| operator.location()).collect();
                locations.push(location);
                return Err(ErrorKind::DuplicateOperator { operator: row.name, locations }.into());
            }
            registry.define(operator);
        }
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
        self.add(operator, key, Kernel::Boxed(BoxedKernel::closure(kernel)), "closure", false)
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
        self.add(operator, key, Kernel::Boxed(BoxedKernel::closure(kernel)), "closure", true)
    }

    /// Makes calls of an operator pass over a key.
    ///
    /// # Errors
    ///
    /// As [`kernel`](Self::kernel).
    #[track_caller]
    pub fn fallthrough(&self, operator: &str, key: Key) -> Result<Registration> {
        self.add(operator, key, Kernel::Fallthrough, "fallthrough", false)
    }

    #[track_caller]
    fn add(
        &self,
        operator: &str,
        key: Key,
        kernel: Kernel,
        label: &'static str,
        overrides: bool,
    ) -> Result<Registration> {
        let location = Location::caller();
        let name = self.resolve(operator)?.leak();
        let target = key.target()?;
        let mut registry = registry::lock();
        if let Some(cell) = registry.row(name).and_then(|row| row.cell(target)).filter(|_| !overrides) {
            let mut kernels: Vec<_> = cell.kernels.iter().map(|kernel| (kernel.name, kernel.location)).collect();
            kernels.push((label, location));
            return Err(ErrorKind::DuplicateKernel { operator: name, key, kernels }.into());
        }
        let source = registry.next_source();
        registry.push_kernel(name, target, Registered::running(kernel, label, location, source));
        Ok(Registration(What::Kernel { operator: name, target, source }))
    }

    fn resolve<'a>(&'a self, operator: &'a str) -> Result<Name<'a>> {
        let (namespace, rest) =
            operator.split_once("::").map_or((None, operator), |(namespace, rest)| (Some(namespace), rest));
        self.check_namespace(operator, namespace)?;
        let (base, overload) = rest.split_once('.').unwrap_or((rest, ""));
        Ok(Name { namespace: &self.namespace, base, overload })
    }

    fn check_namespace(&self, text: &str, namespace: Option<&str>) -> Result<()> {
        match namespace {
            Some(other) if other != self.namespace => {
                Err(ErrorKind::WrongNamespace { name: text.to_owned(), namespace: self.namespace.clone() }.into())
            }
            _ => Ok(()),
        }
    }
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
    add_fallback(key, Kernel::Boxed(BoxedKernel::closure(kernel)), "closure")
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
    add_fallback(key, Kernel::Fallthrough, "fallthrough")
}

#[track_caller]
fn add_fallback(key: Key, kernel: Kernel, label: &'static str) -> Result<Registration> {
    let location = Location::caller();
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
    registry.set_fallback(slot, Registered::running(kernel, label, location, source));
    Ok(Registration(What::Fallback { slot, source }))
}

/// Runs `listener` for every operator that is defined or removed from now on, and first for all that there are.
///
/// ```
/// use dispatch_runtime::{Registrar, listen};
/// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
///
/// let seen = Arc::new(AtomicUsize::new(0));
/// let listening = listen({ let seen = seen.clone(); move |_, _| { seen.fetch_add(1, Ordering::Relaxed); } });
/// let before = seen.load(Ordering::Relaxed);
/// let scoped = Registrar::new("heard").define("of() -> ()").unwrap().scoped();
/// drop(scoped);
/// assert_eq!(seen.load(Ordering::Relaxed), before + 2);
/// listening.remove();
/// ```
pub fn listen(listener: impl Fn(Change, &'static Operator) + Send + Sync + 'static) -> Registration {
    Registration(What::Listener(listener::add(Arc::new(listener))))
}

impl Registration {
    /// The operator, if this is the definition of one.
    #[must_use]
    pub const fn operator(&self) -> Option<&'static Operator> {
        if let What::Operator(operator) = self.0 { Some(operator) } else { None }
    }

    /// Undoes the registration. Calls that are inside a kernel finish; its state is dropped when the last one leaves.
    pub fn remove(self) {
        match self.0 {
            What::Operator(operator) => {
                registry::lock().undefine(operator);
                listener::tell(Change::Removed, operator);
            }
            What::Kernel { operator, target, source } => {
                let removed = registry::lock().remove_kernel(operator, target, source);
                retire(removed);
            }
            What::Fallback { slot, source } => {
                let removed = registry::lock().remove_fallback(slot, source);
                retire(removed);
            }
            What::Listener(id) => listener::remove(id),
        }
    }

    /// The same registration, for as long as the result lives.
    #[must_use = "the registration is removed when this is dropped"]
    pub const fn scoped(self) -> Scoped {
        Scoped(Some(self))
    }
}

impl Drop for Scoped {
    fn drop(&mut self) {
        if let Some(registration) = self.0.take() {
            registration.remove();
        }
    }
}

fn retire(removed: Option<BoxedKernel>) {
    if let Some(kernel) = removed {
        kernel.retire();
    }
}

/// A kernel of an operator, to be called whatever runs for its key now: how an override calls what it displaces.
///
/// ```
/// # use dispatch_runtime::{Registrar, KeySet, Stack, keys::*};
/// let lab = Registrar::new("handles");
/// let op = lab.define("one() -> int").unwrap().operator().unwrap();
/// lab.kernel("one", CompositeExplicitAutograd, |_, _, stack| Ok(stack.push(1_i64))).unwrap();
/// let one = op.kernels(CompositeExplicitAutograd).remove(0);
/// lab.override_kernel("one", CompositeExplicitAutograd, move |_, keys, stack| {
///     one.call(keys, stack)?;
///     Ok(stack.push(2_i64))
/// }).unwrap();
/// let mut stack = Stack::new();
/// op.call_boxed(&mut stack).unwrap();
/// assert_eq!(format!("{:?}", stack.values()), "[1, 2]");
/// ```
#[derive(Clone, Debug)]
pub struct KernelHandle {
    operator: &'static Operator,
    kernel: Kernel,
    name: &'static str,
    location: Location,
}

impl KernelHandle {
    /// Calls the kernel with the arguments on top of the stack.
    ///
    /// # Errors
    ///
    /// Where the kernel was removed, or fails.
    pub fn call(&self, keys: KeySet, stack: &mut Stack) -> Result<()> {
        let gone = || ErrorKind::KernelRemoved { operator: self.operator.name() }.into();
        match (&self.kernel, self.operator.typed()) {
            (Kernel::Typed(code), Some(typed)) => (typed.unbox)(Some(*code), keys, stack),
            (Kernel::Boxed(kernel), _) => kernel.call(self.operator, keys, stack).unwrap_or_else(|| Err(gone())),
            (Kernel::Typed(_) | Kernel::Fallthrough, _) => Err(gone()),
        }
    }

    /// The name of its function.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Where it was registered.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.location
    }
}

impl Operator {
    /// The kernels that were registered for exactly this key: the one that runs first, then what it displaces.
    #[must_use]
    pub fn kernels(&self, key: Key) -> Vec<KernelHandle> {
        let registry = registry::lock();
        let (Ok(row), Ok(target)) = (registry.row_of(self), key.target()) else {
            return Vec::new();
        };
        let Some((&operator, cell)) = row.definitions.first().zip(row.cell(target)) else {
            return Vec::new();
        };
        let kernels = cell.newest_first().into_iter().filter(|kernel| !matches!(kernel.kernel, Kernel::Fallthrough));
        let handle = |kernel: &Registered| KernelHandle {
            operator,
            kernel: kernel.kernel.clone(),
            name: kernel.name,
            location: kernel.location,
        };
        kernels.map(handle).collect()
    }

    /// Whether a kernel is registered for exactly this key, and is not a conflict.
    #[must_use]
    pub fn has_kernel(&self, key: Key) -> bool {
        let registry = registry::lock();
        let (Ok(row), Ok(target)) = (registry.row_of(self), key.target()) else {
            return false;
        };
        row.cell(target).is_some_and(|cell| !matches!(cell.active(), Active::None | Active::Conflict(_)))
    }
}

static UNBOUND: Head = {
    fn never() {}
    Head::unbound(Code::of(never as fn()))
};

/// Whether values of this type carry keys, however they are wrapped.
pub(crate) fn carries_keys(ty: &Type) -> bool {
    match &ty.kind {
        TypeKind::Tensor | TypeKind::Generator => true,
        TypeKind::Optional(inner) => carries_keys(inner),
        TypeKind::List(inner, _) => match &inner.kind {
            TypeKind::Tensor => true,
            TypeKind::Optional(inner) => inner.kind == TypeKind::Tensor,
            _ => false,
        },
        _ => false,
    }
}

fn check_fit(text: &str, schema: &Schema) -> Result<()> {
    let unfit = |reason| Err(ErrorKind::UnfitSchema { text: text.to_owned(), reason }.into());
    if schema.varargs || schema.varreturns {
        return unfit("an operator's arguments and results are counted, so `...` cannot stand for them");
    }
    if schema.arguments.len() > 64 {
        return unfit("an operator has at most 64 arguments");
    }
    Ok(())
}
