# fish completion for w8yctl

# The lists of this host; what would need quotes is left out.
function __w8yctl_lists
    w8yctl lists --json 2>/dev/null | string match -ra '"list": *"[A-Za-z0-9._/@-]*"' |
        string replace -r '"list": *"(.*)"' '$1' | sort -u
end

# Items of the list that stands behind the command, some hundreds at most; the same.
function __w8yctl_items
    set --local words (commandline -opc | string match -v -- '-*')
    test (count $words) -ge 3; or return
    w8yctl items --limit=500 --json -- $words[3] 2>/dev/null |
        string match -ra '"item": *"[A-Za-z0-9._/@-]*"' |
        string replace -r '"item": *"(.*)"' '$1' | sort -u
end

# The hosts of the fleet.
function __w8yctl_hosts
    w8yctl fleet --no-lists 2>/dev/null | string replace -rf '^([A-Za-z0-9._@-]+)  .*' '$1' |
        string match -v HOST
end

# Ids of runs that go on, on all hosts; and of those that have ended lately.
function __w8yctl_run_ids
    string match -ra '"run": *"[0-9A-Z]*"' | string replace -r '"run": *"(.*)"' '$1' | sort -u
end
function __w8yctl_going
    w8yctl fleet --no-lists --runs --json 2>/dev/null | __w8yctl_run_ids
end
function __w8yctl_ended
    w8yctl runs --limit=50 --json 2>/dev/null | __w8yctl_run_ids
end

complete -c w8yctl -f
complete -c w8yctl -s h -l help -d 'Print a summary'
complete -c w8yctl -n __fish_use_subcommand -l version -d 'Print the version'
complete -c w8yctl -l socket -r -F -d 'Status socket of w8yd'
complete -c w8yctl -l config -r -F -d 'Config file'
complete -c w8yctl -l redis-url -x -d Redis
complete -c w8yctl -l lock-key -x -a 'lock proc' -d 'Name in lock keys'
complete -c w8yctl -l fleet -x -d 'Name of the fleet'
complete -c w8yctl -l json -d 'For programs'
complete -c w8yctl -l wide -d 'Tables are not cut'

complete -c w8yctl -n __fish_use_subcommand -a status -d 'This host at a glance'
complete -c w8yctl -n __fish_use_subcommand -a top -d 'This host, refreshed in place, in a terminal'
complete -c w8yctl -n __fish_use_subcommand -a lists -d 'All lists of this host, or one in detail'
complete -c w8yctl -n __fish_use_subcommand -a fleet -d 'All hosts: their state, config and lists'
complete -c w8yctl -n __fish_use_subcommand -a quiet -d 'Begin no new runs on this host, another, or all'
complete -c w8yctl -n __fish_use_subcommand -a resume -d 'End of a list\'s pause, or of hosts\' quiet'
complete -c w8yctl -n __fish_use_subcommand -a reload -d 'Make w8yd read its config again, here or elsewhere'
complete -c w8yctl -n __fish_use_subcommand -a drain -d 'Make w8yd finish its runs and exit, here or elsewhere'
complete -c w8yctl -n __fish_use_subcommand -a cancel -d 'End a run, on whichever host'
complete -c w8yctl -n __fish_use_subcommand -a check-executor -d 'Try an executor'
complete -c w8yctl -n __fish_use_subcommand -a runs -d 'Finished runs, newest first'
complete -c w8yctl -n __fish_use_subcommand -a show -d 'A run, its result, the end of its standard error'
complete -c w8yctl -n __fish_use_subcommand -a watch -d 'Events of runs as they happen'
complete -c w8yctl -n __fish_use_subcommand -a why -d 'Why an item does not run, or a list not faster'
complete -c w8yctl -n __fish_use_subcommand -a logs -d 'What runs write'
complete -c w8yctl -n __fish_use_subcommand -a run -d 'Run an item now'
complete -c w8yctl -n __fish_use_subcommand -a items -d 'The items of a list'
complete -c w8yctl -n __fish_use_subcommand -a add -d 'Add items at the end of a list'
complete -c w8yctl -n __fish_use_subcommand -a remove -d 'Take items off a list'
complete -c w8yctl -n __fish_use_subcommand -a quarantine -d 'Keep items from being run'
complete -c w8yctl -n __fish_use_subcommand -a release -d 'End the rest or the quarantine of items'
complete -c w8yctl -n __fish_use_subcommand -a pause -d 'Begin no new runs of a list, on all hosts'
complete -c w8yctl -n __fish_use_subcommand -a schedule -d 'Schedules, as Redbike has them'
complete -c w8yctl -n __fish_use_subcommand -a feed -d 'Feeds of any kind; items with ids'
complete -c w8yctl -n __fish_use_subcommand -a sorted -d 'Feeds in an order of yours'
complete -c w8yctl -n __fish_use_subcommand -a queue -d Queues
complete -c w8yctl -n __fish_use_subcommand -a job -d Jobs

