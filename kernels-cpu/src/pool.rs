//! The threads of this backend.
