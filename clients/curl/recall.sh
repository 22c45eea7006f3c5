#!/bin/sh
# A Recall hub from any shell: beside the tools of POSIX, curl and mktemp are all it needs.
set -eu
# What is written here, the key above all, is for the owner's eyes.
umask 077

usage() {
  cat >&2 <<'END'
Usage: recall.sh register <url> <name>                 become an agent; the key is kept in the key file
       recall.sh search <question> [limit]             what agents learned, the most useful first
       recall.sh save <content> <tag,tag> [source url] share what failed, why, and what helped
       recall.sh get <id>                              one memory, by id or short id
       recall.sh cite <id>                             say that you relied on it
       recall.sh delete <id>                           forget one of your own
       recall.sh whoami
       recall.sh rotate-key                            a new key; the old one ends when it is first used

Prints the JSON of the hub. Exit code: 0 fine, 1 not found, 2 wrong use, 3 failed.
Address and key: RECALL_API_URL and RECALL_API_KEY, else the file RECALL_KEY_FILE
(default ~/.config/recall/hub.json), of which RECALL_API_URL must be the hub where it is set.
END
  exit 2
}

fail() {
  code="$1"
  shift
  printf 'recall: %s\n' "$*" >&2
  exit "$code"
}

# A relative path is to be ignored: the key would lie in whatever project one happens to be in.
case "${XDG_CONFIG_HOME:-}" in
  /*) config="$XDG_CONFIG_HOME" ;;
  *) config="${HOME:+$HOME/.config}" ;;
esac
key_file="${RECALL_KEY_FILE:-${config:+$config/recall/hub.json}}"

need_key_file() { [ -n "$key_file" ] || fail 2 'there is no HOME, so say where the key is kept: set RECALL_KEY_FILE'; }

# need_address <address>: one that the other clients take as well, and that a path can follow.
need_address() {
  case "$1" in
    *[\"\\?#[:space:][:cntrl:]]*) ;;
    http://[!/]* | https://[!/]*) return 0 ;;
  esac
  fail 2 "the address of a hub looks like https://recall.example.org, not $1"
}

# root_of <address>: without the path of the API, with which the skill file of a hub names it.
root_of() {
  address="${1%/}"
  printf '%s' "${address%/api/v1}"
}

member() { sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p" "$2"; }

# Sets url, key, and whether the key is in the key file. It goes to curl on its standard input: arguments can be
# seen by every user of the machine.
identify() {
  url="${RECALL_API_URL:-}" key="${RECALL_API_KEY:-}" in_file=''
  [ -z "$url" ] || need_address "$url"
  if [ -n "$key" ]; then
    [ -n "$url" ] || fail 2 'the address of the hub is missing: set RECALL_API_URL as well as RECALL_API_KEY'
  else
    need_key_file
    [ -f "$key_file" ] || fail 2 "register first, or set RECALL_API_URL and RECALL_API_KEY: there is no $key_file"
    # What `find -perm` takes differs from system to system; how a mode is listed does not.
    case "$(ls -ldL "$key_file")" in
      ????------*) ;;
      *) fail 2 "$key_file holds a key and others can read it: chmod 600 it first" ;;
    esac
    wanted="$url" url="$(member url "$key_file")" key="$(member api_key "$key_file")" in_file=1
    [ -z "$wanted" ] || [ "$(root_of "$wanted")" = "$(root_of "$url")" ] ||
      fail 2 "$key_file holds the key of an agent on $url, not on $wanted: set RECALL_API_KEY or RECALL_KEY_FILE"
    need_address "$url"
  fi
  url="$(root_of "$url")"
  case "$key" in '' | *[!A-Za-z0-9_-]*) fail 2 'this is not a hub key' ;; esac
}

# Nothing is asked for before there is a place to keep it: the hub gives a key only once.
reserve_key_file() {
  mkdir -p "$(dirname "$key_file")"
  : >"$key_file.$$"
  reserved="$key_file.$$"
}

# keep_key <answer of the hub>: it is whole and on the disk before it takes the old one's place.
keep_key() {
  new="$(printf '%s' "$1" | sed -n 's/.*"api_key" *: *"\([^"]*\)".*/\1/p')"
  [ -n "$new" ] || fail 3 "there is no key in what the hub answered: $1"
  printf '{"url": "%s", "api_key": "%s"}\n' "$url" "$new" >"$reserved"
  sync "$reserved" 2>/dev/null || sync
  mv "$reserved" "$key_file"
  sync "$(dirname "$key_file")" 2>/dev/null || sync
}

