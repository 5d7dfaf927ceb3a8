# fish completion for w8yd
complete -c w8yd -f
complete -c w8yd -s h -l help -d 'Print a summary of the options'
complete -c w8yd -l version -d 'Print the version'
complete -c w8yd -l config -r -F -d 'Read the config from this file, - is standard input'
complete -c w8yd -l check -d 'Check the config, print which lists this host would serve'
complete -c w8yd -l strict -d 'With --check: exit 1 if this host is ineligible for a list'
complete -c w8yd -l plan -d 'Print what a reload would change'
complete -c w8yd -l embedded -a '(__fish_complete_directories)' -d 'Run a private Redis'
