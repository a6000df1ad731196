//! The JSON scanner: finds the needed members of a payload's objects, validates all the rest, and
//! copies nothing.
//!
//! Positions may run past a payload's end into the next message of the batch while a token is
//! looked at sixteen bytes at a time; every structural character is checked against the end, so
//! nothing beyond it is ever accepted.

mod block;
mod fault;
mod guess;
mod keys;
mod number;
mod shape;
mod skip;
mod text;

use rekuiper_value::{Cell, CellKind, Str};

pub use fault::{Fault, What};
use keys::Keys;
use shape::Shape;
use skip::{byte, cell_value, key, skip_space, value, whole};

/// The slot of members that nobody reads.
pub(crate) const UNNEEDED: u32 = u32::MAX;

/// Nested objects are foreseen to this depth.
const NESTED_FORESEEN: u32 = 6;

/// Takes the rows that a payload gives. A payload that turns out to be malformed may have given
/// rows already: the caller takes them back.
pub trait RowSink {
    /// One object: a cell for each needed key, and where the object itself stands.
    fn row(&mut self, cells: &[Cell], whole: Cell) -> Result<(), Fault>;
}

struct Nowhere;

impl RowSink for Nowhere {
    fn row(&mut self, _: &[Cell], _: Cell) -> Result<(), Fault> {
        Ok(())
    }
}

/// Finds the members named in `keys`; slot `i` of a row is key `i`.
#[derive(Debug, Default)]
pub struct Scanner {
    keys: Keys,
    shape: Shape,
    row: Vec<Cell>,
}

impl Scanner {
    pub fn new(names: &[Str]) -> Self {
        Scanner::of(Keys::new(names), names.len())
    }

    /// The names match in any case.
    pub fn any_case(names: &[Str]) -> Self {
        Scanner::of(Keys::any_case(names), names.len())
    }

    fn of(keys: Keys, slots: usize) -> Self {
        let mut shape = Shape::default();
        shape.clear();
        Scanner { keys, shape, row: vec![Cell::MISSING; slots] }
    }

    /// Scans the payload at `from..end` of the batch's bytes.
    pub fn payload<S: RowSink>(
        &mut self,
        buf: &[u8],
        from: usize,
        end: usize,
        sink: &mut S,
    ) -> Result<(), Fault> {
        let scanned = self.scan(buf, from, end, sink);
        if let Err(fault) = scanned {
            // what is reported must not depend on the message that stands behind
            let alone = buf.get(..end).unwrap_or(buf);
            return Err(self.scan(alone, from, end, &mut Nowhere).err().unwrap_or(fault));
        }
        scanned
    }

    fn scan<S: RowSink>(
        &mut self,
        buf: &[u8],
        from: usize,
        end: usize,
        sink: &mut S,
    ) -> Result<(), Fault> {
        let end = end.min(buf.len());
        let start = skip_space(buf, from, end);
        let at = match byte(buf, start, end) {
            b'{' => {
                let at = self.object(buf, start, end)?;
                sink.row(&self.row, whole(start, at)?)?;
                at
            }
            b'[' => self.objects(buf, start, end, sink)?,
            _ => {
                let at = value(&buf[..end], start, end, 0)?;
                let tail = skip_space(buf, at, end);
                let what = if tail < end { What::Tail } else { What::NotAnObject };
                return Err(Fault::new(what, tail));
            }
        };
        if at < end {
            let tail = skip_space(buf, at, end);
            if tail < end {
                return Err(Fault::new(What::Tail, tail));
            }
        }
        Ok(())
    }

    /// An array of objects.
    #[cold]
    fn objects<S: RowSink>(
        &mut self,
        buf: &[u8],
        start: usize,
        end: usize,
        sink: &mut S,
    ) -> Result<usize, Fault> {
        let mut at = skip_space(buf, start + 1, end);
        if byte(buf, at, end) == b']' {
            return Ok(at + 1);
        }
        let mut other = None;
        loop {
            if byte(buf, at, end) == b'{' {
                let from = at;
                at = self.object(buf, from, end)?;
                sink.row(&self.row, whole(from, at)?)?;
            } else {
                let from = at;
                at = value(buf, from, end, 1)?;
                other.get_or_insert(Fault::new(What::NotAnObject, from));
            }
            at = skip_space(buf, at, end);
            match byte(buf, at, end) {
                b',' => at = skip_space(buf, at + 1, end),
                b']' => break,
                _ => return Err(Fault::new(What::CommaOrBracket, at)),
            }
        }
        other.map_or(Ok(at + 1), Err)
    }

