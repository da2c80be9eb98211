//! Reads one column of a remote file, and says what was transferred:
//! `cargo run --example remote -- https://host/file.root:Events pt`

fn main() -> nyssa::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, column] = &arguments[..] else {
        return Err(nyssa::Error::invalid_argument("usage: remote URL:PATH COLUMN"));
    };
    let context = nyssa::Context::new(None)?;
    let options = nyssa::OpenOptions::default();
    let events = nyssa::open_with(path, &options)?;
    let mut rows = 0;
    for batch in nyssa::batches(&*events, &[column], &context) {
        rows += batch?.num_rows();
    }
    let counts = options.stats.counts();
    println!(
        "{rows} entries, {} bytes, {} round trips",
        counts.bytes_read + counts.bytes_readv,
        counts.round_trips
    );
    Ok(())
}
