#!/bin/sh
# Known problems are solved, and drawn; messages of a cycle are counted, and the model of bench/scaling_model.py has the
# same numbers.
# Run by: make check SEARCH=problems
set -u
. "$KC_TOP/conf/tap.sh"

if petsc_has PETSC_USE_COMPLEX; then skip 'known problems' 'structured levels have real numbers'; exit 0; fi
battery() { python3 -B "$KC_TOP/bench/battery.py" --quick --repeat 1 "$@"; }
works 'known problems are solved' '^9 cases converge' battery --group known

problem="$KC_BUILD/bench/battery -skip_petscrc -dll_append $KC_LIBRARY -repeat 1 -ksp_converged_reason"
# shellcheck disable=SC2086 # words
wrong() { refuses "$1" "$2" $problem $1; }
wrong '-cells 8,8 -affinity 0' '-affinity 0: a positive number'
wrong '-cells 8,8 -bump 0' '-bump must be positive'
wrong '-cells 8,8,8 -region packing:2' 'packing:number:size needs two positive numbers'
wrong '-cells 8,8 -picture plane.txt -across w' '-across w: x, y or z'
# shellcheck disable=SC2086 # words
plane() { mpi "$1" $problem -cells 16,12,8 -bump 10 -source sines -image -ksp_rtol 1e-12 -picture "plane$1" -across y; }
same() { plane 1 && plane 2 && cut -d ' ' -f 1-4 plane1 > one && cut -d ' ' -f 1-4 plane2 | cmp one -; }
works 'a plane is the same on two processes' '' same
cat > sines.awk << 'EOF'
function power(x) { return sin(6.283185307179586 * x)^13 }
{
  error = $5 - power($1) * power($2) * power($3) - power(3 * $1) * power(3 * $2) * power(3 * $3)
  if (error^2 > 1e-10 || $4 < 1 || $4 > 10) exit 1
  points++
}
END { exit points != 128 }
EOF
works 'with -image the solution is what the right side is made of' '' awk -f sines.awk plane2

python=$(for p in /usr/bin/python3 python3; do if "$p" -c 'import matplotlib, PIL' 2> /dev/null; then echo "$p"; \
  break; fi; done)
if [ -n "$python" ]; then
  works 'a picture' 'known-segmentation.png [0-9]* bytes' "$python" -B "$KC_TOP/bench/known.py" \
    --quick --cases known-segmentation --folder .
else skip 'a picture' 'no matplotlib'; fi
refuses 'a picture of nothing' 'no case is called none' python3 -B "$KC_TOP/bench/known.py" --cases none --folder .

if petsc_has PETSC_HAVE_MPIUNI || petsc_has PETSC_HAVE_MPI_LARGE_COUNT; then
  skip 'messages of a cycle' 'none, or of other functions'; exit 0; fi
if petsc_has PETSC_HAVE_HYPRE; then peers=pfmg; else peers=none; fi
scaling() { python3 -B "$KC_TOP/bench/scaling.py" --quick --peers $peers "$@"; }
works 'messages, bytes and rounds of each level are those of the model' \
  'strong  4 processes 31x31x31  kcycle w limit 0 .* 0.0 %' scaling --parts count
exchanges() { awk -F, '$1 == "strong 4 kcycle 1" && $9 == "cycle" && $10 == 0 { print $11, $12, $14 }' \
  "$KC_BUILD/bench/scaling-phases.csv"; }
works 'two rounds on a level with ghost points, each with three neighbours and one with two vectors' '^smoothing 9 2$' \
  exchanges
refuses 'a network without bandwidth' 'are positive numbers' scaling --bandwidth 0
refuses 'a part that is not there' 'no part is called colours' scaling --parts colours
