//! Definition of operators at run time.

use dispatch_schema::{Schema, rust_argument_type};

use super::listener::{self, OperatorEvent};
use super::registrar::{Registrar, to_name};
use super::registration_handle::{Registration, RegistrationKind};
use super::registry;
use crate::error::{Error, ErrorKind, Result};
use crate::location::Location;
use crate::name::Name;
use crate::operator::{CodePointer, Definition, Operator, TableHeader};

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
            .map_err(|errors| Error::from(ErrorKind::SchemaSyntax { text: schema.to_owned(), errors }))?;
        check_schema(schema, &parsed)?;
        parsed.name = self.full_name(&parsed.name.to_string())?;
        let full_name = parsed.name.clone();
        let name = to_name(&full_name);
        let operator = {
            let mut registry = registry::lock();
            if let Some(row) = registry.row(name).filter(|row| row.definition().is_some()) {
                let mut locations: Vec<Location> = row.definitions.iter().map(|operator| operator.location()).collect();
                locations.push(location);
                return Err(ErrorKind::DuplicateOperator { operator: row.name, locations }.into());
            }
            let text = parsed.to_string();
            let signature = text.find('(').map_or("", |at| &text[at..]);
            let former = registry.row(name).and_then(|row| row.find_removed_definition(signature, location));
            let operator =
                former.unwrap_or_else(|| new_untyped_operator(registry.intern_name(name), parsed, signature, location));
            registry.add_definition(operator);
            operator
        };
        listener::notify_listeners(OperatorEvent::Defined, operator);
        Ok(Registration(RegistrationKind::Operator(operator)))
    }
}

static UNBOUND_TABLE: TableHeader = {
    fn unreachable_code() {}
    TableHeader::unbound(None, CodePointer::from_fn(unreachable_code as fn()))
};

/// Makes an operator without Rust types, which lives as long as the program.
fn new_untyped_operator(name: Name<'static>, schema: Schema, signature: &str, location: Location) -> &'static Operator {
    let key_arguments = schema.arguments.iter().enumerate().filter(|(_, argument)| argument.ty.carries_keys());
    let definition = Definition {
        name,
        signature: Box::leak(signature.into()),
        docs: "",
        location,
        argument_count: schema.arguments.len(),
        tensor_result_count: schema.tensor_return_count().and_then(|count| u8::try_from(count).ok()).unwrap_or(u8::MAX),
        key_arguments: key_arguments.fold(0, |bits, (i, _)| bits | 1 << i),
        aliasing: schema.is_aliasing(),
        returns_views: !schema.views().is_empty(),
        device_argument: schema.device_argument(),
        shape: None,
        plan: None,
        data_dependent: false,
        functional: None,
        typed: None,
        function: None,
        kernels: &[],
    };
    Box::leak(Box::new(Operator::new_untyped(&UNBOUND_TABLE, definition, schema)))
}

fn check_schema(text: &str, schema: &Schema) -> Result<()> {
    let unsupported = |reason| Err(ErrorKind::UnsupportedSchema { text: text.to_owned(), reason }.into());
    if schema.varargs || schema.varreturns {
        return unsupported("an operator has a fixed number of arguments and results, so `...` is not allowed");
    }
    if schema.arguments.len() > 64 {
        return unsupported("an operator has at most 64 arguments");
    }
    if schema.arguments.iter().any(|argument| rust_argument_type(argument).is_none()) {
        return unsupported(
            "a list of lists of tensors cannot be an argument, because dispatch reads lists one level deep; pass a list of tensors",
        );
    }
    Ok(())
}
