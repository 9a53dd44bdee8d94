#!/bin/sh
# make check: builds the library and runs every test. The last line is: N passed, N failed, N skipped.
#
#   SEARCH=text                  only tests whose name contains the text (tests-<program>_<suffix>, tests-<script>), or
#                                one of several words
#   EXCEPT=text                  none of these tests, one or several words
#   SANITIZE=address,undefined   library and test programs instrumented by the compiler; no scripts
#   FEWER=2                      of the values of a loop in a test, numbers of processes among them, only the first and
#                                the last; FEWER=1: only the second
#   SMOKE=1                      under a minute after a small change: stencils, transfers, smoothers, cycles, deflation,
#                                incomplete Poisson on 1 and 3 processes; no scripts
#   SCRIPTS=0                    no scripts; SCRIPTS="device loading": those whose name contains one of the words
#   EXTRA_OPTIONS=-fp_trap       options that every test program gets in addition to its own
#   OPENMP=1                     the library with threads, two of them in each process
#   VALGRIND=1                   test programs under valgrind; without SEARCH those with "small" in their name; no
#                                scripts
#   JOBS=3                       tests at a time; processes that wait for each other leave room for one more than there
#                                are cores
#   TIMEOUT=400                  seconds for one run of a test program
#
# Two kinds of tests:
#   - C programs in tests/ and examples/tutorials/ with a TEST block, run by PETSc's own harness and compared, numbers
#     included, with output/. They are linked with the library; ${KCYCLE_LIB} in their arguments is its path.
#   - tests/*.sh and tests/*.py, which print TAP: "ok N - claim", "not ok N - claim" or "ok N - claim # SKIP reason".
#     They get what "make print-petsc" says as KC_LIBRARY, KC_BUILD, ..., and an empty folder KC_WORK.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
# Variables given to "make check" are in the environment; the other make's flags would disturb those called here
unset MAKEFLAGS MFLAGS MAKELEVEL PETSC_OPTIONS PETSC_OPTIONS_YAML
SEARCH=${SEARCH:-} EXCEPT=${EXCEPT:-} SANITIZE=${SANITIZE:-} FEWER=${FEWER:-} OPENMP=${OPENMP:-} \
  VALGRIND=${VALGRIND:-} SMOKE=${SMOKE:-} JOBS=${JOBS:-3}
case $SMOKE in 0 | no) SMOKE= ;; esac
case $OPENMP in 0 | no) OPENMP= ;; esac
case $FEWER in
  '' | 0 | no) FEWER='' shorten='' ;;
  1) shorten='s/{{[^ {}]* \([^ {}]*\)[^{}]*}}/{{\1}}/g' ;;
  *) shorten='s/{{\([^ {}]*\) [^{}]* \([^ {}]*\)}}/{{\1 \2}}/g' ;;
esac
case ${SCRIPTS:-1} in 0 | no) SCRIPTS= ;; 1) SCRIPTS=tests- ;; esac # which is in all names
# With each of these the library's parts are used in a second or two
smoke="tests-stencil_1 tests-stencil_errors tests-transfer_ tests-relax_ tests-structured_ways tests-structured_choices
  tests-structured_ends tests-oracle_preconditioner tests-oracle_full tests-oracle_distinct
  tests-deflsub_labels tests-deflsub_identities tests-deflsub_reuse tests-deflsub_errors
  tests-incpoisson_product tests-incpoisson_reuse tests-incpoisson_iterations"
if [ -n "$SMOKE" ]; then
  shorten='s/nsize: {{1 [^{}]*}}/nsize: {{1 3}}/; /nsize:/!s/{{\([^ {}]*\) [^{}]*}}/{{\1}}/g' FEWER=1
  SEARCH=${SEARCH:-$smoke}
fi
if [ -n "$SANITIZE$VALGRIND$SMOKE" ]; then SCRIPTS=; fi
export SANITIZE OPENMP FEWER

complain() { echo "check: $*" >&2; exit 1; }

build_library() {
  make -s --no-print-directory -C "$top" -j"$JOBS" all || complain "the library does not build"
  settings=$(make -s --no-print-directory -C "$top" print-petsc) || complain "make print-petsc failed"
  eval "$(echo "$settings" | awk -F= '{ name = toupper($1); sub(/^[^=]*=/, ""); gsub(/'\''/, "&\\\\&&")
    printf "export KC_%s='\''%s'\''\n", name, $0 }')"
  export KC_TOP="$top" KCYCLE_LIB="$KC_LIBRARY"
}

