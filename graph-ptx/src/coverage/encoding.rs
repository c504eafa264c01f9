//! The binary encoding of slices, for the constant data of a kernel's item; and the parameters that no launch can be
//! proved to cover.

use super::slice::{
    BackwardSlice, EXIT_BLOCK, IntType, Phi, SliceArg, SliceBlock, SliceOp, SliceOpcode, SliceTerminator,
    SlicedParameter,
};

/// The maximum length of a decoded list. Bytes with a longer one are not a slice.
const MAX_LENGTH: u64 = 1 << 24;

impl BackwardSlice {
    /// Encodes the slice.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer(Vec::new());
        writer.number(u64::from(self.values));
        writer.list(&self.parameters, |writer, followed| {
            writer.number(u64::from(followed.parameter));
            writer.list(followed.foreign.as_slice(), |writer, text| writer.text(text));
        });
        writer.list(&self.notes, |writer, note| writer.text(note));
        writer.list(&self.blocks, |writer, block| {
            writer.list(&block.phis, |writer, phi| {
                writer.number(u64::from(phi.target));
                writer.list(&phi.sources, |writer, (block, arg)| {
                    writer.number(u64::from(*block));
                    writer.arg(*arg);
                });
            });
            writer.list(&block.ops, |writer, op| {
                let code = SliceOpcode::ALL.iter().position(|code| *code == op.code).unwrap_or(0);
                writer.number(code as u64);
                writer.number(u64::from(op.int.bits) << 1 | u64::from(op.int.signed));
                writer.number(u64::from(op.target));
                writer.list(&op.args, |writer, arg| writer.arg(*arg));
            });
            let all = match block.end {
                SliceTerminator::Exit => vec![SliceArg::Constant(0)],
                SliceTerminator::Jump(to) => vec![SliceArg::Constant(1), target(to)],
                SliceTerminator::Branch { on, taken, other, join } => {
                    vec![SliceArg::Constant(2), on, target(taken), target(other), target(join)]
                }
            };
            writer.list(&all, |writer, arg| writer.arg(*arg));
        });
        writer.0
    }

    /// Decodes the output of [`BackwardSlice::encode`]; `None` for any other bytes.
    pub fn decode(bytes: &[u8]) -> Option<BackwardSlice> {
        let mut reader = Reader(bytes);
        let values = reader.small()?;
        let parameters = reader.list(|reader| {
            let parameter = reader.small()?;
            Some(SlicedParameter { parameter, foreign: reader.list(Reader::text)?.pop() })
        })?;
        let notes = reader.list(Reader::text)?;
        let blocks = reader.list(Reader::block)?;
        reader.0.is_empty().then_some(BackwardSlice {
            values,
            blocks,
            notes,
            parameters,
            ..BackwardSlice::default()
        })
    }
}

fn target(block: u32) -> SliceArg {
    SliceArg::Constant(i64::from(block))
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn list<T>(&mut self, list: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(list.len() as u64);
        list.iter().for_each(|item| each(self, item));
    }

    fn arg(&mut self, arg: SliceArg) {
        match arg {
            SliceArg::Value(value) => self.number(u64::from(value) << 1),
            SliceArg::Constant(value) => {
                self.number(1);
                self.number((value << 1 ^ value >> 63) as u64);
            }
        }
    }
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
            shift += 7;
        }
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn text(&mut self) -> Option<String> {
        let len = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let len = self.number().filter(|len| *len < MAX_LENGTH)?;
        (0..len).map(|_| each(self)).collect()
    }

    fn arg(&mut self) -> Option<SliceArg> {
        let first = self.number()?;
        if first & 1 == 0 {
            return u32::try_from(first >> 1).ok().map(SliceArg::Value);
        }
        let value = self.number()?;
        Some(SliceArg::Constant((value >> 1) as i64 ^ -((value & 1) as i64)))
    }

    fn block(&mut self) -> Option<SliceBlock> {
        let phis = self.list(|reader| {
            let target = reader.small()?;
            let sources = reader.list(|reader| Some((reader.small()?, reader.arg()?)))?;
            Some(Phi { target, sources })
        })?;
        let ops = self.list(|reader| {
            let code = *SliceOpcode::ALL.get(reader.number()? as usize)?;
            let int = reader.number()?;
            let int = IntType { bits: u8::try_from(int >> 1).ok()?, signed: int & 1 != 0 };
            Some(SliceOp { code, int, target: reader.small()?, args: reader.list(Reader::arg)? })
        })?;
        let all = self.list(Reader::arg)?;
        let block = |arg: &SliceArg| match arg {
            SliceArg::Constant(block) => u32::try_from(*block).ok(),
            SliceArg::Value(_) => None,
        };
        let end = match &all[..] {
            [SliceArg::Constant(0)] => SliceTerminator::Exit,
            [SliceArg::Constant(1), to] => SliceTerminator::Jump(block(to)?),
            [SliceArg::Constant(2), on, taken, other, join] => SliceTerminator::Branch {
                on: *on,
                taken: block(taken)?,
                other: block(other)?,
                join: block(join)?,
            },
            _ => return None,
        };
        Some(SliceBlock { phis, ops, end })
    }
}

