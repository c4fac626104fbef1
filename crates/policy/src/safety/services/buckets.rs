//! `no_bucket_removal`: removing buckets, or everything in them.

use super::super::command_line::{Deed, found};
use super::super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::run::ResolvedCommand;

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
    check,
};

const RECURSIVE_OPTIONS: &[&str] = &["-r", "-R", "--recursive"];

static DEEDS: [Deed; 14] = [
    Deed::of(&["aws"], &["s3", "rm"]).with(&["--recursive"]),
    Deed::of(&["aws"], &["s3", "rb"]),
    Deed::of(&["aws"], &["s3", "sync"]).with(&["--delete"]),
    Deed::of(&["aws"], &["s3api", "delete-bucket|delete-objects"]),
    Deed::of(&["gsutil"], &["rm"]).with(RECURSIVE_OPTIONS),
    Deed::of(&["gsutil"], &["rb"]),
    Deed::of(&["gcloud"], &["storage", "rm"]).with(RECURSIVE_OPTIONS),
    Deed::of(&["gcloud"], &["storage", "buckets", "delete"]),
    Deed::of(&["az"], &["storage", "container|account|share", "delete"]),
    Deed::of(&["az"], &["storage", "blob", "delete-batch"]),
    Deed::of(&["s3cmd"], &["del|rm"]).with(RECURSIVE_OPTIONS),
    Deed::of(&["s3cmd"], &["rb"]),
    Deed::of(&["mc", "mcli"], &["rm|rb"]).with(&["-r", "--recursive", "--force"]),
    Deed::of(&["rclone"], &["purge|delete"]),
];

fn check(ran: &ResolvedCommand, _: &Scene<'_>) -> Option<Hit> {
    found(&DEEDS, ran)
}