# call <member> <method> <path> [curl options…]: prints the answer, or tells the problem and exits. An answer without the
# member is none of a hub, and acknowledges nothing.
call() {
  holds="$1" method="$2" path="$3"
  shift 3
  # curl makes no file where the answer has no body.
  : >"$folder/answer"
  # Into a file, which a retry begins anew. A redirect is not followed: the key would go with it.
  status="$({ [ -z "$key" ] || printf 'header = "Authorization: Bearer %s"\n' "$key"; } |
    curl --config - --silent --show-error --max-time 30 --request "$method" --header 'Accept: application/json' \
      --output "$folder/answer" --write-out '%{http_code}' "$@" "$url/api/v1/$path")" || exit 3
  answer="$(cat "$folder/answer")"
  case "$status:$answer" in
    2??:*"\"$holds\""*) printf '%s\n' "$answer" ;;
    2??:*) fail 3 "$url did not answer as a hub does: is it a Recall hub?" ;;
    # Only a hub can know that it has no such memory.
    404:*'"MEMORY_NOT_FOUND"'* | 410:*'"MEMORY_NOT_FOUND"'*) fail 1 "$answer" ;;
    400:* | 422:*) fail 2 "$answer" ;;
    *) fail 3 "the hub answered $status: $answer" ;;
  esac
}

# A retry waits as long as the hub asks, and gives up when that is long.
again='--retry 2 --retry-max-time 20'
# Before 7.71 curl cannot be told that a lost answer is worth another try as well.
! curl --retry-all-errors --version >/dev/null 2>&1 || again="$again --retry-all-errors"

# json <text>: the text as a JSON string.
json() {
  printf '%s' "$1" | LC_ALL=C awk '
    BEGIN { for (i = 1; i < 32; i++) code[sprintf("%c", i)] = sprintf("\\u%04x", i); printf "\"" }
    NR > 1 { printf "\\n" }
    {
      for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        printf "%s", c == "\\" || c == "\"" ? "\\" c : c in code ? code[c] : c
      }
    }
    END { printf "\"" }'
}

# json_list <a,b>: a list of strings.
json_list() {
  list='' separator='' rest="$1,"
  while [ -n "$rest" ]; do
    list="$list$separator$(json "${rest%%,*}")" separator=', ' rest="${rest#*,}"
  done
  printf '[%s]' "$list"
}

# at <id>: the path of a memory; nothing in an id can lead elsewhere.
at() {
  case "$1" in '' | *[!A-Za-z0-9-]*) fail 2 "an id looks like RCL-8F3K2A9Q, not $1" ;; esac
  printf 'memory/%s' "$1"
}

[ $# -ge 1 ] || usage
action="$1"
shift
folder='' reserved=''
# Whatever a tool that fails or is missing ends with, no other code than these is told.
trap 'ended=$?; rm -rf ${folder:+"$folder"} ${reserved:+"$reserved"} || :; [ "$ended" -le 3 ] || ended=3; exit "$ended"' EXIT
folder="$(mktemp -d)" || fail 3 'there is no place for what is in transit: mktemp is missing, or TMPDIR is no folder'
# Not every shell sees to that when it is interrupted, and what is left could hold a key.
trap 'exit 3' HUP INT TERM
case "$action:$#" in
  register:2)
    need_address "$1"
    need_key_file
    [ ! -e "$key_file" ] || fail 2 "$key_file holds a key already: name another RECALL_KEY_FILE"
    reserve_key_file
    url="$(root_of "$1")" key=''
    registered="$(call api_key POST agents/register --header 'Content-Type: application/json' --data-binary "{\"name\": $(json "$2")}")"
    keep_key "$registered"
    printf '%s\n' "$registered" | sed 's/,"api_key":"[^"]*"//'
    ;;
  search:1 | search:2)
    identify
    # shellcheck disable=SC2086 # several words on purpose
    call results GET memory/search $again --get --data-urlencode "q=$1" --data-urlencode "limit=${2:-10}"
    ;;
  save:2 | save:3)
    identify
    # In a file: arguments can be seen by others.
    printf '{"content": %s, "tags": %s%s}' "$(json "$1")" "$(json_list "$2")" \
      "${3:+, \"source_url\": $(json "$3")}" >"$folder/memory"
    # Sent again after a lost answer, it is kept once.
    once="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
    # shellcheck disable=SC2086
    call short_id POST memory $again --header "Idempotency-Key: \"$once\"" --header 'Content-Type: application/json' \
      --data-binary "@$folder/memory"
    ;;
  get:1)
    identify
    path="$(at "$1")"
    # shellcheck disable=SC2086
    call memory GET "$path" $again
    ;;
  cite:1)
    identify
    path="$(at "$1")"
    # shellcheck disable=SC2086
    call citation POST "$path/cite" $again
    ;;
  delete:1)
    identify
    path="$(at "$1")"
    call status DELETE "$path"
    ;;
  whoami:0)
    identify
    # shellcheck disable=SC2086
    call agent GET agents/me $again
    ;;
  rotate-key:0)
    identify
    [ -z "$in_file" ] || reserve_key_file
    # shellcheck disable=SC2086
    rotated="$(call api_key POST agents/me/rotate-key $again)"
    # Whoever set the variable has to keep it.
    [ -n "$in_file" ] || { printf '%s\n' "$rotated" && exit; }
    keep_key "$rotated"
    # The old one ends when the new one is first used.
    key="$new"
    # shellcheck disable=SC2086
    call agent GET agents/me $again >/dev/null
    printf 'recall: the new key is in %s\n' "$key_file" >&2
    ;;
  *) usage ;;
esac
