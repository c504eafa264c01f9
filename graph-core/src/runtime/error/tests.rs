//! The texts of errors.

use super::*;

#[test]
fn a_driver_failure_names_call_node_place_and_error() {
    let failure = DriverFailure {
        call: FailedCall::Named("cuGraphAddMemAllocNode".into()),
        at: Some(Box::new(At { name: "h".into(), file: "src/main.rs".into(), line: 12, column: 0 })),
        code: 2,
        name: "CUDA_ERROR_OUT_OF_MEMORY".into(),
        text: "out of memory".into(),
    };
    assert_eq!(
        Error::Driver(Box::new(failure)).to_string(),
        "`cuGraphAddMemAllocNode` for `h` (src/main.rs:12) failed with CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
    );
}
