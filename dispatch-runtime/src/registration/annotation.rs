//! What layers say about operators, for people.
//!
//! A rule (operator/rules.rs) is what a layer knows about one operator, and is found there. What follows from a schema, from the parts of a
//! composite or from nothing at all is written down nowhere: only the layer can say it, in words.

use super::registry;
use crate::operator::Operator;

/// What a layer says about operators, as [`annotate!`](crate::annotate) makes it.
#[derive(Debug)]
pub struct AnnotationRecord {
    about: &'static str,
    of: fn(&Operator) -> Option<String>,
}

impl AnnotationRecord {
    /// Annotations under the title `about`; none for operators that do not concern the layer.
    #[must_use]
    pub const fn new(about: &'static str, of: fn(&Operator) -> Option<String>) -> Self {
        Self { about, of }
    }
}

/// Has a layer say something about operators, under a title: `annotate!("vmap", |operator| Some("in one go".to_owned()))`.
///
/// Nobody acts on it. It is for [`Operator::annotations`], and for whoever shows those.
#[macro_export]
macro_rules! annotate {
    ($about:literal, $of:expr) => {
        const _: () = {
            static __ANNOTATION: $crate::AnnotationRecord = $crate::AnnotationRecord::new($about, $of);
            $crate::__submit! { $crate::__private::Record::Annotation(&__ANNOTATION) }
        };
    };
}

impl Operator {
    /// What layers say about this operator: a title and an annotation for each layer that says something, by title.
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
        // What is said is a layer's code, which may ask the registry in turn.
        let records = registry::lock().annotations.clone();
        let mut annotations: Vec<_> =
            records.iter().filter_map(|record| Some((record.about, (record.of)(self)?))).collect();
        annotations.sort();
        annotations
    }
}
