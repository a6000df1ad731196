//! The document of the API is kept, so that a change of the API is seen as one. To renew it, write
//! what `/openapi.json` gives into the file.

use rekuiper_server::routes;

#[test]
fn the_document_is_the_one_that_is_kept() {
    let kept = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/openapi.json"));
    let now = format!("{:#}\n", routes::openapi::document());
    if std::env::var_os("RENEW_GOLDEN").is_some() {
        std::fs::write(
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/openapi.json"),
            now,
        )
        .unwrap();
        return;
    }
    assert!(
        kept.unwrap_or_default() == now,
        "run with RENEW_GOLDEN=1 when the change is meant"
    );
}

#[test]
fn every_route_is_documented_and_none_is_there_twice() {
    let mut seen = std::collections::HashSet::new();
    for route in routes::all() {
        assert!(route.doc.ends_with('.'), "{} {}", route.method, route.path);
        assert!(
            seen.insert((route.method.as_str(), route.path)),
            "{} {}",
            route.method,
            route.path
        );
        assert!(
            !route.path.ends_with('/') || route.path == "/",
            "{}",
            route.path
        );
    }
    assert!(seen.len() >= 140, "{}", seen.len());
}