complete -c w8yctl -n '__fish_seen_subcommand_from lists resume runs watch why run logs items add remove quarantine release pause' -a '(__w8yctl_lists)' -d List
complete -c w8yctl -n '__fish_seen_subcommand_from why run remove quarantine release' -a '(__w8yctl_items)' -d Item
complete -c w8yctl -n '__fish_seen_subcommand_from items' -l state -x -a 'queued waiting stopped bad died nowhere claimed stalled' -d 'Only these jobs'
complete -c w8yctl -n '__fish_seen_subcommand_from items remove' -l state -x -a 'free running resting quarantined' -d 'Only these'
complete -c w8yctl -n '__fish_seen_subcommand_from release' -l state -x -a 'resting quarantined' -d 'Only these'
complete -c w8yctl -n '__fish_seen_subcommand_from release' -l all -d 'All that rest or are quarantined'
complete -c w8yctl -n '__fish_seen_subcommand_from lists' -l state -x -a 'running idle full unavailable starved paused quiet probing refused disabled draining' -d 'Only these'
complete -c w8yctl -n '__fish_seen_subcommand_from top' -l every -x -d 'Look again after this time'
complete -c w8yctl -n '__fish_seen_subcommand_from cancel' -l quarantine -d 'Keep its item from being run'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet; and not __fish_seen_subcommand_from plan' -a plan -d 'What another config would change'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet; and __fish_seen_subcommand_from plan' -F
complete -c w8yctl -n '__fish_seen_subcommand_from fleet' -l runs -d 'What each host runs'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet' -l no-lists -d 'Only a line for each host'
complete -c w8yctl -n '__fish_seen_subcommand_from quiet resume reload drain' -l host -x -a '(__w8yctl_hosts)' -d 'Another host'
complete -c w8yctl -n '__fish_seen_subcommand_from quiet resume reload drain' -l all -d 'All hosts'
complete -c w8yctl -n '__fish_seen_subcommand_from drain' -l wait -d 'Return when w8yd has ended'
complete -c w8yctl -n '__fish_seen_subcommand_from add' -s 0 -d 'Items of standard input end with a NUL byte'
complete -c w8yctl -n '__fish_seen_subcommand_from add' -l again -d 'Add items that are in the list already, too'
complete -c w8yctl -n '__fish_seen_subcommand_from add remove quarantine release runs check-executor why run' -l base64 -d 'Items are given in base64'
complete -c w8yctl -n '__fish_seen_subcommand_from pause quarantine cancel' -l reason -x -d 'Why: shown with who and when'
complete -c w8yctl -n '__fish_seen_subcommand_from pause' -l for -x -d 'End the pause after this time'
complete -c w8yctl -n '__fish_seen_subcommand_from runs' -l item -x -d 'Only runs of this item'
complete -c w8yctl -n '__fish_seen_subcommand_from runs' -l failed -d 'Only runs that did not succeed'
complete -c w8yctl -n '__fish_seen_subcommand_from runs' -l since -x -d 'Only runs that have ended since then'
complete -c w8yctl -n '__fish_seen_subcommand_from cancel show logs' -a '(__w8yctl_going)' -d 'Run that goes on'
complete -c w8yctl -n '__fish_seen_subcommand_from show logs' -a '(__w8yctl_ended)' -d 'Run that has ended'
complete -c w8yctl -n '__fish_seen_subcommand_from logs' -s f -l follow -d 'Go on with what is written'
complete -c w8yctl -n '__fish_seen_subcommand_from runs' -l host -x -a '(__w8yctl_hosts)' -d 'Only runs of this host'
complete -c w8yctl -n '__fish_seen_subcommand_from runs watch items' -l limit -x -d 'Show at most N'
complete -c w8yctl -n '__fish_seen_subcommand_from show' -l list -x -a '(__w8yctl_lists)' -d 'Look only in this list'
complete -c w8yctl -n '__fish_seen_subcommand_from check-executor' -F
complete -c w8yctl -n '__fish_seen_subcommand_from check-executor' -l item -x -d 'The item that it is tried with'
complete -c w8yctl -n '__fish_seen_subcommand_from check-executor' -l timeout -x -d 'How long the run may take'

function __w8yctl_schedule
    __fish_seen_subcommand_from schedule
    and begin
        test (count $argv) -eq 0
        or __fish_seen_subcommand_from $argv
    end
end
function __w8yctl_schedule_alone
    __w8yctl_schedule
    and not __fish_seen_subcommand_from set unset tell statuses schedules next list control dispatch
