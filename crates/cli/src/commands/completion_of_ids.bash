
# Completes the numbers of jobs, artifacts and change sets: the program lists them.
_agent__bash_with_ids() {
    _agent__bash "$@"
    [[ $2 == -* || $3 == --* ]] && return
    local kind= state=() at
    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
        'jobs show' | 'jobs output' | 'jobs input' | 'jobs wait' | 'jobs kill') kind=jobs ;;
        'artifact show' | 'artifact grep') kind=artifact ;;
        'changes show' | 'changes diff' | 'changes commit' | 'changes discard' | 'changes undo' | 'changes redo')
            kind=changes ;;
        *) return ;;
    esac
    (( COMP_CWORD > 2 )) || return
    for (( at = 3; at < COMP_CWORD; at++ )); do
        [[ ${COMP_WORDS[at]} == --state ]] && state=(--state "${COMP_WORDS[at + 1]}")
    done
    local id ids= words=" ${COMP_WORDS[*]:3:COMP_CWORD-3} "
    while read -r id _; do
        id=${id#artifact://}
        # The command line already has a number.
        [[ $words == *" $id "* ]] && return
        [[ $id == [0-9]* ]] && ids+=" $id"
    done < <("$1" "$kind" list "${state[@]}" 2> /dev/null)
    COMPREPLY=( $(compgen -W "$ids" -- "$2") )
}
complete -o bashdefault -o default -F _agent__bash_with_ids agent-bash
