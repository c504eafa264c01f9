//! Bodies: labels, instructions, directives and nested scopes.

use super::parser::Parser;
use crate::isa::Opcode;
use crate::syntax::ast::{mnemonic, *};
use crate::syntax::error::Error;
use crate::syntax::lex::TokenKind;

/// The maximum nesting of braces.
const MAX_SCOPE_DEPTH: usize = 64;

pub(super) fn body<'a>(parser: &mut Parser<'a>) -> Result<Body<'a>, Error> {
    let start = parser.token.start;
    parser.expect(b'{')?;
    let mut statements = Vec::new();
    let mut scopes = vec![Scope { parent: None, span: Span { start, end: start } }];
    // The open scopes, the innermost last. Not empty while the loop runs.
    let mut open = vec![0u32];
    while let Some(&scope) = open.last() {
        match parser.token.kind {
            TokenKind::Name | TokenKind::Mark(b'@') => statement(parser, scope, &mut statements)?,
            TokenKind::Directive => body_directive(parser, scope, &mut statements)?,
            TokenKind::Mark(b'{') => {
                if open.len() >= MAX_SCOPE_DEPTH {
                    return Err(parser.error("scopes nest too deeply"));
                }
                let inner = scopes.len() as u32;
                let at = parser.token.start;
                scopes.push(Scope { parent: Some(scope), span: Span { start: at, end: at } });
                open.push(inner);
                statements.push(Statement::Open(inner));
                parser.advance()?;
            }
            TokenKind::Mark(b'}') => {
                open.pop();
                scopes[scope as usize].span.end = parser.token.end;
                if scope != 0 {
                    statements.push(Statement::Close(scope));
                }
                parser.advance()?;
            }
            TokenKind::Mark(b';') => parser.advance()?,
            _ => return Err(parser.expected("a statement")),
        }
    }
    Ok(Body { span: parser.since(start), statements, scopes })
}

/// Parses a label or an instruction.
fn statement<'a>(
    parser: &mut Parser<'a>,
    scope: u32,
    statements: &mut Vec<Statement<'a>>,
) -> Result<(), Error> {
    let (start, line) = (parser.token.start, parser.token.line);
    let mut guard = None;
    if parser.accept(b'@')? {
        let negated = parser.accept(b'!')?;
        guard = Some(Guard { register: parser.register()?, negated });
    }
    let first = parser.token;
    if first.kind != TokenKind::Name {
        return Err(parser.expected("an instruction"));
    }
    let mut end = parser.lexer.opcode();
    parser.token.end = end;
    parser.advance()?;
    if parser.is(b':') && guard.is_none() {
        parser.advance()?;
        return label(parser, start, line, scope, parser.slice(first.start, end), statements);
    }
    while parser.token.kind == TokenKind::Directive {
        end = parser.lexer.opcode();
        parser.token.end = end;
        parser.advance()?;
    }
    let opcode = parser.slice(first.start, end);
    let op = Opcode::from_mnemonic(mnemonic(opcode));
    let operands = parser.operands()?;
    parser.expect(b';')?;
    let span = parser.since(start);
    statements.push(Statement::Instruction(Instruction { span, line, scope, guard, opcode, operands, op }));
    Ok(())
}

fn label<'a>(
    parser: &mut Parser<'a>,
    start: u32,
    line: u32,
    scope: u32,
    name: &'a str,
    statements: &mut Vec<Statement<'a>>,
) -> Result<(), Error> {
    let kind = parser.directive();
    match kind {
        ".branchtargets" | ".calltargets" => {
            parser.advance()?;
            let mut targets = Vec::new();
            loop {
                targets.push(parser.register()?);
                if !parser.accept(b',')? {
                    break;
                }
            }
            parser.expect(b';')?;
            let (span, calls) = (parser.since(start), kind == ".calltargets");
            statements.push(Statement::Targets(TargetList { span, line, scope, name, calls, targets }));
        }
        ".callprototype" => {
            parser.advance()?;
            let returns = if parser.is(b'(') { parser.parameters()? } else { Vec::new() };
            if parser.token.kind == TokenKind::Name {
                parser.advance()?;
            }
            let parameters = if parser.is(b'(') { parser.parameters()? } else { Vec::new() };
            parser.performance(&mut Vec::new())?;
            parser.expect(b';')?;
            let span = parser.since(start);
            statements.push(Statement::Prototype(Prototype { span, line, name, returns, parameters }));
        }
        _ => statements.push(Statement::Label(Label { span: parser.since(start), line, scope, name })),
    }
    Ok(())
}

fn body_directive<'a>(
    parser: &mut Parser<'a>,
    scope: u32,
    statements: &mut Vec<Statement<'a>>,
) -> Result<(), Error> {
    let (start, name) = (parser.token.start, parser.token_text());
    match name {
        ".loc" => {
            parser.advance()?;
            let (file, line, column) = (parser.integer_u32()?, parser.integer_u32()?, parser.integer_u32()?);
            let mut location = SourceLocation { span: Span::default(), file, line, column, inlined: None };
            // `, function_name label [+ offset], inlined_at file line column`
            while parser.accept(b',')? {
                let word = parser.register()?;
                let (mut label, mut place) =
                    location.inlined.map_or(("", [0; 3]), |i| (i.0, [i.1, i.2, i.3]));
                match word {
                    "function_name" => {
                        label = parser.register()?;
                        if parser.accept(b'+')? {
                            parser.integer()?;
                        }
                    }
                    "inlined_at" => {
                        place = [parser.integer_u32()?, parser.integer_u32()?, parser.integer_u32()?]
                    }
                    _ => return Err(parser.error("unexpected word in `.loc`")),
                }
                location.inlined = Some((label, place[0], place[1], place[2]));
            }
            location.span = parser.since(start);
            statements.push(Statement::Location(location));
        }
        ".file" => {
            parser.file()?;
        }
        ".extern" => {
            parser.advance()?;
            for variable in parser.variables(start, Linkage::Extern)? {
                statements.push(Statement::Variable(scope, variable));
            }
        }
        _ if StateSpace::from_name(&name[1..]).is_some() => {
            for variable in parser.variables(start, Linkage::Local)? {
                statements.push(Statement::Variable(scope, variable));
            }
        }
        _ => {
            let directive = parser.unknown_directive()?;
            statements.push(Statement::Directive(directive));
        }
    }
    Ok(())
}
