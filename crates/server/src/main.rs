//! kuiperd: the server process.
fn main() {}
