//! Handles, setters, and invalid numbers.

use cuweave::Buffer;
use cuweave::builder::{Argument, Builder, Statement};
use cuweave::prelude::*;
use cuweave_testkit::device::device;

use super::{Start, axpy, refusals, refused, scale, start, step};

#[test]
fn handles_of_other_builders_are_refused() {
    let device = device();
    let Start { b: mut other, n: m, y: theirs, .. } = start(&device);
    let made: Statement = other.fill(theirs.write(), 1.0).expect("a fill");
    let Start { mut b, n, x, y } = start(&device);
    let text = |what: &str, to: &str| {
        format!(
            "CW402: {what} of another builder is given to `{to}`\n= help: handles are of the builder that made them"
        )
    };
    let (node, line) = at!(b.launch(scale {}, per_item(n), (theirs.write(), 2.0, n)));
    refused(node, (line, &text("a buffer", "scale")));
    let (node, line) = at!(b.launch(scale {}, per_item(m), (y.write(), 2.0, n)));
    refused(node, (line, &text("a scalar", "scale")));
    let (node, line) = at!(b.launch(scale {}, per_item(n), (y.write(), 2.0, m)));
    refused(node, (line, &text("a scalar", "scale")));
    let (node, line) = at!(b.launch(scale {}, per_item(n), (y.range(m, 2 * n).write(), 2.0, n)));
    refused(node, (line, &text("a scalar", "scale")));
    let (node, line) = at!(b.after(made).fill(y.write(), 1.0));
    refused(node, (line, &text("a statement", "fill")));
    let (node, line) = at!(b.copy(&theirs, y.write()));
    refused(node, (line, &text("a buffer", "copy")));
    let (node, line) = at!(b.free(theirs));
    refused(node, (line, &text("a buffer", "free")));
    let (node, line) = at!(b.output(theirs));
    refused(node, (line, &text("a buffer", "output")));
    let (node, line) = at!(b.call(step::step {}, (n, 2.0, &theirs, y.write())));
    refused(node, (line, &text("a buffer", "step")));
    let (done, line) = at!(b.edge(made, made));
    refused(done, (line, &text("a statement", "edge")));
    let (h, line) = at!(b.named("h").alloc::<f32>(m));
    b.budget(m * 1000);
    let budget = line!() - 1;
    b.fill(h.write(), 1.0).expect("a fill");
    let refusals = refusals(b.build());
    let seen: Vec<(u32, &str)> =
        refusals.iter().map(|refusal| (refusal.at.line, refusal.text.as_str())).collect();
    assert_eq!(seen, [(line, text("a scalar", "h").as_str()), (budget, text("a scalar", "budget").as_str())]);
    let _ = (x, Argument::value(1));
}

