# Shared by the scripts: where the project is, how to say what is done, and the build.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# OpenBLAS takes Intel CPUs newer than itself for a Prescott of 2004, and leaves AVX-512 of AMD's unused; the command corrects that
# for itself (apps/cli/process_environment.h), tests and examples are told here.
if [ -z "${OPENBLAS_CORETYPE:-}" ] && grep -q AuthenticAMD /proc/cpuinfo 2>/dev/null; then
  if grep -qw avx512_bf16 /proc/cpuinfo; then export OPENBLAS_CORETYPE=Cooperlake; fi
elif [ -z "${OPENBLAS_CORETYPE:-}" ] && grep -q GenuineIntel /proc/cpuinfo 2>/dev/null; then
  if grep -qw avx512vl /proc/cpuinfo; then export OPENBLAS_CORETYPE=SkylakeX
  elif grep -qw avx2 /proc/cpuinfo; then export OPENBLAS_CORETYPE=Haswell; fi
fi
say() { printf '\033[1m== %s\033[0m\n' "$*"; }

build() {   # build PRESET [TARGET…]
  local preset=$1; shift
  say "build ($preset)"
  cmake --preset "$preset" >"/tmp/spnn-configure-$$.log" 2>&1 || { cat "/tmp/spnn-configure-$$.log"; exit 1; }
  rm -f "/tmp/spnn-configure-$$.log"
  cmake --build --preset "$preset" ${1:+--target "$@"}
}