end
complete -c w8yctl -n __w8yctl_schedule -s k -l key-prefix -x -d 'What stands before the names of keys'
complete -c w8yctl -n __w8yctl_schedule -l raw -d 'Print bytes unescaped, even to a terminal'
complete -c w8yctl -n __w8yctl_schedule_alone -a set -d 'Set the schedule of a job, or of all in a file'
complete -c w8yctl -n __w8yctl_schedule_alone -a unset -d 'Forget a job'
complete -c w8yctl -n __w8yctl_schedule_alone -a tell -d 'A job, in JSON'
complete -c w8yctl -n __w8yctl_schedule_alone -a statuses -d 'The status of each job, in CSV'
complete -c w8yctl -n __w8yctl_schedule_alone -a schedules -d 'The schedule of each job, in CSV'
complete -c w8yctl -n __w8yctl_schedule_alone -a next -d 'The coming times of a job or a rule'
complete -c w8yctl -n __w8yctl_schedule_alone -a list -d 'Jobs, schedules in words, next times'
complete -c w8yctl -n __w8yctl_schedule_alone -a control -d 'HALT dispatch and work on all hosts, or RESUME'
complete -c w8yctl -n __w8yctl_schedule_alone -a dispatch -d 'Enqueue what is due, without w8yd'
complete -c w8yctl -n '__w8yctl_schedule set unset tell next' -l base64 -d 'The job is given in base64'
complete -c w8yctl -n '__w8yctl_schedule set next dispatch' -l after -x -d 'Times after this one'
complete -c w8yctl -n '__w8yctl_schedule set' -l file -r -F -d 'All jobs of this file'
complete -c w8yctl -n '__w8yctl_schedule set' -l force -d 'Replace a valid schedule even if the new one is invalid'
complete -c w8yctl -n '__w8yctl_schedule statuses' -l before -x -d 'Only those not later'
complete -c w8yctl -n '__w8yctl_schedule next' -l rule -x -d 'Of this rule'
complete -c w8yctl -n '__w8yctl_schedule next' -s n -x -d 'So many times'
complete -c w8yctl -n '__w8yctl_schedule control' -a 'HALT RESUME'
complete -c w8yctl -n '__w8yctl_schedule dispatch' -l schedules -r -F -d 'Set the jobs of this file first'
complete -c w8yctl -n '__w8yctl_schedule dispatch' -l timefile -r -F -d 'The time of the last look'
complete -c w8yctl -n '__w8yctl_schedule dispatch' -l once -d 'Look once'

# The group GROUP, and one of the commands behind it; or none yet.
function __w8yctl_of
    set --local words (commandline -opc)
    test (count $words) -ge 2; and contains -- $argv[1] $words
    and begin
        test (count $argv) -eq 1
        or __fish_seen_subcommand_from $argv[2..]
    end
end
function __w8yctl_feeds
    w8yctl feed list 2>/dev/null | string match -r '^[A-Za-z0-9._/@-]*$'
end
for group in feed sorted queue job
    complete -c w8yctl -n "__w8yctl_of $group" -a '(__w8yctl_feeds)' -d Feed
    complete -c w8yctl -n "__w8yctl_of $group" -l base64 -d 'Ids and items are given in base64'
    complete -c w8yctl -n "__w8yctl_of $group" -l feed-base64 -d 'The feed is given in base64'
    complete -c w8yctl -n "__w8yctl_of $group" -l raw -d 'Print bytes unescaped, even to a terminal'
    complete -c w8yctl -n "__w8yctl_of $group" -s 0 -d 'A NUL byte is behind each item and id'
    complete -c w8yctl -n "__w8yctl_of $group watch" -l limit -x -d 'End after N events'
end
complete -c w8yctl -n '__w8yctl_of feed' -a 'create delete list config publish retract ids get all watch'
complete -c w8yctl -n '__w8yctl_of sorted' -a 'append prepend before after edit move retract ids get all watch'
complete -c w8yctl -n '__w8yctl_of queue' -a 'put get ids watch'
complete -c w8yctl -n '__w8yctl_of job' -a 'put get finish cancel stall retry retract ids failures maintain watch'
complete -c w8yctl -n '__w8yctl_of feed create' -l kind -x -a 'feed sorted_feed queue job' -d 'Of this kind'
complete -c w8yctl -n '__w8yctl_of feed create' -l max-length -x -d 'So many items stay'
complete -c w8yctl -n '__w8yctl_of feed create' -l exists-ok -d 'Be content with one that is there'
complete -c w8yctl -n '__w8yctl_of feed publish' -l id -x -d 'Its id'
complete -c w8yctl -n '__w8yctl_of feed publish' -l file -r -F -d 'All of a file instead'
complete -c w8yctl -n '__w8yctl_of sorted append prepend before after edit' -l file -r -F -d 'All of a file instead'
complete -c w8yctl -n '__w8yctl_of queue put' -l file -r -F -d 'All of a file instead'
complete -c w8yctl -n '__w8yctl_of job put finish' -l file -r -F -d 'All of a file instead'
complete -c w8yctl -n '__w8yctl_of queue put' -l high -d 'Before all that waits'
complete -c w8yctl -n '__w8yctl_of job put' -l high -d 'Before all that waits'
complete -c w8yctl -n '__w8yctl_of job put' -l wait -d 'Print its result'
complete -c w8yctl -n '__w8yctl_of job put get' -l timeout -x -d 'Wait no longer'
complete -c w8yctl -n '__w8yctl_of queue get' -l timeout -x -d 'Wait no longer'
