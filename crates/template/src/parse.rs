//! Tokens into nodes. Everything a user can get wrong in writing is told here.

use std::collections::HashMap;

use rekuiper_value::{Str, Value};

use crate::TemplateError;
use crate::functions;
use crate::lex::{Lexed, Token, error, lex};
use crate::literal::{number, show};
use crate::node::{Command, Node, Operand, Pipe};

/// Deepest nesting of blocks and parentheses.
const DEPTH_MAX: usize = 100;

type Parsed<T> = Result<T, TemplateError>;
type Nodes = Vec<Node>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Lexed>,
    at: usize,
    vars: Vec<Str>,
    defined: HashMap<String, Nodes>,
    depth: usize,
    ranges: usize,
    /// Where the token before last ended.
    start: usize,
}

pub fn parse(text: &str) -> Parsed<(Nodes, HashMap<String, Nodes>)> {
    let tokens = lex(text)?;
    let vars = vec![Str::from("$")];
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        vars,
        defined: HashMap::new(),
        depth: 0,
        ranges: 0,
        start: 0,
    };
    let (root, end) = parser.nodes()?;
    match end {
        End::Text => Ok((root, parser.defined)),
        End::Closed => Err(parser.error("unexpected {{end}}")),
        End::Else => Err(parser.error("unexpected {{else}}")),
    }
}

/// How a list of nodes ended.
#[derive(PartialEq)]
enum End {
    Text,
    Closed,
    /// `{{else`, the rest of the action still to be read.
    Else,
}

