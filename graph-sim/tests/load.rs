//! The simulated driver becomes cudarc's driver, and the program itself defines none of its symbols.

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

/// Returns true if a 64-bit ELF file defines a symbol: a symbol table contains the name, with a section. Strings
/// in debug information do not count.
fn defines(elf: &[u8], name: &str) -> bool {
    let number = |at: usize, bytes: usize| {
        elf[at..at + bytes].iter().rev().fold(0usize, |value, &byte| value << 8 | usize::from(byte))
    };
    let (table, size, count) = (number(0x28, 8), number(0x3a, 2), number(0x3c, 2));
    let section = |index: usize| table + index * size;
    const SYMTAB: usize = 2;
    const DYNSYM: usize = 11;
    (0..count).map(section).filter(|&header| matches!(number(header + 4, 4), SYMTAB | DYNSYM)).any(|header| {
        let (offset, bytes) = (number(header + 0x18, 8), number(header + 0x20, 8));
        let strings = number(section(number(header + 0x28, 4)) + 0x18, 8);
        (offset..offset + bytes).step_by(24).any(|symbol| {
            let text = &elf[strings + number(symbol, 4)..];
            number(symbol + 6, 2) != 0
                && text.starts_with(name.as_bytes())
                && text.get(name.len()) == Some(&0)
        })
    })
}

#[test]
fn the_program_itself_defines_no_driver_call() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    assert!(defines(&program, "main"), "the program's own symbols are seen");
    assert!(!defines(&program, "cuweaveSimAddBuffer"));
    assert!(!defines(&program, "cuGraphAddMemAllocNode"));
    if driver().is_simulated() {
        let folder = cuweave_sim::library_folder().unwrap();
        let library = std::fs::read(folder.join("libcuda.so.1")).unwrap();
        assert!(defines(&library, "cuweaveSimAddBuffer") && defines(&library, "cuGraphAddMemAllocNode"));
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
