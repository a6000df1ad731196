//! Windows of GROUP BY.

use super::Parser;
use crate::lex::{Kw, Tok};
use crate::{Expr, ExprKind, ParseError, Span, Window, WindowKind};

impl Parser<'_> {
    /// One dimension of GROUP BY: a window or an expression.
    pub fn dimension(&mut self) -> Result<Expr, ParseError> {
        if self.is_name(0) && self.ahead(1).kind == Tok::Open {
            let word = self.peek().span.of(self.text);
            if let Some(kind) = WindowKind::by_name(word.trim_matches('`')) {
                return self.window(kind);
            }
        }
        self.any_expr()
    }

    fn window(&mut self, kind: WindowKind) -> Result<Expr, ParseError> {
        let start = self.next().span;
        self.next();
        let args = if self.at(Tok::Close) {
            Vec::new()
        } else {
            self.nested(|p| p.list(Self::any_expr))?
        };
        self.expect(Tok::Close, "`,` or `)`")?;
        check_args(kind, &args, start.to(self.last_span()))?;
        let mut window = Window {
            kind,
            args,
            filter: None,
            over_when: None,
            over_partition: Vec::new(),
        };
        if self.eat_kw(Kw::Filter) {
            self.expect(Tok::Open, "`(` after FILTER")?;
            self.expect_kw(Kw::Where)?;
            window.filter = Some(self.nested(Self::any_expr)?);
            self.expect(Tok::Close, "`)`")?;
        }
        if self.eat_kw(Kw::Over) {
            self.window_over(&mut window)?;
        }
        let span = start.to(self.last_span());
        Ok(Expr::new(ExprKind::Window(Box::new(window)), span))
    }

    /// `( [WHEN expr] [PARTITION BY expr, ...] )`
    fn window_over(&mut self, window: &mut Window) -> Result<(), ParseError> {
        self.expect(Tok::Open, "`(` after OVER")?;
        if self.eat_kw(Kw::When) {
            window.over_when = Some(self.nested(Self::any_expr)?);
        }
        if self.eat_kw(Kw::Partition) {
            self.expect_kw(Kw::By)?;
            window.over_partition = self.nested(|p| p.list(Self::any_expr))?;
        }
        self.expect(Tok::Close, "WHEN, PARTITION BY or `)`")?;
        Ok(())
    }
}

fn usage(kind: WindowKind) -> &'static str {
    match kind {
        WindowKind::Tumbling => "tumblingwindow(unit, length)",
        WindowKind::Hopping => "hoppingwindow(unit, length, hop)",
        WindowKind::Sliding => "slidingwindow(unit, length [, delay])",
        WindowKind::Session => "sessionwindow(unit, length, timeout)",
        WindowKind::Count => "countwindow(count [, interval])",
        WindowKind::State => "statewindow(condition) or statewindow(begin, end)",
    }
}

fn check_args(kind: WindowKind, args: &[Expr], span: Span) -> Result<(), ParseError> {
    let counts = match kind {
        WindowKind::Tumbling => 2..=2,
        WindowKind::Hopping | WindowKind::Session => 3..=3,
        WindowKind::Sliding => 2..=3,
        WindowKind::Count | WindowKind::State => 1..=2,
    };
    if !counts.contains(&args.len()) {
        let what = format!("{} does not take {} arguments", kind.name(), args.len());
        return Err(ParseError::new(span, what, usage(kind)));
    }
    if kind == WindowKind::State {
        return Ok(());
    }
    let numbers = if kind == WindowKind::Count {
        args
    } else {
        if !matches!(args[0].kind, ExprKind::TimeUnit(_)) {
            let what = format!("{} begins with a time unit", kind.name());
            return Err(ParseError::new(
                args[0].span,
                what,
                "one of DD, HH, MI, SS, MS",
            ));
        }
        &args[1..]
    };
    for (i, arg) in numbers.iter().enumerate() {
        // A delay of nothing is no delay.
        let least = i64::from(!(kind == WindowKind::Sliding && i == 1));
        if !matches!(arg.kind, ExprKind::Int(n) if n >= least) {
            let what = format!("an argument of {} is wrong", kind.name());
            let expected = format!("a whole number from {least} on, in {}", usage(kind));
            return Err(ParseError::new(arg.span, what, expected));
        }
    }
    if let (
        WindowKind::Count,
        [
            Expr {
                kind: ExprKind::Int(count),
                ..
            },
            interval,
        ],
    ) = (kind, args)
        && matches!(interval.kind, ExprKind::Int(n) if n > *count)
    {
        let what = "the interval of countwindow is larger than its count";
        return Err(ParseError::new(
            interval.span,
            what,
            format!("at most {count}"),
        ));
    }
    Ok(())
}
