//! What the page is made of; what it does in a browser is tried by `scripts/browser`.

use super::*;

#[test]
fn embedded_json_is_the_same_json_and_ends_no_element() {
    let value = json!({ "title": "</script><!--<script>\u{2028}&amp;\"\\" });
    let text = embedded(&value);
    assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
}

#[test]
fn texts_are_escaped() {
    let item = item("error", "a\"><script>", "<img src=x onerror='1'>\u{202e}", "x\ny");
    assert!(!item.contains("<script") && !item.contains("<img"), "{item}");
    assert!(item.contains("\\u{202e}") && item.contains("<p class=\"help\">y</p>"), "{item}");
}

#[test]
fn the_sheets_and_the_script_are_not_cut_by_their_element() {
    assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
    assert!(!STYLE.contains("</style") && !FRAME_STYLE.contains("</style"));
    for never in
        ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "import("]
    {
        assert!(!SCRIPT.contains(never), "{never}");
    }
    for text in [STYLE, FRAME_STYLE, include_str!("list.html")] {
        assert!(!text.contains("url(") && !text.contains("http") && !text.contains(" on"), "{text}");
    }
}
