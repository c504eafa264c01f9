//! Bodies of conditional nodes: an arm of an `if` or a `match` on a buffer, or the body of a `while`.
//!
//! A body stands in the list of statements between a [`Kind::Condition`](crate::kind::Kind::Condition) and a
//! [`Kind::Join`](crate::kind::Kind::Join). The arms of one `if` or `match` stand one behind the other. Exactly one of them
//! runs, or none, so an order in which each follows the one before loses nothing, and their temporaries share memory as those of
//! consecutive statements do.

use std::collections::BTreeSet;
use std::fmt;

/// The most values that the arms of one `match` are told apart by.
pub const MOST_VALUES: usize = 8;

/// A body, as both of the statements around it know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The word of the statement.
    pub word: Word,
    /// The number of the arm among those with statements.
    pub arm: u32,
    /// The number of arms with statements.
    pub arms: u32,
    /// True if exactly one arm runs, whatever the value is.
    pub total: bool,
    /// The values for which the body runs.
    pub test: Test,
    /// The most turns of a `while`.
    pub at_most: Option<u32>,
}

/// The word that a conditional statement begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// `if`
    If,
    /// `while`
    While,
    /// `match`
    Match,
}

impl Word {
    /// Returns the word.
    pub fn name(self) -> &'static str {
        match self {
            Word::If => "if",
            Word::While => "while",
            Word::Match => "match",
        }
    }
}

/// A set of values: these, or all others. A value may be listed several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Test {
    /// The values.
    pub values: [u32; MOST_VALUES],
    /// True for all others.
    pub others: bool,
}

impl Test {
    /// Returns the set of the values that are not 0.
    pub const TRUE: Test = Test { values: [0; MOST_VALUES], others: true };

    /// Returns the set of these values, or of all others; `None` if there are none, or too many.
    pub fn of(values: &[u32], others: bool) -> Option<Test> {
        let mut all = [*values.first()?; MOST_VALUES];
        all.get_mut(..values.len())?.copy_from_slice(values);
        Some(Test { values: all, others })
    }
}

impl fmt::Display for Test {
    /// Writes the values as the pattern of an arm.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.others {
            return f.write_str("_");
        }
        let values: BTreeSet<u32> = self.values.into_iter().collect();
        let values: Vec<String> = values.iter().map(u32::to_string).collect();
        f.write_str(&values.join(" | "))
    }
}

impl Condition {
    /// Returns the number of buffers that the statement in front of the body accesses itself: the operand, and the counter of
    /// turns. Its other accesses are those of the body.
    pub fn own_accesses(&self) -> usize {
        if self.arm == 0 { 1 + usize::from(self.at_most.is_some()) } else { 0 }
    }

    /// Returns the number of buffers that the statement behind the body accesses itself.
    pub fn own_accesses_behind(&self) -> usize {
        if self.word == Word::While { self.own_accesses() } else { 0 }
    }

    /// Returns true for the last arm of a statement of which one arm always runs.
    pub fn completes(&self) -> bool {
        self.total && self.arm + 1 == self.arms
    }

    /// Returns the name of the body in messages.
    pub fn body(&self) -> String {
        match self.word {
            Word::While => "the body of a `while`".to_owned(),
            Word::If if self.arms == 1 => "the only arm of an `if`".to_owned(),
            Word::If if self.arm == 0 => "the first arm of an `if`".to_owned(),
            Word::If => "the `else` of an `if`".to_owned(),
            Word::Match => format!("the arm `{}` of a `match`", self.test),
        }
    }

    /// Calls `number` with the numbers that stand for it in tables.
    pub fn write(&self, number: &mut dyn FnMut(u32)) {
        let word = match self.word {
            Word::If => 0,
            Word::While => 1,
            Word::Match => 2,
        };
        number(word << 2 | u32::from(self.total) << 1 | u32::from(self.test.others));
        number(self.arm);
        number(self.arms);
        number(self.at_most.unwrap_or(0));
        self.test.values.iter().for_each(|&value| number(value));
    }

    /// Reads what [`Condition::write`] wrote.
    pub fn read(number: &mut dyn FnMut() -> Option<u32>) -> Option<Condition> {
        let flags = number()?;
        let word = match flags >> 2 {
            0 => Word::If,
            1 => Word::While,
            2 => Word::Match,
            _ => return None,
        };
        let (arm, arms) = (number()?, number()?);
        let at_most = Some(number()?).filter(|&most| most != 0);
        let mut values = [0; MOST_VALUES];
        for value in &mut values {
            *value = number()?;
        }
        let test = Test { values, others: flags & 1 != 0 };
        Some(Condition { word, arm, arms, total: flags & 2 != 0, test, at_most })
    }
}
