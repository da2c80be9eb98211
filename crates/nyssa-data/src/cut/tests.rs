//! Tests cuts over arrays that are made by hand. The expected results are computed by hand, too.

use std::sync::Arc;

use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Int32Array, LargeListArray, LargeStringArray,
    StructArray, UInt64Array,
};
use arrow_schema::Field;

use super::Cut;
use crate::dataset::ColumnInfo;

/// Returns three entries.
fn fields() -> Vec<(&'static str, ArrayRef)> {
    let lists = |lists: [&[f32]; 3]| {
        let lists = lists.map(|list| Some(list.iter().map(|&x| Some(x)).collect::<Vec<_>>()));
        Arc::new(LargeListArray::from_iter_primitive::<Float32Type, _, _>(lists)) as ArrayRef
    };
    let charges = [vec![Some(1), Some(-1)], vec![], vec![Some(1)]].map(Some);
    let charge = Arc::new(LargeListArray::from_iter_primitive::<Int32Type, _, _>(charges));
    let pt = lists([&[30.0, 10.0], &[], &[25.0]]);
    let optional = Arc::new(Int32Array::from(vec![Some(5), None, Some(-5)]));
    let member = |name: &str, array: &ArrayRef| {
        (Arc::new(Field::new(name, array.data_type().clone(), false)), Arc::clone(array))
    };
    let met: ArrayRef = Arc::new(Float32Array::from(vec![50.0, 5.0, 20.1]));
    let record = StructArray::from(vec![member("met", &met), member("pt", &pt)]);
    let nested = {
        let offsets = arrow_buffer::OffsetBuffer::from_lengths([2, 0, 1]);
        let item = Arc::new(Field::new("item", pt.data_type().clone(), false));
        LargeListArray::new(item, offsets, Arc::clone(&pt), None)
    };
    vec![
        ("n", Arc::new(Int32Array::from(vec![2, 0, 1]))),
        ("event", Arc::new(UInt64Array::from(vec![9_007_199_254_740_993, 4, 7]))),
        ("flag", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("pt", pt.clone()),
        ("eta", lists([&[1.0, -3.0], &[], &[2.0]])),
        ("charge", charge),
        ("best", Arc::new(Int32Array::from(vec![1, 0, 3]))),
        ("optional", optional),
        ("odd name", met.clone()),
        ("record", Arc::new(record)),
        ("nested", Arc::new(nested)),
        ("text", Arc::new(LargeStringArray::from(vec!["a", "b", "c"]))),
    ]
}

fn items() -> Vec<ColumnInfo> {
    let item = |(name, array): &(&str, ArrayRef)| ColumnInfo {
        name: (*name).to_owned(),
        type_name: String::new(),
        field: Ok(Field::new(*name, array.data_type().clone(), true)),
    };
    let mut items: Vec<_> = fields().iter().map(item).collect();
    let broken = ColumnInfo {
        name: "broken".to_owned(),
        type_name: String::new(),
        field: Err("field broken: type T is not known".to_owned()),
    };
    items.push(broken);
    items
}

fn run(text: &str) -> nyssa_root::Result<Vec<bool>> {
    let cut = Cut::parse(text)?;
    cut.check(&items())?;
    let all = fields();
    let array = |name: &String| Arc::clone(&all.iter().find(|(other, _)| other == name).unwrap().1);
    let arrays: Vec<_> = cut.fields().iter().map(array).collect();
    Ok(cut.mask(&arrays, 3)?.iter().collect())
}

#[test]
fn values_by_hand() {
    for (text, expected) in [
        ("n >= 2", [true, false, false]),
        ("n >= 2 && pt[0] > 20 && any(abs(eta) < 2.4)", [true, false, false]),
        ("true", [true, true, true]),
        ("flag", [true, false, true]),
        ("!flag", [false, true, false]),
        ("not flag or n == 2", [true, true, false]),
        ("1 + 2 * 3 == 7 and n == 1", [false, false, true]),
        ("(1 + 2) * 3 == 9 && -n == -1", [false, false, true]),
        ("10 - 2 - 3 == 5", [true, true, true]),
        ("n / 2 == 0.5", [false, false, true]),
        ("event % 2 == 1", [true, false, true]),
        // One more than 2^53, which is not a double.
        ("event == 9007199254740993", [true, false, false]),
        ("event == 9007199254740992", [false, false, false]),
        // 20.1 in single precision is a little more than in double precision.
        ("record.met > 20.1", [true, false, true]),
        ("record.pt[0] > 26", [true, false, false]),
        ("`odd name` < 6", [false, true, false]),
        ("pt[0] > 20", [true, false, true]),
        ("pt[1] < 1e3", [true, false, false]),
        ("pt[-1] == 25", [false, false, true]),
        ("pt[best] == 10", [true, false, false]),
        // A missing value compares as false, in both directions.
        ("!(pt[0] > 20)", [false, true, false]),
        ("pt[0] == pt[0]", [true, false, true]),
        ("pt[0] + 1 > 0 || n == 0", [true, true, true]),
        ("optional > 0", [true, false, false]),
        ("optional * 2 < 0", [false, false, true]),
        ("any(pt > 20 && charge == 1)", [true, false, true]),
        ("all(pt > 20)", [false, true, true]),
        ("count(pt > 5) == n", [true, true, true]),
        ("len(pt) == n", [true, true, true]),
        ("sum(pt) > 26", [true, false, false]),
        ("sum(charge) == 0", [true, true, false]),
        ("max(pt) >= 25", [true, false, true]),
        ("min(pt) >= 25", [false, false, true]),
        ("max(charge) == 1", [true, false, true]),
        // A number of the entry is combined with every item of its list.
        ("any(pt > 5 * n + 20)", [false, false, false]),
        ("any(pt > 5 * n + 19)", [true, false, true]),
        ("any(any(nested > 26))", [true, false, false]),
        ("any(sum(nested) == 40)", [true, false, false]),
        ("any(nested[0] == 30) && any(len(nested) == 2)", [true, false, false]),
        ("any(any(nested * len(nested) == 60))", [true, false, false]),
        ("sqrt(abs(0 - 16)) == 4", [true, true, true]),
        ("0.5e1 == 5 && .5 < 1", [true, true, true]),
        // As in Python.
        ("(n >= 2) & flag | (n == 0)", [true, true, false]),
        ("~flag & (n == 0)", [false, true, false]),
        ("n & 3 == 2", [true, false, false]),
        ("(n | 4) == 5", [false, false, true]),
        ("2 ** 3 ** 2 == 512 && -2 ** 2 == -4 && n ** 2 == 4", [true, false, false]),
        ("2 ** -1.0 == 0.5", [true, true, true]),
        // Items of a list that are selected.
        ("len(pt[pt > 20]) == 1", [true, false, true]),
        ("sum(pt[eta < 0]) == 10", [true, false, false]),
        ("pt[eta < 0][0] == 10", [true, false, false]),
        ("sum(pt[pt > 5 * n + 10]) == n * 30", [false, true, false]),
        ("any(len(nested[pt > 20]) == 2)", [true, false, false]),
        ("sum(sum(nested[nested > 20])) == 30", [true, false, false]),
        ("len(record.pt[charge > 0]) == 1", [true, false, true]),
        // Functions of two or three values.
        ("max(n, 1) == 1", [false, true, true]),
        ("min(max(pt, 15)) == 15", [true, false, false]),
        ("where(flag, n, -1) == -1", [false, true, false]),
        ("sum(where(pt > 20, 1, 0)) == 1", [true, false, true]),
        ("hypot(3, n + 2) == 5", [true, false, false]),
        ("abs(sin(n) ** 2 + cos(n) ** 2 - 1) < 1e-12", [true, true, true]),
        ("exp(log(n)) == n", [true, true, true]),
        ("isfinite(log(n))", [true, false, true]),
    ] {
        let value = run(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(value, expected, "{text}");
    }
}

#[test]
fn functions_by_hand() {
    for (text, expected) in [
        ("mean(pt) == 20", [true, false, false]),
        ("isnan(mean(pt))", [false, true, false]),
        ("argmax(pt) == 0 && argmin(eta) >= 0", [true, false, true]),
        ("pt[argmin(pt)] == 10", [true, false, false]),
        ("sort(pt)[0] == 10", [true, false, false]),
        ("argsort(pt)[0] == 1", [true, false, false]),
        (
            "len(combinations(pt, 2, 0)) == 1 && combinations(pt, 2, 1)[0] == 10",
            [true, false, false],
        ),
        ("len(combinations(pt, 1, 0)) == n", [true, true, true]),
        ("is_none(optional)", [false, true, false]),
        ("fill_none(optional, 7) == 7", [false, true, false]),
        ("abs(deltaphi(3, -3) + 0.2831853) < 1e-6", [true, true, true]),
        ("deltaR(0, 1, 3, 5) < 5 && deltaR(0, 0, 3, 0) == 3", [true, true, true]),
        // Text.
        ("text == 'b'", [false, true, false]),
        ("text != \"b\" && n == 2", [true, false, false]),
        ("!('b' == text)", [true, false, true]),
    ] {
        let value = run(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(value, expected, "{text}");
    }
}

#[test]
fn faults_have_a_place() {
    for (text, message, at) in [
        ("", "the expression is empty", 0),
        ("n >", "a number, a field or a bracket is missing before the end", 3),
        ("n >= 2 &&& flag", "a number, a field or a bracket is missing before &", 9),
        ("n ^ 2 > 4", "'^' means nothing here: ** is the power", 2),
        ("n = 2", "'=' means nothing here: == compares", 2),
        ("(n > 2", "this bracket is never closed: ) is missing", 0),
        ("n > 2)", ") was not expected here", 5),
        (
            "0 < n < 2",
            "comparisons cannot be chained: join them by &&, or put each in brackets next to & or |",
            6,
        ),
        (
            "flag n",
            "n was not expected here: one name with a space is in back quotes, as `flag n`",
            5,
        ),
        ("2x > 1", "a number and a name must be separated", 1),
        ("quux(n) > 0", "there is no function quux", 0),
        ("mim(pt) > 0", "there is no function mim; did you mean \"min\"?", 0),
        ("np.sqrt(n) > 0", "there is no function np.sqrt; did you mean \"sqrt\"?", 0),
        ("n > ak.num(pt)", "there is no function ak.num; did you mean \"len\"?", 4),
        ("fabs(n) > 0", "there is no function fabs; did you mean \"abs\"?", 0),
        (
            "Sum$(pt) > 0",
            "'$' means nothing here: sum(x), len(x) and max(x) are what Sum$(x), Length$(x) and Max$(x) are in ROOT",
            3,
        ),
        ("max(n, 2, 3) > 0", "max takes one or two arguments", 8),
        ("atan2(n) > 0", "atan2 takes two arguments", 0),
        ("abs(n, 2) > 0", "abs takes one argument", 5),
        ("99999999999999999999 > n", "99999999999999999999 is not a number that fits 64 bits", 0),
        ("(n > 2).x", "only fields have members", 7),
        ("flag && ptt[0] > 1", "there is no field \"ptt\"; did you mean \"pt\"?", 8),
        ("flag && broken > 1", "this needs field broken: type T is not known", 8),
        ("n", "a cut is true or false for each entry, this is a number: compare it", 0),
        ("flag && n", "&& and || combine true and false: compare the numbers first", 5),
        ("any(n > 2)", "any takes a list, this is one value for each entry", 0),
        ("any(pt)", "any takes a list of true and false: compare the numbers", 0),
        ("count(pt) > 1", "count takes a list of true and false: len is the number of items", 0),
        ("n[0] > 2", "only lists have items", 2),
        ("pt[0.5] > 2", "an index is an integer", 3),
        ("pt[charge] > 2", "an index is one number for each entry, not a list", 3),
        ("text == 1", "text is only compared: == \"…\" or != \"…\"", 0),
        ("record > 1", "a record has no value of its own: name a member, met, pt", 0),
        ("record.mett > 1", "there is no member \"mett\"; did you mean \"met\"?", 0),
        ("n.x > 1", "there is no member \"x\": the field has none", 0),
        ("!n", "! needs true or false: compare the number first", 0),
        ("pt[flag] > 1", "this selects entries, not items: that is what the cut is for", 3),
        ("any(pt[nested > 1] > 1)", "the selection has more nested lists than what it selects", 14),
        ("n ** -1 > 1", "2 ** -1: integers have no negative powers, real numbers do", 2),
        (
            "pt & 1 > 1",
            "& and | combine true and false, or integers: put comparisons next to them in brackets",
            3,
        ),
        ("where(n, 1, 2) > 1", "where needs true or false: compare the number first", 0),
        ("n % 0 == 1", "2 % 0 is not a number", 2),
        ("9223372036854775807 + n > 0", "9223372036854775807 and 2 give more than 64 bits", 20),
    ] {
        let shown = run(text).unwrap_err().to_string();
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines[0], message, "{text}");
        assert_eq!(lines[1].trim_start(), text.trim_start(), "{shown}");
        assert_eq!(lines[2].find('^'), Some(at + 2), "{shown}");
    }
    let list = run("pt > 2").unwrap_err().to_string();
    assert!(list.contains("for each item of a list: any(…) or all(…)"), "{list}");
}

#[test]
fn depth_and_length_have_limits() {
    for (text, message) in [
        ("(".repeat(5000), "an expression has at most 2000 words and signs"),
        ("-".repeat(500) + "n > 0", "the expression is nested too deeply"),
        ("not ".repeat(500) + "flag", "the expression is nested too deeply"),
        ("1 + 2 * -(".repeat(60) + "n" + &")".repeat(60), "the expression is nested too deeply"),
    ] {
        let error = run(&text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let long = vec!["flag"; 900].join(" && ");
    assert_eq!(run(&long).unwrap(), [true, false, true]);
    let items = format!("n{} > 0", "[0]".repeat(600));
    assert!(run(&items).unwrap_err().to_string().contains("only lists have items"));
}

#[test]
fn the_deepest_cut_fits_on_a_small_stack() {
    let deep = |levels: usize| {
        let text = "1 + 2 * -(".repeat(levels) + "n" + &")".repeat(levels) + " > 0";
        let aliases: Vec<_> = (0..levels)
            .map(|level| (format!("a{level}"), format!("-a{}", level + 1)))
            .chain([(format!("a{levels}"), "n".to_owned())])
            .collect();
        let aliases: Vec<_> = aliases.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        (run(&text).map_err(|error| error.to_string()), with_aliases("a0 != 0", &aliases))
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let thread = thread.spawn(move || (deep(49), deep(98), deep(1900))).unwrap();
    let (within, aliases, beyond) = thread.join().unwrap();
    assert_eq!(within.0.unwrap().len(), 3);
    assert_eq!(within.1.unwrap(), aliases.1.unwrap());
    assert!(aliases.0.unwrap_err().contains("nested too deeply"));
    assert!(beyond.0.unwrap_err().contains("at most 2000 words"));
    assert!(beyond.1.unwrap_err().contains("with it the expression is nested too deeply"));
}

#[test]
fn fields_are_named_once() {
    let cut = Cut::parse("pt[0] > 1 && any(pt > n) || jets.pt[0] < pt[1]").unwrap();
    assert_eq!(cut.fields(), ["pt", "n", "jets"]);
}

fn with_aliases(text: &str, formulas: &[(&str, &str)]) -> Result<Vec<bool>, String> {
    let pair = |(name, formula): &(&str, &str)| ((*name).to_owned(), (*formula).to_owned());
    let formulas: Vec<_> = formulas.iter().map(pair).collect();
    let cut = Cut::parse(text).unwrap().with_aliases(&items(), &formulas);
    let cut = cut.map_err(|error| error.to_string())?;
    cut.check(&items()).map_err(|error| error.to_string())?;
    let arrays: Vec<ArrayRef> = cut
        .fields()
        .iter()
        .map(|name| Arc::clone(&fields().iter().find(|field| field.0 == name).unwrap().1))
        .collect();
    let mask = cut.mask(&arrays, 3).map_err(|error| error.to_string())?;
    Ok(mask.iter().collect())
}

#[test]
fn aliases_stand_for_expressions() {
    let formulas = [
        ("twice", "n*2"),
        ("large", "twice > 2"),
        ("first", "pt[0]"),
        ("rec", "record"),
        // A name that is both a column and an alias means the column.
        ("n", "event"),
    ];
    for (text, wanted) in [
        ("large", [true, false, false]),
        ("!large && twice == 2", [false, false, true]),
        ("first > 26", [true, false, false]),
        ("rec.met > 20", [true, false, true]),
        ("n < 2", [false, true, true]),
        // An alias is one value, as if it were in brackets.
        ("twice * 2 == 8", [true, false, false]),
    ] {
        assert_eq!(with_aliases(text, &formulas), Ok(wanted.to_vec()), "{text}");
    }
}

#[test]
fn wrong_aliases_are_named() {
    let formulas = [
        ("loop", "1 + pool"),
        ("pool", "loop"),
        ("odd", "TMath::Abs(n)"),
        ("lacking", "nothing > 1"),
        ("sum", "n + 1"),
        ("mixed", "text + 1"),
        ("a", "b+b+b+b+b+b+b+b+b+b"),
        ("b", "c+c+c+c+c+c+c+c+c+c"),
        ("c", "d+d+d+d+d+d+d+d+d+d"),
        ("d", "e+e+e+e+e+e+e+e+e+e"),
        ("e", "n"),
    ];
    for (text, wanted) in [
        ("loop > 1", "the alias \"loop\" needs itself: loop -> pool -> loop"),
        ("n > 1 && odd > 1", "the alias \"odd\" (TMath::Abs(n)): "),
        ("lacking", "there is no field \"nothing\""),
        ("sum.x > 1", "the alias \"sum\" (n + 1): only fields have members"),
        ("mixed > 1", "the alias \"mixed\": "),
        ("a > 1", "the expression has too many parts"),
    ] {
        let message = with_aliases(text, &formulas).unwrap_err();
        assert!(message.contains(wanted), "{text}: {message}");
    }
    // The mark is under the alias.
    let message = with_aliases("n > 1 && odd > 1", &formulas).unwrap_err();
    assert!(message.ends_with("\n  n > 1 && odd > 1\n           ^"), "{message}");
}
