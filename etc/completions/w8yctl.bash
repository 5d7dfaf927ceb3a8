# bash completion for w8yctl

# Lists of the fleet. Omits names that need quotes.
_w8yctl_lists() {
    "$1" lists --json 2>/dev/null | sed -n 's/[{},]/\n/gp' |
        sed -n 's/^ *"list": *"\([A-Za-z0-9._/@-]*\)" *$/\1/p' |
        awk '!seen[$0]++'
}

# All feeds. Omits names that need quotes.
_w8yctl_feeds() {
    "$1" feed list 2>/dev/null | sed -n '/^[A-Za-z0-9._/@-]*$/p'
}

# Hosts of the fleet.
_w8yctl_hosts() {
    "$1" fleet --no-lists 2>/dev/null | sed -n 's/^\([A-Za-z0-9._@-]*\)  .*/\1/p' | sed '/^HOST$/d'
}

# IDs of active runs on all hosts; with "all", also of the last 50 finished runs.
_w8yctl_runs() {
    {
        "$1" fleet --no-lists --runs --json
        [[ ${2-} != all ]] || "$1" runs --limit=50 --json
    } 2>/dev/null | sed -n 's/[{},]/\n/gp' | sed -n 's/^ *"run": *"\([0-9A-Z]*\)" *$/\1/p' |
        awk '!seen[$0]++'
}

