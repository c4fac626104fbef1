# Defines `sid`, which unpacks packages of Debian's unstable release below the directory `debian`:
#
#     sid NAME[=VERSION]…
#
# `apt-get indextargets` knows where this machine gets its packages. Package lists that are younger
# than an hour are used again.

sid() {
  local here=$PWD package uri
  if [ -z "$(find sid/updated -mmin -60 2>/dev/null)" ]; then
    mkdir -p sid/lists/partial sid/cache/archives/partial sid/sources sid/packages
    uri=$(apt-get indextargets --format '$(REPO_URI) $(CREATED_BY)' |
      awk '$2 == "Packages" && /\/debian\/? / { print $1; exit }')
    printf 'Types: deb\nURIs: %s\nSuites: sid\nComponents: main\nSigned-By: %s\n' "$uri" \
      /usr/share/keyrings/debian-archive-keyring.gpg >sid/sources/sid.sources
    cat >sid/apt.conf <<END
Dir::State::lists "$PWD/sid/lists"; Dir::Cache "$PWD/sid/cache"; Dir::State::status "/dev/null";
Dir::Etc::sourcelist "/dev/null"; Dir::Etc::sourceparts "$PWD/sid/sources";
APT::Sandbox::User "root"; Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
END
    APT_CONFIG=$PWD/sid/apt.conf apt-get -qq update
    touch sid/updated
  fi
  (
    cd sid/packages
    APT_CONFIG=$here/sid/apt.conf apt-get -qq download "$@"
    for package in *.deb; do dpkg -x "$package" "$here/debian"; done
    rm ./*.deb
  )
}
