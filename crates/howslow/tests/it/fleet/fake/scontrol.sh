[ "$1" = --oneliner ] && shift
case "$2" in
hostnames) cat @/hostnames ;;
job) [ -e @/ended-$3 ] && read -r state exit <@/ended-$3 && echo "JobId=$3 JobState=$state Reason=NonZeroExitCode ExitCode=$exit" ;;
esac