# More processes than cores, as root or not, none of them bound to a core or busy while it waits, nor their threads; for
# Open MPI 4 and 5
set_up_mpi() {
  export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=$(if [ -n "$OPENMP" ]; then echo 2; else echo 1; fi)
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
  export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
  # To look for networks takes longer than most tests
  export OMPI_MCA_pml=ob1
  # Otherwise each process reads the names of PCI devices when MPI begins, which takes seconds with sanitizers
  export HWLOC_COMPONENTS=-pci
  if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
}

# MPI itself leaks, so leaks are left to PETSc's -malloc_dump. Memory that was freed is watched for as long as there are
# no more than 8 MB of it: touching new pages took half of the time
set_up_sanitizers() {
  export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:abort_on_error=0:verify_asan_link_order=0:quarantine_size_mb=8
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
}

set_up_valgrind() {
  command -v valgrind > /dev/null || complain "valgrind is not installed"
  supp=$(ompi_info --path pkgdatadir --parsable 2> /dev/null | sed 's/.*://')/openmpi-valgrind.supp
  VALGRIND_OPTS=--suppressions=$top/conf/valgrind.supp
  if [ -f "$supp" ]; then VALGRIND_OPTS="$VALGRIND_OPTS --suppressions=$supp"; fi
  export VALGRIND_OPTS
  export PETSCMPIEXEC="${KC_MPIEXEC%% *}" # PETSc 3.18 inserts valgrind after three words
  SEARCH=${SEARCH:-small}
}

# The folder that belongs to this run; two runs of the same build take turns
set_up_folder() {
  work=$KC_BUILD/check
  testdir=$work/harness
  all=$work/all.tap
  started=$work/started
  mkdir -p "$work"
  if command -v flock > /dev/null; then
    exec 9> "$work/lock"
    flock -n 9 || { echo "check: waiting for another make check with this PETSc"; flock 9; }
  fi
  rm -rf "$work/src" "$work/scripts"
  # The programs there may have been linked by an older version of this file
  [ -n "$(find "$testdir/testfiles" -newer "$top/conf/check.sh" 2> /dev/null)" ] || rm -rf "$testdir"
  mkdir -p "$testdir" "$work/src" "$work/scripts"
  : > "$all"
  : > "$started"
}

find_harness() {
  link="-Wl,--push-state,--no-as-needed $KC_LIBRARY -Wl,--pop-state"
  [ -n "$KC_HARNESS" ] && return
  complain "this PETSc ($KC_CONF_DIR $KC_CONF_ARCH) comes without its test harness, gmakefile.test.
       Debian has it in the package libpetsc${KC_VERSION%.*}-dev-examples (sh conf/install-deps.sh check); an installed
       PETSc has it in share/petsc/examples, a build in its source tree next to PETSC_ARCH."
}

