//! Ranks in several processes. They exchange data through files in the folder that the environment variable
//! `CUWEAVE_TEST_NCCL_FOLDER` names.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::compute::Collective;

/// Returns the folder; `None` if all ranks are in this process.
pub fn folder() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| std::env::var_os("CUWEAVE_TEST_NCCL_FOLDER").map(PathBuf::from)).as_ref()
}

/// Writes a file atomically.
fn put(name: &str, bytes: &[u8]) {
    let Some(folder) = folder() else { return };
    let part = folder.join(format!("part-{}-{name}", std::process::id()));
    let put = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, folder.join(name)));
    put.expect("the folder of the ranks");
}

/// Announces that a rank has joined a communicator.
pub fn join(id: u64, rank: u32) {
    put(&format!("join-{id}-{rank}"), &[]);
}

/// Returns the number of ranks that have joined a communicator.
pub fn joined(id: u64, ranks: u32) -> u32 {
    let joined =
        |rank: &u32| folder().is_some_and(|folder| folder.join(format!("join-{id}-{rank}")).exists());
    (0..ranks).filter(joined).count() as u32
}

/// Publishes the data that a rank contributes to a collective.
pub fn give((id, number): (u64, u64), rank: u32, what: &Collective, bytes: &[u8]) {
    let Collective { name, count, element, op, root } = what;
    let head = format!("{name} {count} {element} {op} {root}\n");
    put(&format!("meeting-{id}-{number}-{rank}"), &[head.as_bytes(), bytes].concat());
}

/// Returns the data that ranks have contributed to a collective so far.
pub fn given((id, number): (u64, u64), ranks: u32) -> BTreeMap<u32, (Collective, Vec<u8>)> {
    let read = |rank: u32| {
        let bytes = std::fs::read(folder()?.join(format!("meeting-{id}-{number}-{rank}"))).ok()?;
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut words = head.split(' ');
        let said = words.next()?;
        let name = Collective::NAMES.into_iter().find(|&name| name == said)?;
        let mut next = || words.next().and_then(|word| word.parse::<usize>().ok());
        let (count, element, op, root) = (next()?, next()?, next()?, next()?);
        let what = Collective::new(name, count, element as u32, op as u32, root as u32);
        Some((rank, (what, bytes[end + 1..].to_vec())))
    };
    (0..ranks).filter_map(read).collect()
}
