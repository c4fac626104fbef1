//! `no_cluster_removal`: removing namespaces, or all objects of a kind, from a cluster.

use super::super::command_line::{Deed, deed};
use super::super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::run::ResolvedCommand;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_cluster_removal",
    group: Group::Services,
    summary: "Removing a namespace, a volume, a definition, or everything of a kind from a cluster: `kubectl delete ns`, `kubectl delete pvc`, `kubectl delete … --all`, `helm uninstall`; the same with oc and k3s.",
    message: "permission denied: this removes a namespace, volumes, or everything of a kind from the cluster. Name the one object that is meant",
    suggestion: "name the object, for example `kubectl delete pod web-1`, and look first with `--dry-run=client`",
    fires: &[
        "kubectl delete ns prod",
        "kubectl delete namespace/prod",
        "kubectl -n prod delete pods --all",
        "kubectl delete all --all -A",
        "kubectl delete --all deployments",
        "kubectl delete pvc data",
        "kubectl delete crd x.example.com",
        "kubectl --context prod delete namespaces a b",
        "oc delete project x",
        "helm uninstall release",
        "helm delete release -n prod",
    ],
    spares: &[
        "kubectl get ns",
        "kubectl delete pod web-1",
        "kubectl delete -f app.yaml",
        "kubectl delete ns x --dry-run=client",
        "kubectl create ns x",
        "kubectl describe ns prod",
        "helm list --all",
        "helm upgrade release chart",
    ],
    check,
};

const CLUSTER_CLIENTS: &[&str] = &["kubectl", "oc", "k", "k3s", "kubecolor"];

static WHOLE_CLUSTER_DEEDS: [Deed; 2] = [
    Deed::of(CLUSTER_CLIENTS, &["delete"]).with(&["--all", "-A", "--all-namespaces"]),
    Deed::of(&["helm", "helmfile"], &["uninstall|delete|destroy|del|un"]),
];

static DELETE_DEEDS: [Deed; 1] = [Deed::of(CLUSTER_CLIENTS, &["delete"])];

/// Kinds whose objects contain many others.
const CONTAINER_KINDS: [&str; 18] = [
    "ns", "namespace", "namespaces", "project", "projects", "pv", "persistentvolume",
    "persistentvolumes", "pvc", "persistentvolumeclaim", "persistentvolumeclaims", "crd", "crds",
    "customresourcedefinition", "customresourcedefinitions", "node", "nodes", "no",
];

fn check(ran: &ResolvedCommand, _: &Scene<'_>) -> Option<Hit> {
    if deed(&WHOLE_CLUSTER_DEEDS, ran).is_some() {
        return Some(Hit::on(ran, ran.arguments()));
    }
    let (_, operands) = deed(&DELETE_DEEDS, ran)?;
    let holder = operands.iter().find(|field| {
        let kind = field.value.prefix().split(['/', '.']).next().unwrap_or("");
        kind.split(',').any(|kind| CONTAINER_KINDS.contains(&kind))
    })?;
    // `delete pod no`: the first word is the kind.
    let first = operands
        .iter()
        .find(|field| !field.value.prefix().starts_with('-'));
    let is_first = first.is_some_and(|first| first.span == holder.span);
    (is_first || holder.value.prefix().contains('/')).then(|| Hit::on(ran, operands))
}
