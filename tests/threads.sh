#!/bin/sh
# What the views say of threads, in a library with and without them. Run by: make check OPENMP=1 SEARCH=threads
set -u
. "$KC_TOP/conf/tap.sh"

# views NUMBER OPTIONS...: what ex45 shows with NUMBER threads
views() {
  number=$1
  shift
  env "OMP_NUM_THREADS=$number" ./ex45 -dll_append "$KC_LIBRARY" -da_refine 1 -pc_type kcycle -ksp_view "$@" > view ||
    return 1
  grep threads view || echo 'no threads'
}

if [ ! -f "$KC_TUTORIALS/ex45.c" ]; then
  skip 'the view names the threads' 'no tutorial ex45.c'
else
  compile c "$KC_TUTORIALS/ex45.c" ex45 || exit 1
  for n in 1 3; do
    if [ -n "${OPENMP:-}" ]; then expected="threads $n"; else expected='no threads'; fi
    works "the view of smoothers, OMP_NUM_THREADS=$n: $expected" "$expected" views $n
    works "the view of the matrix, OMP_NUM_THREADS=$n: $expected" "$expected" views $n -dm_mat_type stencil \
      -pc_type none
  done
fi
[ "$tap_count" -gt 0 ]
