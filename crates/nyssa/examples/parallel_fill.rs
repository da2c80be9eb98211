//! Fills one RNTuple from four threads: `cargo run --example parallel_fill -- out.root`

use std::sync::Arc;

use nyssa::arrow_array::Int64Array;
use nyssa::arrow_schema::{DataType, Field, Schema};

fn main() -> nyssa::Result<()> {
    let Some(output) = std::env::args().nth(1) else {
        return Err(nyssa::Error::invalid_argument("usage: parallel_fill OUT"));
    };
    let context = nyssa::Context::new(Some(4))?;
    let schema = Schema::new(vec![Field::new("event", DataType::Int64, false)]);
    let file = nyssa::create(&output, false)?;
    let options = nyssa::RNTupleWriteOptions::default();
    let writer = file.parallel("Events", &schema, options, &context)?;
    std::thread::scope(|scope| {
        let writer = &writer;
        let fill = move |thread: i64| {
            let mut rows = writer.context()?;
            for batch in 0..10 {
                let first = (10 * thread + batch) * 1000;
                rows.extend(&[Arc::new(Int64Array::from_iter_values(first..first + 1000))])?;
            }
            rows.finish()
        };
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || fill(thread))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    println!("{} entries", writer.finish()?.entries);
    file.finish()?;
    Ok(())
}
