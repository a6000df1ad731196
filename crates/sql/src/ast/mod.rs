//! What the parser hands over: plain data, with the place in the text beside every expression.

mod expr;
mod select;
mod span;
mod statement;
mod stream;

pub use expr::{
    BinaryOp, Call, Case, Expr, ExprKind, InList, Over, Sort, Star, TimeUnit, UnaryOp, Window,
    WindowKind,
};
pub use select::{Item, Join, JoinKind, Select, Source};
pub use span::Span;
pub use statement::{Described, Statement};
pub use stream::{Field, FieldDefault, FieldType, StreamDef, StreamKind, StreamOptions};

/// A name as the user wrote it, without backquotes.
pub type Name = ecow::EcoString;
