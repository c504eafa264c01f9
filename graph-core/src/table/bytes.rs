//! The bytes of tables: unsigned numbers in LEB128, texts behind their length, each written once.

use std::borrow::Cow;
use std::collections::BTreeMap;

type Text = Cow<'static, str>;

/// Writes a table.
#[derive(Default)]
pub struct Writer<'p> {
    pub bytes: Vec<u8>,
    /// The offset of each text that is written already: names repeat.
    texts: BTreeMap<&'p str, u32>,
}

impl<'p> Writer<'p> {
    pub fn long(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub fn number(&mut self, value: u32) {
        self.long(u64::from(value));
    }

    pub fn list<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut each: impl FnMut(&mut Writer<'p>, T),
    ) {
        self.long(items.len() as u64);
        items.for_each(|item| each(self, item));
    }

    /// The number of a text; a new one stands behind its number.
    pub fn text(&mut self, text: &'p str) {
        let next = self.texts.len() as u32;
        let number = *self.texts.entry(text).or_insert(next);
        self.number(number);
        if number == next {
            self.long(text.len() as u64);
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }
}

/// Reads a table: `None` for bytes that are none.
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

    pub fn list<T>(&mut self, mut each: impl FnMut(&mut Reader) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.long()?).ok()?;
        // An item has at least a byte: a wrong count asks for no more room than there are bytes.
        let mut items = Vec::with_capacity(count.min(self.bytes.len()));
        for _ in 0..count {
            items.push(each(self)?);
        }
        Some(items)
    }

    pub fn text(&mut self) -> Option<Text> {
        let number = self.number()? as usize;
        if number == self.texts.len() {
            let length = usize::try_from(self.long()?).ok()?;
            let (text, rest) = self.bytes.split_at_checked(length)?;
            self.bytes = rest;
            self.texts.push(std::str::from_utf8(text).ok()?);
        }
        self.texts.get(number).map(|text| Cow::Borrowed(*text))
    }
}
