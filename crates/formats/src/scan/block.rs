//! Sixteen bytes at once: which of them are special. SSE2 on x86-64 and NEON on ARM, through a
//! library that needs no unsafe here. A mask has one bit a byte, lowest first.

use wide::u8x16;

pub type Block = u8x16;

/// Sixteen bytes from `at`; beyond the end of the buffer zeros, which no JSON token goes on with.
#[inline(always)]
pub fn load(buf: &[u8], at: usize) -> Block {
    match chunk(buf, at) {
        Some(block) => u8x16::new(*block),
        None => u8x16::new(load_tail(buf, at)),
    }
}

/// The sixteen bytes themselves, unless the buffer ends before.
#[inline(always)]
pub fn chunk(buf: &[u8], at: usize) -> Option<&[u8; 16]> {
    buf.get(at..)?.first_chunk::<16>()
}

#[cold]
#[inline(never)]
fn load_tail(buf: &[u8], at: usize) -> [u8; 16] {
    let mut block = [0; 16];
    let rest = buf.get(at..).unwrap_or(&[]);
    block[..rest.len().min(16)].copy_from_slice(&rest[..rest.len().min(16)]);
    block
}

/// Bytes at which a string's inside stops being simple: `"`, `\` and controls.
#[inline(always)]
pub fn string_stops(v: Block) -> u32 {
    let control = v.min(u8x16::splat(0x1f)).simd_eq(v);
    let quote = v.simd_eq(u8x16::splat(b'"'));
    let slash = v.simd_eq(u8x16::splat(b'\\'));
    (control | quote | slash).to_bitmask()
}

/// Bytes that a string cell of kind Plain must not hold, or must be looked at more closely for:
/// `< > &` and everything beyond ASCII.
#[inline(always)]
pub fn not_plain(v: Block) -> u32 {
    // '<' and '>' differ in one bit
    let angle = (v | u8x16::splat(2)).simd_eq(u8x16::splat(b'>'));
    let amp = v.simd_eq(u8x16::splat(b'&'));
    (angle | amp | v).to_bitmask()
}

/// Bytes that are no decimal digits.
#[inline(always)]
pub fn non_digits(v: Block) -> u32 {
    let v = v - u8x16::splat(b'0');
    v.max(u8x16::splat(10)).simd_eq(v).to_bitmask()
}

/// Whether the bytes that `mask` names are the same in both.
#[inline(always)]
pub fn same(a: Block, b: Block, mask: u32) -> bool {
    a.simd_eq(b).to_bitmask() & mask == mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(block: &[u8; 16], is: impl Fn(u8) -> bool) -> u32 {
        block.iter().enumerate().map(|(i, b)| u32::from(is(*b)) << i).sum()
    }

    #[test]
    fn every_byte_in_every_place_is_judged_rightly() {
        let base = *b"0a1b2c3d4e5f6g7h";
        for byte in 0..=255u8 {
            for lane in 0..16 {
                let mut block = base;
                block[lane] = byte;
                let stop = |c| c == b'"' || c == b'\\' || c < 0x20;
                assert_eq!(string_stops(u8x16::new(block)), bits(&block, stop), "{byte}");
                let odd = |c| matches!(c, b'<' | b'>' | b'&' | 0x80..);
                assert_eq!(not_plain(u8x16::new(block)), bits(&block, odd), "{byte}");
                assert_eq!(
                    non_digits(u8x16::new(block)),
                    bits(&block, |c| !c.is_ascii_digit()),
                    "{byte}"
                );
                assert_eq!(
                    same(u8x16::new(block), u8x16::new(base), 1 << lane),
                    byte == base[lane]
                );
                assert!(same(u8x16::new(block), u8x16::new(base), 0xffff & !(1 << lane)));
            }
        }
    }

    #[test]
    fn beyond_the_end_stand_zeros() {
        assert_eq!(load(b"abc", 1).to_array()[..3], *b"bc\0");
        assert_eq!(load(b"abc", 9).to_array(), [0; 16]);
    }
}
