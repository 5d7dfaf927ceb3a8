# fish completion for w8yctl

# Lists of the fleet. Omits names that need quotes.
function __w8yctl_lists
    w8yctl lists --json 2>/dev/null | string match -ra '"list": *"[A-Za-z0-9._/@-]*"' |
        string replace -r '"list": *"(.*)"' '$1' | sort -u
end

# Items of the list after the subcommand, at most 500. Omits items that need quotes.
function __w8yctl_items
    set --local words (commandline -opc | string match -v -- '-*')
    test (count $words) -ge 3; or return
    w8yctl items --limit=500 --json -- $words[3] 2>/dev/null |
        string match -ra '"item": *"[A-Za-z0-9._/@-]*"' |
        string replace -r '"item": *"(.*)"' '$1' | sort -u
end

# Hosts of the fleet.
function __w8yctl_hosts
    w8yctl fleet --no-lists 2>/dev/null | string replace -rf '^([A-Za-z0-9._@-]+)  .*' '$1' |
        string match -v HOST
end

# IDs of active runs on all hosts, and of the last 50 finished runs.
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
complete -c w8yctl -l socket -r -F -d 'Use this status socket of w8yd'
complete -c w8yctl -l config -r -F -d 'Use this config file'
complete -c w8yctl -l redis-url -x -d 'Use this Redis'
complete -c w8yctl -l lock-key -x -a 'lock proc' -d 'Use this name in lock keys'
complete -c w8yctl -l fleet -x -d 'Use the fleet of this name'
complete -c w8yctl -l json -d 'Print JSON, for programs'
complete -c w8yctl -l wide -d 'Do not truncate tables'

complete -c w8yctl -n __fish_use_subcommand -a status -d 'Show the state of the fleet, problems first'
complete -c w8yctl -n __fish_use_subcommand -a top -d 'Monitor the fleet in the terminal'
complete -c w8yctl -n __fish_use_subcommand -a lists -d 'List all lists of the fleet, or show one'
complete -c w8yctl -n __fish_use_subcommand -a fleet -d 'Show all hosts, with their configs and lists'
complete -c w8yctl -n __fish_use_subcommand -a quiet -d 'Stop starting runs, on this host or others'
complete -c w8yctl -n __fish_use_subcommand -a resume -d 'End the pause of a list or the quiet state of hosts'
complete -c w8yctl -n __fish_use_subcommand -a reload -d 'Reload the config, on this host or others'
complete -c w8yctl -n __fish_use_subcommand -a drain -d 'Finish runs and exit, on this host or others'
complete -c w8yctl -n __fish_use_subcommand -a cancel -d 'Cancel a run on any host'
complete -c w8yctl -n __fish_use_subcommand -a check-executor -d 'Test an executor: --caps, then one item'
complete -c w8yctl -n __fish_use_subcommand -a runs -d 'List finished runs, newest first'
complete -c w8yctl -n __fish_use_subcommand -a errors -d 'Group failed runs by list and error message'
complete -c w8yctl -n __fish_use_subcommand -a statistics -d 'Show runs, failures and durations over time'
complete -c w8yctl -n __fish_use_subcommand -a show -d 'Show a run: result and end of log output'
complete -c w8yctl -n __fish_use_subcommand -a watch -d 'Follow events of runs on all hosts'
complete -c w8yctl -n __fish_use_subcommand -a why -d 'Explain why an item does not run, or what limits a list'
complete -c w8yctl -n __fish_use_subcommand -a logs -d 'Show or follow the output of runs'
complete -c w8yctl -n __fish_use_subcommand -a run -d 'Run an item now, ignoring its delay'
complete -c w8yctl -n __fish_use_subcommand -a items -d 'List items and their states'
complete -c w8yctl -n __fish_use_subcommand -a rerun -d 'Run items again, after their active runs'
complete -c w8yctl -n __fish_use_subcommand -a add -d 'Add items to the end of a list'
complete -c w8yctl -n __fish_use_subcommand -a remove -d 'Remove items and all their copies; active runs continue'
complete -c w8yctl -n __fish_use_subcommand -a quarantine -d 'Keep items from running until released'
complete -c w8yctl -n __fish_use_subcommand -a release -d 'End delay or quarantine of items and reset their failures'
complete -c w8yctl -n __fish_use_subcommand -a pause -d 'Stop starting runs of a list on all hosts'
complete -c w8yctl -n __fish_use_subcommand -a schedule -d 'Schedules, as in Redbike'
complete -c w8yctl -n __fish_use_subcommand -a feed -d 'Feeds of any kind; items with IDs'
complete -c w8yctl -n __fish_use_subcommand -a sorted -d 'Sorted feeds: items in an order of your choice'
complete -c w8yctl -n __fish_use_subcommand -a queue -d 'Queues: reading an item removes it'
complete -c w8yctl -n __fish_use_subcommand -a job -d 'Jobs: claimed, then finished or retried'
complete -c w8yctl -n __fish_use_subcommand -a help -d 'Show the help of a command'

