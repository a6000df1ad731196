//! Group keys: bytes in one long buffer, found by hash, numbered in the order of first sight.

use std::hash::{BuildHasher, Hasher};

use ahash::RandomState;
use hashbrown::HashTable;
use rekuiper_value::{Column, Error, Result};

use crate::chunk::Chunk;
use crate::frames::{RowExpr, Times};
use crate::key::{self, Tag};
use crate::OpCx;

/// Stands before the parts of a key of several values.
const SEVERAL: u8 = 255;

/// Group numbers and ends of keys are 32 bits wide.
const BYTES_MAX: usize = u32::MAX as usize;

/// See the module's doc.
#[derive(Default)]
pub struct Keys {
    index: Index,
    scratch: Vec<u8>,
}

#[derive(Default)]
struct Index {
    table: HashTable<u32>,
    hasher: RandomState,
    bytes: Vec<u8>,
    /// Where each key ends; it begins where the one before ends.
    ends: Vec<u32>,
}

impl Index {
    fn hash(hasher: &RandomState, tag: u8, text: &[u8]) -> u64 {
        let mut state = hasher.build_hasher();
        state.write(text);
        state.write_u8(tag);
        state.finish()
    }

    fn key<'a>(bytes: &'a [u8], ends: &[u32], group: u32) -> (u8, &'a [u8]) {
        let at = group as usize;
        let from = if at == 0 { 0 } else { ends.get(at - 1).map_or(0, |e| *e as usize) };
        let to = ends.get(at).map_or(0, |e| *e as usize);
        match bytes.get(from..to).and_then(|k| k.split_first()) {
            Some((tag, text)) => (*tag, text),
            None => (0, &[]),
        }
    }

    /// The number of the group with that key; a new one where there is none.
    #[inline]
    fn find(&mut self, tag: u8, text: &[u8]) -> Option<u32> {
        let Index { table, hasher, bytes, ends } = self;
        let hash = Self::hash(hasher, tag, text);
        let same = |group: &u32| Self::key(bytes, ends, *group) == (tag, text);
        if let Some(group) = table.find(hash, same) {
            return Some(*group);
        }
        let group = u32::try_from(ends.len()).ok().filter(|g| *g < u32::MAX)?;
        if bytes.len() + text.len() >= BYTES_MAX {
            return None;
        }
        bytes.push(tag);
        bytes.extend_from_slice(text);
        ends.push(bytes.len() as u32);
        table.insert_unique(hash, group, |g| {
            let (tag, text) = Self::key(bytes, ends, *g);
            Self::hash(hasher, tag, text)
        });
        Some(group)
    }
}

impl Keys {
    pub fn len(&self) -> usize {
        self.index.ends.len()
    }

    /// Forgets the keys, and gives memory back that far fewer groups would not need.
    pub fn clear(&mut self, roomy: bool) {
        if roomy {
            self.index = Index::default();
            return;
        }
        self.index.table.clear();
        self.index.bytes.clear();
        self.index.ends.clear();
    }

    /// Appends to `ids` the group of each row; a new group has the next number.
    pub fn number(
        &mut self,
        dims: &[RowExpr],
        chunk: &Chunk<'_>,
        rows: &[u32],
        ocx: &mut OpCx<'_, '_>,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        let full = || Error::new("the window has more groups than fit into 4 GiB of keys");
        if dims.is_empty() {
            self.index.find(Tag::Null as u8, &[]).ok_or_else(full)?;
            ids.resize(ids.len() + rows.len(), 0);
            return Ok(());
        }
        if let [RowExpr { expr: rekuiper_expr::Expr::Col(col), .. }] = dims
            && let Some(column) = chunk.frame.col(*col)
            && let Some(done) = self.by_cells(column, rows, ids)
        {
            return done.ok_or_else(full);
        }
        let times = Times::of(chunk);
        for row in rows {
            self.scratch.clear();
            let at = *row as usize;
            let tag = if let [dim] = dims {
                key::write_value(&mut self.scratch, &dim.eval(&chunk.frame, times, at, ocx.cx)?);
                self.scratch.remove(0)
            } else {
                for dim in dims {
                    key::write_part(&mut self.scratch, &dim.eval(&chunk.frame, times, at, ocx.cx)?);
                }
                SEVERAL
            };
            ids.push(self.index.find(tag, &self.scratch).ok_or_else(full)?);
        }
        Ok(())
    }

    /// The hot way: keys straight from the payload's bytes. The outer `None`: no cells here; the
    /// inner: too many groups.
    fn by_cells(
        &mut self,
        column: &Column,
        rows: &[u32],
        ids: &mut Vec<u32>,
    ) -> Option<Option<()>> {
        let (cells, bytes) = column.as_cells()?;
        let Keys { index, scratch } = self;
        ids.reserve(rows.len());
        for row in rows {
            let cell = cells.get(*row as usize).copied().unwrap_or_default();
            let group = match key::plain_tag(cell.kind()) {
                Some(tag) => index.find(tag as u8, cell.slice(bytes)),
                None => {
                    scratch.clear();
                    key::write_cell(scratch, cell, bytes, column.is_ints());
                    scratch.split_first().and_then(|(tag, text)| index.find(*tag, text))
                }
            };
            match group {
                Some(group) => ids.push(group),
                None => return Some(None),
            }
        }
        Some(Some(()))
    }

    /// The key of a group, tag and bytes.
    pub fn key(&self, group: u32) -> Box<[u8]> {
        let (tag, text) = Index::key(&self.index.bytes, &self.index.ends, group);
        std::iter::once(tag).chain(text.iter().copied()).collect()
    }

    /// Every key in the order of the groups.
    pub fn all(&self) -> impl Iterator<Item = Box<[u8]>> + '_ {
        (0..self.len() as u32).map(|group| self.key(group))
    }

    /// Adds a key that [`key`](Self::key) gave, and numbers it.
    pub fn restore(&mut self, key: &[u8]) -> Option<u32> {
        key.split_first().and_then(|(tag, text)| self.index.find(*tag, text))
    }
}