/// Returns the reason that no access through a followed parameter can ever count.
pub(super) fn reason_never_covered(slice: &BackwardSlice, followed: usize) -> Option<String> {
    let parameter = i64::from(slice.parameters.get(followed)?.parameter);
    let opaque = opaque(slice);
    let is_opaque = |arg: &SliceArg| matches!(arg, SliceArg::Value(value) if opaque.get(*value as usize).copied().flatten().is_some());
    let note = |arg: &SliceArg| match arg {
        SliceArg::Value(value) => opaque.get(*value as usize).copied().flatten(),
        SliceArg::Constant(_) => None,
    };
    let text =
        |note: u32| slice.notes.get(note as usize).cloned().unwrap_or_else(|| "an instruction".to_owned());
    // The note of a branch on an unknown condition that controls the block, for each block.
    let mut behind: Vec<Option<u32>> = vec![None; slice.blocks.len()];
    for block in &slice.blocks {
        if let SliceTerminator::Branch { on, taken, other, join } = &block.end
            && let Some(note) = note(on)
        {
            for block in slice.region(&[*taken, *other], *join) {
                behind[block as usize].get_or_insert(note);
            }
        }
        if let Some(op) = block.ops.iter().find(|op| op.code == SliceOpcode::MayEnd)
            && let (Some(&SliceArg::Constant(note)), SliceTerminator::Jump(to)) = (op.args.first(), block.end)
        {
            for block in slice.region(&[to], EXIT_BLOCK) {
                behind[block as usize].get_or_insert(note as u32);
            }
        }
    }
    let mut why = None;
    for (block, behind) in slice.blocks.iter().zip(&behind) {
        for op in &block.ops {
            let is_access = matches!(op.code, SliceOpcode::Store | SliceOpcode::Load);
            let of_it = is_access && op.args.first() == Some(&SliceArg::Constant(parameter));
            if !of_it {
                continue;
            }
            let store = text(op.target);
            let cause = match (behind, op.args.get(1), op.args.get(4)) {
                (Some(cause), ..) => *cause,
                (_, Some(address), _) if is_opaque(address) => note(address)?,
                (.., Some(guard)) if is_opaque(guard) => note(guard)?,
                _ => return None,
            };
            why.get_or_insert_with(|| format!("{store} depends on {}", text(cause)));
        }
    }
    let foreign = slice.parameters[followed].foreign.clone();
    Some(why.or(foreign).unwrap_or_else(|| "no store goes through it".to_owned()))
}

/// Returns, for each value, the note of the operation that makes it opaque in every launch; `None` for other values.
fn opaque(slice: &BackwardSlice) -> Vec<Option<u32>> {
    let known = knowable(slice);
    let mut notes: Vec<Option<u32>> = vec![None; slice.values as usize];
    let note = |notes: &[Option<u32>], arg: &SliceArg| match arg {
        SliceArg::Value(value) => notes.get(*value as usize).copied().flatten(),
        SliceArg::Constant(_) => None,
    };
    for block in &slice.blocks {
        for op in values(block) {
            if known.get(op.target as usize).copied().unwrap_or(true) {
                continue;
            }
            let cause = match (op.code, op.args.first()) {
                (SliceOpcode::Opaque, Some(&SliceArg::Constant(note))) => Some(note as u32),
                _ => op.args.iter().find_map(|arg| note(&notes, arg)),
            };
            notes[op.target as usize] = notes[op.target as usize].or(cause).or(Some(u32::MAX));
        }
    }
    for block in &slice.blocks {
        for phi in &block.phis {
            if let Some(false) = known.get(phi.target as usize) {
                let sources = phi.sources.iter().find_map(|source| note(&notes, &source.1));
                notes[phi.target as usize] = sources.or(Some(u32::MAX));
            }
        }
    }
    notes
}

/// Returns true for each value that may be known: a least fixpoint, in which a phi may be known if one of its sources
/// may.
fn knowable(slice: &BackwardSlice) -> Vec<bool> {
    let mut known = vec![false; slice.values as usize];
    let is = |known: &[bool], arg: &SliceArg| match arg {
        SliceArg::Value(value) => known.get(*value as usize).copied().unwrap_or(false),
        SliceArg::Constant(_) => true,
    };
    let mut changed = true;
    while changed {
        changed = false;
        for block in &slice.blocks {
            let phis = block
                .phis
                .iter()
                .map(|phi| (phi.target, phi.sources.iter().any(|source| is(&known, &source.1))));
            let ops = values(block).map(|op| {
                let may = match op.code {
                    SliceOpcode::Opaque => false,
                    SliceOpcode::Special | SliceOpcode::Lane | SliceOpcode::Scalar | SliceOpcode::Pointer => {
                        true
                    }
                    SliceOpcode::Select => op.args.iter().skip(1).all(|arg| is(&known, arg)),
                    _ => op.args.iter().all(|arg| is(&known, arg)),
                };
                (op.target, may)
            });
            for (target, may) in phis.chain(ops).collect::<Vec<_>>() {
                if let Some(place) = known.get_mut(target as usize).filter(|place| may && !**place) {
                    *place = true;
                    changed = true;
                }
            }
        }
    }
    known
}

/// Returns the operations of a block that define a value.
fn values(block: &SliceBlock) -> impl Iterator<Item = &SliceOp> {
    block
        .ops
        .iter()
        .filter(|op| !matches!(op.code, SliceOpcode::Store | SliceOpcode::Load | SliceOpcode::MayEnd))
}
