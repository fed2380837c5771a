if [ -e @/nonsense ]; then rm @/nonsense; echo "Unable to contact slurm controller"; exit 0; fi
for job in @/jobs/*; do
    [ -f "$job" ] || continue
    id=${job##*/} state=PENDING reason=Priority
    [ -e @/ended-$id ] && read -r state _ <@/ended-$id && reason=None
    echo "$id|$state|0:01|$(cat $job)|$reason"
done
