//! The autograd graph: nodes, the history of tensors, saved values, hooks.

pub(crate) mod accumulate_grad;
pub(crate) mod anomaly;
pub(crate) mod custom_function;
pub(crate) mod function;
pub(crate) mod history;
pub(crate) mod hooks;
pub(crate) mod node;
pub(crate) mod outline;
pub(crate) mod retain_grad;
pub(crate) mod saved;
pub(crate) mod views;
