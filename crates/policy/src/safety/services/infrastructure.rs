//! `no_infrastructure_removal`: deleting machines, stacks and projects.

use super::super::command_line::{Deed, found};
use super::super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::run::ResolvedCommand;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_infrastructure_removal",
    group: Group::Services,
    summary: "Taking infrastructure down: `terraform destroy`, `terraform apply -destroy`, `pulumi destroy`, `cdk destroy`, `vagrant destroy -f`, `aws … delete-stack`, `terminate-instances`, `gcloud projects delete`, `az group delete`, `gh repo delete`, and their like.",
    message: "permission denied: this takes infrastructure down, and what it held is lost. Look at the plan first, and let a person do it",
    suggestion: "terraform plan -destroy",
    fires: &[
        "terraform destroy -auto-approve",
        "terraform -chdir=prod destroy",
        "terraform apply -destroy -auto-approve",
        "tofu destroy --auto-approve",
        "terragrunt run-all destroy",
        "terraform workspace delete -force old",
        "pulumi destroy --yes",
        "cdk destroy --all --force",
        "vagrant destroy -f",
        "aws cloudformation delete-stack --stack-name x",
        "aws --profile p ec2 terminate-instances --instance-ids i-1",
        "aws rds delete-db-instance --db-instance-identifier x --skip-final-snapshot",
        "gcloud projects delete x --quiet",
        "gcloud sql instances delete x",
        "az group delete -n x --yes",
        "gh repo delete x/y --yes",
        "heroku apps:destroy x --confirm x",
        "flyctl apps destroy x",
    ],
    spares: &[
        "terraform plan -destroy",
        "terraform apply -auto-approve",
        "terraform destroy -help",
        "terraform show",
        "pulumi preview",
        "pulumi up --yes",
        "vagrant halt",
        "aws ec2 describe-instances",
        "gcloud projects list",
        "az group list",
        "gh repo view x/y",
        "gh release delete-asset v1 x",
    ],
    check,
};

const TERRAFORM_PROGRAMS: &[&str] = &["terraform", "tofu", "terragrunt"];

static DEEDS: [Deed; 19] = [
    Deed::of(TERRAFORM_PROGRAMS, &["destroy"]),
    Deed::of(TERRAFORM_PROGRAMS, &["apply"]).with(&["-destroy", "--destroy"]),
    Deed::of(TERRAFORM_PROGRAMS, &["workspace", "delete"]),
    Deed::of(&["terragrunt"], &["run-all|run", "destroy"]),
    Deed::of(&["pulumi"], &["destroy|down"]),
    Deed::of(&["pulumi"], &["stack", "rm"]),
    Deed::of(&["cdk", "cdktf"], &["destroy"]),
    Deed::of(&["vagrant"], &["destroy"]).with(&["-f", "--force"]),
    Deed::of(&["sls", "serverless"], &["remove"]),
    Deed::of(
        &["aws"],
        &["cloudformation", "delete-stack|delete-stack-set"],
    ),
    Deed::of(
        &["aws"],
        &[
            "ec2",
            "terminate-instances|delete-volume|delete-snapshot|delete-vpc",
        ],
    ),
    Deed::of(
        &["aws"],
        &[
            "cognito-idp|sqs|kafka|lightsail|rds|dynamodb|eks|ecs|redshift|elasticache|docdb|neptune|ecr|kms|route53|efs|lambda",
            "delete-db-instance|delete-db-cluster|delete-table|delete-cluster|delete-service|delete-replication-group|delete-cache-cluster|delete-repository|schedule-key-deletion|delete-hosted-zone|delete-file-system|delete-function|delete-user-pool|purge-queue|delete-queue|delete-instance",
        ],
    ),
    Deed::of(&["gcloud"], &["projects", "delete"]),
    Deed::of(
        &["gcloud"],
        &[
            "sql|compute|container|bigtable|spanner|redis",
            "instances|clusters|disks|databases",
            "delete",
        ],
    ),
    Deed::of(&["az"], &["group", "delete"]),
    Deed::of(
        &["az"],
        &["vm|aks|webapp|keyvault|cosmosdb|storage", "delete"],
    ),
    Deed::of(&["gh", "glab"], &["repo", "delete"]),
    Deed::of(
        &["heroku", "scalingo"],
        &["apps:destroy|pg:reset|addons:destroy"],
    ),
    Deed::of(
        &["fly", "flyctl", "doctl", "hcloud", "eksctl"],
        &[
            "apps|volumes|postgres|compute|server|volume|delete",
            "destroy|delete|cluster",
        ],
    ),
];

fn check(ran: &ResolvedCommand, _: &Scene<'_>) -> Option<Hit> {
    found(&DEEDS, ran)
}
