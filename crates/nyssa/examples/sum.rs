//! Sums the items of a column of lists of floats, in one thread, and says how long it took:
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
    let mut seconds = Vec::new();
    let mut sum = 0.0;
    for _ in 0..rounds {
        let start = Instant::now();
        let batch = nyssa::read(&*events, &[column], 0..events.num_entries(), &context)?;
        let lists = batch.column(0).as_list_opt::<i64>().ok_or_else(wrong)?;
        let items = lists.values().as_primitive_opt::<Float32Type>().ok_or_else(wrong)?;
        sum = items.values().iter().map(|&value| f64::from(value)).sum();
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_unstable_by(f64::total_cmp);
    let median = seconds.get(rounds / 2).copied().unwrap_or_default();
    println!("{{\"seconds\": {median}, \"sum\": {sum}}}");
    Ok(())
}
