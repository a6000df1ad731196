//! The shape of the messages seen last: key texts in order, so that the next message's keys are
//! found by one comparison each. Devices send their members in the same order again and again.

use super::block;

/// Most members remembered; later ones of a wider message are looked up each time.
const SHAPE_MEMBERS_MAX: usize = 256;

/// Messages with unforeseen keys in a row until the shape is learned anew: a lone odd message does
/// not spoil it.
const MISSES_MAX: u8 = 3;

/// One member as foreseen: everything from behind `{` or `,` up to the value's first byte, blanks
/// included.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    head: [u8; 16],
    head_mask: u32,
    len: u32,
    /// Where the part beyond 16 bytes stands in `tails`.
    tail: u32,
    /// Which needed field it is; the scanner's `UNNEEDED` for none.
    pub slot: u32,
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
    /// out, the one after it. Gives its slot, its length and its index.
    #[inline(always)]
    pub fn find(&self, buf: &[u8], at: usize, next: usize) -> Option<(u32, usize, usize)> {
        let text = block::load(buf, at);
        let member = self.members.get(next)?;
        if block::same(&text, &member.head, member.head_mask) && self.tail_fits(member, buf, at) {
            return Some((member.slot, member.len as usize, next));
        }
        self.find_next(buf, at, next + 1)
    }

    #[cold]
    fn find_next(&self, buf: &[u8], at: usize, next: usize) -> Option<(u32, usize, usize)> {
        let member = self.members.get(next)?;
        let text = block::load(buf, at);
        let fits =
            block::same(&text, &member.head, member.head_mask) && self.tail_fits(member, buf, at);
        fits.then_some((member.slot, member.len as usize, next))
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
    pub fn missed(&mut self, text: &[u8], slot: u32) {
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
        self.members.push(Member { head, head_mask, len: text.len() as u32, tail, slot });
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
