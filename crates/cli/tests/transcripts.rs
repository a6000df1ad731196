//! What a user types, what goes to the server, what comes back on the terminal: `cli/*.txt`.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Case, Server};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kuiper-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for the case");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("tests/cli").map(|e| e.unwrap().path()).collect();
    paths.sort();
    let server = Server::start();
    let (mut count, mut wrong) = (0, Vec::new());
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for case in common::read(&std::fs::read_to_string(&path).unwrap()) {
            count += 1;
            let at = format!("{name}.txt:{}", case.line);
            let folder = Folder::new(&format!("{name}-{}", case.line));
            if let Err(why) = check(&case, &server, &folder.0) {
                wrong.push(format!("{at} kuiper {}\n{why}", case.words.join(" ")));
            }
        }
    }
    assert!(count > 50, "only {count} cases were found");
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}

fn check(case: &Case, server: &Server, folder: &Path) -> Result<(), String> {
    for (name, text) in &case.files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).map_err(|e| e.to_string())?;
        let text = text.replace("PORT", &server.port.to_string());
        std::fs::write(path, text).map_err(|e| e.to_string())?;
    }
    server.expect(&case.replies);
    let mut command = Command::new(env!("CARGO_BIN_EXE_kuiper"));
    if !case.files.iter().any(|(name, _)| name == "etc/client.yaml") {
        command.env("KUIPER_URL", format!("http://127.0.0.1:{}", server.port));
    }
    let mut child = command
        .args(&case.words)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        std::io::Write::write_all(&mut stdin, case.stdin.as_bytes()).map_err(|e| e.to_string())?;
    }
    let done = child.wait_with_output().map_err(|e| e.to_string())?;
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    let err = String::from_utf8_lossy(&done.stderr).into_owned();
    let greeting = format!("Connecting to 127.0.0.1:{}... \n", server.port);
    let out = out.strip_prefix(&greeting).unwrap_or(&out);
    if out != case.out {
        return Err(format!("printed\n{out:?}, not\n{:?}\n{err}", case.out));
    }
    if done.status.code() != Some(case.exit) {
        return Err(format!("exit {:?}, not {}", done.status.code(), case.exit));
    }
    if let Some(missing) = case.err.iter().find(|text| !err.contains(text.as_str())) {
        return Err(format!("standard error\n{err}lacks {missing:?}"));
    }
    for (name, want) in &case.wrote {
        let got = std::fs::read_to_string(folder.join(name)).map_err(|e| e.to_string())?;
        if got != *want {
            return Err(format!("{name} holds {got:?}, not {want:?}"));
        }
    }
    let seen = server.seen();
    if seen.len() != case.calls.len()
        || !case.calls.iter().zip(&seen).all(|(want, got)| common::same(want, got))
    {
        return Err(format!("called\n{seen:?}, not\n{:?}", case.calls));
    }
    Ok(())
}
