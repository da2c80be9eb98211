//! Converts a TTree to an RNTuple and compares all values: `cargo run --example convert -- in.root:Events out.root`

fn main() -> nyssa::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = &arguments[..] else {
        return Err(nyssa::Error::invalid_argument("usage: convert IN:PATH OUT"));
    };
    let context = nyssa::Context::new(None)?;
    let mut options = nyssa::ToRNTuple::default();
    options.output.verify = true;
    let report = nyssa::convert(input, output, &options, &context)?;
    let written = &report.written;
    println!("{} entries, {} bytes", written.entries, written.output_bytes);
    Ok(())
}
