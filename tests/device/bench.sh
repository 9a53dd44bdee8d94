#!/bin/sh
# bench.sh [CSV]: times on a GPU, called by run.sh, as a table and as a file; python3 bench/gpu.py --measured CSV prints them beside what was predicted.
#
#   SQUARES="257 1025 4097" CUBES="65 129 257 513"   points in a direction
#   TIMES=3                                          runs, of which the fastest counts
set -u
csv=${1:-device.csv}
work=$KC_WORK/bench
squares=${SQUARES:-257 1025 4097} cubes=${CUBES:-65 129 257 513} times=${TIMES:-3}
mkdir -p "$work"
broken=0

say() { echo "$*" | tee -a "$csv"; }

points() { # dimension n
  case $1 in 2) echo "$2,$2" ;; *) echo "$2,$2,$2" ;; esac
}

# The last number of the list
last() { for n in $1; do :; done; echo "$n"; }

failed() { # what log
  echo "$1 failed:"
  grep -v -e 'Configure options' -e 'source: command line' "$2" | tail -n 15
  broken=1
}

# Copies, and cuFFT
limit() { # dimension n
  timeout 500 "$KC_PROGRAMS/device" -n "$(points "$1" "$2")" > "$work/log" 2>&1 || { failed "device -n $2" "$work/log"; return; }
  sed -n "s/^limit,[0-9]*/limit,$1,$2/p" "$work/log" | tee -a "$csv"
  eval "copy$1=$(sed -n 's/^limit,[0-9]*,[^,]*,\([^,]*\),.*/\1/p' "$work/log")"
}

solve() { # dimension n options...: the options of a solve, on the device
  dim=$1 n=$2
  shift 2
  ends=ss,ss,ss
  [ "$dim" = 3 ] || ends=ss,ss
  timeout 550 "$KC_PROGRAMS/battery" -skip_petscrc -dll_append "$KC_LIBRARY" -cells "$(points "$dim" "$n")" -ends $ends -device -repeat "$times" -patience 60 -dm_vec_type cuda \
    -dm_mat_type stencil "$@" > "$work/log" 2>&1
}

# Seconds of what a cycle does on the finest level, and which part that is of the bandwidth of a copy if nothing but the least numbers was moved for a point: the whole visit with a
# sweep of two colours before and behind the coarser levels (b, x, a part of the coarse right side; b, x twice, the coarse solution); Jacobi's sweep (from zero and not, in turn),
# residual, restriction, interpolation, the product of CG. Coefficients that vary are read once in each
verbs() { # dimension n precision kind options...
  dim=$1 n=$2 precision=$3 kind=$4
  shift 4
  : > "$work/verbs"
  for type in redblack jacobi; do
    solve "$dim" "$n" -pc_kcycle_precision "$precision" -mg_levels_ksp_max_it 1 -mg_levels_pc_relax_type $type -pc_mg_log -log_view ":$work/events:ascii_csv" -log_view_gpu_time "$@" ||
      { failed "verbs, $n" "$work/log"; return; }
    eval "copy=\${copy$dim:-0}"
    awk -F, -v dim="$dim" -v n="$n" -v precision="$precision" -v kind="$kind" -v type=$type -v copy="$copy" '
      NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
      { name = $column["Event Name"]; count[name] += $column["Count"]; seconds[name] += $column["Time"] }
      name ~ /^KCSmooth Level / { level = name; sub(/.* /, "", level); if (level + 0 > most) most = level + 0 }
      function verb(what, name, times, least) { # times: events for one of them
        if (!count[name]) { print "no event is called " name > "/dev/stderr"; status = 1; return }
        each = times * seconds[name] / count[name]
        size = precision == "single" && name != "MatMult" ? 4 : 8
        printf "verb,%d,%d,%s,%s,%s,%.4e,%.3f\n", dim, n, kind, precision, what, each, copy ? least * size * n ^ dim / each / copy : 0
      }
      END {
        part = 1 / 2 ^ dim
        more = kind == "constant" ? 0 : 2 * dim + 1
        if (type == "redblack") verb("visit", "KCSmooth Level " most, 2, 5 + 2 * part + 2 * more)
        else {
          verb("sweep", "KCSmooth Level " most, 1, (2 + 3 + 2 * more) / 2); verb("residual", "KCResidual Level " most, 1, 3 + more)
          verb("restriction", "KCRestrict Level " most, 1, 1 + part); verb("interpolation", "KCInterp Level " most, 1, 2 + part); verb("product", "MatMult", 1, 2 + more)
        }
        exit status
      }' "$work/events" >> "$work/verbs" || broken=1
  done
  tee -a "$csv" < "$work/verbs"
}

