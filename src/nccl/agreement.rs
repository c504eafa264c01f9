//! Makes ranks in different processes agree on the collectives of a graph, before any of these is enqueued.
//!
//! Ranks compare digests first. If these differ, they search for the first collective that differs. All ranks
//! take the same steps, because each step depends only on data that all have exchanged.

use crate::__private::{CollectiveDifference, CollectiveSequence, Interleaving};
use crate::error::{CommunicatorFault, LibraryError};

use super::error::Error;

/// The bytes that each rank sends to the others in one exchange.
pub(super) const PIECE: usize = 256;

/// The words of a piece.
const WORDS: usize = PIECE / 8;

/// The words from each rank, by rank.
type WordsByRank = Vec<[u64; WORDS]>;

/// The pieces of all ranks, concatenated by rank.
pub(super) type Exchanged = Result<Vec<u8>, Error>;

/// The comparison between ranks. The function exchanges a piece of bytes with all ranks.
pub(super) struct Agreement<'x>(pub &'x dyn Fn(&[u8]) -> Exchanged);

impl Agreement<'_> {
    /// Compares the collectives of this rank with those of the other ranks.
    pub(super) fn compare(&self, own: &CollectiveSequence<'_>) -> Result<(), CollectiveDifference> {
        let texts = own.texts;
        let digest = texts.iter().fold(hash(&[]), |hash, text| extend_hash(hash, text));
        let heads = self.exchange_words([
            digest,
            to_u64(texts.len()),
            to_u64(own.interleavings.len()),
            interleaving_digest(&own.interleavings),
        ])?;
        if heads.iter().any(|head| head[..2] != heads[0][..2]) {
            return Err(self.first_difference(texts, &heads)?);
        }
        if heads.iter().all(|head| head[..4] == heads[0][..4]) {
            return Ok(());
        }
        self.compare_interleaving(own, &heads)
    }

    /// Returns the first collective that differs between ranks. `heads` holds their digests and numbers of collectives.
    fn first_difference(
        &self,
        own: &[String],
        heads: &WordsByRank,
    ) -> Result<CollectiveDifference, CollectiveDifference> {
        let max = heads.iter().map(|head| head[1]).max().unwrap_or(0);
        let digest_of = |at: u64| own.get(to_usize(at)).map_or(0, |text| extend_hash(hash(&[]), text));
        let found = self.first_word(max, digest_of, |words| words.iter().any(|word| *word != words[0]))?;
        let Some((at, _)) = found else {
            return Ok(CollectiveDifference::Communicator(CommunicatorFault::Digests));
        };
        let text = own.get(at).map_or("", String::as_str);
        let all = (self.0)(&text.as_bytes()[..text.len().min(PIECE)]).map_err(failed)?;
        let texts: Vec<String> = all
            .chunks(PIECE)
            .map(|piece| String::from_utf8_lossy(piece).trim_end_matches('\0').to_owned())
            .collect();
        let other = texts.iter().position(|text| *text != texts[0]).unwrap_or(0);
        // At least one of the two has a collective here.
        let said = match (texts[0].as_str(), texts[other].as_str()) {
            (one, "") => format!("is `{one}` on rank 0, and rank {other} has no more"),
            ("", one) => format!("is `{one}` on rank {other}, and rank 0 has no more"),
            (first, one) => format!("is `{first}` on rank 0, and `{one}` on rank {other}"),
        };
        Ok(CollectiveDifference::Collective {
            at,
            text: format!("collective {at} of the communicator {said}"),
        })
    }

    /// Compares the positions of this communicator's collectives relative to other communicators that at
    /// least two of these ranks have in their graphs. Two such ranks must interleave both communicators in
    /// the same order, or they wait for each other forever.
    fn compare_interleaving(
        &self,
        own: &CollectiveSequence<'_>,
        heads: &WordsByRank,
    ) -> Result<(), CollectiveDifference> {
        let max = heads.iter().map(|head| head[2]).max().unwrap_or(0);
        let mut keys: Vec<u64> = Vec::new();
        for begin in (0..max).step_by(WORDS) {
            let key_of = |at: u64| own.interleavings.get(to_usize(at)).map_or(0, |other| other.key);
            for words in
                self.exchange_words(std::array::from_fn::<_, WORDS, _>(|at| key_of(begin + to_u64(at))))?
            {
                keys.extend(words.into_iter().filter(|&key| key != 0));
            }
        }
        keys.sort_unstable();
        // A key that occurs only once belongs to a single rank, which cannot disagree.
        let shared: Vec<u64> = keys
            .chunk_by(|one, other| one == other)
            .filter(|same| same.len() > 1)
            .map(|same| same[0])
            .collect();
        for key in shared {
            let here = own.interleavings.iter().find(|other| other.key == key);
            // 0 stands for a rank without that communicator.
            let before = |at: u64| {
                here.map_or(0, |other| other.before.get(to_usize(at)).map_or(0, |before| before + 1))
            };
            let differs = |words: &[u64]| {
                let mut said = words.iter().filter(|word| **word != 0);
                said.next().is_some_and(|first| said.any(|word| word != first))
            };
            if let Some((at, words)) = self.first_word(heads[0][1], before, differs)? {
                let said: Vec<(usize, u64)> =
                    words.iter().copied().enumerate().filter(|(_, word)| *word != 0).collect();
                let (first, other) =
                    (said[0], said.iter().find(|one| one.1 != said[0].1).unwrap_or(&said[0]));
                let text = format!(
                    "collective {at} of the communicator, `{}`, comes behind {} of another communicator on rank {}, \
                        and behind {} on rank {}",
                    own.texts.get(at).map_or("none", String::as_str),
                    first.1 - 1,
                    first.0,
                    other.1 - 1,
                    other.0
                );
                return Err(CollectiveDifference::Collective { at, text });
            }
        }
        Ok(())
    }

    /// Exchanges one word for each of `len` positions. Returns the first position whose words differ, with
    /// all ranks' words.
    fn first_word(
        &self,
        len: u64,
        word_at: impl Fn(u64) -> u64,
        differs: impl Fn(&[u64]) -> bool,
    ) -> Result<Option<(usize, Vec<u64>)>, CollectiveDifference> {
        for begin in (0..len).step_by(WORDS) {
            let all =
                self.exchange_words(std::array::from_fn::<_, WORDS, _>(|at| word_at(begin + to_u64(at))))?;
            for at in 0..WORDS {
                let words: Vec<u64> = all.iter().map(|words| words[at]).collect();
                if differs(&words) {
                    return Ok(Some((to_usize(begin).saturating_add(at), words)));
                }
            }
        }
        Ok(None)
    }

    /// Sends words to all ranks and returns the words of all ranks.
    fn exchange_words<const N: usize>(&self, words: [u64; N]) -> Result<WordsByRank, CollectiveDifference> {
        let piece: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let all = (self.0)(&piece).map_err(failed)?;
        Ok(all.chunks(PIECE).map(|piece| std::array::from_fn(|at| word(piece, at))).collect())
    }
}

fn failed(error: Error) -> CollectiveDifference {
    CollectiveDifference::Communicator(match error {
        Error::Dead(reason) => reason,
        error => CommunicatorFault::NotCompared(LibraryError::new(error)),
    })
}

/// Returns a digest of the positions of the collectives relative to other communicators.
fn interleaving_digest(interleavings: &[Interleaving]) -> u64 {
    let bytes = interleavings.iter().flat_map(|other| std::iter::once(&other.key).chain(&other.before));
    bytes.flat_map(|word| word.to_le_bytes()).fold(hash(&[]), add)
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn word(piece: &[u8], at: usize) -> u64 {
    let bytes = piece.get(8 * at..8 * at + 8).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_le_bytes)
}

/// 64-bit FNV-1a.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| add(hash, byte))
}

fn extend_hash(hash: u64, text: &str) -> u64 {
    text.bytes().chain([0xff]).fold(hash, add)
}

fn add(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}
