//! Concurrent chains: stacked, or left as written.

use super::*;

/// Chains of the same kernels are stacked, whatever their length; those of long kernels up to a quarter of a wave.
#[test]
fn chains_side_by_side_are_stacked() {
    let stacks = |(chains, length), turns: TripCount, wave: u32, others: &[u32]| {
        let all = Fusing::With(Vec::new().into());
        let case = Case::chains(chains, length)
            .change(
                |_| true,
                |launch, _| {
                    (launch.grid, launch.wave) = ([1; 3], wave);
                    (launch.fuse, launch.trip_count) = (all.clone(), turns);
                },
            )
            .change(|id| others.contains(&id), |launch, _| launch.fuse = Fusing::Never);
        let decision = case.decide(Allowed { batches: true, fuse: true, ..Allowed::default() });
        let sizes = decision.chains.iter().map(|chain| (chain.chains().len(), chain.length()));
        (sizes.collect::<Vec<_>>(), decision.batches.len())
    };
    assert_eq!(stacks((8, 2), TripCount::AtMost(5), 1_056, &[]), (vec![(8, 2)], 0));
    let waves = |turns| [1, 2, 31, 32].map(|wave| stacks((8, 2), turns, wave, &[]).0.len());
    assert_eq!([TripCount::Unknown, TripCount::ByData, TripCount::AtMost(257)].map(waves), [[1, 0, 0, 1]; 3]);
    assert_eq!(waves(TripCount::AtMost(256)), [1; 4]);
    assert_eq!(stacks((8, 2), TripCount::AtMost(257), 31, &[]), (vec![], 2));
    // A level that cannot be fused is a batch between two stacks. A single level after it is not stacked.
    let third: Vec<u32> = (16..24).collect();
    assert_eq!(stacks((8, 5), TripCount::AtMost(5), 1_056, &third), (vec![(8, 2), (8, 2)], 1));
    assert_eq!(stacks((8, 4), TripCount::AtMost(5), 1_056, &third), (vec![(8, 2)], 2));
    // One such launch in the level is enough.
    assert_eq!(stacks((8, 5), TripCount::AtMost(5), 1_056, &[17]), (vec![(8, 2), (8, 2)], 1));
}

/// Unbatched concurrent chains whose duration depends on data are fused up to a quarter of a wave, and above four
/// waves.
#[test]
fn long_kernels_side_by_side_stay_alone() {
    let fused = |chains: u32, wave: u32, turns: TripCount| {
        let all = Fusing::With(Vec::new().into());
        let case = Case::chains(chains, 8).change(
            |_| true,
            |launch, id| {
                (launch.grid, launch.wave, launch.work) = ([1; 3], wave, vec![id.into()]);
                (launch.fuse, launch.trip_count) = (all.clone(), turns);
            },
        );
        let decision = case.decide(Allowed { batches: true, fuse: true, ..Allowed::default() });
        assert!(decision.batches.is_empty());
        decision.chains.len()
    };
    assert_eq!([1, 2, 31, 32].map(|wave| fused(8, wave, TripCount::ByData)), [1, 0, 0, 1]);
    assert_eq!(
        [
            fused(8, 31, TripCount::AtMost(9)),
            fused(8, 31, TripCount::Unknown),
            fused(1, 1, TripCount::ByData)
        ],
        [1; 3]
    );
}

/// Launches on two devices never share a level: the blocks of each device count separately.
#[test]
fn each_device_has_levels_of_its_own() {
    let all = Fusing::With(Vec::new().into());
    let case = Case::chains(2, 8).change(
        |_| true,
        |launch, id| {
            (launch.grid, launch.wave, launch.work) = ([1; 3], 3, vec![id.into()]);
            (launch.fuse, launch.trip_count) = (all.clone(), TripCount::ByData);
            launch.kernel = KernelId::from_u32(id % 2);
        },
    );
    let fused = |devices: u32| {
        let mut program = program(case.launches.len());
        for (at, statement) in (0..).zip(program.statements.iter_mut()) {
            statement.device = Device::from_u32(at % devices);
        }
        let allowed = Allowed { batches: true, fuse: true, ..Allowed::default() };
        case.decide_on(&program, allowed).chains.len()
    };
    assert_eq!([fused(1), fused(2)], [0, 2]);
}
