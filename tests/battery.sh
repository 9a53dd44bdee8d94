#!/bin/sh
# bench/battery.py: problems are chosen and solved, on any number of processes alike; what is worse than in a saved run
# is reported, and what fails now.
# Run by: make check SEARCH=battery
set -u
. "$KC_TOP/conf/tap.sh"

battery() { python3 -B "$KC_TOP/bench/battery.py" --quick --repeat 1 "$@"; }
few='2d-dirichlet,3d-mixed-50,2d-holes'

names() { battery --list | awk '{ print $2 }' | sort | uniq -d > twice && ! grep . twice; }
twice() { battery --seed 7 --list > one && battery --seed 7 --list > two && cmp one two &&
  battery --seed 8 --list > three && ! cmp -s one three; }
not() { "$@" && return 1; return 0; }
without() { pattern_=$1; shift; "$@" > text || return; cat text; not grep -q -e "$pattern_" text; }

works 'cases are listed with their options and the thresholds that they watch' \
  '2d-mixed-10 .*-region mixed:0.1 .*KCYCLE_CLUSTER_POINTS' battery --list
works 'no two cases have the same name' '' names
works 'held-out cases follow from the seed' '' twice
works 'the cases that watch a threshold' '2d-film-15' battery --list --watching KCYCLE_CLOSED
refuses 'a case that is not there' 'no case is called 4d' battery --cases 4d
refuses 'a group that is not there' 'no group is called colours; there are constant' battery --group colours
refuses 'a saved run that is not there' 'none.csv is no saved run' battery --cases 2d-dirichlet --against none.csv

works 'a run ends with a summary' '^3 cases converge: [0-9]* iterations' battery --cases "$few" --save run.csv
works 'the run again: nothing is worse' '^of 3 cases that converge before and now' without \
  'worse\|FAIL\|fewer iterations' battery --cases "$few" --against run.csv
awk -F, -v OFS=, '$1 == "2d-holes" { $5 = 2 } { print }' run.csv > better.csv
works 'more iterations than in a saved run' 'worse: 2d-holes, 1 proc.: 2 iterations before, [0-9]* now' without \
  'worse: 2d-dirichlet' battery --cases "$few" --against better.csv
refuses 'a case that fails now' 'FAIL NOW: 2d-dirichlet' battery --cases 2d-dirichlet --against run.csv \
  --options '-ksp_max_it 2'
sed 's/,15376,/,250000,/' run.csv > large.csv
refuses 'a saved run of other grids' '2d-dirichlet has 250000 unknowns in large.csv, 15376 here' battery \
  --cases 2d-dirichlet --against large.csv
refuses 'options that the solver refuses' 'crashed: status .* must be a whole number' battery --cases 2d-dirichlet \
  --options '-pc_kcycle_kappa 0'
sed 's/,ok,/,DIVERGED_ITS,/' run.csv > failed.csv
works 'a case that converges now' 'converge now: 2d-dirichlet' battery --cases 2d-dirichlet --against failed.csv
works 'another library, in turn' 'of now / before: iterations 1.000, time [0-9]' battery --cases 2d-dirichlet \
  --against-library "$KC_LIBRARY" --pairs 1
refuses 'a library that is not there' 'there is no library none.so' battery --cases 2d-dirichlet \
  --against-library none.so
works 'other solvers, too' 'gamg  ratio' battery --cases 2d-dirichlet --peers gamg
works 'the same problem on two processes' '' without 'depends on the number' battery \
  --cases "$few,2d-lognormal-2,3d-channels-1e3" --procs 1,2
refuses 'iterations that depend on the number of processes' 'depends on the number of processes: 2d-reaction-1' \
  battery --cases 2d-reaction-1 --procs 1,2 --options '-pc_type bjacobi'
works 'a held-out case' '^1 cases converge' battery --seed 7 --random 1

problem="$KC_BUILD/bench/battery"
wrong() { refuses "$1" "$2" $problem -skip_petscrc -dll_append "$KC_LIBRARY" $1; }
wrong '-region triangle' 'no region is called triangle'
wrong '-region mixed' 'mixed needs a positive number'
wrong '-cells 8,8 -ends dd' '-ends wants 2 words of two letters, not 1'
wrong '-cells 8,8 -ends pd,dd' 'both ends are periodic, or none'
wrong '-cells 8,8 -ends xx,dd' 'two letters of dvsnpio'
wrong '-cells 8,8 -k 1' '-k wants 2 numbers, not 1'
[ "$tap_count" -gt 0 ]
