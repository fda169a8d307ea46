//! The operator schema language.
