fn main() {
    let a: Vec<String> = std::env::args().collect();
    let file = nyssa::rootfile::RootFile::open(std::sync::Arc::new(nyssa_io::LocalSource::open(&a[1]).unwrap())).unwrap();
    let mut o = nyssa::convert::Options { force: true, ..Default::default() };
    let mut threads = None;
    for x in &a[4..] {
        match x.split_once('=').unwrap_or((x, "")) {
            ("verify", _) => o.verify = true,
            ("vectors", _) => o.layout = nyssa::convert::Layout::Vectors,
            ("full", _) => o.effort = nyssa::convert::Effort::Full,
            ("skip", _) => o.skip_unsupported = true,
            ("rep", _) => o.reproducible = true,
            ("t", n) => threads = Some(n.parse().unwrap()),
            ("c", c) => o.compression = c.parse().unwrap(),
            ("mem", n) => o.memory_budget = n.parse::<u64>().unwrap() << 20,
            ("cl", n) => o.cluster_bytes = n.parse::<u64>().unwrap() << 20,
            _ => panic!("{x}"),
        }
    }
    let c = nyssa::Context::new(threads).unwrap();
    let t = std::time::Instant::now();
    match nyssa::convert::convert(&file, &a[2], a[3].as_ref(), &o, &c) {
        Ok(mut r) => {
            let n = r.fields.len();
            r.fields.clear();
            println!("{} fields, wall {:.3}\n{r:#?}", n, t.elapsed().as_secs_f64());
        }
        Err(e) => { println!("ERROR {e}"); std::process::exit(1) }
    }
}
