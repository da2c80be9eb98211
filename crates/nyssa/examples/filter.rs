//! Counts the entries that pass a cut: `cargo run --example filter -- file.root:Events 'nMuon >= 2'`

fn main() -> nyssa::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, cut] = &arguments[..] else {
        return Err(nyssa::Error::invalid_argument("usage: filter FILE:PATH CUT"));
    };
    let context = nyssa::Context::new(None)?;
    let all = nyssa::open(path)?;
    let total = all.num_entries();
    let passed = nyssa::select(all, cut, &context)?;
    println!("{} of {total} entries pass", passed.num_entries());
    Ok(())
}
