//! Definition of operators while the program runs.

use dispatch_schema::{Schema, rust_argument};

use super::handle::{Registration, What};
use super::listener::{self, Change};
use super::registrar::{Registrar, as_name};
use super::registry;
use crate::error::{Error, ErrorKind, Result};
use crate::location::Location;
use crate::name::Name;
use crate::operator::{Code, Definition, Head, Operator};

impl Registrar {
    /// Defines an operator from its schema. The operator can be called through a stack. If a removed definition is added again with the
    /// same schema from the same line, it is the same operator.
    ///
    /// # Errors
    ///
    /// Returns an error if the schema has mistakes, belongs to another namespace, or is defined already.
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
}

static UNBOUND: Head = {
    fn never() {}
    Head::unbound(None, Code::of(never as fn()))
};

/// Makes an operator without Rust types, which lives as long as the program.
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
