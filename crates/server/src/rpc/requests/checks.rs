//! Serves `check` and `explain`.

use crate::into_data::IntoData;
use crate::rpc::answer::{RpcAnswer, data, run_blocking};
use agent_bash::policy::{Check, ExpandedDefinition, Explanation, Span, Verdict};
use agent_bash::{CallPolicy, CheckedScript};
use agent_bash_protocol::data::{
    CheckAnswerData, CheckData, DefinitionData, ExplainData, ReadCommandData, RuleAnswerData,
    VerdictData,
};

/// Answers `check`.
pub(in crate::rpc) async fn check(policy: CallPolicy, script: String) -> RpcAnswer {
    let checked = run_blocking(move || Ok(policy.check(&script))).await?;
    data(checked.into_data())
}

/// Answers `explain`.
pub(in crate::rpc) async fn explain(policy: CallPolicy, script: String) -> RpcAnswer {
    let explanation = run_blocking(move || Ok(policy.explain(&script))).await?;
    data(explanation.into_data())
}

impl IntoData<CheckData> for CheckedScript {
    fn into_data(self) -> CheckData {
        CheckData {
            verdict: self.verdict.into_data(),
            definitions: definitions(self.definitions),
        }
    }
}

impl IntoData<ExplainData> for Explanation {
    fn into_data(self) -> ExplainData {
        let text = self.to_string();
        let answers = self
            .answers
            .into_iter()
            .map(|(check, verdict)| CheckAnswerData {
                check: check_name(check),
                verdict: verdict.into_data(),
            });
        let rules = self.rules.into_iter().map(|answer| RuleAnswerData {
            rule: answer.rule.to_owned(),
            is_enabled: answer.is_enabled,
            blocks: answer.blocks.map(offsets),
        });
        let commands = self.commands.into_iter().map(|command| ReadCommandData {
            text: command.text,
            span: offsets(command.span),
            cwd: command.cwd,
            through: command.through,
            unknown: command.unknown,
        });
        ExplainData {
            verdict: self.verdict.into_data(),
            answers: answers.collect(),
            rules: rules.collect(),
            definitions: definitions(self.definitions),
            commands: commands.collect(),
            readers_agree: self.readers_agree,
            remarks: self.remarks,
            script: self.script,
            text,
        }
    }
}

impl IntoData<VerdictData> for Verdict {
    fn into_data(self) -> VerdictData {
        let verdict = self.name().to_owned();
        let (Self::Block(finding) | Self::Unreadable(finding)) = self else {
            return VerdictData {
                verdict,
                ..VerdictData::default()
            };
        };
        VerdictData {
            verdict,
            check: Some(check_name(finding.check)),
            rule: Some(finding.rule),
            group: finding.group.map(|group| group.to_string()),
            message: Some(finding.message),
            instead: Some(finding.suggestion).filter(|text| !text.is_empty()),
            span: Some(offsets(finding.span)),
            suggested_tool: finding.suggested_tool,
        }
    }
}

fn definitions(definitions: Vec<ExpandedDefinition>) -> Vec<DefinitionData> {
    let definitions = definitions.into_iter().map(|definition| DefinitionData {
        kind: definition.kind.to_owned(),
        name: definition.name,
        text: definition.text,
    });
    definitions.collect()
}

fn check_name(check: Check) -> String {
    match check {
        Check::Safety => "safety",
        Check::SafeMode => "safemode",
        Check::Interceptor => "interceptor",
    }
    .to_owned()
}

fn offsets(span: Span) -> [usize; 2] {
    [span.start, span.end]
}
