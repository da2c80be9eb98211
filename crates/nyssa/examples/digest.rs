#![allow(clippy::unwrap_used, clippy::panic)]
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use nyssa::{Context, Dataset, rootfile::RootFile, ttree::Reader};
use std::sync::Arc;
fn weighted(v: impl Iterator<Item = u64>) -> u64 {
    v.zip(1u64..).fold(0, |s, (v, a)| s.wrapping_add(v.wrapping_mul(a)))
}
fn bits(a: &ArrayRef) -> Vec<u64> {
    if *a.data_type() == DataType::Boolean {
        return a.as_boolean().values().iter().map(u64::from).collect();
    }
    let Some(w) = a.data_type().primitive_width() else { return vec![] };
    let d = a.to_data();
    let b = &d.buffers()[0].as_slice()[..a.len() * w];
    b.chunks(w).map(|c| c.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))).collect()
}
fn digest(a: &ArrayRef) -> (u64, u64, u64, u64) {
    let rows = a.len() as u64;
    if let Some(s) = a.as_binary_opt::<i64>() {
        return (
            rows,
            weighted(s.offsets().lengths().map(|l| l as u64)),
            s.value_data().len() as u64,
            weighted(s.value_data().iter().map(|&b| u64::from(b))),
        );
    }
    let mut a = Arc::clone(a);
    let mut l = 0;
    if let Some(x) = a.clone().as_list_opt::<i64>() {
        l = weighted(x.offsets().lengths().map(|l| l as u64));
        a = Arc::clone(x.values());
    }
    while let Some(x) = a.clone().as_fixed_size_list_opt() {
        a = Arc::clone(x.values());
    }
    (rows, l, a.len() as u64, weighted(bits(&a).into_iter()))
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let ctx = Context::new(Some(args.get(2).map_or(1, |s| s.parse().unwrap()))).unwrap();
    if args[1] == "bench" {
        let ctx = Context::new(Some(args[3].parse().unwrap())).unwrap();
        let rep: usize = args[4].parse().unwrap();
        for _ in 0..rep {
            let t = std::time::Instant::now();
            let src = Arc::new(nyssa_io::LocalSource::open(&args[2]).unwrap());
            let f = RootFile::open(src).unwrap();
            let r = Reader::open(&f, "Events").unwrap();
            let to = t.elapsed();
            let names: Vec<&str> = r.items().iter().map(|i| i.name.as_str()).collect();
            let a = r.read(&names, 0..r.num_entries(), &ctx).unwrap();
            let b: usize = a.iter().map(|x| x.get_array_memory_size()).sum();
            println!("open {to:?} total {:?} {} arrays {} MB", t.elapsed(), a.len(), b / 1_000_000);
        }
        let rss = std::fs::read_to_string("/proc/self/status").unwrap();
        println!("{}", rss.lines().find(|l| l.starts_with("VmHWM")).unwrap());
        return;
    }
    for line in std::fs::read_to_string(&args[1]).unwrap().lines() {
        let (path, key) = line.split_once('\t').unwrap();
        let src = Arc::new(nyssa_io::LocalSource::open(path).unwrap());
        let r = match RootFile::open(src).and_then(|f| Reader::open(&f, key)) {
            Ok(r) => r,
            Err(e) => {
                println!("{path}\t{key}\t*\tOPENFAIL\t{e}");
                continue;
            }
        };
        for item in r.items() {
            if let Err(e) = &item.field {
                println!("{path}\t{key}\t{}\tUNREADABLE\t{e}", item.name);
                continue;
            }
            match r.read(&[&item.name], 0..r.num_entries(), &ctx) {
                Ok(a) => {
                    let d = digest(&a[0]);
                    println!(
                        "{path}\t{key}\t{}\tOK\t{}\t{}\t{}\t{}\t{}",
                        item.name, d.0, d.1, d.2, d.3, item.type_name
                    )
                }
                Err(e) => println!("{path}\t{key}\t{}\tFAIL\t{e}", item.name),
            }
        }
    }
}
