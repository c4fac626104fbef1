//! Properties of all adapters.

use super::*;
use std::collections::BTreeSet;

#[test]
fn by_name_finds_every_adapter_and_lists_them_for_an_unknown_name() {
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
fn tool_schema_describes_every_field() {
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
fn unknown_tool_error_lists_the_tools_of_the_adapter() {
    let error = by_name("anthropic-bash").unwrap().tool("sh").unwrap_err();
    assert_eq!(error, "`anthropic-bash` has no tool `sh`; its tools: bash");
}
