#!/usr/bin/env bash
# A private PostgreSQL 15 with pgvector and a Redis for tests: on loopback, on free ports, with their data in a
# temporary folder.
# Usage: scripts/services.sh up      starts both (installing what is missing needs root on Debian)
#        scripts/services.sh env     prints the variables that open the doors of the tests, to be eval'ed
#        scripts/services.sh down    stops both and deletes their data
set -euo pipefail

pg_major=15
pg_bin="/usr/lib/postgresql/$pg_major/bin"
state="${TMPDIR:-/tmp}/recall-services-$(id -u)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/recall-services"

say() { printf '%s\n' "$*" >&2; }
die() {
  say "services: $*"
  exit 1
}

# Postgres refuses to run as root.
as_postgres() {
  if [ "$(id -u)" -eq 0 ]; then (cd / && setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"); else "$@"; fi
}

# install_packages <package…>: installs without starting services or creating clusters of the system's own.
install_packages() {
  [ "$(id -u)" -eq 0 ] || die "install these packages, then try again: $*"
  say "installing $*"
  local drop_in=/etc/postgresql-common/createcluster.d failed=''
  mkdir -p "$cache"
  {
    [ "$(find /var/lib/apt/lists -name '*_Packages*' -mmin -1440 2>/dev/null | head -c1)" ] || apt-get update
    mkdir -p "$drop_in"
    echo 'create_main_cluster = false' >"$drop_in/recall-services.conf"
    # RUNLEVEL=1: the packages' own services stay down.
    DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y --no-install-recommends "$@"
  } >"$cache/install.log" 2>&1 || failed=yes
  rm -f "$drop_in/recall-services.conf"
  rmdir --ignore-fail-on-non-empty "$drop_in"
  if [ "$failed" ]; then
    tail -n 20 "$cache/install.log" >&2
    die "could not install $*"
  fi
}

has_vector() { [ -f "/usr/share/postgresql/$pg_major/extension/vector.control" ]; }

# Debian 12 has no pgvector: the source package of the next suite is built, once, and kept.
install_vector() {
  local built="$cache/pgvector-pg$pg_major"
  [ "$(id -u)" -eq 0 ] || die 'pgvector is missing: install postgresql-15-pgvector, or run this as root'
  [ -d "$built" ] || build_vector "$built"
  cp -a "$built/." /
}

build_vector() {
  local built="$1" work mirror
  install_packages "postgresql-server-dev-$pg_major" build-essential dpkg-dev
  say 'building pgvector'
  work="$(mktemp -d)"
  # The mirror that this machine is set up with, and lists of our own: nothing under /etc/apt changes.
  mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)"
  [ "$mirror" ] || die 'no Debian mirror is configured'
  mkdir -p "$work/lists/partial"
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s trixie main\n' "$mirror" >"$work/sources.list"
  (
    cd "$work"
    lists=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root)
    apt-get "${lists[@]}" update
    apt-get "${lists[@]}" source --only-source pgvector
    cd pgvector-*/
    # No flags of this very machine: the cache may move.
    make -j2 OPTFLAGS='' with_llvm=no PG_CONFIG="$pg_bin/pg_config"
    make install with_llvm=no PG_CONFIG="$pg_bin/pg_config" DESTDIR="$work/tree"
  ) >"$cache/pgvector.log" 2>&1 || {
    tail -n 20 "$cache/pgvector.log" >&2
    die 'could not build pgvector'
  }
  mkdir -p "$cache"
  rm -rf "$built"
  mv "$work/tree" "$built"
  rm -rf "$work"
}

free_port() {
  node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'
}

start_postgres() {
  local data="$state/postgres" port
  port="$(free_port)"
  mkdir -p "$data"
  if [ "$(id -u)" -eq 0 ]; then chown postgres "$data"; fi
  chmod 755 "$state"
  as_postgres "$pg_bin/initdb" -D "$data/cluster" -A trust -E UTF8 --locale=C.UTF-8 -U postgres >"$state/initdb.log"
  as_postgres tee -a "$data/cluster/postgresql.conf" >/dev/null <<CONF
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$data'
max_connections = 200
shared_buffers = 512MB
maintenance_work_mem = 1GB
max_parallel_maintenance_workers = 1
CONF
  as_postgres "$pg_bin/pg_ctl" -D "$data/cluster" -l "$data/log" -w -s start || {
    tail -n 20 "$data/log" >&2
    die 'PostgreSQL did not start'
  }
  as_postgres "$pg_bin/createdb" -h 127.0.0.1 -p "$port" -U postgres recall
  printf "export RECALL_TEST_POSTGRES_URL='postgres://postgres@127.0.0.1:%s/recall'\n" "$port" >>"$state/env.part"
}

start_redis() {
  local port
  port="$(free_port)"
  mkdir -p "$state/redis"
  redis-server --port "$port" --bind 127.0.0.1 --dir "$state/redis" --save '' --appendonly no \
    --daemonize yes --pidfile "$state/redis/pid" --logfile "$state/redis/log" >/dev/null
  for _ in $(seq 50); do
    if [ "$(redis-cli -p "$port" ping 2>/dev/null)" = PONG ]; then
      printf "export RECALL_TEST_REDIS_URL='redis://127.0.0.1:%s'\n" "$port" >>"$state/env.part"
      return
    fi
    sleep 0.1
  done
  tail -n 20 "$state/redis/log" >&2
  die 'Redis did not start'
}

is_up() {
  [ -f "$state/env" ] && as_postgres "$pg_bin/pg_ctl" -D "$state/postgres/cluster" status >/dev/null 2>&1 &&
    kill -0 "$(cat "$state/redis/pid" 2>/dev/null || echo none)" 2>/dev/null
}

up() {
  if is_up; then return; fi
  [ -x "$pg_bin/initdb" ] || install_packages "postgresql-$pg_major"
  command -v redis-server >/dev/null || install_packages redis-server
  has_vector || install_vector
  down
  mkdir -p "$state"
  start_postgres
  start_redis
  # Only what is complete has this name.
  mv "$state/env.part" "$state/env"
}

down() {
  if [ -d "$state/postgres/cluster" ]; then
    as_postgres "$pg_bin/pg_ctl" -D "$state/postgres/cluster" -m immediate -w -s stop >/dev/null 2>&1 || true
  fi
  if [ -f "$state/redis/pid" ]; then stop_redis "$(cat "$state/redis/pid")"; fi
  rm -rf "$state"
}

# Until it is gone it writes to its folder, which could not be deleted.
stop_redis() {
  kill "$1" 2>/dev/null || return 0
  for _ in $(seq 50); do
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL "$1" 2>/dev/null || true
}

case "${1:-}" in
  up) up ;;
  env)
    is_up || die "nothing is running: scripts/services.sh up"
    cat "$state/env"
    ;;
  down) down ;;
  *)
    say 'usage: scripts/services.sh up | env | down'
    exit 2
    ;;
esac
