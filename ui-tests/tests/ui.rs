//! Every mistake gives one message, and the message is the one on file.
//!
//! The words around ours are the compiler's, and change with it: they are compared on one version only. `TRYBUILD=overwrite` writes
//! them anew; read them before committing.

#[rustversion::stable(1.95)]
#[test]
fn a_mistake_gives_the_message_on_file() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}

#[rustversion::not(stable(1.95))]
#[test]
fn a_mistake_gives_the_message_on_file() {
    eprintln!("SKIPPED: the messages on file are those of Rust 1.95; this is another compiler.");
}
