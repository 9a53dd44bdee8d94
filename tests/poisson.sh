#!/bin/sh
# bench/poisson: cycles, errors and operations are those of the papers' tables; tables are made.
# Run by: make check SEARCH=poisson
set -u
. "$KC_TOP/conf/tap.sh"

if petsc_has PETSC_USE_COMPLEX; then skip 'the tables of the papers' 'structured levels have real numbers'; exit 0; fi
compile c "$KC_TOP/bench/poisson.c" poisson -std=gnu99 -O2 "-I$KC_TOP/include" "$KC_LIBRARY" \
  "-Wl,-rpath,$KC_BUILD/lib" > build.log 2>&1 || { cat build.log; exit 1; }

levels='-pc_kcycle_structured on -pc_kcycle_kappa 1 -pc_kcycle_grid interior -pc_kcycle_anisotropy off'
levels="$levels -pc_mg_distinct_smoothup"
feng="$levels -pc_kcycle_interpolation simplex -pc_mg_galerkin both"
ghysels="$levels -pc_kcycle_interpolation linear -pc_mg_galerkin none -start random -ksp_rtol 1e-12"

# smoothing TYPE BEFORE AFTER
smoothing() {
  for way in "levels -mg_levels_ksp_max_it $2" "levels_up -mg_levels_up_ksp_max_it $3"; do
    name=${way%% *}
    echo "-mg_${name}_ksp_type richardson -mg_${name}_pc_type relax -mg_${name}_pc_relax_type $1 ${way#* }"
  done
}

# gives CLAIM PATTERN PROCESSES OPTIONS: repeated once, and nothing is left of the memory
# shellcheck disable=SC2086 # words
gives() { works "$1" "$2" mpi "$3" ./poisson -skip_petscrc -malloc_dump -repeat 1 $4; }

jacobi='-mg_levels_pc_relax_omega 0.8 -mg_levels_up_pc_relax_omega 0.8'
one="$jacobi -mg_coarse_ksp_type richardson -mg_coarse_ksp_max_it 1"
one="$one -mg_coarse_ksp_richardson_scale 0.8 -mg_coarse_pc_type jacobi"
gives 'Table 5 of Feng and others, L = 10, Jacobi: 19 cycles' '^solve,19,' 1 \
  "-L 10 -pc_mg_levels 10 $feng $(smoothing jacobi 1 1) $one"
gives 'L = 8, Jacobi: 18 cycles' '^solve,18,8.9289e-07,' 1 "-L 8 -pc_mg_levels 8 $feng $(smoothing jacobi 1 1) $one"
gives 'two colours: 16 cycles' '^solve,16,6.356' 1 "-L 8 -pc_mg_levels 8 $feng $(smoothing redblack 1 1)"
gives 'four colours: 11 cycles' '^solve,11,5.135' 1 "-L 8 -pc_mg_levels 8 $feng $(smoothing fourcolor 1 1)"
for processes in 1 2 4; do
  gives "four colours on 7 levels and $processes processes: 11 cycles" '^solve,11,2.6396e-07,' $processes \
    "-L 8 -pc_mg_levels 7 $feng $(smoothing fourcolor 1 1)"
done
for processes in 1 2; do
  gives "eight colours in 3D, 31^3, on $processes: 15 cycles" '^solve,15,4.8541e-07,' $processes \
    "-dim 3 -L 5 -pc_mg_levels 5 $feng $(smoothing eightcolor 1 1)"
done
# table CLAIM DIM L SMOOTHER: one application of full multigrid with sweeps before and after coarser levels has an error
# with the digits of the paper
table() {
  while read -r before after error; do
    gives "$1, FMG($before,$after)" "^error,$error" 1 \
      "-task fmg -dim $2 -L $3 -pc_mg_levels $3 $feng $(smoothing "$4" "$before" "$after")"
  done
}
table 'Table 12, L = 9' 2 9 fourcolor <<'END'
1 1 1.001[0-9]*e-05
1 2 1.24[12][0-9]*e-06
2 2 1.00[34][0-9]*e-06
2 3 7.02[78][0-9]*e-07
3 3 7.145[0-9]*e-07
END
table 'Table 14, L = 5' 3 5 eightcolor <<'END'
1 1 6.509[0-9]*e-03
1 2 2.73[23][0-9]*e-03
2 2 1.24[56][0-9]*e-03
2 3 7.873[0-9]*e-04
3 3 5.29[56][0-9]*e-04
END
gives 'Table 14, L = 6, FMG(1,2), on 3' '^error,9.46[89][0-9]*e-04,' 3 \
  "-task fmg -dim 3 -L 6 -pc_mg_levels 6 $feng $(smoothing eightcolor 1 2)"
gives 'Table 8, 2D: operations for each unknown' '^flops,14.000,13.333,2.667,3.333,2.000,35.333$' 1 \
  "-task flops -L 4 -pc_mg_levels 4 $feng $(smoothing fourcolor 1 1)"
gives 'Table 8, 3D' '^flops,17.143,16.000,2.286,3.143,2.000,40.571$' 1 \
  "-task flops -dim 3 -L 4 -pc_mg_levels 4 $feng $(smoothing eightcolor 1 1)"

# Ghysels and Vanroose, cycles with smoothing before the coarser levels alone; both forms of the smoother
gives 'V(2,0), 1023^2: 26 cycles' '^solve,26,' 1 "-L 10 -pc_mg_levels 10 $ghysels $(smoothing jacobi 2 0) $jacobi"
gives 'V(4,0), 1023^2, sweeps one after the other: 16 cycles' '^solve,16,' 1 \
  "-L 10 -pc_mg_levels 10 $ghysels $(smoothing separate 4 0) $jacobi"
gives 'sweeps in tiles are those one after the other' '^sweeps,9,' 1 '-task sweeps -L 6 -sweeps 9'
gives 'and in 3D' '^sweeps,9,' 1 '-task sweeps -dim 3 -L 4 -sweeps 9'
gives 'components of each level' '^event,interpolation,2,1,' 1 \
  "-task profile -apart -pc_mg_log -cycles 2 -L 4 -pc_mg_levels 4 $feng $(smoothing fourcolor 1 1)"

poisson() { "$KC_PYTHON" -B "$KC_TOP/bench/poisson.py" "$@"; }
works 'tables and those of the paper' 'poisson-levels.csv' poisson --parts residual,levels --sizes 8 --sizes3d 4
refuses 'a part that is not there' 'no part is called pictures' poisson --parts pictures
if "$KC_PYTHON" -c 'import numpy, matplotlib' 2> /dev/null; then
  works 'two-grid factor, cycles and costs of four steps' \
    'rho 0.13657  cycles 14  cost_3_21 1027  cost_4_2_separate 68.794  cost_4_2_tiled 38.592' poisson --parts model \
    --steps 4
else
  skip 'two-grid factor, cycles and costs' 'no numpy or matplotlib'
fi

# shellcheck disable=SC2086 # words
wrong() { refuses "$1 is refused" "$2" ./poisson -skip_petscrc $1; }
wrong '-task cg' '-task cg: see -help'
wrong '-dim 1' '-dim is 2 or 3, not 1'
wrong '-L 15' '-L lies in 1 to 14, and is not 15'
wrong '-task fft -L 3' 'compiled without FFTW'
wrong '-task fmg -L 3 -pc_type jacobi' '-task fmg is for -pc_type kcycle'
[ "$tap_count" -gt 0 ]
