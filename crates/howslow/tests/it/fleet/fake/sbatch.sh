for word; do
    case $word in
    --nodelist=*) node=${word#*=} ;;
    --job-name=*) name=${word#*=} ;;
    esac
done
[ -z "${HOWSLOW_TEST_SECRET-}" ] || echo "a secret came through" >>@/secrets
while case $1 in *node.sh) false ;; *) true ;; esac; do shift; done
[ "$node" != refused ] || { echo "sbatch: error: Batch job submission failed: Access denied" >&2; exit 1; }
id=$(($(ls -A @/jobs | wc -l) + 100))
echo "$name" >@/jobs/$id
[ -d "@/bin-$node" ] && PATH=@/bin-$node:$PATH
[ "$node" = stopped ] && { rm -f @/jobs/$id; : >@/jobs/.stopped-$id; echo $id; exit 0; }
[ "$node" = lost ] && { rm -f @/jobs/$id; : >@/jobs/.$id; echo $id; exit 0; }
if [ "$node" = apart ]; then
    # This node does not see the folder.
    script=$1; shift 2
    sh "$script" /nowhere "$@"
    echo "FAILED $?:0" >@/ended-$id
elif [ "$node" != waits ]; then
    sh "$@" </dev/null >/dev/null 2>&1
    echo "COMPLETED 0:0" >@/ended-$id
fi
[ "$node" = mute ] && { echo "Submitted, I think."; exit 0; }
echo $id
