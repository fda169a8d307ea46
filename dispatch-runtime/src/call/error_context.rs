//! The context that a call adds to an error: the operator, the form or the kernel that the error passed through.

use std::borrow::Cow;

use crate::error::{BadArgument, Error, ErrorKind};
use crate::key::KeySet;
use crate::name::Name;
use crate::operator::Operator;

impl Error {
    /// Adds to an error about wrong results the boxed kernel that left them in a call with these keys.
    #[cold]
    pub(crate) fn with_faulty_kernel(mut self, operator: &Operator, keys: KeySet) -> Self {
        if let (ErrorKind::WrongResult { kernel, .. } | ErrorKind::SurplusResults { kernel, .. }, _) =
            self.kind_and_callers_mut()
        {
            *kernel = operator.explain_redispatch(keys, &[]).winner.map(Box::new);
        }
        self
    }

    /// Adds `operator`, whose boxed kernel returned the error, to the error's callers. An error that names no operator stays as it is.
    #[cold]
    #[inline(never)]
    pub(crate) fn with_boxed_caller(self, operator: &Operator) -> Self {
        if self.kind().operator().is_some() { self.in_operator(operator.name()) } else { self }
    }

    /// Changes an error of the kernel of `functional` into one of its form `form`. The error names the form. It names `output` instead of
    /// an argument that the form does not have.
    #[cold]
    pub(crate) fn into_form_error(self, functional: Name<'static>, form: &Operator, output: &str) -> Self {
        let argument = |argument: &str| form.schema().argument(argument).is_none().then(|| output.to_owned().into());
        self.rename_operator_and_argument(functional, form, argument)
    }

    /// Changes an error of `callee`, or of a form of it, into one of `operator`, whose body calls `callee`. The error names `operator` and
    /// its arguments: `names` has one for each argument of the callee, or an empty text.
    #[cold]
    pub(crate) fn into_caller_error(self, callee: &Operator, operator: &Operator, names: &[&'static str]) -> Self {
        let Some(inner) = self.kind().operator() else { return self };
        let functional = |operator: &Operator| operator.functional().unwrap_or(operator).name();
        if Operator::find(&inner.to_string()).map_or(inner, functional) != functional(callee) {
            return self;
        }
        self.rename_operator_and_argument(inner, operator, |argument| {
            let (at, _) = callee.schema().argument(argument)?;
            names.get(at).filter(|name| !name.is_empty()).map(|&name| name.into())
        })
    }

    /// Adds the index to the name of an argument that is a list, if the error names one.
    #[cold]
    pub(crate) fn in_element(mut self, index: usize, is_list: impl Fn(&str) -> bool) -> Self {
        if let (ErrorKind::Kernel { source, .. }, _) = self.kind_and_callers_mut()
            && let Some(bad) = source.downcast_mut::<BadArgument>()
            && is_list(&bad.argument)
        {
            bad.argument = format!("{}[{index}]", bad.argument).into();
        }
        self
    }

    /// Changes an error that arose in `inner` into one of `outer`. `argument` maps the name of an argument.
    fn rename_operator_and_argument(
        mut self,
        inner: Name<'static>,
        outer: &Operator,
        argument: impl FnOnce(&str) -> Option<Cow<'static, str>>,
    ) -> Self {
        let (kind, callers) = self.kind_and_callers_mut();
        if kind.operator() != Some(inner) || !callers.is_empty() {
            return self;
        }
        match kind {
            ErrorKind::UnsupportedDType { operator, .. } => *operator = outer.name(),
            ErrorKind::Kernel { operator, source } => {
                *operator = Some(outer.name());
                if let Some(bad) = source.downcast_mut::<BadArgument>()
                    && let Some(name) = argument(&bad.argument)
                {
                    bad.argument = name;
                }
            }
            _ => {}
        }
        self
    }
}
