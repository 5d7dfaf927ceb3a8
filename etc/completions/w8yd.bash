# bash completion for w8yd
_w8yd() {
    local cur prev words cword split
    _init_completion -s || return

    case $prev in
        --config)
            _filedir toml
            return
            ;;
        --embedded)
            # The directory is optional.
            if $split || [[ $cur == [!-]* ]]; then
                _filedir -d
                return
            fi
            ;;
    esac
    $split && return

    COMPREPLY=($(compgen -W '--config= --check --strict --plan --embedded --help --version' -- "$cur"))
    [[ ${COMPREPLY-} == *= ]] && compopt -o nospace
} && complete -F _w8yd w8yd
