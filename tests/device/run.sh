#!/bin/sh
# run.sh first|second [FOLDER]: on a machine with a GPU, what pack.sh has packed, in two calls of at most 300 and 240
# seconds. Needs CUDA's libraries and the driver.
#
#   first    facts of the machine and the bandwidth of a copy; solves as on the host; compute-sanitizer and ncu where
#            they are installed; times
#   second   times of a large problem, the same times again, PCMG, steps of a cycle; PETSc's types in other parts of the
#            library
#
# Results are written as they come, into the folder that OUT names, or FOLDER: CALL-steps.txt (how each step ended),
# CALL-checks.txt, CALL-times.csv and others. A step that takes longer than its limit is stopped. The last line is: N
# passed, N failed, N skipped, where a step is one of these.
#
#   AT_A_TIME=8   solves that are compared at a time
#   SLOWER=1      limits are SLOWER times as long
#   STEPS="..."   only these: facts checks sanitize profile measure, or measure verbs types
# shellcheck disable=SC2034 # variables are for what is read with library
set -u
here=$(cd "$(dirname "$0")" && pwd)

complain() { echo "run: $*" >&2; exit 1; }

# Folders in which machines have CUDA's libraries: the toolkit's, and those of Python's packages
places() {
  ls -d /usr/local/cuda*/lib64 /usr/local/cuda*/targets/x86_64-linux/lib 2> /dev/null
  python3 -c 'import nvidia, os
for path in nvidia.__path__:
    for root, folders, files in os.walk(path):
        if os.path.basename(root) == "lib": print(root)' 2> /dev/null
}

missing() { ldd "$here/lib/libpetsckcycle.so" "$here"/bin/* | awk '/not found/ { print $1 }' | sort -u | xargs; }

find_libraries() {
  LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
  if [ -n "$(missing)" ]; then
    for place in $(places); do LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$place; done
    [ -z "$(missing)" ] || LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$here/lib/spare
  fi
  missing=$(missing)
  [ -z "$missing" ] || complain "not found: $missing. Set LD_LIBRARY_PATH to the folders that have them"
}

find_gpu() {
  command -v nvidia-smi > /dev/null || complain "no nvidia-smi here: is there a driver?"
  nvidia-smi -L 2>&1 | grep '^GPU 0' || complain "no GPU here: $(nvidia-smi -L 2>&1 | head -n 1)"
}

# Tests run as make check has them run, each program on one process
settings() {
  if [ -f "$here/fake" ]; then PATH=$here/commands:$PATH SLOWER=${SLOWER:-10}; fi
  KC_WORK=$(mktemp -d)
  mkdir "$KC_WORK/tmp"
  printf '#!/bin/sh\nshift 2\nexec "$@"\n' > "$KC_WORK/alone" # -n 1
  chmod +x "$KC_WORK/alone"
  export PATH SLOWER="${SLOWER:-1}" AT_A_TIME="${AT_A_TIME:-8}" KC_WORK
  export KC_TOP="$here" KC_LIBRARY="$here/lib/libpetsckcycle.so" KC_BUILD="$here" KC_LIBDIR="$here/lib" \
    KC_CONF_DIR="$here" KC_CONF_ARCH=. KC_TUTORIALS="$here/tutorials"
  export KC_MPIEXEC="$KC_WORK/alone" KC_PROCESSES=1 KC_PROGRAMS="$here/bin" KC_DEVICE_KERNELS=1 \
    KC_HOST_ANSWERS="$here/host" KC_LIST_LIMIT=$((20 * SLOWER))
  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
}

library() {
  # shellcheck source=/dev/null
  . "$here/conf/tap.sh"
  # shellcheck source=/dev/null
  . "$here/tests/cudahost/solves.sh"
  # shellcheck source=/dev/null
  . "$here/tests/cudahost/tiles.sh"
  plugin=$KC_LIBRARY
}

# Steps of the first call

facts() {
  nvidia-smi -L
  asked=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,clocks.sm,clocks.mem,power.limit,ecc.mode.current
  nvidia-smi --query-gpu=$asked --format=csv
  lscpu | grep -e 'Model name' -e '^CPU(s)' -e 'MHz'
  uname -r
  for command in nvcc ncu compute-sanitizer nsys; do command -v $command || echo "no $command"; done
  ldd "$here/lib/libpetsckcycle.so" | grep -e cuda -e cu
  if [ -f "$here/fake" ]; then sizes="64,64 16,16,16"; else sizes="4096,4096 256,256,256"; fi
  for n in $sizes; do "$here/bin/device" -n "$n" || return 1; done
}

# The solves of some sets, by as many programs at a time, and then the claims about them. Other options than those of
# the lists: $more
rung() { # name options sets...
  name=$1 more=$2
  shift 2
  rung=$KC_WORK/$name
  mkdir -p "$rung"
  for set; do
    for list in "$here/lists/$set"/1.cuda*.list; do [ ! -f "$list" ] || cat "$list" >> "$rung/$(basename "$list")"; done
  done
  n=0
  for list in "$rung"/*.list; do
    [ -f "$list" ] || return 0 # none of these was packed
    most=$(((AT_A_TIME + 1) / $(find "$rung" -maxdepth 1 -name '*.list' | wc -l)))
    sort -u "$list" |
      awk -v n="$n" -v most="$((most > 0 ? most : 1))" -v to="$rung/part." -v name="$(basename "$list")" \
      '{ folder = to (n + NR % most)
         if (!(folder in made)) { system("mkdir -p " folder); made[folder] = 1 }
         print > (folder "/" name) }'
    n=$((n + most))
  done
  for list in "$rung"/part.*/*.list; do echo "${list%.list}"; done |
    xargs -I {} -P "$AT_A_TIME" sh "$here/run.sh" part {} "$rung" "$more"
  library
  answers=$rung
  for set; do
    lists=$here/lists/$set
    [ ! -f "$lists/checks" ] || check_all | sed "s/^\(ok\|not ok\) [0-9]* - /\1 - $name: /"
  done
}

