//! A decode step with the shapes of TinyLlama in bf16: 22 layers of width 2048, 32 heads, 4 key and value heads,
//! hidden size 5632, 32000 tokens, batch 1, 512 positions. The same model in PyTorch is in
//! benches/pytorch/models.py.
//!
//! On the simulated driver, a smaller model shows that it works.

#[macro_use]
mod common;
#[path = "graphs/decode.rs"]
mod graphs;
#[path = "models/decode.rs"]
mod model;

use common::model::{Models, finish, table};
use common::{Result, Setup};
use graphs::Sizes;
use model::{Host, Loaded, hand};

fn main() -> Result<()> {
    let setup = Setup::new()?;
    let mut table = table(&setup, "decode")?;
    let large = Sizes { heads: 32, kv_heads: 4, ff: 5632, positions: 512, vocab: 32_000 };
    let small = Sizes { heads: 2, kv_heads: 1, ff: 72, positions: 6, vocab: 40 };
    let (sizes, layers) = setup.scaled((large, 22), (small, 2));
    let host = Host { sizes, layers, pos: sizes.positions - 1, token: 7 };
    let (width, pos) = (sizes.width(), host.pos);
    let wanted = host.logits();
    let loaded = Loaded::new(&setup, &host)?;
    let work = format!("{layers} layers, {width} wide, position {pos}");
    macro_rules! model {
        ($function:ident $name:literal $captured:path) => {{
            let work = format!("{work}, {}", $name);
            let mut models = Models::new(&setup, &work, vec![wanted.clone()], 3e-2, host.bytes());
            let capture = hand::Capture::new(&setup, &host, &loaded)?;
            models.by_hand(capture.temporaries(), $captured(&capture)?, || {
                Ok(vec![setup.stream.clone_dtoh(&capture.logits)?.into_iter().map(f64::from).collect()])
            })?;
            model_sides!(
                models,
                $function,
                |operands| loaded.operands(&setup, &host)?,
                $function(
                    &setup.ctx,
                    sizes,
                    pos,
                    width,
                    sizes.vocab,
                    operands.layers,
                    operands.ends,
                    loaded.token.clone(),
                    operands.logits,
                    operands.next,
                ),
                |exec| {
                    let args = exec.args();
                    host.check_token(&setup, &args.logits, &args.next)?;
                    vec![setup.stream.clone_dtoh(&args.logits)?.into_iter().map(f64::from).collect()]
                }
            );
            models.run(&mut table)?;
        }};
    }
    model!(plain "one thing a kernel" hand::Capture::plain);
    model!(fused "fused by hand" hand::Capture::fused);
    finish(table)
}
