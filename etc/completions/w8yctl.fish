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

complete -c w8yctl -n __fish_use_subcommand -a status -d 'Show the state of this host, problems first'
complete -c w8yctl -n __fish_use_subcommand -a top -d 'Monitor this host in the terminal'
complete -c w8yctl -n __fish_use_subcommand -a lists -d 'List all lists of this host, or show one'
complete -c w8yctl -n __fish_use_subcommand -a fleet -d 'Show all hosts, with their configs and lists'
complete -c w8yctl -n __fish_use_subcommand -a quiet -d 'Stop starting runs, on this host or others'
complete -c w8yctl -n __fish_use_subcommand -a resume -d 'End the pause of a list or the quiet state of hosts'
complete -c w8yctl -n __fish_use_subcommand -a reload -d 'Reload the config, on this host or others'
complete -c w8yctl -n __fish_use_subcommand -a drain -d 'Finish runs and exit, on this host or others'
complete -c w8yctl -n __fish_use_subcommand -a cancel -d 'Cancel a run on any host'
complete -c w8yctl -n __fish_use_subcommand -a check-executor -d 'Test an executor: --caps, then one item'
complete -c w8yctl -n __fish_use_subcommand -a runs -d 'List finished runs, newest first'
complete -c w8yctl -n __fish_use_subcommand -a show -d 'Show a run: result and end of standard error'
complete -c w8yctl -n __fish_use_subcommand -a watch -d 'Follow events of runs on all hosts'
complete -c w8yctl -n __fish_use_subcommand -a why -d 'Explain why an item does not run, or what limits a list'
complete -c w8yctl -n __fish_use_subcommand -a logs -d 'Show or follow the output of runs'
complete -c w8yctl -n __fish_use_subcommand -a run -d 'Run an item now, ignoring its delay'
complete -c w8yctl -n __fish_use_subcommand -a items -d 'List items and their states'
complete -c w8yctl -n __fish_use_subcommand -a add -d 'Add items to the end of a list'
complete -c w8yctl -n __fish_use_subcommand -a remove -d 'Remove items and all their copies; active runs continue'
complete -c w8yctl -n __fish_use_subcommand -a quarantine -d 'Keep items from running until released'
complete -c w8yctl -n __fish_use_subcommand -a release -d 'End delay or quarantine of items and reset their failures'
complete -c w8yctl -n __fish_use_subcommand -a pause -d 'Stop starting runs of a list on all hosts'
complete -c w8yctl -n __fish_use_subcommand -a schedule -d 'Schedules, as in Redbike'
complete -c w8yctl -n __fish_use_subcommand -a feed -d 'Feeds of any kind; and items with ids'
complete -c w8yctl -n __fish_use_subcommand -a sorted -d 'Sorted feeds: items in an order of your choice'
complete -c w8yctl -n __fish_use_subcommand -a queue -d 'Queues: reading an item removes it'
complete -c w8yctl -n __fish_use_subcommand -a job -d 'Jobs: claimed, then finished or retried'

complete -c w8yctl -n '__fish_seen_subcommand_from lists resume runs watch why run logs items add remove quarantine release pause' -a '(__w8yctl_lists)' -d List
complete -c w8yctl -n '__fish_seen_subcommand_from why run remove quarantine release' -a '(__w8yctl_items)' -d Item
complete -c w8yctl -n '__fish_seen_subcommand_from items' -l state -x -a 'queued scheduled stopped bad died orphaned claimed stalled' -d 'Only these jobs'
complete -c w8yctl -n '__fish_seen_subcommand_from items remove' -l state -x -a 'free running delayed quarantined' -d 'Only these'
complete -c w8yctl -n '__fish_seen_subcommand_from release' -l state -x -a 'delayed quarantined' -d 'Only these'
complete -c w8yctl -n '__fish_seen_subcommand_from release' -l all -d 'All that rest or are quarantined'
complete -c w8yctl -n '__fish_seen_subcommand_from lists' -l state -x -a 'running idle full unavailable starved paused quiet probing ineligible disabled draining' -d 'Only these'
complete -c w8yctl -n '__fish_seen_subcommand_from top' -l interval -x -d 'Refresh after this time'
complete -c w8yctl -n '__fish_seen_subcommand_from cancel' -l quarantine -d 'Keep its item from being run'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet; and not __fish_seen_subcommand_from plan' -a plan -d 'What another config would change'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet; and __fish_seen_subcommand_from plan' -F
complete -c w8yctl -n '__fish_seen_subcommand_from fleet' -l runs -d 'What each host runs'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet' -l no-lists -d 'Only a line for each host'
complete -c w8yctl -n '__fish_seen_subcommand_from quiet resume reload drain' -l host -x -a '(__w8yctl_hosts)' -d 'Another host'
complete -c w8yctl -n '__fish_seen_subcommand_from quiet resume reload drain' -l all -d 'All hosts'
complete -c w8yctl -n '__fish_seen_subcommand_from drain' -l wait -d 'Return when w8yd has ended'
complete -c w8yctl -n '__fish_seen_subcommand_from add' -s 0 -l null -d 'A NUL byte ends each item of standard input'
complete -c w8yctl -n '__fish_seen_subcommand_from add' -l allow-duplicates -d 'Add items that are in the list already, too'
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
complete -c w8yctl -n __w8yctl_schedule_alone -a unset -d 'Delete a job'
complete -c w8yctl -n __w8yctl_schedule_alone -a tell -d 'Show a job: status, schedule, next run'
complete -c w8yctl -n __w8yctl_schedule_alone -a statuses -d 'Print the status of each job as CSV'
complete -c w8yctl -n __w8yctl_schedule_alone -a schedules -d 'Print the schedule of each job as CSV'
complete -c w8yctl -n __w8yctl_schedule_alone -a next -d 'Print when a job or a rule is due next'
complete -c w8yctl -n __w8yctl_schedule_alone -a list -d 'List jobs, schedules in words, next times'
complete -c w8yctl -n __w8yctl_schedule_alone -a control -d 'HALT dispatch and work on all hosts, or RESUME'
complete -c w8yctl -n __w8yctl_schedule_alone -a dispatch -d 'Enqueue due jobs, without w8yd'
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
    complete -c w8yctl -n "__w8yctl_of $group" -s 0 -l null -d 'A NUL byte ends each item and ID'
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