part() { # list folder options
  library
  KC_PART=$(basename "$(dirname "$1")")
  # shellcheck disable=SC2086 # words
  do_list "$1" "$2" $3
}

# Each rung adds one thing
checks() {
  all="levels lines planes"
  # shellcheck disable=SC2086 # words
  {
    rung plain "-pc_kcycle_graph off -pc_kcycle_block_below 0 -pc_kcycle_matrix_below 0" $all
    rung block "-pc_kcycle_graph off" block
    rung products "-pc_kcycle_graph off" matrix
    rung graph "" $all block matrix
    rung tiles "" tiles parts
  } | tee "$out/$call-checks.txt"
  grep -q '^ok' "$out/$call-checks.txt" && ! grep -q '^not ok' "$out/$call-checks.txt"
}

# A program that does a list, each line with its own message
one_sanitized() { # tool list
  list=$here/lists/sanitize/$2.list
  timeout --foreground $((55 * SLOWER)) compute-sanitizer --tool "$1" --error-exitcode 9 "$here/bin/battery" \
    -dll_append "$KC_LIBRARY" -list "$list" -repeat 1 > "$KC_WORK/$1.$2" 2>&1 || status=$?
  if [ "${status:-0}" = 0 ]; then echo "ok - $1: $(cut -d '|' -f 1 "$list" | paste -sd ';')"
  else
    echo "not ok - $1: $(cut -d '|' -f 1 "$list" | paste -sd ';'), status $status"
    grep -e '^=========' -e 'PETSC ERROR' "$KC_WORK/$1.$2" | head -n 30 | sed 's/^/#    /'
    tail -n 3 "$KC_WORK/$1.$2" | sed 's/^/#    /'
  fi
}

sanitize() {
  command -v compute-sanitizer > /dev/null || { echo "compute-sanitizer is not here" > "$out/$call-sanitize.txt";
    return 77; }
  for tool in memcheck racecheck; do for list in 1 2 3; do echo "$tool $list"; done; done |
    xargs -P "$AT_A_TIME" -n 2 sh "$here/run.sh" sanitized | tee "$out/$call-sanitize.txt"
  [ "$(grep -c '^ok' "$out/$call-sanitize.txt")" = 6 ]
}

