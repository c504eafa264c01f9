//! The simulated driver becomes cudarc's, and none of its symbols is in the program itself.

use cudarc::driver::{CudaContext, sys};

fn driver() -> cuweave_sim::Driver {
    cuweave_sim::load().unwrap()
}

#[test]
fn cudarc_finds_the_driver_that_was_loaded() {
    let driver = driver();
    let mut version = 0;
    assert_eq!(unsafe { sys::cuDriverGetVersion(&mut version) }, sys::CUresult::CUDA_SUCCESS);
    let (major, minor) = driver.version();
    assert_eq!(version as u32, major * 1000 + minor * 10);
    let name = CudaContext::new(0).unwrap().name().unwrap();
    assert_eq!(name == "cuweave simulated device", driver.is_simulated(), "{name}");
    let words = if driver.is_simulated() { "simulated driver, CUDA " } else { "NVIDIA driver, CUDA " };
    assert!(driver.to_string().starts_with(words));
}

/// The names in an ELF file's tables of symbols, as text anywhere in its bytes.
fn holds(bytes: &[u8], name: &str) -> bool {
    let name = format!("\0{name}\0").into_bytes();
    bytes.windows(name.len()).any(|window| window == name)
}

#[test]
fn the_program_itself_defines_no_driver_call() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    // Symbols of the program are there under their full names; the driver's would be, were it linked.
    assert!(!holds(&program, "cuweaveSimAddBuffer"));
    assert!(!holds(&program, "cuGraphAddMemAllocNode"));
    if driver().is_simulated() {
        let folder = cuweave_sim::library_folder().unwrap();
        let library = std::fs::read(folder.join("libcuda.so.1")).unwrap();
        assert!(holds(&library, "cuweaveSimAddBuffer") && holds(&library, "cuGraphAddMemAllocNode"));
    }
}

#[test]
fn every_symbol_that_cudarc_binds_is_exported() {
    if !driver().is_simulated() {
        return;
    }
    let folder = cuweave_sim::library_folder().unwrap();
    let library = unsafe { libloading::Library::new(folder.join("libcuda.so.1")) }.unwrap();
    let symbols = include_str!("../driver/symbols.txt");
    for name in symbols.lines().filter_map(|line| line.split(' ').next()) {
        assert!(unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_ok(), "{name}");
    }
    assert!(symbols.lines().count() > 500);
}

#[test]
fn memory_goes_there_and_back() {
    driver();
    let stream = CudaContext::new(0).unwrap().new_stream().unwrap();
    let data: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
    let a = stream.clone_htod(&data).unwrap();
    let mut b = stream.alloc_zeros::<f32>(10_000).unwrap();
    assert_eq!(stream.clone_dtoh(&b).unwrap(), vec![0.0; 10_000]);
    stream.memcpy_dtod(&a, &mut b).unwrap();
    assert_eq!(stream.clone_dtoh(&b).unwrap(), data);
}