complete -c w8yctl -n '__fish_seen_subcommand_from lists resume runs errors statistics watch why run rerun logs items add remove quarantine release pause' -a '(__w8yctl_lists)' -d List
complete -c w8yctl -n '__fish_seen_subcommand_from why run rerun remove quarantine release' -a '(__w8yctl_items)' -d Item
complete -c w8yctl -n '__fish_seen_subcommand_from items' -l state -x -a 'queued scheduled finished stopped bad died orphaned claimed stalled' -d 'Only jobs in this state'
complete -c w8yctl -n '__fish_seen_subcommand_from items remove' -l state -x -a 'free running delayed quarantined' -d 'Only in this state'
complete -c w8yctl -n '__fish_seen_subcommand_from release' -l state -x -a 'delayed quarantined' -d 'Only in this state'
complete -c w8yctl -n '__fish_seen_subcommand_from release' -l all -d 'All that are delayed or quarantined'
complete -c w8yctl -n '__fish_seen_subcommand_from lists' -l state -x -a 'running idle full unavailable starved breaker_open paused quiet probing ineligible disabled draining' -d 'Only in this state'
complete -c w8yctl -n '__fish_seen_subcommand_from top' -l interval -x -d 'Refresh after this time'
complete -c w8yctl -n '__fish_seen_subcommand_from cancel' -l quarantine -d 'Quarantine its item'
complete -c w8yctl -n '__fish_seen_subcommand_from statistics' -l day -d 'Show the last day instead of the last hour'
complete -c w8yctl -n '__fish_seen_subcommand_from errors' -l release -d 'Release the items of a group'
complete -c w8yctl -n '__fish_seen_subcommand_from errors' -l quarantine -d 'Quarantine the items of a group'
complete -c w8yctl -n '__fish_seen_subcommand_from errors' -l retry -d 'Queue the stalled jobs of a group again'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet; and not __fish_seen_subcommand_from forget plan' -a plan -d 'Show what another config would change'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet; and not __fish_seen_subcommand_from forget plan' -a forget -d 'Remove a host that has died'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet; and __fish_seen_subcommand_from forget' -xa '(__w8yctl_hosts)'
complete -c w8yctl -n '__fish_seen_subcommand_from status' -l check -d 'Print only problems; exit 1 if one is not by an operator'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet; and __fish_seen_subcommand_from plan' -F
complete -c w8yctl -n '__fish_seen_subcommand_from fleet' -l runs -d 'Show the runs of each host'
complete -c w8yctl -n '__fish_seen_subcommand_from fleet' -l no-lists -d 'Show one line per host'
complete -c w8yctl -n '__fish_seen_subcommand_from quiet resume reload drain' -l host -x -a '(__w8yctl_hosts)' -d 'Another host'
complete -c w8yctl -n '__fish_seen_subcommand_from quiet resume reload drain' -l all -d 'All hosts'
complete -c w8yctl -n '__fish_seen_subcommand_from drain' -l wait -d 'Return when w8yd has ended'
complete -c w8yctl -n '__fish_seen_subcommand_from add' -s 0 -l null -d 'A NUL byte ends each item of standard input'
complete -c w8yctl -n '__fish_seen_subcommand_from add' -l allow-duplicates -d 'Also add items that are in the list already'
complete -c w8yctl -n '__fish_seen_subcommand_from add' -l create -d 'Also add to a list that does not exist yet'
complete -c w8yctl -n '__fish_seen_subcommand_from run' -l next -d 'Make it the next item to be claimed'
complete -c w8yctl -n '__fish_seen_subcommand_from add remove quarantine release runs check-executor why run rerun' -l base64 -d 'Items are given in base64'
complete -c w8yctl -n '__fish_seen_subcommand_from pause quarantine cancel errors' -l reason -x -d 'Reason, shown with operator and time'
complete -c w8yctl -n '__fish_seen_subcommand_from pause' -l for -x -d 'End the pause after this time'
complete -c w8yctl -n '__fish_seen_subcommand_from runs' -l item -x -d 'Only runs of this item'
complete -c w8yctl -n '__fish_seen_subcommand_from runs' -l failed -d 'Only runs that did not succeed'
complete -c w8yctl -n '__fish_seen_subcommand_from runs errors' -l since -x -d 'Only runs that ended since then'
complete -c w8yctl -n '__fish_seen_subcommand_from cancel show logs' -a '(__w8yctl_going)' -d 'Active run'
complete -c w8yctl -n '__fish_seen_subcommand_from show logs' -a '(__w8yctl_ended)' -d 'Finished run'
complete -c w8yctl -n '__fish_seen_subcommand_from logs' -s f -l follow -d 'Follow new output'
complete -c w8yctl -n '__fish_seen_subcommand_from status lists' -l host -x -a '(__w8yctl_hosts)' -d 'Only this host'
complete -c w8yctl -n '__fish_seen_subcommand_from runs' -l host -x -a '(__w8yctl_hosts)' -d 'Only runs of this host'
complete -c w8yctl -n '__fish_seen_subcommand_from runs errors watch items' -l limit -x -d 'Show at most N'
complete -c w8yctl -n '__fish_seen_subcommand_from show' -l list -x -a '(__w8yctl_lists)' -d 'Search only this list'
complete -c w8yctl -n '__fish_seen_subcommand_from check-executor' -F
complete -c w8yctl -n '__fish_seen_subcommand_from check-executor' -l item -x -d 'Run it with this item'
complete -c w8yctl -n '__fish_seen_subcommand_from check-executor' -l timeout -x -d 'Time limit of the run'

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
complete -c w8yctl -n __w8yctl_schedule -s k -l key-prefix -x -d 'Prefix of the keys'
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
complete -c w8yctl -n '__w8yctl_schedule set next dispatch' -l after -x -d 'Only times after this one'
complete -c w8yctl -n '__w8yctl_schedule set' -l jitter -x -d 'Delay each run of a rule by a part of this time'
complete -c w8yctl -n '__w8yctl_schedule set next' -l tz -x -d 'Time zone of a cron expression'
complete -c w8yctl -n '__w8yctl_schedule set' -l file -r -F -d 'Set all jobs of this file'
complete -c w8yctl -n '__w8yctl_schedule set' -l force -d 'Replace a valid schedule even if the new one is invalid'
complete -c w8yctl -n '__w8yctl_schedule statuses' -l before -x -d 'Only statuses of this time or earlier'
complete -c w8yctl -n '__w8yctl_schedule next' -l rule -x -d 'Use this rule'
complete -c w8yctl -n '__w8yctl_schedule next' -s n -x -d 'Number of times to show'
complete -c w8yctl -n '__w8yctl_schedule control' -a 'HALT RESUME'
complete -c w8yctl -n '__w8yctl_schedule dispatch' -l schedules -r -F -d 'Set the jobs of this file first'
complete -c w8yctl -n '__w8yctl_schedule dispatch' -l timefile -r -F -d 'Keep the time of the last dispatch in this file'
complete -c w8yctl -n '__w8yctl_schedule dispatch' -l once -d 'Dispatch once'

