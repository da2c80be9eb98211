use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, LargeBinaryArray, UInt64Array};

use super::*;

fn json(array: impl Array + 'static, style: JsonStyle) -> Vec<String> {
    let array: ArrayRef = Arc::new(array);
    let text_of = |row| {
        let mut out = Vec::new();
        write(&mut out, &array, row, &CppType::default(), style).unwrap();
        String::from_utf8(out).unwrap()
    };
    (0..array.len()).map(text_of).collect()
}

#[test]
fn floats_are_shortest_and_exact() {
    let values = vec![0.1, 1e38, -0.0, f32::MIN_POSITIVE, f32::NAN, f32::NEG_INFINITY];
    let lines = json(Float32Array::from(values), JsonStyle::Lines);
    assert_eq!(lines, ["0.1", "1e38", "-0.0", "1.1754944e-38", "\"nan\"", "\"-inf\""]);
    // printf("%a") made the expected texts.
    let values = vec![0.0, -1.5, 5e-324, 1e300, f64::INFINITY];
    assert_eq!(
        json(Float64Array::from(values), JsonStyle::Suite),
        [
            "\"0x0p+0\"",
            "\"-0x1.8p+0\"",
            "\"0x0.0000000000001p-1022\"",
            "\"0x1.7e43c8800759cp+996\"",
            "\"inf\""
        ]
    );
}

#[test]
fn large_integers_and_odd_strings_are_not_lost() {
    assert_eq!(json(UInt64Array::from(vec![u64::MAX]), JsonStyle::Lines), ["18446744073709551615"]);
    let strings = LargeBinaryArray::from_vec(vec![b"a\"\n", "🐣".as_bytes(), &[0xC3, 0x28]]);
    assert_eq!(json(strings, JsonStyle::Lines), [r#""a\"\n""#, "\"🐣\"", "{\"bytes\":[195,40]}"]);
}
