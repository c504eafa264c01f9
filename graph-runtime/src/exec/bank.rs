//! A bank: execs by key, whose temporaries share the arena of one stream.
//!
//! A bank must know the size of an exec before it makes room for it, and must make room before the driver takes memory.
//! A graph that is instantiated in a bank's pool therefore only gets its nodes; the bank then drops execs and
//! instantiates it. An exec that is used before that instantiates itself (`Core::ready`).

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::error::{BankFault, Error, Result};
use crate::token::Token;

use super::arena::ArenaPool;
use super::exec_bytes::ExecBytes;
use super::graph::{ExecCore, Generated, GraphFn};
use super::pooled::instantiate_in;

/// An exec of a graph function, as `decode::Exec`, or of a builder. Only generated code can implement it.
pub trait GraphExec: fmt::Debug + Sized {
    /// The graph function.
    #[doc(hidden)]
    type Function: GraphFn + Generated<Exec = Self>;
}

/// Execs by key, for graphs whose structure depends on the key: see [`Bank::get`].
///
/// An exec is built when its key is first asked for. The temporaries of all execs lie in one arena, as in an
/// [`ArenaPool`], so all are launched into the bank's stream. If `max_execs` or `max_bytes` would be exceeded, the exec
/// whose last [`get`](Bank::get) is longest ago is dropped: its launches complete, and its memory is reused after them.
///
/// ```no_run
/// # use {cudarc::driver::CudaStream, cuweave_runtime as cuweave, std::sync::Arc};
/// # use cuweave::{ArenaPool, GraphExec, Result};
/// # fn serve<E: GraphExec>(stream: &Arc<CudaStream>, build: impl Fn(u32, &ArenaPool) -> Result<E>) -> Result<()> {
/// let mut bank = cuweave::Bank::<u32, E>::new(stream).max_execs(16).max_bytes(256 << 20);
/// for batch in [1, 8, 1] {
///     let exec = bank.get(&batch, |pool| build(batch, pool))?;    // build: `decode(..)?.instantiate_in(pool)`
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a bank builds execs when its `get` or `warm` is called"]
pub struct Bank<K, E> {
    stream: Arc<CudaStream>,
    max_execs: usize,
    max_bytes: u64,
    /// `None` before the first exec.
    pool: Option<ArenaPool>,
    execs: HashMap<Arc<K>, Box<HeldExec<E>>>,
    /// The keys by the number of their last use.
    recent: BTreeMap<u64, Arc<K>>,
    /// The number of uses.
    uses: u64,
    /// The sum of the driver's bytes of `execs`.
    driver: u64,
    /// The high-water mark of `driver`.
    driver_high: u64,
}

/// An exec in a bank.
struct HeldExec<E> {
    exec: E,
    bytes: ExecBytes,
    /// The number of its last use.
    used: u64,
}

/// The bytes of a [`Bank`]: see [`Bank::bytes`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BankBytes<K> {
    /// The bytes of each exec. The one that would be dropped next comes first.
    pub each: Vec<(K, ExecBytes)>,
    /// The bytes of all: `planned` is the size of the arena, `driver` the largest sum of the driver's bytes so far,
    /// because the driver keeps what destroyed execs had, and reuses it for others.
    pub all: ExecBytes,
}

impl<K, E> Bank<K, E> {
    /// Returns a bank without execs or memory, and without limits.
    ///
    /// The stream is checked by the first [`get`](Bank::get), as [`ArenaPool::new`] does.
    pub fn new(stream: &Arc<CudaStream>) -> Bank<K, E> {
        Bank {
            stream: stream.clone(),
            max_execs: usize::MAX,
            max_bytes: u64::MAX,
            pool: None,
            execs: HashMap::new(),
            recent: BTreeMap::new(),
            uses: 0,
            driver: 0,
            driver_high: 0,
        }
    }

