#!/usr/bin/env bash
# Two agents on two hosts share a memory on a third: each in a network namespace of its own, joined by nothing
# but a wire to the hub.
# Usage: unshare --map-root-user --net --mount bash two-hosts.sh <folder> <clients/python> <hub command…>
set -euo pipefail
folder="$1" clients="$2"
shift 2

ip link set lo up
# Named namespaces are kept below /run.
mount -t tmpfs none /run
for n in 1 2; do
  ip netns add "host$n"
  ip link add "wire$n" type veth peer name wire netns "host$n"
  ip address add "10.77.$n.1/24" dev "wire$n"
  ip link set "wire$n" up
  ip -n "host$n" address add "10.77.$n.2/24" dev wire
  ip -n "host$n" link set wire up
done

export RECALL_HUB_HOST=0.0.0.0 RECALL_HUB_PORT=8787 RECALL_HUB_DATA="$folder/data" RECALL_HUB_EMBEDDING_PROVIDER=fake
coproc HUB { exec "$@" 2>"$folder/hub.log"; }
hub=$HUB_PID
trap 'kill "$hub" 2>/dev/null; wait "$hub" 2>/dev/null || true' EXIT
# It says when it listens.
read -r _ <&"${HUB[0]}"

# agent <host> <program>: runs where nothing but the hub can be reached.
agent() {
  PYTHONPATH="$clients" PYTHONDONTWRITEBYTECODE=1 ip netns exec "host$1" \
    python3 "$clients/examples/$2.py" "http://10.77.$1.1:8787" "$folder/$2.json"
}
if ip netns exec host1 ping -c 1 -W 1 10.77.2.2 >/dev/null 2>&1; then
  echo 'the hosts see each other' >&2
  exit 1
fi
agent 1 learner
agent 2 solver
