# fish completion for w8yd
complete -c w8yd -f
complete -c w8yd -s h -l help -d 'Print a summary of the options'
complete -c w8yd -l version -d 'Print the version'
complete -c w8yd -l config -r -F -d 'Config file, - is standard input'
complete -c w8yd -l check -d 'Print which lists this host would run'
complete -c w8yd -l strict -d 'With --check: exit 1 if a list would be refused'
complete -c w8yd -l plan -d 'Print what a reload would change'
complete -c w8yd -l embedded -a '(__fish_complete_directories)' -d 'Run a private Redis'
