//! YAML 1.2 core schema: what a scalar without quotes is (<https://yaml.org/spec/1.2.2/#103-core-schema>).
//! `no`, `off`, `y`, `12:30` and `2024-01-02` are text in it.

use std::ops::Range;

use super::super::Kind;
use crate::diagnostic::Diagnostic;

/// The tags of YAML's own that are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Str,
    Int,
    Float,
    Bool,
    Null,
    Map,
    Seq,
    /// `!!binary`: the text as written; nothing is decoded.
    Binary,
    /// `!!timestamp`: the text as written; `date` judges it.
    Timestamp,
}

impl Tag {
    /// Reads a tag with its handle resolved.
    pub(super) fn parse(full: &str) -> Option<Self> {
        Some(match full.strip_prefix("tag:yaml.org,2002:")? {
            "str" => Tag::Str,
            "int" => Tag::Int,
            "float" => Tag::Float,
            "bool" => Tag::Bool,
            "null" => Tag::Null,
            "map" => Tag::Map,
            "seq" => Tag::Seq,
            "binary" => Tag::Binary,
            "timestamp" => Tag::Timestamp,
            _ => return None,
        })
    }

    /// The error for a value that is not what its tag says.
    pub(super) fn mismatch(self, at: Range<usize>) -> Diagnostic {
        let name = format!("{self:?}").to_lowercase();
        Diagnostic::error("wrong-tag", format!("the value is no !!{name}")).at(at).help("remove the tag")
    }

    /// The kind of a scalar with this tag; `None` where its text is not of that kind.
    pub(super) fn kind_of(self, text: &str) -> Option<Kind> {
        let kind = resolve(text);
        match (self, kind) {
            (Tag::Str | Tag::Binary | Tag::Timestamp, _) => Some(Kind::Text),
            (Tag::Int, Kind::Int(_) | Kind::BigInt)
            | (Tag::Float, Kind::Float(_) | Kind::NonFinite)
            | (Tag::Bool, Kind::Bool(_))
            | (Tag::Null, Kind::Null) => Some(kind),
            // Not every `i64` is a double, but the nearest is what the tag asks for.
            (Tag::Float, Kind::Int(_) | Kind::BigInt) => text.parse().ok().map(Kind::Float),
            _ => None,
        }
    }
}

/// What a scalar without quotes and tag is.
pub(super) fn resolve(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" => return Kind::Bool(true),
        "false" | "False" | "FALSE" => return Kind::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Kind::NonFinite,
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Kind::NonFinite;
    }
    let all = |digits: &str, radix: u32| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix).filter(|digits| all(digits, radix)) {
            return i64::from_str_radix(digits, radix).map_or(Kind::BigInt, Kind::Int);
        }
    }
    if all(unsigned, 10) {
        return text.parse().map_or(Kind::BigInt, Kind::Int);
    }
    if is_float(unsigned) {
        return match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Kind::Float(number),
            _ => Kind::NonFinite,
        };
    }
    Kind::Text
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(unsigned: &str) -> bool {
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    exponent_fits && digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema_is_that_of_1_2() {
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(resolve(text), Kind::Null, "{text}");
        }
        for (text, bool) in
            [("true", true), ("True", true), ("TRUE", true), ("false", false), ("FALSE", false)]
        {
            assert_eq!(resolve(text), Kind::Bool(bool));
        }
        for (text, number) in [("0", 0), ("-12", -12), ("+7", 7), ("007", 7), ("0o17", 15), ("0xfF", 255)] {
            assert_eq!(resolve(text), Kind::Int(number), "{text}");
        }
        for (text, number) in
            [("1.10", 1.1), (".5", 0.5), ("2.", 2.0), ("1e3", 1000.0), ("-1.5E-1", -0.15), ("12e03", 12000.0)]
        {
            assert_eq!(resolve(text), Kind::Float(number), "{text}");
        }
        for text in [".inf", "-.Inf", "+.INF", ".nan", ".NaN", "1e999", "-9e400"] {
            assert_eq!(resolve(text), Kind::NonFinite, "{text}");
        }
        for text in
            ["9223372036854775808", "-9223372036854775809", "0xffffffffffffffff", "0o7777777777777777777777"]
        {
            assert_eq!(resolve(text), Kind::BigInt, "{text}");
        }
        assert_eq!(resolve("9223372036854775807"), Kind::Int(i64::MAX));
    }

    #[test]
    fn what_1_1_took_for_more_is_text() {
        for text in [
            "no",
            "No",
            "off",
            "y",
            "yes",
            "on",
            "tRUE",
            "nULL",
            "12:30",
            "190:20:30",
            "1_000",
            "0b11",
            "0O7",
            "+0x1",
            "-0o7",
            "2024-01-02",
            ".",
            "+",
            "-",
            "e3",
            ".e3",
            "1e",
            "1e+",
            "inf",
            "nan",
            "-.nan",
            "1.2.3",
            "٣",
        ] {
            assert_eq!(resolve(text), Kind::Text, "{text}");
        }
    }

    #[test]
    fn tags_choose_the_kind() {
        assert_eq!(Tag::parse("tag:yaml.org,2002:str"), Some(Tag::Str));
        assert_eq!(Tag::parse("tag:yaml.org,2002:set"), None);
        assert_eq!(Tag::parse("!str"), None);
        assert_eq!(Tag::Str.kind_of("12"), Some(Kind::Text));
        assert_eq!(Tag::Int.kind_of("12"), Some(Kind::Int(12)));
        assert_eq!(Tag::Float.kind_of("12"), Some(Kind::Float(12.0)));
        assert_eq!(Tag::Int.kind_of("1.5"), None);
        assert_eq!(Tag::Bool.kind_of("yes"), None);
        assert_eq!(Tag::Null.kind_of(""), Some(Kind::Null));
        assert_eq!(Tag::Map.kind_of("x"), None);
    }
}
