//! Merges files: `cargo run --example merge -- out.root a.root b.root`

fn main() -> nyssa::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((output, inputs)) = arguments.split_first() else {
        return Err(nyssa::Error::invalid_argument("usage: merge OUT IN..."));
    };
    let context = nyssa::Context::new(None)?;
    let options = nyssa::MergeOptions { mode: nyssa::Mode::Union, ..Default::default() };
    let report = nyssa::merge(inputs, output, &options, &context)?;
    println!("{} entries of {} files", report.written.entries, report.inputs.len());
    Ok(())
}
