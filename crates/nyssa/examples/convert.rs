//! Converts the TTrees of a file to RNTuples and compares all values: `cargo run --example convert -- in.root out.root`

fn main() -> nyssa::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = &arguments[..] else {
        return Err(nyssa::Error::invalid_argument("usage: convert IN OUT"));
    };
    let context = nyssa::Context::new(None)?;
    let mut options = nyssa::ToRNTuple::default();
    options.output.verify = true;
    for report in nyssa::convert(input, output, &options, &context)? {
        println!("{}: {} entries", report.written.ntuple, report.written.entries);
    }
    Ok(())
}
