#!/bin/sh
# What a machine with a GPU is to do in a quarter of an hour (tests/device/pack.sh and run.sh), with small sizes on the
# stand-ins of tests/cudahost. Each step of both calls ends well and writes its files. A step that hangs costs no other.
# Run by: make check SEARCH=device_plan
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
out=$KC_WORK/out pack=$KC_TOP/build/device-fake
call() { # first or second
  AT_A_TIME=2 OUT=$out STEPS="facts checks sanitize profile measure verbs" sh "$pack/run.sh" "$1" ||
    { cat "$out/$1"-steps.txt; grep '^not ok' -A 20 "$out/$1-checks.txt"; return 1; }
}

packed() {
  FAKE=1 SETS="lines parts" FEWER=1 KCYCLE_PETSC="PETSC_DIR=$KC_CONF_DIR PETSC_ARCH=$KC_CONF_ARCH" sh \
    "$KC_TOP/tests/device/pack.sh"
}

# Numbers of lines of each kind, and of files
has() { # file pattern lines
  [ "$(grep -c -e "$2" "$out/$1")" = "$3" ] || { cat "$out/$1"; return 1; }
}

first() {
  [ "$(find "$out" -name 'first-*' | wc -l)" -le 8 ] && has first-times.csv '^solve,.*,CONVERGED_' 24 &&
    has first-facts.txt '^limit,' 2 && has first-sanitize.txt '^ok' 6 &&
    has first-ncu.csv '^result,' 4 && has first-checks.txt '^not ok' 0 &&
      [ "$(grep -c '^ok - .*: ' "$out/first-checks.txt")" -gt 50 ]
}

second() {
  [ "$(find "$out" -name 'second-*' | wc -l)" -le 8 ] && has second-times.csv '^solve,.*,CONVERGED_' 32 &&
    has second-times.csv '^verb,' 12
}

# A program for measuring that hangs, and a library that fails in the middle of a list
hangs() {
  printf '#!/bin/sh\nsleep 1000\n' > "$pack/commands/ncu"
  rm -f "$pack/bin/device"
  SLOWER=1 AT_A_TIME=2 STEPS="facts profile measure" OUT=$out sh "$pack/run.sh" first && return 1
  cat "$out/first-steps.txt"
  grep -q '^facts: failed' "$out/first-steps.txt" && grep -q '^profile: \(failed\|stopped\)' "$out/first-steps.txt" &&
    grep -q '^measure 1 2 3: ok' "$out/first-steps.txt"
}

begin "a plan for a machine with a GPU"
works "what the machine needs is packed" "" packed
works "the first call" "5 passed, 0 failed, 0 skipped" call first
works "it writes facts, claims and times" "" first
works "the second call" "4 passed, 0 failed, 0 skipped" call second
works "it writes times" "" second
works "a step that hangs or fails costs no other" "1 passed, 2 failed" hangs