cycles() { # dimension n name options...
  dim=$1 n=$2 name=$3
  shift 3
  solve "$dim" "$n" "$@" || { failed "$name, $n" "$work/log"; return; }
  sed -n "s/^result,[0-9]*,/solve,$dim,$n,$name,/p" "$work/log" | tee -a "$csv"
}

every_kappa() { # dimension n
  for kappa in 1 2 3 w; do cycles "$1" "$2" "kappa $kappa" -pc_kcycle_kappa $kappa; done
  cycles "$1" "$2" "kappa 1 launch by launch" -pc_kcycle_graph off
  cycles "$1" "$2" "kappa w launch by launch" -pc_kcycle_graph off -pc_kcycle_kappa w
  cycles "$1" "$2" "kappa 1 without tiles" -pc_kcycle_tile_above 2000000000
  cycles "$1" "$2" "kappa 1 with tiles on all levels" -pc_kcycle_tile_above 0
  for kappa in 1 w; do
    for below in 0 2000 5000; do
      cycles "$1" "$2" "kappa $kappa with one kernel below $below unknowns" -pc_kcycle_kappa $kappa -pc_kcycle_block_below $below -pc_kcycle_matrix_below 0
    done
    for below in 300 5000; do cycles "$1" "$2" "kappa $kappa with matrices below $below unknowns" -pc_kcycle_kappa $kappa -pc_kcycle_matrix_below $below; done
  done
  cycles "$1" "$2" "kappa 1 with zebra lines" -mg_levels_pc_relax_type zebra_x
  cycles "$1" "$2" "kappa 1 in single precision" -pc_kcycle_precision single
  cycles "$1" "$2" "full multigrid to 1e-4" -pc_mg_type full -ksp_rtol 1e-4
}

# PETSc's own multigrid on the device, with operators and transfers as sparse matrices
others() { # dimension n levels
  cusparse="-dm_mat_type aijcusparse -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi"
  # shellcheck disable=SC2086 # words
  cycles "$1" "$2" PCMG $cusparse -pc_type mg -pc_mg_levels "$3" -pc_mg_galerkin both
  # shellcheck disable=SC2086
  cycles "$1" "$2" PCGAMG $cusparse -pc_type gamg
}

# Operators that vary, on the device and on the host
fields() {
  n=$(for n in $cubes; do [ "$n" -gt 257 ] || echo "$n"; done | tail -n 1)
  for place in device host; do
    cycles 3 "$n" "coefficients at random on the $place" -random 3 -pc_kcycle_place $place
    cycles 3 "$n" "log-normal with points on the $place" -sd 1 -pc_kcycle_place $place -pc_kcycle_anisotropy off -mg_levels_pc_relax_clusters off
  done
}

levels() { # n
  n=$1 l=1
  while [ "$n" -gt 5 ]; do n=$(((n + 1) / 2)) l=$((l + 1)); done
  echo $l
}

: > "$csv"
say "# limit,dimension,points,seconds of a copy,bytes a second,seconds by cuFFT"
say "# verb,dimension,points,coefficients,precision,verb,seconds,part of the bandwidth of a copy"
say "# solve,dimension,points,solver,iterations,reason,seconds of set-up,seconds of the solve,relative residual"
limit 2 "$(last "$squares")"
limit 3 "$(last "$cubes")"
for precision in double single; do
  verbs 2 "$(last "$squares")" $precision constant
  verbs 3 "$(last "$cubes")" $precision constant
done
verbs 2 "$(last "$squares")" double varying -random 3
for n in $squares; do every_kappa 2 "$n"; done
for n in $cubes; do every_kappa 3 "$n"; done
for n in $squares; do [ "$n" -gt 2049 ] || others 2 "$n" "$(levels "$n")"; done
for n in $cubes; do [ "$n" -gt 257 ] || others 3 "$n" "$(levels "$n")"; done
fields
exit $broken
