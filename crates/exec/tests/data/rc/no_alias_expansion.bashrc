alias hi='echo hi'
shopt -u expand_aliases
