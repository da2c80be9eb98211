//! Prints the compressed and uncompressed bytes of the columns of a dataset: `cargo run --example inspect -- file.root`

fn main() -> nyssa::Result<()> {
    let Some(path) = std::env::args().nth(1) else {
        return Err(nyssa::Error::invalid_argument("usage: inspect FILE:PATH"));
    };
    let inspection = nyssa::inspect(&path)?;
    println!("{} entries in {} bytes", inspection.entries, inspection.stored_bytes);
    for field in &inspection.fields {
        println!("{:>12} {:>12} {}", field.stored_bytes, field.uncompressed_bytes, field.name);
    }
    Ok(())
}
