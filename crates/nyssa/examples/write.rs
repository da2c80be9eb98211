//! Writes an RNTuple of numbers and lists: `cargo run --example write -- out.root`

use std::sync::Arc;

use nyssa::arrow_array::types::Float32Type;
use nyssa::arrow_array::{Array, ArrayRef, Int64Array, LargeListArray};
use nyssa::arrow_schema::{Field, Schema};

fn main() -> nyssa::Result<()> {
    let Some(output) = std::env::args().nth(1) else {
        return Err(nyssa::Error::invalid_argument("usage: write OUT"));
    };
    let context = nyssa::Context::new(None)?;
    let event: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let hits = [Some(vec![Some(0.5), Some(1.5)]), Some(vec![]), Some(vec![Some(2.5)])];
    let hits: ArrayRef = Arc::new(LargeListArray::from_iter_primitive::<Float32Type, _, _>(hits));
    let fields = [("event", &event), ("hits", &hits)];
    let fields = fields.map(|(name, array)| Field::new(name, array.data_type().clone(), false));
    let file = nyssa::create(&output, false)?;
    let options = nyssa::RNTupleWriteOptions::default();
    let mut events = file.table("Events", &Schema::new(fields.to_vec()), options, &context)?;
    events.extend(&[event, hits])?;
    println!("{} entries", events.finish()?.entries);
    file.finish()?;
    Ok(())
}
