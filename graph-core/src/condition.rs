//! Conditional bodies: an arm of an `if` or a `match` on a buffer, or the body of a `while`.
//!
//! In the list of statements, a body is enclosed by a
//! [`StatementKind::Condition`](crate::kind::StatementKind::Condition) and a
//! [`StatementKind::Join`](crate::kind::StatementKind::Join). The arms of one `if` or `match` are consecutive and
//! ordered one after the other. This loses no parallelism, since at most one arm runs. Their temporaries share memory
//! like those of consecutive statements.

use std::collections::BTreeSet;
use std::fmt;

/// The maximum number of values of the arms of one `match`.
pub const MAX_VALUES: usize = 8;

/// A conditional body, as stored in both statements that enclose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The keyword of the statement.
    pub word: ConditionKeyword,
    /// The index of the arm among the arms with statements.
    pub arm: u32,
    /// The number of arms with statements.
    pub arms: u32,
    /// True if exactly one arm runs for every value.
    pub total: bool,
    /// The values for which the body runs.
    pub test: ArmValues,
    /// The maximum number of iterations of a `while`.
    pub at_most: Option<u32>,
}

/// The keyword of a conditional statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionKeyword {
    /// `if`
    If,
    /// `while`
    While,
    /// `match`
    Match,
}

impl ConditionKeyword {
    /// Returns the keyword.
    pub fn name(self) -> &'static str {
        match self {
            ConditionKeyword::If => "if",
            ConditionKeyword::While => "while",
            ConditionKeyword::Match => "match",
        }
    }
}

/// A set of values, or the values that no other arm names. A value may be listed several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArmValues {
    /// The values.
    pub values: [u32; MAX_VALUES],
    /// True for the values that no other arm names.
    pub others: bool,
}

impl ArmValues {
    /// All values other than 0.
    pub const TRUE: ArmValues = ArmValues { values: [0; MAX_VALUES], others: true };

    /// Makes the set of these values, or of all others. `None` if the list is empty or too long.
    pub fn of(values: &[u32], others: bool) -> Option<ArmValues> {
        let mut all = [*values.first()?; MAX_VALUES];
        all.get_mut(..values.len())?.copy_from_slice(values);
        Some(ArmValues { values: all, others })
    }
}

impl fmt::Display for ArmValues {
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
    /// Returns the number of buffers that the condition accesses itself: the operand, and the iteration counter.
    /// Its other accesses are the accesses of the body.
    pub fn own_accesses(&self) -> usize {
        if self.arm == 0 { 1 + usize::from(self.at_most.is_some()) } else { 0 }
    }

    /// Returns the number of buffers that the join accesses itself.
    pub fn own_accesses_after(&self) -> usize {
        if self.word == ConditionKeyword::While { self.own_accesses() } else { 0 }
    }

    /// Returns true for the last arm of a statement in which exactly one arm runs for every value.
    pub fn completes(&self) -> bool {
        self.total && self.arm + 1 == self.arms
    }

    /// Returns the name of the body in messages.
    pub fn body(&self) -> String {
        match self.word {
            ConditionKeyword::While => "the body of a `while`".to_owned(),
            ConditionKeyword::If if self.arms == 1 => "the only arm of an `if`".to_owned(),
            ConditionKeyword::If if self.arm == 0 => "the first arm of an `if`".to_owned(),
            ConditionKeyword::If => "the `else` of an `if`".to_owned(),
            ConditionKeyword::Match => format!("the arm `{}` of a `match`", self.test),
        }
    }

    /// Encodes the condition for a table, as calls of `number`.
    pub fn write(&self, number: &mut dyn FnMut(u32)) {
        let word = match self.word {
            ConditionKeyword::If => 0,
            ConditionKeyword::While => 1,
            ConditionKeyword::Match => 2,
        };
        number(word << 2 | u32::from(self.total) << 1 | u32::from(self.test.others));
        number(self.arm);
        number(self.arms);
        number(self.at_most.unwrap_or(0));
        self.test.values.iter().for_each(|&value| number(value));
    }

    /// Decodes the output of [`Condition::write`].
    pub fn read(number: &mut dyn FnMut() -> Option<u32>) -> Option<Condition> {
        let flags = number()?;
        let word = match flags >> 2 {
            0 => ConditionKeyword::If,
            1 => ConditionKeyword::While,
            2 => ConditionKeyword::Match,
            _ => return None,
        };
        let (arm, arms) = (number()?, number()?);
        let at_most = Some(number()?).filter(|&most| most != 0);
        let mut values = [0; MAX_VALUES];
        for value in &mut values {
            *value = number()?;
        }
        let test = ArmValues { values, others: flags & 1 != 0 };
        Some(Condition { word, arm, arms, total: flags & 2 != 0, test, at_most })
    }
}
