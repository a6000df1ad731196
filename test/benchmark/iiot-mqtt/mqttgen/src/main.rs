//! The program; everything is in the library.

fn main() -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    mqttgen::cli::main(&words)
}
