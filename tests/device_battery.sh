#!/bin/sh
# Problems of the battery with vectors of a device: the same iterations as on the host, and the same residuals but for
# rounding. All levels are there, and an iteration of one process copies no vector in either direction.
# bench/ondevice.py does so with all of them.
# Run by: make check SEARCH=device_battery
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"

# Points, lines and clusters; with a wind GMRES
one=2d-9-points-periodic,1d-mixed-ends,3d-27-points-stored,3d-film-15,2d-checker-3,2d-holes,3d-mixed-30-1e6
one=$one,3d-reaction-balls,2d-1.3-walls
one=$one,3d-channels-1e6,3d-eddy-10,3d-channels-inactive,3d-stretched-1e6
if [ -n "${FEWER:-}" ]; then
  one=2d-9-points-periodic,3d-27-points-stored,2d-checker-3,2d-holes,3d-mixed-30-1e6,2d-1.3-walls,3d-channels-inactive
fi
number=$(echo "$one" | tr ',' '\n' | wc -l)
several=2d-periodic-odd,3d-mixed-50,3d-1.1-walls,3d-channels-inactive

ondevice() { python3 -B "$KC_TOP/bench/ondevice.py" "$@"; }

begin "problems of the battery on the device as on the host"
works "problems of the battery on the device as on the host, and nothing is copied" "^$number of $number cases" \
  ondevice --all-there --cases "$one"
works "problems of the battery on the device as on the host, aijcusparse" "^2 of 2 cases" ondevice \
  --all-there --matrix aijcusparse --cases 2d-holes,3d-eddy-10
works "problems of the battery on the device as on the host, W-cycles" "^2 of 2 cases" ondevice \
  --all-there --options '-pc_kcycle_kappa w' --cases 3d-mixed-50,2d-1.3-walls
works "problems of the battery on the device as on the host, single precision" "^2 of 2 cases" ondevice \
  --all-there --scalars 5000 --part 1e-6 --options '-pc_kcycle_precision single' \
  --cases 3d-mixed-50,2d-1.3-walls
works "problems of the battery on the device as on the host, 4 processes" "^4 of 4 cases" ondevice --procs 4 \
  --cases "$several" --options '-pc_kcycle_process_eq_limit 0'
refuses "another history is found" "WRONG: another history" ondevice --cases 2d-1.3-walls \
  --options '-pc_kcycle_precision single'
refuses "levels on the host are found" "WRONG: vectors are copied, levels are on the host" ondevice \
  --all-there --cases 3d-dirichlet --options '-pc_kcycle_host_below 2000'
