//! From a statement's record to the parameters of its node, once the addresses of its buffers are known.

use crate::index::{low, size};
use crate::ir::{Kind, Origin, StatementId};

use crate::runtime::cuda::{self, Filling, Word};
use crate::runtime::error::{Error, Result, at_statement};
use crate::runtime::kernels::{FILL64, FillRecord, LaunchRecord, Record, Shape};

use super::definition::Definition;
use super::node::{Copying, LaunchNode, Resolved, address, element};
use super::nodes::Nodes;

/// The most blocks of a fill of 8-byte values: each thread writes every so many elements.
const MOST_BLOCKS: u32 = 1 << 20;

impl Nodes {
    /// Writes the addresses of its buffers into a record's words, and returns the record; a fill that no memset can do becomes
    /// a launch.
    pub(crate) fn resolve(
        &self,
        definition: &mut Definition,
        statement: StatementId,
        record: Record,
        words: &mut [Word],
    ) -> Result<Record> {
        match record {
            Kind::Launch(launch) => {
                let words = &mut words[size(launch.first)..];
                address((&self.operations, self.pointed.as_ref()), &self.bases, (statement, &launch), words);
                Ok(record)
            }
            Kind::Fill(FillRecord { bits, size: 8, first })
                if self.fill_kernels[statement] || bits >> 32 != bits & 0xffff_ffff =>
            {
                let (address, len) = self.range_of(definition, statement, 0);
                let info = definition.modules.function(&FILL64)?;
                let blocks = u32::try_from(len.div_ceil(256))
                    .map_or(MOST_BLOCKS, |blocks| blocks.clamp(1, MOST_BLOCKS));
                let shape = Shape {
                    grid: [blocks, 1, 1],
                    block: [256.min(info.most_threads.max(1)), 1, 1],
                    shared: 0,
                };
                for (word, value) in words[size(first)..].iter_mut().zip([address, bits, len]) {
                    *word = cuda::address_word(value);
                }
                Ok(Kind::Launch(LaunchRecord { kernel: &FILL64, function: info.function, shape, first }))
            }
            Kind::Fill(_) | Kind::Copy(()) | Kind::Alloc(()) | Kind::Free(()) => Ok(record),
        }
    }

    /// Returns the address and the length, in elements, of a statement's access.
    fn range_of(&self, definition: &Definition, statement: StatementId, access: usize) -> (u64, u64) {
        let access = &definition.program().statements[statement].accesses[access];
        let (lo, hi) = (definition.dims()[access.lo], definition.dims()[access.hi]);
        let address =
            self.bases[access.buffer].wrapping_add(lo * element(definition.program(), access.buffer));
        (address, hi - lo)
    }

    fn place_of(&self, definition: &Definition, statement: StatementId, access: usize) -> cuda::Place {
        let buffer = definition.program().statements[statement].accesses[access].buffer;
        let (address, _) = self.range_of(definition, statement, access);
        match definition.program().buffers[buffer].origin {
            Origin::Pinned { .. } => cuda::Place::Host(address),
            _ => cuda::Place::Device(address),
        }
    }

    /// Returns the parameters of a node, from its resolved record.
    pub(crate) fn resolved(&self, definition: &Definition, statement: StatementId) -> Result<Kind<Resolved>> {
        let record = self.records[statement];
        Ok(match record {
            Kind::Launch(launch) => {
                let (launching, first) = (launch.launching(), size(launch.first));
                Kind::Launch(LaunchNode { launching, first, params: launch.kernel.params })
            }
            Kind::Fill(FillRecord { bits, size, .. }) => {
                let (target, len) = self.range_of(definition, statement, 0);
                let (element, width) = if size == 8 { (4, len * 2) } else { (size, len) };
                Kind::Fill(Filling { target, value: low(bits), element, width })
            }
            Kind::Copy(()) => {
                let (from, to) =
                    (self.place_of(definition, statement, 0), self.place_of(definition, statement, 1));
                let buffer = definition.program().statements[statement].accesses[0].buffer;
                let bytes = self.range_of(definition, statement, 0).1 * element(definition.program(), buffer);
                Kind::Copy(Copying { from, to, bytes })
            }
            Kind::Alloc(()) | Kind::Free(()) => {
                return Err(Error::Plan(format!(
                    "{} was not evaluated",
                    at_statement(definition.program(), statement)
                )));
            }
        })
    }
}