# Whether the command line has this group and, if given, one of these subcommands of it.
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
    complete -c w8yctl -n "__w8yctl_of $group" -l base64 -d 'IDs and items are given in base64'
    complete -c w8yctl -n "__w8yctl_of $group" -l feed-base64 -d 'The feed is given in base64'
    complete -c w8yctl -n "__w8yctl_of $group" -l raw -d 'Print bytes unescaped, even to a terminal'
    complete -c w8yctl -n "__w8yctl_of $group" -s 0 -l null -d 'A NUL byte ends each item and ID'
    complete -c w8yctl -n "__w8yctl_of $group watch" -l limit -x -d 'Exit after N events'
end
complete -c w8yctl -n '__w8yctl_of feed' -a 'create delete list config publish retract ids get all watch'
complete -c w8yctl -n '__w8yctl_of sorted' -a 'append prepend before after edit move retract ids get all watch'
complete -c w8yctl -n '__w8yctl_of queue' -a 'put get ids watch'
complete -c w8yctl -n '__w8yctl_of job' -a 'put get show wait finish fail requeue cancel stall retry retract ids failures maintain watch'
complete -c w8yctl -n '__w8yctl_of feed create' -l kind -x -a 'feed sorted_feed queue job' -d 'Kind of the feed'
complete -c w8yctl -n '__w8yctl_of feed create' -l max-length -x -d 'Maximum number of items'
complete -c w8yctl -n '__w8yctl_of feed create' -l exists-ok -d 'Accept an existing feed'
complete -c w8yctl -n '__w8yctl_of feed publish' -l id -x -d 'ID of the item'
complete -c w8yctl -n '__w8yctl_of feed publish' -l file -r -F -d 'Read all from this file'
complete -c w8yctl -n '__w8yctl_of sorted append prepend before after edit' -l file -r -F -d 'Read all from this file'
complete -c w8yctl -n '__w8yctl_of queue put' -l file -r -F -d 'Read all from this file'
complete -c w8yctl -n '__w8yctl_of job put finish' -l file -r -F -d 'Read all from this file'
complete -c w8yctl -n '__w8yctl_of queue put' -l high -d 'Put before all that are queued'
complete -c w8yctl -n '__w8yctl_of job put' -l high -d 'Put before all that are queued'
complete -c w8yctl -n '__w8yctl_of job put' -l wait -d 'Wait, and print the result'
complete -c w8yctl -n '__w8yctl_of job put' -l rerun -d 'With --id: run it again with this payload'
complete -c w8yctl -n '__w8yctl_of job put' -l id -x -d 'ID of a job that is not added twice'
complete -c w8yctl -n '__w8yctl_of job fail' -l reason -x -d 'Reason of the failure, for the history'
complete -c w8yctl -n '__w8yctl_of job put get wait' -l timeout -x -d 'Wait for at most this time'
complete -c w8yctl -n '__w8yctl_of queue get' -l timeout -x -d 'Wait for at most this time'
