//! Elementary functions that the compiler can vectorise.
