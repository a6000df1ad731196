//! Compiled expressions over columns.
//!
//! `Expr` is what the plan makes of SQL text: names are gone, every leaf is a column index or a
//! literal. It can be run in two ways that must agree (a property test holds them together):
//! row by row ([`Expr::eval`]), which covers everything, and batch-wise kernels ([`Predicate`],
//! [`NumExpr`]) that cover comparisons and arithmetic over plain numbers and text in tight loops
//! and hand every row that is not plain to the row interpreter.
//!
//! Knows no SQL text, no streams, no windows, no IO.

pub mod access;
pub mod arith;
pub mod compare;
mod eval;
mod frame;
pub mod kernel;
pub mod like;
mod shape;
mod show;

pub use eval::{tri, truth};
pub use frame::{Env, Frame};
pub use kernel::{NumExpr, Predicate};
pub use like::LikePattern;
pub use shape::{ArithOp, BitOp, CmpOp, DEEP_EVERY, Deep, Expr, Part};
pub use show::Show;
