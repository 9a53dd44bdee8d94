#!/bin/sh
# Problems of the battery with vectors of a device: the same iterations as on the host, and the same residuals but for rounding. All levels are there, and an iteration of one
# process copies no vector in either direction. bench/ondevice.py does so with all of them.
# Run by: make check SEARCH=device_battery
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"

# Points, lines, planes and clusters; ends and coefficients of all kinds; with a wind GMRES. The last line: planes that were chosen
one=2d-neumann-odd,2d-9-points-periodic,1d-mixed-ends,3d-27-points-stored,3d-plate,2d-inlet,3d-film-15,2d-square-1e6,2d-checker-3,3d-walls-gaps,2d-holes,2d-random-1e6
one=$one,3d-mixed-30-1e6,3d-mixed-50-million,3d-reaction-balls,2d-weak-y-0.01,3d-three-strengths,3d-turning-1000,2d-1.3-walls,3d-1.2-channel,3d-lognormal-3-short
one=$one,3d-channels-1e6,3d-eddy-10,2d-eddy-100
one=$one,3d-bodies-30,3d-layers-inactive,3d-channels-inactive,3d-stretched-1e6
several=2d-periodic-odd,3d-dirichlet-odd,2d-holes,3d-mixed-50,3d-1.1-walls,3d-lognormal-2,3d-channels-inactive,2d-eddy-10

battery() { python3 -B "$KC_TOP/bench/ondevice.py" "$@"; }

begin "problems of the battery on the device as on the host"
works "problems of the battery on the device as on the host, and nothing is copied" "^28 of 28 cases" battery --all-there --cases "$one"
works "problems of the battery on the device as on the host, aijcusparse" "^3 of 3 cases" battery --all-there --matrix aijcusparse --cases 3d-stretched-1e6,2d-holes,3d-eddy-10
works "problems of the battery on the device as on the host, W-cycles" "^4 of 4 cases" battery --all-there --options '-pc_kcycle_kappa w' \
  --cases 2d-dirichlet-odd,3d-mixed-50,2d-1.3-walls,3d-stretched-1e6
works "problems of the battery on the device as on the host, single precision" "^4 of 4 cases" battery --all-there --scalars 5000 --part 1e-6 --options '-pc_kcycle_precision single' \
  --cases 2d-dirichlet-odd,3d-mixed-50,2d-1.3-walls,3d-stretched-1e6
works "problems of the battery on the device as on the host, 4 processes" "^8 of 8 cases" battery --procs 4 --cases "$several" --options '-pc_kcycle_process_eq_limit 0'
refuses "another history is found" "WRONG: another history" battery --cases 2d-dirichlet --part -1
refuses "levels on the host are found" "WRONG: vectors are copied, levels are on the host" battery --all-there --cases 3d-dirichlet --options '-pc_kcycle_host_below 2000'
