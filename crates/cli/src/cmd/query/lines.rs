//! Lines from a person or from a pipe.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

use rustyline::history::FileHistory;
use rustyline::{DefaultEditor, Editor, ExternalPrinter};

use crate::out;

const PROMPT: &str = "kuiper > ";

/// Prints a result while the prompt may be waiting.
pub type Printer = Box<dyn FnMut(&str) + Send>;

pub enum Lines {
    Person { editor: Box<Editor<(), FileHistory>>, history: Option<PathBuf> },
    Pipe { prompt: bool },
}

impl Lines {
    pub fn open(json: bool) -> Self {
        if std::io::stdin().is_terminal()
            && let Ok(mut editor) = DefaultEditor::new()
        {
            let home = std::env::var_os("HOME").filter(|h| !h.is_empty());
            let history = home.map(|home| PathBuf::from(home).join(".kuiper_history"));
            if let Some(path) = &history {
                // the first time there is none
                let _ = editor.load_history(path);
            }
            return Lines::Person { editor: Box::new(editor), history };
        }
        Lines::Pipe { prompt: !json }
    }

    /// The next line; nothing at the end of the input or at Ctrl-C, Ctrl-D.
    pub fn next(&mut self) -> Option<String> {
        match self {
            Lines::Person { editor, history } => {
                let line = editor.readline(PROMPT).ok()?;
                if editor.add_history_entry(line.as_str()).unwrap_or(false)
                    && let Some(path) = history
                {
                    // a home that cannot be written costs the history, not the query
                    let _ = editor.save_history(path);
                }
                Some(line)
            }
            Lines::Pipe { prompt } => {
                if *prompt {
                    out::write(PROMPT);
                }
                let mut line = Vec::new();
                match std::io::stdin().lock().read_until(b'\n', &mut line) {
                    Ok(n) if n > 0 => Some(String::from_utf8_lossy(&line).into_owned()),
                    _ => None,
                }
            }
        }
    }

    /// Ends the line of the last prompt, which nobody answered with a line break.
    pub fn leave(&self) {
        if matches!(self, Lines::Pipe { prompt: true }) {
            out::write("\n");
        }
    }

    pub fn printer(&mut self) -> Printer {
        if let Lines::Person { editor, .. } = self
            && let Ok(mut printer) = editor.create_external_printer()
        {
            return Box::new(move |text| {
                // the terminal is gone: so is the reader
                let _ = printer.print(format!("{text}\n"));
            });
        }
        Box::new(out::line)
    }
}
