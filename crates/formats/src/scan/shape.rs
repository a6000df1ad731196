//! The shape of the messages seen last: key texts in order, so that the next message's keys are
//! found by one comparison each. Devices send their members in the same order again and again.

use rekuiper_value::CellKind;

use super::block::{self, Block};
use super::guess::Guess;

/// Most members remembered; later ones of a wider message are looked up each time.
const SHAPE_MEMBERS_MAX: usize = 256;

/// Messages with unforeseen keys in a row until the shape is learned anew: a lone odd message does
/// not spoil it.
const MISSES_MAX: u8 = 3;

/// One member as foreseen: everything from behind `{` or `,` up to the value's first byte, blanks
/// included.
#[derive(Clone, Debug)]
pub struct Member {
    head: Block,
    head_mask: u32,
    pub len: u32,
    /// Where the part beyond 16 bytes stands in `tails`.
    tail: u32,
    /// Which needed field it is; the scanner's `UNNEEDED` for none.
    pub slot: u32,
    /// How deep within the message; members of nested objects that nobody reads are foreseen too.
    depth: u32,
    /// What its value looked like last.
    pub guess: Guess,
}

#[derive(Debug, Default)]
pub struct Shape {
    members: Vec<Member>,
    tails: Vec<u8>,
    misses: u8,
    missed: bool,
    learning: bool,
}

impl Shape {
    /// Forgets everything: the needed fields have changed.
    pub fn clear(&mut self) {
        *self = Shape { learning: true, ..Shape::default() };
    }

    /// To be called at the start of each object.
    #[inline(always)]
    pub fn begin(&mut self) {
        if self.missed {
            self.after_a_miss();
        }
    }

    #[cold]
    fn after_a_miss(&mut self) {
        self.missed = false;
        self.misses += 1;
        self.learning = self.misses >= MISSES_MAX || self.members.is_empty();
        if self.learning {
            self.misses = 0;
            self.members.clear();
            self.tails.clear();
        }
    }

    /// The foreseen member that the text at `at` begins with: the `next` one or, when one was left
    /// out, the one after it. Gives it with its index.
    #[inline(always)]
    pub fn find(&self, buf: &[u8], at: usize, next: usize, depth: u32) -> Option<(&Member, usize)> {
        let member = self.members.get(next)?;
        if self.fits(member, buf, at, depth) {
            return Some((member, next));
        }
        self.find_next(buf, at, next + 1, depth)
    }

    #[cold]
    fn find_next(
        &self,
        buf: &[u8],
        at: usize,
        next: usize,
        depth: u32,
    ) -> Option<(&Member, usize)> {
        let member = self.members.get(next)?;
        self.fits(member, buf, at, depth).then_some((member, next))
    }

    #[inline(always)]
    fn fits(&self, member: &Member, buf: &[u8], at: usize, depth: u32) -> bool {
        block::same(block::load(buf, at), member.head, member.head_mask)
            && member.depth == depth
            && self.tail_fits(member, buf, at)
    }

    /// The value of the member did not look as foreseen.
    #[inline]
    pub fn note(&mut self, index: usize, kind: CellKind, text: &[u8]) {
        if let Some(member) = self.members.get_mut(index) {
            member.guess = Guess::of(kind, text);
        }
    }

    #[inline(always)]
    fn tail_fits(&self, member: &Member, buf: &[u8], at: usize) -> bool {
        let len = member.len as usize;
        if len <= 16 {
            return true;
        }
        let from = member.tail as usize;
        match (buf.get(at + 16..at + len), self.tails.get(from..from + len - 16)) {
            (Some(text), Some(tail)) => text == tail,
            _ => false,
        }
    }

    /// An unforeseen member was met: `text` from behind `{` or `,` up to its value.
    pub fn missed(&mut self, text: &[u8], slot: u32, depth: u32) {
        if !self.learning {
            self.missed = true;
            return;
        }
        if self.members.len() >= SHAPE_MEMBERS_MAX || text.len() > 4096 {
            return;
        }
        let head = block::load(text, 0);
        let head_mask = (1u32 << text.len().min(16)) - 1;
        let tail = self.tails.len() as u32;
        self.tails.extend_from_slice(text.get(16..).unwrap_or(&[]));
        let len = text.len() as u32;
        self.members.push(Member { head, head_mask, len, tail, slot, depth, guess: Guess::NONE });
    }

    /// Where to note the value of the member just missed, and which member is foreseen behind it.
    pub fn after_unforeseen(&self, next: usize) -> (usize, usize) {
        if self.learning {
            (self.members.len().wrapping_sub(1), self.members.len())
        } else {
            (usize::MAX, next)
        }
    }

    /// The object came to its end.
    #[inline(always)]
    pub fn end(&mut self) {
        if self.learning || self.misses > 0 {
            self.after_the_end();
        }
    }

    #[cold]
    fn after_the_end(&mut self) {
        self.learning = false;
        if !self.missed {
            self.misses = 0;
        }
    }
}
