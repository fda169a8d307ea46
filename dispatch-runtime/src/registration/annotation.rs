//! Annotations: texts in which layers describe their support for operators.
//!
//! A rule (operator/rules.rs) is a layer's data for one operator. If a layer derives its support from a schema or from the parts of a
//! composite, there is no rule to look up. Only the layer can describe such support, as text.

use super::registry;
use crate::operator::Operator;

/// A layer's descriptions of its support for operators, which introspection shows, as [`annotate!`](crate::annotate) makes them.
#[derive(Debug)]
pub struct AnnotationRecord {
    title: &'static str,
    text_of: fn(&Operator) -> Option<String>,
}

impl AnnotationRecord {
    /// Makes annotations with this title. `text_of` returns `None` for operators that do not concern the layer.
    #[must_use]
    pub const fn new(title: &'static str, text_of: fn(&Operator) -> Option<String>) -> Self {
        Self { title, text_of }
    }
}

/// Registers a layer's texts about operators under a title: `annotate!("vmap", |operator| Some("in one go".to_owned()))`.
///
/// The runtime does not use the texts. They are for [`Operator::annotations`] and for tools that show them.
#[macro_export]
macro_rules! annotate {
    ($about:literal, $of:expr) => {
        const _: () = {
            static __ANNOTATION: $crate::__private::AnnotationRecord =
                $crate::__private::AnnotationRecord::new($about, $of);
            $crate::__private::__submit! { $crate::__private::Record::Annotation(&__ANNOTATION) }
        };
    };
}

impl Operator {
    /// Returns the annotations of this operator: a title and a text for each layer that has one, sorted by title.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    ///
    /// #[op_def("quarter(Tensor self) -> Tensor")]
    /// pub fn quarter(this: &Tensor) -> Result<Tensor>;
    ///
    /// dispatch_runtime::annotate!("arguments", |operator| Some(operator.argument_count().to_string()));
    /// assert_eq!(quarter::operator().annotations(), [("arguments", "1".to_owned())]);
    /// ```
    #[must_use]
    pub fn annotations(&self) -> Vec<(&'static str, String)> {
        // The layers' functions run without the lock, because they may use the registry.
        let records = registry::lock().annotations.clone();
        let mut annotations: Vec<_> =
            records.iter().filter_map(|record| Some((record.title, (record.text_of)(self)?))).collect();
        annotations.sort();
        annotations
    }
}
