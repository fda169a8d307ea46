//! The rules of the optimisers.

mod adadelta;
mod adagrad;
mod adam;
mod adamax;
mod lion;
mod nadam;
mod radam;
mod rmsprop;
mod rprop;
mod sgd;

pub use adadelta::{Adadelta, AdadeltaOptions};
pub use adagrad::{Adagrad, AdagradOptions};
pub use adam::{Adam, AdamOptions, AdamW, AdamWOptions};
pub use adamax::{Adamax, AdamaxOptions};
pub use lion::{Lion, LionOptions};
pub use nadam::{NAdam, NAdamOptions};
pub use radam::{RAdam, RAdamOptions};
pub use rmsprop::{RMSprop, RMSpropOptions};
pub use rprop::{Rprop, RpropOptions};
pub use sgd::{SGD, SGDOptions};
