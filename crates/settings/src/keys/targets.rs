//! The setting `targets`: other machines on which calls may run. The user names each machine.

use crate::key::{ProjectEffect, SettingKey, ValueForm, to_value};
use crate::targets::TargetSettings;
use std::collections::BTreeMap;

pub(super) const TARGETS: SettingKey = SettingKey {
    name: "targets",
    doc: "Machines on which `--on NAME` runs calls: NAME = { transport = \"ssh\" (docker, podman, kube, command), to, command, cwd, \
          env, directory, lease, install }.",
    form: ValueForm::FileOnly,
    set: |s, v| {
        let targets: Result<BTreeMap<String, TargetSettings>, _> = v.clone().try_into();
        let targets = targets.map_err(|error| error.message().to_owned())?;
        for (name, target) in &targets {
            target.target(name).map_err(|error| error.to_string())?;
        }
        s.targets = targets;
        Ok(())
    },
    get: |s| to_value(&s.targets),
    project: ProjectEffect::Never,
};
