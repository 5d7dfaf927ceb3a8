# bash completion for w8y
_w8y() {
    local cur prev words cword split
    _init_completion -s -n : || return

    # The executable and all words after it are a separate command line.
    local i
    for ((i = 1; i < cword; i++)); do
        case ${words[i]} in
            --redis-url | --key-prefix | --key-expiry | --env-var | --exit-codes | --log-file | --lock-key | \
                -[cqt]*[ukxeif] | -[ukxeif])
                ((i++))
                ;;
            --)
                ((i++))
                break
                ;;
            -*) ;;
            *) break ;;
        esac
    done
    if ((i < cword)) || [[ ${words[i - 1]} == -- ]]; then
        # Bash also splits words at colons, so the i-th word here may have a higher index there.
        local word offset=0
        for word in "${words[@]:0:i}"; do
            local part=
            while [[ $part != "$word" && $offset -lt ${#COMP_WORDS[@]} ]]; do
                part+=${COMP_WORDS[offset++]}
            done
        done
        _command_offset "$offset"
        return
    fi

    case $prev in
        --redis-url | -*u)
            COMPREPLY=($(compgen -W 'redis:// unix://' -- "$cur"))
            __ltrim_colon_completions "$cur"
            compopt -o nospace
            return
            ;;
        --env-var | -*e)
            COMPREPLY=($(compgen -v -- "$cur"))
            return
            ;;
        --log-file | -*f)
            _filedir
            return
            ;;
        --lock-key)
            COMPREPLY=($(compgen -W 'lock proc' -- "$cur"))
            return
            ;;
        --key-prefix | --key-expiry | --exit-codes | -*[kxi])
            return
            ;;
    esac
    $split && return

    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W '--redis-url= --key-prefix= --key-expiry= --env-var= --continuous
            --exit-codes= --quiet --log-file= --no-log-timestamps --lock-key= --help --version' -- "$cur"))
        [[ ${COMPREPLY-} == *= ]] && compopt -o nospace
        return
    fi
    COMPREPLY=($(compgen -c -- "$cur"))
    _filedir
} && complete -F _w8y w8y