    /// The object at `start`, into `self.row`; gives the position behind it. Members of nested
    /// objects that nobody reads are walked through here as well, so that they are foreseen too.
    #[inline]
    fn object(&mut self, buf: &[u8], start: usize, end: usize) -> Result<usize, Fault> {
        self.row.fill(Cell::MISSING);
        self.shape.begin();
        let mut at = start + 1;
        let mut open = at;
        let mut next = 0;
        let mut depth = 0;
        loop {
            let index;
            let slot = match self.shape.find(buf, at, next, depth) {
                Some((member, found)) => {
                    index = found;
                    at += member.len as usize;
                    next = found + 1;
                    let slot = member.slot;
                    if let Some((kind, len)) = member.guess.check(buf, at, end) {
                        if let Some(cell) = self.row.get_mut(slot as usize) {
                            *cell = foreseen_cell(kind, at, len);
                        }
                        at += len;
                        match self.behind_value(buf, at, end, &mut depth)? {
                            Behind::Member(after) => {
                                at = after;
                                continue;
                            }
                            Behind::End(after) => return Ok(after),
                        }
                    }
                    // more blanks than foreseen may stand before the value
                    at = skip_space(buf, at, end);
                    slot
                }
                None => match self.unforeseen(buf, at, end, (at == open, depth))? {
                    Some((slot, value_at)) => {
                        (index, next) = self.shape.after_unforeseen(next);
                        at = value_at;
                        slot
                    }
                    None => {
                        // the end of an empty object: as if behind its last member
                        at = skip_space(buf, at, end);
                        match self.behind_value(buf, at, end, &mut depth)? {
                            Behind::Member(after) => {
                                at = after;
                                continue;
                            }
                            Behind::End(after) => return Ok(after),
                        }
                    }
                },
            };
            if slot == UNNEEDED && depth < NESTED_FORESEEN && byte(buf, at, end) == b'{' {
                depth += 1;
                at += 1;
                open = at;
                continue;
            }
            at = self.unforeseen_value(buf, at, end, slot, (index, depth))?;
            match self.behind_value(buf, at, end, &mut depth)? {
                Behind::Member(after) => at = after,
                Behind::End(after) => return Ok(after),
            }
        }
    }

    /// A value that does not look as it did last: into the row, and remembered.
    #[inline]
    fn unforeseen_value(
        &mut self,
        buf: &[u8],
        at: usize,
        end: usize,
        slot: u32,
        (index, depth): (usize, u32),
    ) -> Result<usize, Fault> {
        let Some(cell) = self.row.get_mut(slot as usize) else {
            let first = byte(buf, at, end);
            let after = value(buf, at, end, depth as usize + 1)?;
            let text = buf.get(at..after).unwrap_or(&[]);
            let kind = if first == b'"' { CellKind::Plain } else { CellKind::Number };
            if first == b'"' || first == b'-' || first.is_ascii_digit() {
                self.shape.note(index, kind, text);
            }
            return Ok(after);
        };
        let (found, after) = cell_value(buf, at, end)?;
        *cell = found;
        self.shape.note(index, found.kind(), buf.get(at..after).unwrap_or(&[]));
        Ok(after)
    }

    /// What comes behind a value: the next member, or the end of one or more objects.
    #[inline(always)]
    fn behind_value(
        &mut self,
        buf: &[u8],
        mut at: usize,
        end: usize,
        depth: &mut u32,
    ) -> Result<Behind, Fault> {
        loop {
            match byte(buf, at, end) {
                b',' => return Ok(Behind::Member(at + 1)),
                b'}' if *depth == 0 => {
                    self.shape.end();
                    return Ok(Behind::End(at + 1));
                }
                b'}' => {
                    *depth -= 1;
                    at += 1;
                }
                b' ' | b'\t' | b'\n' | b'\r' => at = skip_space(buf, at, end),
                _ => return Err(Fault::new(What::CommaOrBrace, at)),
            }
        }
    }

    /// A member whose key is not the foreseen one: its slot and where its value stands. `None` for
    /// the end of an object without members.
    #[cold]
    #[inline(never)]
    fn unforeseen(
        &mut self,
        buf: &[u8],
        from: usize,
        end: usize,
        (first, depth): (bool, u32),
    ) -> Result<Option<(u32, usize)>, Fault> {
        let at = skip_space(buf, from, end);
        if first && byte(buf, at, end) == b'}' {
            return Ok(None);
        }
        let (key, value_at) = key(buf, at, end)?;
        let slot = if depth == 0 { self.keys.find(key) } else { UNNEEDED };
        self.shape.missed(&buf[from..value_at], slot, depth);
        Ok(Some((slot, value_at)))
    }
}

enum Behind {
    Member(usize),
    End(usize),
}

/// A guessed value's cell: a text's cell is its inside.
#[inline(always)]
fn foreseen_cell(kind: CellKind, at: usize, len: usize) -> Cell {
    let quote = usize::from(kind == CellKind::Plain);
    Cell::new(kind, at + quote, len - 2 * quote)
}

#[cfg(test)]
mod tests;
