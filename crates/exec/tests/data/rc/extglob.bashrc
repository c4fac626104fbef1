shopt -s extglob
kind() {
    case $1 in
        +([0-9])) echo number ;;
        !(*.txt)) echo other ;;
        *) echo text ;;
    esac
}