# The generator walks a folder: give it one with nothing but the tests. Loops may be shorter, and what the library has
# is not required any more: the generator reads those of PETSc only
stage() {
  mkdir -p "$work/src/$1"
  met=$(for feature in $KC_FEATURES; do printf '/^ *requires: defined(%s)$/d;' "$feature"; done)
  for file in "$top/$1"/*; do
    case $file in
      *.c)
        sed -e "$met" -e "$shorten" "$file" > "$work/src/$1/$(basename "$file")"
        touch -r "$file" "$work/src/$1/$(basename "$file")" ;;
      *.F90) ;; # has the name of a C program; tests/examples.sh runs it
      *) [ ! -e "$file" ] || ln -s "$file" "$work/src/$1/" ;;
    esac
  done
}

# --pkg-dir: where the generator looks for its log file, which must not be PETSc's own folder
generate() {
  stage tests
  stage examples/tutorials
  PYTHONDONTWRITEBYTECODE=1 python3 "$(dirname "$KC_HARNESS")/config/gmakegentest.py" \
    --petsc-dir="$KC_CONF_DIR" --petsc-arch="$KC_CONF_ARCH" --pkg-name=petsc --pkg-dir="$work" \
    --pkg-pkgs=tests,examples \
    --srcdir="$work/src" --testdir="$testdir" || complain "PETSc's test generator failed"
}

# PETSc's gmakefile.test on our tests. Its list of tests (-o) comes from generate(), as PETSc 3.18 would list its own.
# It echoes all variables given here through a shell: no parentheses
harness() {
  link="-Wl,--push-state,--no-as-needed $KC_LIBRARY -Wl,--pop-state"
  ( cd "$work" &&
    HOME="$work" PYTHONDONTWRITEBYTECODE=1 make -f "$KC_HARNESS" -o "$testdir/testfiles" --no-print-directory \
      PETSC_DIR="$KC_CONF_DIR" PETSC_ARCH="$KC_CONF_ARCH" TESTDIR="$testdir" TESTSRCDIR="$work/src" \
      pkgs="tests examples" \
      CPPFLAGS="-I$top/include" CFLAGS="$sanitize_flags" \
      EXEFLAGS="$sanitize_flags $link -Wl,-rpath,$KC_BUILD/lib,-rpath,$KC_LIBDIR" \
      DIFF_NUMBERS=1 TIMEOUT="${TIMEOUT:-$default_timeout}" VALGRIND="$VALGRIND" "$@" 9>&- )
}

# wanted WORDS NAME...: names with one of the words in them, or all where there is no word; one a line
wanted() {
  words=$1
  shift
  printf '%s\n' "$@" | awk -v search="$words" '
    BEGIN { n = split(search, word) }
    { found = n == 0; for (i = 1; i <= n; i++) if (index($0, word[i])) found = 1 }
    found && $0'
}

# unwanted WORDS NAME...: names with none of the words in them; one a line
unwanted() {
  words=$1
  shift
  printf '%s\n' "$@" | awk -v search="$words" '
    BEGIN { n = split(search, word) }
    { found = 0; for (i = 1; i <= n; i++) if (index($0, word[i])) found = 1 }
    !found && $0'
}

# check_words WORDS NAME...: a word that is in no name is a mistake
check_words() {
  words=$1
  shift
  for word in $words; do
    case " $* " in *"$word"*) ;; *) complain "no test has \"$word\" in its name" ;; esac
  done
}

prepare_programs() {
  default_timeout=400 sanitize_flags=
  # Optimised further they take minutes to compile
  if [ -n "$SANITIZE" ]; then sanitize_flags="-O1 $KC_SANITIZED"; fi
  if [ -n "$SANITIZE$VALGRIND" ]; then default_timeout=600; fi
  generate
}

find_tests() {
  programs=$(harness -s print-test gmakesearch=% V=0 | xargs) scripts=
  # shellcheck disable=SC2086 # the names are words
  if [ -n "$SCRIPTS" ]; then
    for script in "$top"/tests/*.sh "$top"/tests/*.py; do
      [ ! -f "$script" ] || scripts="$scripts tests-$(basename "$script")"
    done
    check_words "$SCRIPTS" $scripts
    scripts=$(wanted "$SCRIPTS" $scripts | xargs)
  fi
  # shellcheck disable=SC2086
  check_words "$SEARCH" $programs $scripts
  # shellcheck disable=SC2086
  check_words "$EXCEPT" $programs $scripts
  # shellcheck disable=SC2086
  programs=$(unwanted "$EXCEPT" $programs) scripts=$(unwanted "$EXCEPT" $scripts)
  # shellcheck disable=SC2086
  programs=$(wanted "$SEARCH" $programs | sort | xargs) scripts=$(wanted "$SEARCH" $scripts)
}

# A line for each program whose tests have all ended, with the seconds of a processor that they took
report_suites() {
  unfinished=
  for entry in $pending; do
    suite=${entry%:*} number=${entry#*:}
    set -- "$testdir/counts/$suite"[_.]*
    if [ $# = "$number" ] && [ -f "$1" ]; then
      awk -v name="$suite" -v n="$number" \
        '/^time/ { s += $3 } END { printf "check: %s: %d test%s, %.0f s\n", name, n, (n > 1 ? "s" : ""), s }' "$@"
    else unfinished="$unfinished $entry"; fi
  done
  pending=$unfinished
}

# What the harness says; it tells of each test when it has ended
follow() {
  pending=$(printf '%s\n' "$@" | sed 's/\(-[^_]*\)_.*/\1/' | uniq -c | awk '{ printf "%s:%d ", $2, $1 }')
  while IFS= read -r line; do
    case $line in
      *'  TEST '*) report_suites ;;
      '  '*' CC '* | '  '*' CLINKER '* | 'Using MAKEFLAGS'* | 'make: '* | 'Use "'*) ;;
      *) printf '%.300s\n' "$line" ;;
    esac
  done
  report_suites
}

