//! Finds the in-place and `out=` forms of a functional operator.

use dispatch_runtime::schema::{Argument, Schema, SchemaKind, TypeKind};
use dispatch_runtime::{Name, Operator};

/// The forms of a functional operator that the program defines.
#[derive(Clone, Copy, Default)]
pub struct OperatorForms {
    /// The in-place form, which writes its first argument: `add_.Tensor`.
    pub in_place: Option<&'static Operator>,
    /// The `out=` form, which writes its `out` arguments: `add.out`.
    pub out: Option<&'static Operator>,
}

/// Arguments that an `out=` form may lack, because the `out` tensor determines them.
const ARGUMENTS_IMPLIED_BY_OUT: [&str; 4] = ["dtype", "layout", "device", "pin_memory"];

impl OperatorForms {
    /// Finds the forms of an operator among all operators of the program.
    #[must_use]
    pub fn for_operator(operator: &Operator) -> Self {
        let schema = operator.schema();
        if schema.kind() != SchemaKind::Functional {
            return Self::default();
        }
        let all = Operator::all();
        let Name { namespace, base, overload } = operator.name();
        let in_place = all.iter().copied().find(|form| {
            let name = form.name();
            (name.namespace, name.overload) == (namespace, overload)
                && name.base.strip_suffix('_') == Some(base)
                && is_in_place_form(schema, form.schema())
        });
        let out = all.iter().copied().find(|form| {
            let name = form.name();
            (name.namespace, name.base) == (namespace, base) && is_out_form(schema, form.schema())
        });
        Self { in_place, out }
    }
}

fn is_in_place_form(functional: &Schema, form: &Schema) -> bool {
    form.kind() == SchemaKind::InPlace
        && form.arguments.first().is_some_and(Argument::is_written)
        && form.arguments.len() == functional.arguments.len()
        && form.arguments.iter().zip(&functional.arguments).all(|(own, argument)| is_same_argument(own, argument))
}

fn is_out_form(functional: &Schema, form: &Schema) -> bool {
    let (outs, given): (Vec<&Argument>, Vec<&Argument>) = form.arguments.iter().partition(|argument| argument.is_out());
    let covered = functional.arguments.iter().filter(|argument| {
        !(ARGUMENTS_IMPLIED_BY_OUT.contains(&argument.name.as_str()) && form.argument(&argument.name).is_none())
    });
    let covered: Vec<&Argument> = covered.collect();
    outs.len() == functional.returns.len()
        && !outs.is_empty()
        && outs.iter().all(|out| out.ty.kind == TypeKind::Tensor)
        && given.len() == covered.len()
        && given.iter().zip(covered).all(|(given, covered)| is_same_argument(given, covered))
}

fn is_same_argument(a: &Argument, b: &Argument) -> bool {
    a.name == b.name && a.ty.without_aliases() == b.ty.without_aliases()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_schema(text: &str) -> Schema {
        Schema::parse(text).unwrap()
    }

    #[test]
    fn forms_have_the_arguments_of_the_functional_operator() {
        let add = parse_schema("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
        let text = "(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
        assert!(is_out_form(&add, &parse_schema(&format!("add.out{text}"))));
        assert!(!is_out_form(
            &add,
            &parse_schema("add.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")
        ));
        assert!(is_in_place_form(
            &add,
            &parse_schema("add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)")
        ));
        assert!(!is_in_place_form(&add, &parse_schema("add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")));
        let eye = parse_schema("eye(SymInt n, *, ScalarType? dtype=None, Device? device=None) -> Tensor");
        assert!(is_out_form(&eye, &parse_schema("eye.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)")));
    }
}
