//! kuiper: the command line client.
fn main() {}