# Of one cycle with tiles, and of the first kernels of one without
profile() {
  command -v ncu > /dev/null || { echo "ncu is not here" > "$out/$call-ncu.csv"; return 77; }
  metrics=gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,smsp__inst_executed.sum
  metrics=$metrics,smsp__thread_inst_executed.sum,sm__warps_active.avg.pct_of_peak_sustained_active
  metrics=$metrics,launch__registers_per_thread,launch__grid_size,launch__block_size
  status=0
  for list in 1 2; do
    timeout --foreground $((19 * SLOWER)) ncu --csv --page raw --print-units base --clock-control none \
      --launch-count 100 --metrics $metrics "$here/bin/battery" -dll_append "$KC_LIBRARY" -repeat 1 \
      -list "$here/lists/ncu/$list.list" >> "$out/$call-ncu.csv" 2>&1 || status=$?
  done
  return $status
}

# Steps of both calls

# Lines of lists, each with its times. Where the program ends in the middle, the solve there has failed, and another
# program does the rest
measure() { # lists...
  status=0
  for list; do
    file=$here/lists/$call/$list.list from=0
    while [ "$from" -lt "$(grep -c . "$file")" ]; do
      "$here/bin/battery" -dll_append "$KC_LIBRARY" -list "$file" -from "$from" -device -repeat 3 -patience 60 \
        2> "$KC_WORK/errors" | tee "$KC_WORK/lines" |
        awk '/^begin / { sub(/^begin /, ""); name = $0 }
             /^result,/ { sub(/^result,[0-9]*,/, ""); print "solve," name "," $0; fflush() }' |
        tee -a "$out/$call-times.csv"
      from=$((from + $(grep -c '^end ' "$KC_WORK/lines")))
      [ "$from" -lt "$(grep -c . "$file")" ] || break
      echo "# failed: $(sed -n "$((from + 1))p" "$file")" | tee -a "$out/$call-times.csv"
      grep 'PETSC ERROR' "$KC_WORK/errors" | grep -v -e Configure -e 'source: ' | head -n 12
      from=$((from + 1)) status=1
    done
  done
  return $status
}

