# bash completion for w8yctl

# The lists of this host; what would need quotes is left out.
_w8yctl_lists() {
    "$1" lists --json 2>/dev/null | sed -n 's/[{},]/\n/gp' |
        sed -n 's/^ *"list": *"\([A-Za-z0-9._/@-]*\)" *$/\1/p' |
        awk '!seen[$0]++'
}

_w8yctl() {
    local cur prev words cword split
    _init_completion -s || return

    case $prev in
        --socket)
            _filedir
            return
            ;;
        --config)
            _filedir toml
            return
            ;;
        --lock-key)
            COMPREPLY=($(compgen -W 'lock proc' -- "$cur"))
            return
            ;;
        --list)
            COMPREPLY=($(compgen -W "$(_w8yctl_lists "$1")" -- "$cur"))
            return
            ;;
        --file | --schedules | --timefile)
            _filedir
            return
            ;;
        --redis-url | --item | --limit | --reason | --for | --timeout | --since | --host | \
            --key-prefix | -k | --after | --before | --rule | -n)
            return
            ;;
    esac

    # The command, and how many of its own words there are before this one.
    local i command= given=0
    for ((i = 1; i < cword; i++)); do
        case ${words[i]} in
            --socket | --config | --redis-url | --lock-key | --state | --list | --item | --limit | \
                --reason | --for | --timeout | --since | --host | --file | --schedules | --timefile | \
                --key-prefix | -k | --after | --before | --rule | -n)
                ((i++))
                ;;
            -*) ;;
            *)
                if [[ $command == schedule ]]; then
                    command="schedule ${words[i]}"
                elif [[ $command ]]; then
                    ((given++))
                else
                    command=${words[i]}
                fi
                ;;
        esac
    done

    if [[ $prev == --state ]]; then
        local states='free running resting quarantined'
        case $command in
            lists)
                states='running idle full unavailable starved paused quiet probing refused disabled
                    draining'
                ;;
            items) states+=' queued waiting stopped bad died nowhere' ;;
            release) states='resting quarantined' ;;
        esac
        COMPREPLY=($(compgen -W "$states" -- "$cur"))
        return
    fi
    $split && return

    local options='--socket= --config= --redis-url= --lock-key= --json --wide --help'
    local commands='status lists quiet resume reload drain cancel check-executor runs show watch items
        add remove quarantine release pause schedule'
    [[ $command == schedule* ]] && options+=' --key-prefix='
    case $command in
        '') options+=' --version' ;;
        'schedule set') options+=' --after= --base64 --file=' ;;
        'schedule unset' | 'schedule tell') options+=' --base64' ;;
        'schedule statuses') options+=' --before=' ;;
        'schedule next') options+=' --rule= --after= --base64' ;;
        'schedule dispatch') options+=' --schedules= --after= --timefile= --once' ;;
        lists) options+=' --state=' ;;
        items) options+=' --state= --limit=' ;;
        drain) options+=' --wait' ;;
        add) options+=' --again --base64' ;;
        remove) options+=' --base64 --state=' ;;
        quarantine) options+=' --base64 --reason=' ;;
        cancel) options+=' --quarantine --reason=' ;;
        release) options+=' --base64 --all --state=' ;;
        pause) options+=' --reason= --for=' ;;
        runs) options+=' --item= --base64 --failed --since= --host= --limit=' ;;
        show) options+=' --list=' ;;
        watch) options+=' --limit=' ;;
        check-executor) options+=' --item= --base64 --timeout=' ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
        [[ ${COMPREPLY-} == *= ]] && compopt -o nospace
        return
    fi

    case $command:$given in
        :*) COMPREPLY=($(compgen -W "$commands" -- "$cur")) ;;
        schedule:*)
            COMPREPLY=($(compgen -W 'set unset tell statuses schedules next list control dispatch' \
                -- "$cur"))
            ;;
        'schedule control:0') COMPREPLY=($(compgen -W 'HALT RESUME' -- "$cur")) ;;
        lists:0 | resume:0 | runs:0 | watch:0 | items:0 | add:0 | remove:0 | quarantine:0 | release:0 | pause:0)
            COMPREPLY=($(compgen -W "$(_w8yctl_lists "$1")" -- "$cur"))
            ;;
        check-executor:0) _filedir ;;
    esac
} && complete -F _w8yctl w8yctl
