# Shared by the scripts: where the project is, how to say what is done, and the build.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
say() { printf '\033[1m== %s\033[0m\n' "$*"; }

build() {   # build PRESET [TARGET…]
  local preset=$1; shift
  say "build ($preset)"
  cmake --preset "$preset" >"/tmp/spnn-configure-$$.log" 2>&1 || { cat "/tmp/spnn-configure-$$.log"; exit 1; }
  rm -f "/tmp/spnn-configure-$$.log"
  cmake --build --preset "$preset" ${1:+--target "$@"}
}
