# shellcheck shell=sh
# For tests/*.sh: claims, and programs that belong to the PETSc at hand. make check sets the variables KC_*.
#
#   works "claim" "pattern" command...     succeeds and prints the pattern
#   refuses "claim" "pattern" command...   fails in an orderly way and prints the pattern
#   skip "claim" "reason"                  mpi 2 program ...                compile c program.c program [flags]
#   some_of 1 2 4                          these values; with FEWER=2 the first and the last, with FEWER=1 the second
: "${KC_TOP:?run this by: make check SEARCH=...}"

tap_count=0
log=$KC_WORK/log

some_of() {
  case ${FEWER:-} in
    '') echo "$@" ;;
    1) echo "$2" ;;
    *) for last; do :; done; echo "$1 $last" ;;
  esac
}

ok() { tap_count=$((tap_count + 1)); echo "ok $tap_count - $1"; }

skip() { tap_count=$((tap_count + 1)); echo "ok $tap_count - $1 # SKIP $2"; }

# With the end of the log
not_ok() {
  tap_count=$((tap_count + 1))
  echo "not ok $tap_count - $1 ($2)"
  cut -c 1-300 "$log" | grep -v 'PETSC ERROR: Configure options' | tail -n 40 | sed 's/^/#    /'
}

# Status 124: stopped by timeout; above 128: killed by a signal, as mpiexec and PETSc's signal handler say in words
# ... or by PETSc without MPI, which aborts after the message of an error
crashed() {
  if [ -n "${KC_PROGRAMS:-}" ] && [ "$1" = 134 ] && grep -q 'End of Error Message' "$log"; then return 1; fi
  [ "$1" = 124 ] || [ "$1" -gt 128 ] || grep -q -e 'Caught signal number' -e 'exited on signal' -e 'Segmentation' "$log"
}

works() {
  tap_claim=$1 pattern=$2 status=0
  shift 2
  "$@" > "$log" 2>&1 < /dev/null || status=$?
  if [ $status != 0 ]; then not_ok "$tap_claim" "status $status"
  elif [ -n "$pattern" ] && ! grep -q -e "$pattern" "$log"; then not_ok "$tap_claim" "no: $pattern"
  else ok "$tap_claim"; fi
}

refuses() {
  tap_claim=$1 pattern=$2 status=0
  shift 2
  "$@" > "$log" 2>&1 < /dev/null || status=$?
  if [ $status = 0 ]; then not_ok "$tap_claim" "status 0"
  elif crashed $status; then not_ok "$tap_claim" "status $status, a crash"
  elif ! grep -q -e "$pattern" "$log"; then not_ok "$tap_claim" "no: $pattern"
  else ok "$tap_claim"; fi
}

# shellcheck disable=SC2086 # mpiexec may come with options
mpi() {
  tap_processes=$1
  shift
  timeout "${tap_limit:-120}" $KC_MPIEXEC -n "$tap_processes" "$@"
}

petsc_pc() {
  for file in "$KC_LIBDIR/pkgconfig/PETSc.pc" "$KC_LIBDIR/pkgconfig/petsc.pc"; do
    if [ -f "$file" ]; then echo "$file"; return; fi
  done
}

# Where programs were compiled elsewhere (KC_PROGRAMS) they are taken from there
# shellcheck disable=SC2046 # words
compile() {
  if [ -n "${KC_PROGRAMS:-}" ]; then
    cp "$KC_PROGRAMS/$(basename "$3")" "$KC_WORK/"
    return
  fi
  compiler=$(pkg-config --variable="$1compiler" "$(petsc_pc)") source=$2 program=$3
  shift 3
  ${compiler:-mpicc} -o "$program" "$source" "$@" $(pkg-config --cflags --libs "$(petsc_pc)") "-Wl,-rpath,$KC_LIBDIR" \
    -lm
}

petsc_has() { cat "$KC_CONF_DIR/include/petscconf.h" "$KC_CONF_DIR/$KC_CONF_ARCH/include/petscconf.h" 2> /dev/null |
  grep -q "define $1 "; }

# The first Python with a petsc4py for the PETSc at hand; without PETSC_DIR, which a petsc4py may obey
find_petsc4py() {
  ours=$(ldd "$KC_LIBRARY" | awk '/libpetsc[^k]/ { print $3; exit }')
  for python in python3 /usr/bin/python3; do
    theirs=$(env -u PETSC_DIR -u PETSC_ARCH "$python" -c '
from petsc4py import PETSc
print([line.split()[-1] for line in open("/proc/self/maps") if "/libpetsc" in line][0])' 2> /dev/null) || continue
    [ "$(readlink -f "$theirs")" = "$(readlink -f "$ours")" ] || continue
    echo "$python"
    return
  done
}
