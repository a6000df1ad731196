//! Writes the reference pages of the functions into the folder given as argument, one a family:
//! `cargo run -p rekuiper-functions --example reference -- docs/reference/functions`.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("reference: the folder for the pages is missing, e.g. docs/reference/functions");
        std::process::exit(2);
    };
    std::fs::create_dir_all(&folder)?;
    let mut families: Vec<&str> = rekuiper_functions::all().map(|def| def.family).collect();
    families.sort_unstable();
    families.dedup();
    for family in families {
        std::fs::write(
            folder.join(format!("{family}.md")),
            rekuiper_functions::reference_page(family),
        )?;
    }
    Ok(())
}
