//! How far a kernel reaches behind each pointer.
use super::access::{Reach, Site, Touched};
use super::flow::Flow;

pub(super) struct Reaches {
    pub all: Option<Vec<Reach>>,
    pub met: Vec<Reach>,
}

pub(super) fn reaches(
    _flow: &Flow<'_, '_, '_>,
    _touched: &[Touched],
    _site: impl Fn(&Touched) -> Site,
) -> Reaches {
    Reaches { all: None, met: Vec::new() }
}
