//! Modules: the header, items and functions.

use super::parser::Parser;
use super::statement;
use crate::syntax::ast::*;
use crate::syntax::error::Error;
use crate::syntax::lex::TokenKind;

pub(super) fn module<'a>(parser: &mut Parser<'a>) -> Result<Module<'a>, Error> {
    let start = parser.token.start;
    if parser.directive() != ".version" {
        return Err(parser.expected("`.version`"));
    }
    parser.advance()?;
    let version = match parser.token_text().split_once('.') {
        Some((major, minor)) => major.parse().ok().zip(minor.parse().ok()),
        None => None,
    };
    let Some(version) = version else { return Err(parser.expected("a version such as `8.0`")) };
    parser.advance()?;
    let mut module = Module {
        text: parser.lexer.text,
        version,
        version_span: parser.since(start),
        target: Vec::new(),
        target_span: Span::default(),
        address_size: 64,
        items: Vec::new(),
    };
    while parser.token.kind != TokenKind::End {
        match parser.directive() {
            ".target" => {
                let start = parser.token.start;
                parser.advance()?;
                module.target.clear();
                loop {
                    module.target.push(parser.register()?);
                    if !parser.accept(b',')? {
                        break;
                    }
                }
                module.target_span = parser.since(start);
            }
            ".address_size" => {
                parser.advance()?;
                module.address_size = match parser.integer_u32()? {
                    size @ (32 | 64) => size,
                    _ => return Err(parser.error("the address size is 32 or 64")),
                };
            }
            ".version" => return Err(parser.error("`.version` must come first, and only once")),
            _ if parser.is(b';') => parser.advance()?,
            _ => item(parser, &mut module.items)?,
        }
    }
    if module.target.is_empty() {
        return Err(parser.expected("`.target`"));
    }
    Ok(module)
}

fn item<'a>(parser: &mut Parser<'a>, items: &mut Vec<Item<'a>>) -> Result<(), Error> {
    let (start, line) = (parser.token.start, parser.token.line);
    if parser.is(b'@') {
        // `@@DWARF ...` is a line of debug data in PTX 1.x.
        parser.lexer.skip_line();
        let span = Span { start, end: start + 1 };
        parser.advance()?;
        items.push(Item::Directive(Directive { span, line, name: "@@DWARF" }));
        return Ok(());
    }
    let mut linkage = Linkage::Local;
    loop {
        linkage = match parser.directive() {
            ".visible" => Linkage::Visible,
            ".extern" => Linkage::Extern,
            ".weak" => Linkage::Weak,
            ".common" => Linkage::Common,
            _ => break,
        };
        parser.advance()?;
    }
    let name = parser.directive();
    match name {
        ".entry" | ".func" => {
            let function = function(parser, start, linkage, name == ".entry")?;
            items.push(Item::Function(function));
        }
        ".file" => {
            let file = parser.file()?;
            items.push(Item::File(file));
        }
        "" => return Err(parser.expected("a directive")),
        _ if StateSpace::from_name(&name[1..]).is_some() => {
            for variable in parser.variables(start, linkage)? {
                items.push(Item::Variable(variable));
            }
        }
        _ => {
            let directive = parser.unknown_directive()?;
            items.push(Item::Directive(Directive { span: parser.since(start), line, ..directive }));
        }
    }
    Ok(())
}

fn function<'a>(
    parser: &mut Parser<'a>,
    start: u32,
    linkage: Linkage,
    entry: bool,
) -> Result<Function<'a>, Error> {
    parser.advance()?;
    let mut performance = Vec::new();
    parser.performance(&mut performance)?;
    let returns = if parser.is(b'(') { parser.parameters()? } else { Vec::new() };
    let line = parser.token.line;
    let name = parser.register()?;
    let open = parser.token.start;
    let (parameters, parameters_span) = if parser.is(b'(') {
        let parameters = parser.parameters()?;
        (parameters, parser.since(open))
    } else {
        (Vec::new(), Span { start: parser.end, end: parser.end })
    };
    parser.performance(&mut performance)?;
    let body = if parser.is(b'{') {
        Some(statement::body(parser)?)
    } else if parser.accept(b';')? {
        None
    } else {
        return Err(parser.expected("a function's body or `;`"));
    };
    let span = parser.since(start);
    Ok(Function { span, line, linkage, entry, name, returns, parameters, parameters_span, performance, body })
}
