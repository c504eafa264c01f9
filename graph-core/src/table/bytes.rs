//! Encoding of tables as bytes: numbers are unsigned LEB128. A text follows its length and is written once; later
//! uses are references.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::index::{Index, narrow, size, wide};
use crate::ir::Text;

/// Writes a table.
#[derive(Default)]
pub struct Writer<'p> {
    pub bytes: Vec<u8>,
    /// The number of each text already written. Names repeat often.
    texts: BTreeMap<&'p str, u32>,
}

impl<'p> Writer<'p> {
    pub fn long(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(low_bits(value) | 0x80);
            value >>= 7;
        }
        self.bytes.push(low_bits(value));
    }

    pub fn number(&mut self, value: u32) {
        self.long(u64::from(value));
    }

    pub fn id(&mut self, id: impl Index) {
        self.long(wide(id.index()));
    }

    pub fn ids(&mut self, ids: &[impl Index]) {
        self.list(ids.iter(), |writer, &id| writer.id(id));
    }

    pub fn list<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut each: impl FnMut(&mut Writer<'p>, T),
    ) {
        self.long(wide(items.len()));
        items.for_each(|item| each(self, item));
    }

    /// Writes the number of a text; the first time, followed by the text.
    pub fn text(&mut self, text: &'p str) {
        let next = narrow(self.texts.len());
        let number = *self.texts.entry(text).or_insert(next);
        self.number(number);
        if number == next {
            self.long(wide(text.len()));
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }
}

/// Returns the lowest 7 bits of a number.
fn low_bits(value: u64) -> u8 {
    value.to_le_bytes()[0] & 0x7f
}

/// Reads a table. Every method returns `None` for invalid bytes.
pub struct Reader {
    pub bytes: &'static [u8],
    pub texts: Vec<&'static str>,
}

impl Reader {
    pub fn long(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub fn number(&mut self) -> Option<u32> {
        u32::try_from(self.long()?).ok()
    }

    pub fn id<I: Index>(&mut self) -> Option<I> {
        Some(I::new(size(self.number()?)))
    }

    pub fn ids<I: Index>(&mut self) -> Option<Vec<I>> {
        self.list(Reader::id)
    }

    pub fn list<T>(&mut self, mut each: impl FnMut(&mut Reader) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.long()?).ok()?;
        // An item has at least one byte, so this bounds the capacity for an invalid count.
        let mut items = Vec::with_capacity(count.min(self.bytes.len()));
        for _ in 0..count {
            items.push(each(self)?);
        }
        Some(items)
    }

    pub fn text(&mut self) -> Option<Text> {
        let number = size(self.number()?);
        if number == self.texts.len() {
            let length = usize::try_from(self.long()?).ok()?;
            let (text, rest) = self.bytes.split_at_checked(length)?;
            self.bytes = rest;
            self.texts.push(std::str::from_utf8(text).ok()?);
        }
        self.texts.get(number).map(|text| Cow::Borrowed(*text))
    }
}
