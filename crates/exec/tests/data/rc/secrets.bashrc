export GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789
export DATABASE_URL=postgres://me:hunter2@db/x
SECRET_IN_A_VARIABLE=hunter2
deploy() { AWS_SECRET_ACCESS_KEY='wJalrXUtnFEMI/K7MDENG' aws s3 sync . s3://x; }
fetch() { curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwx' https://x; }
alias db='psql postgres://me:hunter2@db/x'
alias login='mysql --password=hunter2'
clean() { gh --token "$GITHUB_TOKEN" "$@"; }
alias open='gh browse'
plain() { echo plain; }
