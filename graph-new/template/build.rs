fn main() {
    cuweave_build::ptx("kernels/*.cu");
}
