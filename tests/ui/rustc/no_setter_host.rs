//! Host values that calls and expressions use have no setters.

use std::sync::Mutex;

use cuweave::cudarc::driver::CudaEvent;
use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

struct Config(f32);

impl Config {
    fn by(&self) -> f32 {
        self.0
    }
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], done: &CudaEvent, log: &Mutex<u32>, config: &Config) {
    scale[per_item(n)](&mut x, config.by(), n);
    record(&done);
    host(&log, |log: &Mutex<u32>| drop(log));
}

#[cuweave::graph]
fn g(n: u32, x: &mut [f32; n], config: &Config) {
    scale[per_item(n)](&mut x, config.by(), n);
    host(&config, |config: &Config| drop(config.by()));
}

#[cuweave::graph]
fn outer(n: u32, x: &mut [f32; n], config: &std::sync::Arc<Config>) {
    g(n, &mut x, &config);
}

fn set(f: &mut f::Exec<'_>, g: &mut g::Exec<'_>, outer: &mut outer::Exec<'_>, config: std::sync::Arc<Config>) {
    f.set_config(&config).unwrap(); //~ E0277
    g.set_config(&config).unwrap(); //~ E0277
    outer.set_config(&config).unwrap(); //~ E0277
    f.set_done(config).unwrap(); //~ E0277
}

fn main() {}
