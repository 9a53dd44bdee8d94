#!/bin/sh
# Do the sources compile with the headers of releases between the oldest and the newest that the tests run with? Prints
# TAP; last line: N passed, N failed, N skipped. A release whose source is not in the cache and cannot be fetched is
# skipped.
#
#   compile-versions.sh [VERSION...]     default: 3.20.5 3.23.7
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# With what is made of FFTW, where that is here
fftw=$(! pkg-config --exists fftw3 2> /dev/null || echo "-DKCYCLE_HAVE_FFTW $(pkg-config --cflags fftw3)")

compiles() { # folder arch
  # shellcheck disable=SC2086 # words
  find "$top/src" -name '*.c' ! -path '*/level/device/*' -print0 |
    xargs -0 -P "$(nproc)" -n 1 mpicc -std=gnu99 -fsyntax-only -Wall -Wextra -Werror -DPETSCKCYCLE_VERSION='""' $fftw \
    "-I$top/include" -isystem "$1/include" -isystem "$1/$2/include" > "$log" 2>&1 && return
  grep -e error -e warning "$log" | sort | uniq -c | sort -rn | head -n 10 | sed 's/^/#    /'
  return 1
}

passed=0 failed=0 skipped=0
[ $# -gt 0 ] || set -- 3.20.5 3.23.7
for version; do
  claim="the sources compile with the headers of PETSc $version" status=0
  where=$(sh "$top/conf/petsc-build.sh" headers "$version") || status=$?
  if [ $status = 3 ]; then
    skipped=$((skipped + 1))
    echo "ok - $claim # SKIP its source is not in the cache and cannot be fetched"
  elif [ $status = 0 ] && eval "$where" && compiles "$PETSC_DIR" "$PETSC_ARCH"; then
    passed=$((passed + 1))
    echo "ok - $claim"
  else failed=$((failed + 1)); echo "not ok - $claim"; fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