run_programs() {
  [ -n "$programs" ] || return 0
  echo "check: PETSc $KC_VERSION, $(echo "$programs" | wc -w) tests of programs"
  # shellcheck disable=SC2086 # the names are words
  harness -k -O -j"$JOBS" V= OUTPUT=1 $programs 2>&1 | follow $programs
  # A program and its diff are one test here
  sed 's/^ *//' "$testdir"/test_*_tap.log |
    awk '/^ok/ && /# SKIP Command failed/ { next } /^not ok/ || /^ok diff-/ || /# (SKIP|TODO)/' >> "$all"
  find_leaks
  for test in $programs; do
    [ -f "$testdir/counts/$test.counts" ] || echo "not ok $test # did not run" | tee -a "$all"
  done
}

# A test with a filter does not compare what -malloc_dump says, hence this look at the unfiltered output
find_leaks() {
  find "$testdir" -name '*.tmp' -newer "$started" -exec grep -l '^\[ *[0-9]*\] *[0-9]* bytes .*()' {} + |
    while read -r output; do
    name=$(basename "$(dirname "$output")") name=${name#run}
    grep -q "^not ok .*-${name}[ +]" "$all" && continue
    grep '^\[ *[0-9]*\] *[0-9]* bytes .*()' "$output" | sed 's/^/#\t/'
    echo "not ok leak-$name # memory is not freed" | tee -a "$all"
  done
}

# A script that another lane has not begun; the folder that it gets says who was first
run_script() {
  name=${1%.*}
  if ! mkdir "$work/scripts/$name" 2> /dev/null; then
    [ -d "$work/scripts/$name" ] || complain "cannot make $work/scripts/$name"
    return 0
  fi
  case $1 in *.py) interpreter="python3" ;; *) interpreter="sh" ;; esac
  tap=$work/scripts/$name.tap status=0 start=$(date +%s)
  mkdir "$work/scripts/$name/tmp"
  # Programs of several scripts start and end at the same time; in one folder for temporary files MPI may find that of
  # another one, half removed
  ( cd "$work/scripts/$name" && KC_WORK=$PWD TMPDIR=$PWD/tmp timeout 900 "$interpreter" "$top/tests/${1#tests-}" ) \
    > "$tap" 2>&1 < /dev/null 9>&- || status=$?
  grep -q '^ok\|^not ok' "$tap" || echo "not ok $name: no test in it ran" >> "$tap"
  [ $status = 0 ] || grep -q '^not ok' "$tap" || echo "not ok $name: ended with status $status" >> "$tap"
  if grep -q '^not ok' "$tap"; then grep -v '^ok' "$tap" || true; fi
  echo "check: $1: $(grep -c '^ok\|^not ok' "$tap") tests, $(($(date +%s) - start)) s"
}

run_lane() {
  for script in $scripts; do run_script "$script"; done
}

# As many at a time as there are jobs
run_scripts() {
  lane=1
  while [ "$lane" -lt "$JOBS" ]; do
    run_lane &
    lane=$((lane + 1))
  done
  run_lane
  wait
  for tap in "$work"/scripts/*.tap; do
    [ ! -f "$tap" ] || sed -n "s/^\(ok\|not ok\) [0-9]* *-* */\1 $(basename "${tap%.tap}"): /p" "$tap" >> "$all"
  done
}

summary() {
  passed=$(grep -c -v -e '^not ok' -e '# SKIP' -e '# TODO' "$all" || true)
  skipped=$(grep -c '^ok.*# SKIP' "$all" || true)
  failed=$(grep -c -e '^not ok' -e '# TODO' "$all" || true)
  grep '^ok.*# SKIP' "$all" | sed 's/^ok/skipped:/' || true
  grep -e '^not ok' -e '# TODO' "$all" | sed 's/^not ok/failed:/' || true
  [ $((passed + failed)) -gt 0 ] || echo "check: no test ran${SEARCH:+ (SEARCH=$SEARCH)}" >&2
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

build_library
set_up_mpi
set_up_sanitizers
if [ -n "$VALGRIND" ]; then set_up_valgrind; fi
set_up_folder
find_harness
prepare_programs
find_tests
run_programs
run_scripts
summary