    /// Sets the maximum number of execs, at least 1. Takes effect with the next new exec.
    pub fn max_execs(mut self, execs: usize) -> Bank<K, E> {
        self.max_execs = execs;
        self
    }

    /// Sets the maximum number of bytes: the arena, and the driver's bytes of the execs that the bank holds. Takes
    /// effect with the next new exec. Outputs and arguments do not count.
    ///
    /// The arena has the size of the largest exec, and does not shrink while there are others. It grows while a larger
    /// exec is built; execs are dropped after that, and before the driver takes memory for the new one.
    pub fn max_bytes(mut self, bytes: u64) -> Bank<K, E> {
        self.max_bytes = bytes;
        if let Some(pool) = &self.pool {
            pool.shared().set_max_bytes(bytes);
        }
        self
    }

    /// Returns the stream into which the execs are launched.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Returns the number of execs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.execs.len()
    }

    /// Returns true if there are no execs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.execs.is_empty()
    }

    /// Drops all execs and the arena. Their launches complete.
    pub fn clear(&mut self) {
        self.recent.clear();
        self.execs.clear();
        self.driver = 0;
        self.pool = None;
    }

    /// Returns the bytes of the arena.
    fn arena(&self) -> u64 {
        self.pool.as_ref().map_or(0, ArenaPool::bytes)
    }

    /// Returns the bank's pool.
    fn pool(&mut self) -> Result<ArenaPool> {
        if let Some(pool) = &self.pool {
            return Ok(pool.clone());
        }
        let pool = ArenaPool::of_bank(&self.stream, self.max_bytes)?;
        self.pool = Some(pool.clone());
        Ok(pool)
    }
}

impl<K: Eq + Hash + Clone, E: GraphExec> Bank<K, E> {
    /// Returns the exec of a key. If there is none, `build` makes it: it builds a graph and instantiates it in the pool
    /// that it is given. This is a use of the exec: others are dropped before it.
    ///
    /// A key must determine the structure of its graph; whatever else differs is set by the exec's setters.
    ///
    /// # Errors
    ///
    /// The errors of `build`. A new exec that is not in the bank's pool, or that alone takes more than `max_bytes`
    /// ([`Error::Bank`]). A stream without a pool, as for [`ArenaPool::new`]; a failure of the driver. Execs that were
    /// dropped for a new one stay dropped.
    ///
    /// # Complexity
    ///
    /// O(log execs), and a build for a new exec.
    pub fn get(&mut self, key: &K, build: impl FnOnce(&ArenaPool) -> Result<E>) -> Result<&mut E> {
        let (key, mut held) = match self.execs.remove_entry(key) {
            Some(held) => held,
            None => (Arc::new(key.clone()), self.admit(build)?),
        };
        self.recent.remove(&held.used);
        self.uses += 1;
        held.used = self.uses;
        self.recent.insert(held.used, key.clone());
        Ok(&mut self.execs.entry(key).insert_entry(held).into_mut().exec)
    }

