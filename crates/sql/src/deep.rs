//! Recursion that cannot run out of stack.

/// The deepest tree of expressions the parser hands over. 5,000 terms in one chain and 2,000
/// nested parentheses fit; what is deeper is refused.
pub const MAX_DEPTH: u32 = 6_000;

/// The deepest nesting of parentheses, calls and brackets.
pub const MAX_NESTING: u32 = 2_500;

/// Runs `f`, on a new piece of stack where the present one is nearly used up. To be put around
/// each step of a recursion over expressions, in this crate and in those that use it.
#[inline]
pub fn deep<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, f)
}

/// Runs `f` with a stack large enough for code of others that recurses over a whole tree without
/// [`deep`], such as writing out nested JSON.
pub fn roomy<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(8 * 1024 * 1024, 16 * 1024 * 1024, f)
}
