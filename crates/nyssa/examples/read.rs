//! Prints the first values of some columns: `cargo run --example read -- file.root:Events pt eta`

fn main() -> nyssa::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((path, columns)) = arguments.split_first() else {
        return Err(nyssa::Error::invalid_argument("usage: read FILE:PATH COLUMN..."));
    };
    let context = nyssa::Context::new(None)?;
    let events = nyssa::open(path)?;
    println!("{} has {} entries", events.name(), events.num_entries());
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let batch = nyssa::read(&*events, &columns, 0..events.num_entries().min(10), &context)?;
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
        println!("{}: {array:?}", field.name());
    }
    Ok(())
}