    /// Builds the execs of keys before they are asked for, in this order. Keys that have an exec count as used. If the
    /// limits do not allow all, the last ones remain.
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Bank::get), with the first key that has one. Earlier execs remain.
    pub fn warm<Q: Borrow<K>>(
        &mut self,
        keys: impl IntoIterator<Item = Q>,
        mut build: impl FnMut(&K, &ArenaPool) -> Result<E>,
    ) -> Result<()> {
        keys.into_iter().try_for_each(|key| {
            let key = key.borrow();
            self.get(key, |pool| build(key, pool)).map(|_| ())
        })
    }

    /// Returns true if the key has an exec. This is no use of it.
    #[must_use]
    pub fn contains(&self, key: &K) -> bool {
        self.execs.contains_key(key)
    }

    /// Takes the exec of a key out of the bank. It keeps the arena, and the bank no longer counts its bytes.
    pub fn remove(&mut self, key: &K) -> Option<E> {
        let held = self.execs.remove(key)?;
        self.recent.remove(&held.used);
        self.driver -= held.bytes.driver;
        Some(held.exec)
    }

    /// Returns the bytes of the execs. O(execs).
    #[must_use]
    pub fn bytes(&self) -> BankBytes<K> {
        let held = self.recent.values().filter_map(|key| Some((key, self.execs.get(key)?)));
        let each: Vec<(K, ExecBytes)> = held.map(|(key, held)| (K::clone(key), held.bytes)).collect();
        let library = each.iter().map(|(_, bytes)| bytes.library).max().unwrap_or(0);
        BankBytes { each, all: ExecBytes { planned: self.arena(), library, driver: self.driver_high } }
    }

    /// Builds an exec, makes room for it, and instantiates it.
    fn admit(&mut self, build: impl FnOnce(&ArenaPool) -> Result<E>) -> Result<Box<HeldExec<E>>> {
        let pool = self.pool()?;
        let mut exec = build(&pool)?;
        let core = E::Function::core_mut(&mut exec, Token);
        let fault = |core: &ExecCore<E::Function>, fault| {
            Err(Error::Bank(core.core.definition.program().name.to_string(), fault))
        };
        if !core.core.temporaries.pool.as_ref().is_some_and(|shared| Arc::ptr_eq(shared, pool.shared())) {
            return fault(core, BankFault::NotInPool);
        }
        if self.max_execs == 0 {
            return fault(core, BankFault::NoExecs);
        }
        let bytes = core.core.exec_bytes();
        let is_instantiated = core.core.is_instantiated();
        if is_instantiated {
            self.note_driver(bytes);
        }
        self.make_room(bytes);
        // No exec is left then. The arena is as large as one that was dropped, and is replaced by a smaller one.
        if self.arena().saturating_add(bytes.driver) > self.max_bytes && !is_instantiated {
            self.pool = None;
            core.instantiate_in(&self.pool()?)?;
        }
        core.instantiate()?;
        // Launches as written, if the driver refused merged ones, take more.
        let bytes = core.core.exec_bytes();
        self.note_driver(bytes);
        self.make_room(bytes);
        let needed = self.arena().saturating_add(bytes.driver);
        if needed > self.max_bytes {
            return fault(core, BankFault::AboveLimit { needed, most: self.max_bytes });
        }
        self.driver += bytes.driver;
        Ok(Box::new(HeldExec { exec, bytes, used: 0 }))
    }

    /// Records that the driver holds the memory of one more exec.
    fn note_driver(&mut self, new: ExecBytes) {
        self.driver_high = self.driver_high.max(self.driver.saturating_add(new.driver));
    }

    /// Drops the execs that are longest unused, until another one fits or none is left.
    fn make_room(&mut self, new: ExecBytes) {
        let fits = |bank: &Self| {
            let bytes = bank.arena().saturating_add(bank.driver).saturating_add(new.driver);
            bank.execs.len() < bank.max_execs && bytes <= bank.max_bytes
        };
        while !fits(self) {
            let Some((_, key)) = self.recent.pop_first() else { return };
            if let Some(held) = self.execs.remove(&key) {
                self.driver -= held.bytes.driver;
            }
        }
    }
}

impl<A: GraphFn> ExecCore<A> {
    /// Instantiates an exec that is not instantiated yet.
    fn instantiate(&mut self) -> Result<()> {
        if !self.core.is_instantiated() {
            self.core.instantiate(&self.args.values(Token))?;
        }
        self.begin()
    }

    /// Moves an exec that is not instantiated yet to another pool.
    fn instantiate_in(&mut self, pool: &ArenaPool) -> Result<()> {
        instantiate_in(&mut self.core, &self.args.values(Token), pool)
    }
}

impl<K, E> fmt::Debug for Bank<K, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bank")
            .field("stream", &self.stream.cu_stream())
            .field("execs", &self.execs.len())
            .field("arena", &self.arena())
            .field("driver", &self.driver)
            .finish_non_exhaustive()
    }
}
