//! `no_bucket_removal`: removing buckets, or everything in them.

use super::super::command_line::{Deed, deed, names_of};
use super::super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::run::Ran;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_bucket_removal",
    group: Group::Services,
    summary: "Removing buckets or everything below a place in them: `aws s3 rm --recursive`, `aws s3 rb`, `aws s3 sync --delete`, `gsutil rm -r`, `gcloud storage rm -r`, `az storage container delete`, `s3cmd del -r`, `mc rm -r`, `rclone purge`.",
    message: "permission denied: this removes everything in a bucket or below a place in it. Name the object",
    suggestion: "name the object, for example `aws s3 rm s3://bucket/key`, and look first with `--dryrun`",
    fires: &[
        "aws s3 rm s3://bucket --recursive",
        "aws s3 rb s3://bucket --force",
        "aws --profile p s3 sync . s3://bucket --delete",
        "aws s3api delete-bucket --bucket x",
        "gsutil -m rm -r gs://bucket",
        "gsutil rb gs://bucket",
        "gcloud storage rm -r gs://bucket",
        "az storage container delete -n x",
        "s3cmd del --recursive s3://bucket",
        "mc rm --recursive --force x/bucket",
        "rclone purge x:bucket",
    ],
    spares: &[
        "aws s3 ls s3://bucket",
        "aws s3 rm s3://bucket/key",
        "aws s3 rm s3://bucket --recursive --dryrun",
        "aws s3 sync . s3://bucket",
        "aws s3 cp x s3://bucket/x --recursive",
        "gsutil rm gs://bucket/key",
        "gsutil -m cp -r x gs://bucket",
        "gcloud storage ls",
        "rclone copy x y:bucket",
    ],
    needs: |written| names_of(written, &DEEDS),
    check,
};

const RECURSIVE: &[&str] = &["-r", "-R", "--recursive"];

const fn with(
    programs: &'static [&'static str],
    words: &'static [&'static str],
    with: &'static [&'static str],
) -> Deed {
    Deed {
        programs,
        words,
        with,
        without: &[],
    }
}

static DEEDS: [Deed; 14] = [
    with(&["aws"], &["s3", "rm"], &["--recursive"]),
    with(&["aws"], &["s3", "rb"], &[]),
    with(&["aws"], &["s3", "sync"], &["--delete"]),
    with(&["aws"], &["s3api", "delete-bucket|delete-objects"], &[]),
    with(&["gsutil"], &["rm"], RECURSIVE),
    with(&["gsutil"], &["rb"], &[]),
    with(&["gcloud"], &["storage", "rm"], RECURSIVE),
    with(&["gcloud"], &["storage", "buckets", "delete"], &[]),
    with(
        &["az"],
        &["storage", "container|account|share", "delete"],
        &[],
    ),
    with(&["az"], &["storage", "blob", "delete-batch"], &[]),
    with(&["s3cmd"], &["del|rm"], RECURSIVE),
    with(&["s3cmd"], &["rb"], &[]),
    with(
        &["mc", "mcli"],
        &["rm|rb"],
        &["-r", "--recursive", "--force"],
    ),
    with(&["rclone"], &["purge|delete"], &[]),
];

fn check(ran: &Ran, _: &Scene<'_>) -> Option<Hit> {
    deed(&DEEDS, ran).map(|_| Hit::on(ran, ran.arguments()))
}