# Seconds of what a cycle does on the finest level, and the least numbers that it moves, relative to the bandwidth of a
# copy. These are the whole visit with a sweep of two colours before and after the coarser levels (b, x, a part of the
# coarse right side; b, x twice, the coarse solution), Jacobi's sweep (from zero and not, in turn), residual,
# restriction, interpolation and the product of CG
verbs() {
  if [ -f "$here/fake" ]; then sizes="2:32 3:15"; else sizes="2:4096 3:255"; fi
  for size in $sizes; do
    dim=${size%:*} n=${size#*:}
    points=$n,$n ends=dd,dd
    [ "$dim" = 2 ] || { points=$n,$n,$n ends=vv,vv,vv; }
    copy=$("$here/bin/device" -n "$points" | tee "$KC_WORK/copy" | awk -F, '/^limit/ { print $4 }')
    sed -n "s/^limit,[0-9]*/limit,$dim,$n/p" "$KC_WORK/copy" | tee -a "$out/$call-times.csv"
    for type in redblack jacobi; do
      "$here/bin/battery" -dll_append "$KC_LIBRARY" -cells "$points" -ends $ends -device -repeat 2 -dm_vec_type cuda \
        -dm_mat_type stencil -mg_levels_ksp_max_it 1 -mg_levels_pc_relax_type $type \
        -pc_mg_log -log_view ":$KC_WORK/events:ascii_csv" -log_view_gpu_time > "$KC_WORK/lines" 2>&1 ||
          { tail -n 20 "$KC_WORK/lines"; return 1; }
      awk -F, -v dim="$dim" -v n="$n" -v type=$type -v copy="${copy:-0}" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { name = $column["Event Name"]; count[name] += $column["Count"]; seconds[name] += $column["Time"] }
        name ~ /^KCSmooth Level / { level = name; sub(/.* /, "", level); if (level + 0 > most) most = level + 0 }
        function add(name) { seconds["visit"] += seconds[name " Level " most] }
        function verb(what, name, times, least) { # times: events for one of them
          if (!count[name]) { print "no event is called " name > "/dev/stderr"; status = 1; return }
          each = times * seconds[name] / count[name]
          printf "verb,%d,%d,constant,double,%s,%.4e,%.3f\n", dim, n, what, each,
            copy && each ? least * 8 * n ^ dim / each / copy : 0
        }
        END {
          part = 1 / 2 ^ dim
          if (type == "redblack") {
            count["visit"] = count["KCSmooth Level " most]
            add("KCSmooth"); add("KCResidual"); add("KCRestrict"); add("KCInterp")
            verb("visit", "visit", 2, 5 + 2 * part)
          } else {
            verb("sweep", "KCSmooth Level " most, 1, (2 + 3) / 2); verb("residual", "KCResidual Level " most, 1, 3)
            verb("restriction", "KCRestrict Level " most, 1, 1 + part)
            verb("interpolation", "KCInterp Level " most, 1, 2 + part)
            verb("product", "MatMult", 1, 2)
          }
          exit status
        }' "$KC_WORK/events" | tee -a "$out/$call-times.csv"
    done
  done
}

# PCINCPOISSON, PCDEFLSUB, KSPDPCG and KSPKCG with PETSc's types of matrices
types() {
  sh "$here/tests/device.sh" | tee "$out/$call-checks.txt"
  grep -q '^ok' "$out/$call-checks.txt" && ! grep -q '^not ok' "$out/$call-checks.txt"
}

# One step within its limit and that of the call. Status 77: there is nothing to do it with
step() { # seconds name arguments...
  limit=$(($1 * SLOWER)) name=$2
  shift
  case " ${STEPS:-$name} " in *" $name "*) ;; *) return ;; esac
  left=$((deadline - $(date +%s)))
  [ "$limit" -lt "$left" ] || limit=$left
  began=$(date +%s) status=0
  if [ "$limit" -lt 3 ]; then status=124
  else timeout -k 2 "$limit" sh "$here/run.sh" step "$@" > "$KC_WORK/step" 2>&1 < /dev/null || status=$?; fi
  case $status in
    0) verdict=ok passed=$((passed + 1)) ;;
    77) verdict=skipped skipped=$((skipped + 1)) ;;
    124 | 137) verdict="stopped" failed=$((failed + 1)) ;;
    *) verdict="failed, status $status" failed=$((failed + 1)) ;;
  esac
  echo "$*: $verdict, $(($(date +%s) - began)) s of $limit" | tee -a "$out/$call-steps.txt"
  case $name in
    facts) cp "$KC_WORK/step" "$out/$call-facts.txt" ;;
    *) [ "$status" = 0 ] || tail -n 30 "$KC_WORK/step" | cut -c 1-300 | sed 's/^/#    /' >> "$out/$call-steps.txt" ;;
  esac
}

calls() {
  call=$1 out=${OUT:-${2:-}}
  [ -n "$out" ] || complain "give a folder for results: OUT, or an argument"
  mkdir -p "$out" || exit 1
  out=$(cd "$out" && pwd)
  settings
  deadline=$(($(date +%s) + $([ "$call" = first ] && echo 296 || echo 236) * SLOWER)) passed=0 failed=0 skipped=0
  export call out
  rm -f "$out/$call"-*
  find_libraries
  find_gpu
  if [ "$call" = first ]; then
    step 20 facts
    step 70 checks
    step 60 sanitize
    step 40 profile
    step 90 measure 1 2 3
  else
    step 90 measure large
    step 50 measure 1 2 3
    step 35 measure pcmg
    step 30 verbs
    step 40 types
  fi
  rm -r "$KC_WORK"
  echo "$passed passed, $failed failed, $skipped skipped" | tee -a "$out/$call-steps.txt"
  [ "$failed" = 0 ]
}

case ${1:-} in
  first | second) calls "$@" ;;
  step)
    shift
    "$@" ;;
  part) part "$2" "$3" "$4" ;;
  sanitized) one_sanitized "$2" "$3" ;;
  host) # where it was packed: what the lists give on the host
    settings
    find_libraries
    library
    mkdir -p "$here/host"
    for list in "$here"/lists/*/1.standard.list; do [ ! -f "$list" ] || cat "$list"; done |
      sort -u > "$here/host/1.standard.list"
    do_list "$here/host/1.standard" "$here/host"
    rm -r "$KC_WORK"
    [ "$(grep -c . "$here/host/1.standard.list")" = "$(grep -c '^end ' "$here/host/1.standard.log")" ] ;;
  *) complain "usage: sh run.sh first|second [FOLDER]" ;;
esac
