//! Properties of all adapters.

use super::*;
use std::collections::BTreeSet;

#[test]
fn names_are_found_and_others_are_told_of_them() {
    for adapter in ALL {
        assert_eq!(by_name(adapter.name).unwrap().name, adapter.name);
    }
    let error = by_name("cursor").unwrap_err().to_string();
    assert!(
        error.starts_with("there is no adapter `cursor`; there are anthropic-bash"),
        "{error}"
    );
    assert_eq!(names().iter().collect::<BTreeSet<_>>().len(), ALL.len());
}

#[test]
fn every_tool_says_what_it_takes() {
    for tool in ALL.iter().flat_map(|adapter| adapter.tools) {
        let schema = tool.input_schema();
        assert_eq!(schema["type"], "object", "{}", tool.name);
        for field in tool.fields {
            assert!(!field.about.is_empty(), "{}: {}", tool.name, field.name);
            assert_eq!(schema["properties"][field.name]["description"], field.about);
        }
        assert!(!tool.about.is_empty());
    }
}

#[test]
fn a_tool_that_an_adapter_has_not_is_an_error_that_names_those_it_has() {
    let error = by_name("anthropic-bash").unwrap().tool("sh").unwrap_err();
    assert_eq!(error, "`anthropic-bash` has no tool `sh`; its tools: bash");
}