# Items of a list, at most 500. Omits items that need quotes.
_w8yctl_items() {
    "$1" items --limit=500 --json -- "$2" 2>/dev/null | sed -n 's/[{},]/\n/gp' |
        sed -n 's/^ *"item": *"\([A-Za-z0-9._/@-]*\)" *$/\1/p' | awk '!seen[$0]++'
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
        --host)
            COMPREPLY=($(compgen -W "$(_w8yctl_hosts "$1")" -- "$cur"))
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
        --kind)
            COMPREPLY=($(compgen -W 'feed sorted_feed queue job' -- "$cur"))
            return
            ;;
        --redis-url | --item | --limit | --reason | --for | --timeout | --since | --id | --fleet | \
            --max-length | --key-prefix | -k | --after | --before | --rule | --tz | --jitter | -n)
            return
            ;;
    esac

    # The subcommand, and the number of its own words before this one.
    local i command= given=0 list=
    for ((i = 1; i < cword; i++)); do
        case ${words[i]} in
            --socket | --config | --redis-url | --lock-key | --fleet | --state | --list | --item | --limit | \
                --kind | --max-length | --id | --reason | --for | --timeout | --since | --host | --file | --schedules | --timefile | \
                --key-prefix | -k | --after | --before | --rule | --tz | --jitter | -n)
                ((i++))
                ;;
            -*) ;;
            *)
                if [[ $command == @(fleet|schedule|feed|sorted|queue|job) ]]; then
                    command="$command ${words[i]}"
                elif [[ $command ]]; then
                    [[ $((given++)) == 0 ]] && list=${words[i]}
                else
                    command=${words[i]}
                fi
                ;;
        esac
    done

    if [[ $prev == --state ]]; then
        local states='free running delayed quarantined'
        case $command in
            lists)
                states='running idle full unavailable starved breaker_open paused quiet probing
                    ineligible disabled draining'
                ;;
            items) states+=' queued scheduled finished stopped bad died orphaned claimed stalled' ;;
            release) states='delayed quarantined' ;;
        esac
        COMPREPLY=($(compgen -W "$states" -- "$cur"))
        return
    fi
    $split && return

    local options='--socket= --config= --redis-url= --lock-key= --fleet= --json --wide --help'
    local commands='status top lists fleet quiet resume reload drain cancel check-executor runs errors statistics show watch why logs
        items run rerun add remove quarantine release pause schedule feed sorted queue job help'
    [[ $command == schedule* ]] && options+=' --key-prefix= --raw'
    [[ $command == @(feed|sorted|queue|job)* ]] && options+=' --base64 --feed-base64 --raw --null'
    case $command in
        '') options+=' --version' ;;
        'schedule set') options+=' --after= --tz= --jitter= --base64 --file= --force' ;;
        'schedule unset' | 'schedule tell') options+=' --base64' ;;
        'schedule statuses') options+=' --before=' ;;
        'schedule next') options+=' --rule= --after= --tz= --base64' ;;
        'schedule dispatch') options+=' --schedules= --after= --timefile= --once' ;;
        'feed create') options+=' --kind= --max-length= --exists-ok' ;;
        'feed publish') options+=' --id= --file=' ;;
        'sorted append' | 'sorted prepend' | 'sorted before' | 'sorted after' | 'sorted edit' | \
            'job finish') options+=' --file=' ;;
        'queue put') options+=' --file= --high' ;;
        'job put') options+=' --file= --high --id= --rerun --wait --timeout=' ;;
        'job fail') options+=' --reason=' ;;
        'queue get' | 'job get' | 'job wait') options+=' --timeout=' ;;
        'feed watch' | 'sorted watch' | 'queue watch' | 'job watch') options+=' --limit=' ;;
        status) options+=' --check --host=' ;;
        top) options+=' --interval=' ;;
        lists) options+=' --state= --host=' ;;
        items) options+=' --state= --limit=' ;;
        fleet) options+=' --runs --no-lists' ;;
        quiet | resume | reload) options+=' --host= --all' ;;
        drain) options+=' --host= --all --wait' ;;
        add) options+=' --allow-duplicates --create --base64 --null' ;;
        remove) options+=' --base64 --state=' ;;
        quarantine) options+=' --base64 --reason=' ;;
        cancel) options+=' --quarantine --reason=' ;;
        statistics) options+=' --day' ;;
        errors) options+=' --since= --limit= --release --quarantine --retry --reason=' ;;
        release) options+=' --base64 --all --state=' ;;
        pause) options+=' --reason= --for=' ;;
        runs) options+=' --item= --base64 --failed --since= --host= --limit=' ;;
        show) options+=' --list=' ;;
        logs) options+=' --follow' ;;
        why) options+=' --base64' ;;
        run) options+=' --base64 --next' ;;
        rerun) options+=' --base64' ;;
        watch) options+=' --limit=' ;;
        check-executor) options+=' --item= --base64 --timeout=' ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
        [[ ${COMPREPLY-} == *= ]] && compopt -o nospace
        return
    fi

    case $command:$given in
        :* | help:0) COMPREPLY=($(compgen -W "$commands" -- "$cur")) ;;
        fleet:*) COMPREPLY=($(compgen -W 'forget plan' -- "$cur")) ;;
        'fleet forget':*) COMPREPLY=($(compgen -W "$(_w8yctl_hosts "$1")" -- "$cur")) ;;
        'fleet plan':*) _filedir toml ;;
        schedule:*)
            COMPREPLY=($(compgen -W 'set unset tell statuses schedules next list control dispatch' \
                -- "$cur"))
            ;;
        feed:*)
            COMPREPLY=($(compgen -W 'create delete list config publish retract ids get all watch' \
                -- "$cur"))
            ;;
        sorted:*)
            COMPREPLY=($(compgen -W 'append prepend before after edit move retract ids get all watch' \
                -- "$cur"))
            ;;
        queue:*) COMPREPLY=($(compgen -W 'put get ids watch' -- "$cur")) ;;
        job:*)
            COMPREPLY=($(compgen -W 'put get show wait finish fail requeue cancel stall retry retract ids failures maintain watch' \
                -- "$cur"))
            ;;
        feed\ *:0 | sorted\ *:0 | queue\ *:0 | job\ *:0)
            COMPREPLY=($(compgen -W "$(_w8yctl_feeds "$1")" -- "$cur"))
            ;;
        'schedule control:0') COMPREPLY=($(compgen -W 'HALT RESUME' -- "$cur")) ;;
        cancel:0) COMPREPLY=($(compgen -W "$(_w8yctl_runs "$1")" -- "$cur")) ;;
        show:0) COMPREPLY=($(compgen -W "$(_w8yctl_runs "$1" all)" -- "$cur")) ;;
        logs:0)
            COMPREPLY=($(compgen -W "$(_w8yctl_lists "$1") $(_w8yctl_runs "$1" all)" -- "$cur"))
            ;;
        lists:0 | resume:0 | runs:0 | watch:0 | why:0 | run:0 | rerun:0 | items:0 | add:0 | remove:0 | quarantine:0 | release:0 | pause:0)
            COMPREPLY=($(compgen -W "$(_w8yctl_lists "$1")" -- "$cur"))
            ;;
        why:1 | run:1 | rerun:[1-9]* | remove:[1-9]* | quarantine:[1-9]* | release:[1-9]*)
            COMPREPLY=($(compgen -W "$(_w8yctl_items "$1" "$list")" -- "$cur"))
            ;;
        check-executor:0) _filedir ;;
    esac
} && complete -F _w8yctl w8yctl