#[test]
fn setters_check_what_they_are_given() {
    let device = device();
    let mut out = device.zeros::<f32>(8);
    let elsewhere = device.zeros::<f32>(8);
    let (mut ints, mut short) = (device.zeros::<u32>(8), device.zeros::<f32>(4));
    let Start { b: other, n: theirs, x: their_x, .. } = start(&device);
    drop(other);
    let mut b = Builder::new(&device.ctx);
    let (n, a, count) = (b.scalar("n", 8), b.scalar("a", 2.0), b.scalar("count", 8_u64));
    let declared = line!() - 1;
    let y = b.exclusive("y", n, &mut out);
    let x = b.shared("x", n, &elsewhere);
    let h = b.named("h").alloc::<f32>(n);
    b.copy(&x, h.write()).expect("a copy");
    b.launch(scale {}, per_item(count), (y.write(), a, count)).expect("a launch");
    b.launch(axpy {}, per_item(n), (1.0, &h, y.write(), n)).expect("a launch");
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    let given = "= help: handles are of the builder that made them";
    let (done, line) = at!(exec.set_scalar(&theirs, 4));
    refused(done, (line, &format!("CW402: a scalar of another builder is given to `set_scalar`\n{given}")));
    let (done, line) = at!(exec.set_buffer(&their_x, &mut ints));
    refused(done, (line, &format!("CW402: a buffer of another builder is given to `set_buffer`\n{given}")));
    let mut ints = device.zeros::<u32>(8);
    let (done, line) = at!(exec.set_buffer(&h, ints.clone()));
    refused(done, (line, "CW001: `h` is an allocation of the graph\n= help: only arguments can be bound"));
    let (done, line) = at!(exec.set_buffer(&y, device.zeros::<u32>(8)));
    refused(done, (line, "CW401: a buffer of elements of type `u32` is bound to `y`, which has `f32`"));
    let shared = std::sync::Arc::new(device.zeros::<f32>(8));
    let (done, line) = at!(exec.set_buffer(&y, shared));
    refused(done, (line, "CW401: this cannot be bound to `y`, an argument `&mut [T; _]`"));
    let error = exec.set_buffer(&y, &mut short).expect_err("it is too short");
    assert_eq!(
        error.to_string(),
        format!("`y` ({}:{}:15) has 4 elements, but `n` = 8 are declared", file!(), declared + 2)
    );
    let error = exec.set_scalar(&n, 4).expect_err("a length");
    assert_eq!(
        error.to_string(),
        format!("`n` ({}:{declared}:28) decides a length or a limit: build the graph again", file!())
    );
    let error = exec.set_scalar(&a, 0.3).expect_err("no `f32`");
    assert_eq!(refusals(Err::<(), _>(error))[0].code.name(), "CW401");
    exec.set_scalar(&a, 0.5).expect("an `f32`");
    let error = exec.set_scalar(&count, 9).expect_err("more elements than `y` has");
    assert!(error.to_string().contains("accesses 9 elements of its parameter `x`, but `y` has 8"), "{error}");
    exec.set_scalar(&count, 8).expect("as before");
    exec.set_buffer(&x, Buffer::from_host(&device.stream, &[3.0_f32; 8]).expect("a buffer"))
        .expect("a setter");
    exec.launch(&device.stream).expect("a launch");
    let error =
        exec.launch(&device.stream).expect("a launch").output::<f32>(y).map(drop).expect_err("an argument");
    assert_eq!(refusals(Err::<(), _>(error))[0].code.name(), "CW001");
    let _ = &mut ints;
    drop(exec);
    assert_eq!(device.download(&out), [4.5; 8]);
}

#[test]
fn faults_of_numbers_have_places_too() {
    let device = device();
    let Start { mut b, n, y, .. } = start(&device);
    let (node, line) = at!(b.launch(scale {}, (1, 2048), (y.write(), 2.0, n)));
    node.expect("its arguments fit");
    let error = b.build().map(drop).expect_err("no device takes it");
    println!("error: {error}\n");
    assert!(error.to_string().contains(&format!("{}:{line}:", file!())), "{error}");

    let Start { mut b, n, y, .. } = start(&device);
    let (node, line) = at!(b.fill(y.range(n, 3 * n).write(), 1.0));
    node.expect("a fill");
    let error = b.build().map(drop).expect_err("no range");
    println!("error: {error}\n");
    assert!(error.to_string().contains(&format!("{}:{line}:", file!())), "{error}");

    let Start { mut b, n, y, .. } = start(&device);
    let (part, line) = at!(y.range(0, n).range(0, n + 1));
    b.fill(part.write(), 1.0).expect("a fill");
    let error = b.build().map(drop).expect_err("a part of a part that does not lie in it");
    println!("error: {error}\n");
    assert!(error.to_string().contains(&format!("{}:{line}:", file!())), "{error}");

    let Start { mut b, n, .. } = start(&device);
    let (_, line) = at!(b.alloc::<f32>(n - 9));
    let error = b.build().map(drop).expect_err("a negative length");
    println!("error: {error}\n");
    assert!(error.to_string().contains(&format!("{}:{line}:", file!())), "{error}");
}