impl Parser<'_> {
    fn error(&self, text: impl std::fmt::Display) -> TemplateError {
        let line = self.tokens.get(self.at.saturating_sub(1)).map_or(1, |t| t.line);
        error(line, text)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|t| &t.token)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at)?.token.clone();
        self.start = self.at.checked_sub(1).map_or(0, |before| self.tokens[before].at);
        self.at += 1;
        Some(token)
    }

    fn space(&mut self) {
        while self.peek() == Some(&Token::Space) {
            self.at += 1;
        }
    }

    fn close(&mut self, of: &str) -> Parsed<()> {
        self.space();
        match self.next() {
            Some(Token::Close) => Ok(()),
            other => Err(self.error(format!("unexpected {} in {of}", show(other.as_ref())))),
        }
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error(format!("nested deeper than {DEPTH_MAX} levels")));
        }
        Ok(())
    }

    /// Nodes up to the end of the text, an end or an else.
    fn nodes(&mut self) -> Parsed<(Nodes, End)> {
        let mut nodes = Vec::new();
        while let Some(token) = self.next() {
            match token {
                Token::Text(text) => nodes.push(Node::Text(text.into_bytes())),
                Token::Open => {
                    self.space();
                    let word = match self.peek() {
                        Some(Token::Name(word)) => word.clone(),
                        _ => String::new(),
                    };
                    match word.as_str() {
                        "end" => {
                            self.at += 1;
                            self.close("end")?;
                            return Ok((nodes, End::Closed));
                        }
                        "else" => {
                            self.at += 1;
                            return Ok((nodes, End::Else));
                        }
                        word => nodes.extend(self.action(word)?),
                    }
                }
                other => return Err(self.error(format!("unexpected {}", show(Some(&other))))),
            }
        }
        Ok((nodes, End::Text))
    }

    fn action(&mut self, word: &str) -> Parsed<Option<Node>> {
        if matches!(
            word,
            "if" | "with" | "range" | "template" | "block" | "define" | "break" | "continue"
        ) {
            self.at += 1;
        }
        match word {
            "if" | "with" | "range" => return self.control(word).map(Some),
            "template" => return self.template().map(Some),
            "block" => return self.block().map(Some),
            "define" => return self.define().map(|()| None),
            "break" | "continue" => {
                self.close(word)?;
                if self.ranges == 0 {
                    return Err(self.error(format!("{{{{{word}}}}} outside {{{{range}}}}")));
                }
                let node = if word == "break" { Node::Break } else { Node::Continue };
                return Ok(Some(node));
            }
            _ => {}
        }
        let pipe = self.pipe("command", 2)?;
        self.close("command")?;
        Ok(Some(Node::Action(pipe)))
    }

    /// if, with and range, their else and end.
    fn control(&mut self, word: &str) -> Parsed<Node> {
        self.deeper()?;
        let scope = self.vars.len();
        let test = self.pipe(word, if word == "range" { 3 } else { 2 })?;
        self.close(word)?;
        if word == "range" {
            self.ranges += 1;
        }
        let (then, end) = self.nodes()?;
        if word == "range" {
            self.ranges -= 1;
        }
        let otherwise = match end {
            End::Text => return Err(self.error("unexpected EOF")),
            End::Closed => Vec::new(),
            End::Else => self.otherwise(word)?,
        };
        self.vars.truncate(scope);
        self.depth -= 1;
        Ok(match word {
            "if" => Node::If { test, then, otherwise },
            "with" => Node::With { test, then, otherwise },
            _ => Node::Range { over: test, body: then, otherwise },
        })
    }

    fn otherwise(&mut self, word: &str) -> Parsed<Nodes> {
        self.space();
        if word != "range" && self.peek() == Some(&Token::Name(word.to_owned())) {
            // else if …: the end closes both
            self.at += 1;
            return Ok(vec![self.control(word)?]);
        }
        self.close("else")?;
        match self.nodes()? {
            (nodes, End::Closed) => Ok(nodes),
            (_, End::Else) => Err(self.error("expected end; found {{else}}")),
            (_, End::Text) => Err(self.error("unexpected EOF")),
        }
    }

    fn name(&mut self, of: &str) -> Parsed<String> {
        self.space();
        match self.next() {
            Some(Token::Quoted(name)) => Ok(name),
            other => Err(self.error(format!("unexpected {} in {of} clause", show(other.as_ref())))),
        }
    }

    fn template(&mut self) -> Parsed<Node> {
        let name = self.name("template")?;
        let line = self.tokens[self.at - 1].line;
        self.space();
        let data = match self.peek() {
            Some(Token::Close) => None,
            _ => Some(self.pipe("template", 2)?),
        };
        self.close("template")?;
        Ok(Node::Template { name, data, line })
    }

    fn block(&mut self) -> Parsed<Node> {
        let name = self.name("block")?;
        let line = self.tokens[self.at - 1].line;
        let data = Some(self.pipe("block", 2)?);
        self.close("block")?;
        self.body(name.clone())?;
        Ok(Node::Template { name, data, line })
    }

    fn define(&mut self) -> Parsed<()> {
        if self.depth > 0 {
            return Err(self.error("unexpected {{define}}"));
        }
        let name = self.name("define")?;
        self.close("define")?;
        self.body(name)
    }

    /// The body of a define or block: it sees none of the variables outside.
    fn body(&mut self, name: String) -> Parsed<()> {
        self.deeper()?;
        let vars = std::mem::replace(&mut self.vars, vec![Str::from("$")]);
        let ranges = std::mem::take(&mut self.ranges);
        let (nodes, end) = self.nodes()?;
        if end != End::Closed {
            return Err(self.error("unexpected EOF"));
        }
        self.vars = vars;
        self.ranges = ranges;
        self.depth -= 1;
        self.defined.insert(name, nodes);
        Ok(())
    }

    /// A pipeline with its variables; `most` is one more than the variables it may declare.
    fn pipe(&mut self, of: &str, most: usize) -> Parsed<Pipe> {
        self.deeper()?;
        self.space();
        let line = self.tokens.get(self.at).map_or(1, |t| t.line);
        let from = self.tokens[self.at.saturating_sub(1)].at;
        let (vars, assign) = self.declaration(of, most)?;
        let mut commands = Vec::new();
        loop {
            let command = self.command(of)?;
            if !commands.is_empty() && !command.0.first().is_some_and(callable) {
                return Err(self.error("non executable command in pipeline"));
            }
            commands.push(command);
            self.space();
            if self.peek() != Some(&Token::Pipe) {
                break;
            }
            self.at += 1;
            self.space();
        }
        let to = self.tokens[self.at.saturating_sub(1)].at;
        let text = self.text.get(from..to).unwrap_or("").trim().to_owned();
        if !assign {
            self.vars.extend(vars.iter().cloned());
        }
        self.depth -= 1;
        Ok(Pipe { vars, assign, commands, line, text })
    }

    /// `$x :=`, `$x =` or `$i, $x :=`, if the pipeline begins so.
    fn declaration(&mut self, of: &str, most: usize) -> Parsed<(Vec<Str>, bool)> {
        let start = self.at;
        let mut vars = Vec::new();
        while let Some(Token::Var(name)) = self.peek() {
            vars.push(Str::from(name.as_str()));
            self.at += 1;
            self.space();
            match self.peek() {
                Some(Token::Define) | Some(Token::Assign) => {
                    let assign = self.peek() == Some(&Token::Assign);
                    self.at += 1;
                    self.space();
                    if vars.len() >= most {
                        return Err(self.error(format!("too many declarations in {of}")));
                    }
                    if assign && let Some(var) = vars.iter().find(|v| !self.vars.contains(v)) {
                        return Err(self.error(format!("undefined variable \"{var}\"")));
                    }
                    return Ok((vars, assign));
                }
                Some(Token::Comma) if of == "range" => {
                    self.at += 1;
                    self.space();
                }
                _ => break,
            }
        }
        self.at = start;
        Ok((Vec::new(), false))
    }

    fn command(&mut self, of: &str) -> Parsed<Command> {
        let mut operands = Vec::new();
        loop {
            match self.peek() {
                Some(Token::Close | Token::Pipe | Token::RightParen) | None => break,
                Some(Token::Space) => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            operands.push(self.operand(of)?);
            match self.peek() {
                Some(Token::Space | Token::Close | Token::Pipe | Token::RightParen) => {}
                other => {
                    let shown = show(other);
                    return Err(self.error(format!("unexpected {shown} in operand")));
                }
            }
        }
        match operands.first() {
            None => Err(self.error(format!("missing value for {of}"))),
            Some(Operand::Nil) => Err(self.error("nil is not a command")),
            Some(first) if operands.len() > 1 && !callable(first) => {
                Err(self.error("can't give argument to non-function"))
            }
            Some(_) => Ok(Command(operands)),
        }
    }

    fn operand(&mut self, of: &str) -> Parsed<Operand> {
        let token = self.next();
        let operand = match token {
            Some(Token::Name(name)) => match name.as_str() {
                "true" => Operand::Literal(Value::Bool(true)),
                "false" => Operand::Literal(Value::Bool(false)),
                "nil" => Operand::Nil,
                name => match functions::find(name) {
                    Some(function) => Operand::Function(function),
                    None => {
                        return Err(self.error(format!("function \"{name}\" not defined")));
                    }
                },
            },
            Some(Token::Dot) => Operand::Dot,
            Some(Token::Field(name)) => {
                let mut fields = vec![Str::from(name)];
                self.fields(&mut fields);
                Operand::Field(fields)
            }
            Some(Token::Var(name)) => {
                let name = Str::from(name);
                if !self.vars.contains(&name) {
                    return Err(self.error(format!("undefined variable \"{name}\"")));
                }
                let mut fields = Vec::new();
                self.fields(&mut fields);
                Operand::Var(name, fields)
            }
            Some(Token::Number(text)) => match number(&text) {
                Some(value) => Operand::Literal(value),
                None => return Err(self.error(format!("bad number syntax: {text:?}"))),
            },
            Some(Token::Quoted(text)) => Operand::Literal(Value::str(text)),
            Some(Token::Char(c)) => Operand::Literal(Value::Int(i64::from(u32::from(c)))),
            Some(Token::LeftParen) => {
                let pipe = self.pipe("parenthesized pipeline", 2)?;
                if self.next() != Some(Token::RightParen) {
                    return Err(self.error("unclosed left paren"));
                }
                let mut fields = Vec::new();
                self.fields(&mut fields);
                Operand::Pipe(Box::new(pipe), fields)
            }
            other => return Err(self.error(format!("unexpected {} in {of}", show(other.as_ref())))),
        };
        if let (Operand::Literal(_) | Operand::Nil | Operand::Dot, Some(Token::Field(name))) =
            (&operand, self.peek())
        {
            return Err(self.error(format!("unexpected . after term \".{name}\"")));
        }
        if let (Operand::Function(_), Some(Token::Field(_))) = (&operand, self.peek()) {
            // now.Unix: a field of what the function gives
            let command = Command(vec![operand]);
            let mut fields = Vec::new();
            self.fields(&mut fields);
            let line = self.tokens[self.at - 1].line;
            let pipe = Pipe {
                vars: Vec::new(),
                assign: false,
                commands: vec![command],
                line,
                text: String::new(),
            };
            return Ok(Operand::Pipe(Box::new(pipe), fields));
        }
        Ok(operand)
    }

    fn fields(&mut self, fields: &mut Vec<Str>) {
        while let Some(Token::Field(name)) = self.peek() {
            fields.push(Str::from(name.as_str()));
            self.at += 1;
        }
    }
}

/// What may take arguments or stand behind a `|`: functions, and fields (which are never functions
/// here, but that is for the run to say).
fn callable(operand: &Operand) -> bool {
    !matches!(operand, Operand::Literal(_) | Operand::Nil | Operand::Dot)
}
