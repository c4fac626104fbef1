//! `no_container_data_removal`: volumes, and containers that were not named.

use super::super::command_line::{Deed, deed};
use super::super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::run::ResolvedCommand;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_container_data_removal",
    group: Group::Services,
    summary: "Removing volumes, and containers that are not named: `docker system prune -a --volumes`, `docker volume rm` and `prune`, `docker compose down -v`, `docker container prune`, `docker rm -f $(docker ps -aq)`; the same with podman and nerdctl.",
    message: "permission denied: this removes volumes, or containers that are not named, and the data in them. Name the container, and leave volumes alone",
    suggestion: "name what is meant, for example `docker rm web`, or `docker compose down` without -v",
    fires: &[
        "docker system prune -a --volumes -f",
        "docker system prune -f",
        "podman system prune --all --force",
        "docker volume rm pgdata",
        "docker volume prune -f",
        "docker compose down -v",
        "docker compose -f dev.yml down --volumes",
        "docker-compose down -v",
        "docker container prune -f",
        "docker rm -f $(docker ps -aq)",
        "docker ps -aq | xargs docker rm -f",
        "sudo docker -H there volume rm x",
        "docker rm -fv db",
        "podman system reset -f",
    ],
    spares: &[
        "docker system df",
        "docker volume ls",
        "docker compose down",
        "docker compose up -d",
        "docker rm -f web",
        "docker image prune -f",
        "docker run --rm -v \"$PWD\":/w x volume rm y",
        "docker exec web system prune",
        "docker rm \"$NAME\"",
        "docker stop $(docker ps -q)",
    ],
    check,
};

const ENGINES: &[&str] = &["docker", "podman", "nerdctl"];

static DEEDS: [Deed; 7] = [
    Deed::of(ENGINES, &["system", "prune|reset"])
        .with(&["-f", "--force", "-a", "--all", "--volumes"]),
    Deed::of(ENGINES, &["volume", "rm|remove|prune"]),
    Deed::of(ENGINES, &["container", "prune"]).with(&["-f", "--force"]),
    Deed::of(ENGINES, &["compose", "down"]).with(&["-v", "--volumes"]),
    Deed::of(&["docker-compose", "podman-compose"], &["down|rm"]).with(&["-v", "--volumes"]),
    Deed::of(ENGINES, &["rm"]).with(&["-v", "--volumes"]),
    Deed::of(ENGINES, &["container", "rm"]).with(&["-v", "--volumes"]),
];

/// Forced removal of everything in a list.
static FORCED_REMOVALS: [Deed; 2] = [
    Deed::of(ENGINES, &["rm"]).with(&["-f", "--force"]),
    Deed::of(ENGINES, &["container", "rm"]).with(&["-f", "--force"]),
];

fn check(ran: &ResolvedCommand, _: &Scene<'_>) -> Option<Hit> {
    if deed(&DEEDS, ran).is_some() {
        return Some(Hit::on(ran, ran.arguments()));
    }
    let (_, operands) = deed(&FORCED_REMOVALS, ran)?;
    // The output of a command, which may be any number of names.
    let each = ran.through.last().is_some_and(|program| program == "xargs");
    let listed = operands.iter().find(|field| {
        let value = &field.value;
        value.prefix().is_empty() && (value.may_split() || each && value.has_unknown())
    })?;
    (!ran.dormant).then(|| Hit::on(ran, [listed]))
}
