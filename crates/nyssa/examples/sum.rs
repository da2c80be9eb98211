//! Reads a column of lists of floats in one thread, says how long that took at least, and sums the items:
//! `cargo run --release --example sum -- file.root:Events tracks.pt 9`

use std::time::Instant;

use nyssa::arrow_array::cast::AsArray;
use nyssa::arrow_array::types::Float32Type;

fn main() -> nyssa::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wrong = || nyssa::Error::invalid_argument("usage: sum FILE:PATH COLUMN ROUNDS");
    let [path, column, rounds] = &arguments[..] else { return Err(wrong()) };
    let rounds: usize = rounds.parse().map_err(|_| wrong())?;
    let context = nyssa::Context::new(Some(1))?;
    let events = nyssa::open(path)?;
    let mut seconds = f64::INFINITY;
    let mut sum = 0.0;
    for round in 0..rounds {
        let start = Instant::now();
        let batch = nyssa::read(&*events, &[column], 0..events.num_entries(), &context)?;
        let lists = batch.column(0).as_list_opt::<i64>().ok_or_else(wrong)?;
        let items = lists.values().as_primitive_opt::<Float32Type>().ok_or_else(wrong)?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
        // The sum shows that the values are there, and is no part of the time.
        if round == 0 {
            sum = items.values().iter().map(|&value| f64::from(value)).sum();
        }
    }
    println!("{{\"seconds\": {seconds}, \"sum\": {sum}}}");
    Ok(())
}
