# shellcheck shell=sh
# For tests/device*.sh: solves with levels on the device and those on the host, and PETSc on the stand-ins.
# shellcheck disable=SC2034,SC2046,SC2086,SC2154 # variables are for those scripts or of tap.sh, options are words
#
# Solves that are compared are written down first (want, same, check). Then one program does all of them
# (bench/battery.c), for each number of processes, on the host and on the device each; one that several claims need is
# done once (finish). With KC_LISTS, a folder, they are left there: tests/device/run.sh does them on a machine with a
# GPU.

# Stand-ins take seconds to make matrices of small levels, which tests/device_matrix.sh has; elsewhere there are none
steps="-pc_kcycle_matrix_below 0"
# Levels on a device are in double precision where nothing else is said, and so are those on the host that they are
# compared with
double="-pc_kcycle_precision double"

# One of PETSc's own programs on a device; what PCKCYCLE does there
poisson() { # processes matrix vectors options...
  processes=$1 matrix=$2 vectors=$3
  shift 3
  CUDAHOST_REPORT=1 mpi "$processes" "$KC_WORK/ex45" -dll_append "$plugin" -pc_type kcycle -da_grid_x 17 -da_grid_y 17 \
    -da_grid_z 17 -ksp_type cg -ksp_rtol 1e-8 \
    -dm_mat_type "$matrix" -dm_vec_type "$vectors" -ksp_converged_reason -ksp_view -malloc_dump $steps $double "$@"
}

# The same iterations as on the host
as_on_host() { # processes matrix vectors options...
  poisson "$@" > "$KC_WORK/there" 2>&1 || { cat "$KC_WORK/there"; return 1; }
  shift 3
  poisson "$processes" aij standard "$@" > "$KC_WORK/here" 2>&1 || { cat "$KC_WORK/here"; return 1; }
  cat "$KC_WORK/there"
  [ "$(grep 'solve converged' "$KC_WORK/there")" = "$(grep 'solve converged' "$KC_WORK/here")" ]
}

# Lists of solves: PROCESSES.VECTORS.list, for a device that the stand-ins are to be
# PROCESSES.VECTORS.MULTIPROCESSORS.KB.list. Answers of a program: a file in PROCESSES.VECTORS... for each solve
lists=${KC_LISTS:-$KC_WORK/lists}

# Where the answer will be
want() { # processes.vectors... options...
  want_list=$1
  shift
  key=$(echo "$*" | cksum | sed 's/ .*//')
  line="$key|-dm_vec_type $(echo "$want_list" | cut -d . -f 2) $double $*|"
  grep -qxF -e "$line" "$lists/$want_list.list" 2> /dev/null || echo "$line" >> "$lists/$want_list.list"
  echo "$want_list/$key"
}

# On the host what is for devices alone says nothing
want_host() { # processes options...
  processes=$1
  shift
  ours='pc_kcycle_\(graph\|block_below\|matrix_below\|tile_above\|overlap_above\|host_below\)'
  want "$processes.standard" "$(echo "$*" | sed -e 's/cusparse//' -e "s/ -\($ours\|use_gpu_aware_mpi\) [^ ]*//g")"
}

# A claim, what the log must have, and a function that looks at answers
check() { # claim pattern command...
  echo "$1|$2|$(shift 2; echo "$*")" >> "$lists/checks"
}

# Levels are on the device; iterations and residuals are those of the host, these to a part of the first one
same() { # claim pattern part processes matrix options...
  claim_of=$1 pattern_of=$2 part=$3 processes=$4
  shift 4
  check "$claim_of" "$pattern_of" history "$part" "$(want "$processes.cuda" -dm_mat_type "$1" $steps \
    $(shift; echo "$@"))" "$(want_host "$processes" -dm_mat_type "$@")"
}

# Parts of a claim about a number of processes: solves in double, and in single precision
counts=${KC_PROCESSES:-$(some_of 1 2 4)}
double() { what=$1 said=$2; shift 2; same "$claim, $what" "$said" 1e-12 $processes "$@"; }
single() { what=$1 said=$2; shift 2; same "$claim, $what" "$said" 1e-6 $processes "$@"; }

# Answers of solves; those of the host may come from another machine
answers=$lists
answer() { # answer
  case $1 in *.standard/*) echo "${KC_HOST_ANSWERS:-$answers}/$1" ;; *) echo "$answers/$1" ;; esac
}

cat_answer() { cat "$(answer "$1")"; }

histories() { grep -e 'KSP Residual norm' -e 'solve converged' "$(answer "$1")"; }

# The answer is whole, and its residuals are those of the other one to a part of the first
alike() { # part answer answer
  cat "$(answer "$2")" || return 1
  grep -q '^result,' "$(answer "$2")" && grep -q '^result,' "$(answer "$3")" || return 1
  [ "$(histories "$2" | grep 'solve converged')" = "$(histories "$3" | grep 'solve converged')" ] || { histories "$3";
    return 1; }
  awk -v part="$1" '
    FNR == 1 { n = 0 }
    / KSP Residual norm / && NR == FNR { there[n++] = $NF }
    / KSP Residual norm / && NR != FNR {
      d = $NF - there[n]
      if ((d < 0 ? -d : d) > part * there[0]) { print "residual " n ": " there[n] " there, " $NF " here"; status = 1 }
      n++; all++
    }
    END { exit status || all < 3 }' "$(answer "$2")" "$(answer "$3")"
}

history() {
  alike "$@" && grep -q -e 'structured levels on the device' -e 'sweeps on the device' "$(answer "$2")"
}

# Kernels of a cycle, as an answer says
kernels() { awk '/ with kappa [0-9w]*: / { kernels = $(NF - 3) } END { print kernels + 0 }' "$(answer "$1")"; }

# The same residuals, all digits
digits() { # answer answer
  histories "$1" > "$KC_WORK/digits"
  histories "$2" | diff "$KC_WORK/digits" -
}

# What claims say of answers

# With matrices there are fewer kernels than with steps
with_fewer() { # part answer answer answer
  history "$@" && echo "$(kernels "$2") kernels, or $(kernels "$4")" && [ "$(kernels "$2")" -gt 0 ] &&
    [ "$(kernels "$2")" -lt "$(kernels "$4")" ]
}

# One kernel in place of many, and the same bits
bits() { # answer answer
  cat "$(answer "$1")"
  grep -q 'each level has its own kernels: -pc_kcycle_block_below is 0' "$(answer "$2")" && digits "$1" "$2" ||
    return 1
  grep -q '^bits ' "$(answer "$1")" &&
    [ "$(grep '^bits ' "$(answer "$1")")" = "$(grep '^bits ' "$(answer "$2")")" ] || return 1
  echo "$(kernels "$1") kernels, or $(kernels "$2")"
  [ "$(kernels "$1")" -gt 0 ] && [ $((2 * $(kernels "$1"))) -le "$(kernels "$2")" ]
}

# No memory is left; after lists that were not done to their end that is not checked
nothing_left() { # list
  tail -n 20 "$answers/$1.log"
  [ "$(grep -c . "$lists/$1.list")" = "$(grep -c '^end ' "$answers/$1.log")" ] &&
    ! grep -q -e '^cudahost: .* left' -e '^\[ *[0-9]*\] *[0-9]* bytes ' "$answers/$1.log"
}

# Does a list. Where the program ends in the middle, the solve there has failed, and another program does the rest.
# KC_PART: of several lists with one name
do_list() { # list, without .list; folder of answers; options...
  list=$1 name=$(basename "$1") from=0 answers_to=$2/$(basename "$1")
  told=$answers_to${KC_PART:+.$KC_PART}.log
  shift 2
  IFS=. read -r processes vectors multiprocessors shared << LIST
$name
LIST
  mkdir -p "$answers_to"
  : > "$told"
  while [ $from -lt "$(grep -c . "$list.list")" ]; do
    status=0
    (
      [ -z "$shared" ] || export CUDAHOST_PROCESSORS="$multiprocessors" CUDAHOST_SHARED="$shared"
      tap_limit=${KC_LIST_LIMIT:-600} mpi "$processes" "${KC_PROGRAMS:-$KC_WORK}/battery" "$@" -list "$list.list" \
        -from $from -dll_append "$plugin" -repeat 1 -bits -ksp_monitor \
        -ksp_converged_reason -ksp_view -malloc_dump -pc_kcycle_process_eq_limit 0
    ) > "$told.part" 2>&1 < /dev/null || status=$?
    cat "$told.part" >> "$told"
    awk -v to="$answers_to" '
      /^begin [0-9]*$/ { file = to "/" $2; printf "" > file; next }
      /^end / { close(file); file = ""; next }
      file { print > file }' "$told.part"
    from=$((from + $(grep -c '^end ' "$told.part")))
    [ $status = 0 ] && break
    echo "the program ended with status $status" >> "$told.part"
    key=$(sed -n "$((from + 1))s/|.*//p" "$list.list")
    [ -z "$key" ] || tail -n 60 "$told.part" > "$answers_to/$key"
    from=$((from + 1))
  done
  rm -f "$told.part"
}

check_all() {
  while IFS='|' read -r claim_of pattern_of call; do works "$claim_of" "$pattern_of" $call; done < "$lists/checks"
}

# Does all lists, and looks at the answers
finish() {
  [ -z "${KC_LISTS:-}" ] || exit 0
  [ -x "$KC_WORK/battery" ] || battery
  for list in "$lists"/*.list; do
    do_list "${list%.list}" "$lists"
    name=$(basename "$list" .list)
    check "nothing is left of memory, $name" "" nothing_left "$name"
  done
  check_all
}

battery() {
  compile c "$KC_TOP/bench/battery.c" "$KC_WORK/battery" -w -std=gnu99 "-I$KC_TOP/include" > "$log" 2>&1 ||
    not_ok "battery.c compiles" "with cuda"
}

# Neither clusters nor lines, which device_lines.sh has
points="-mg_levels_pc_relax_clusters off -pc_kcycle_anisotropy off"
cube="-cells 17,17,17 -ends ss,ss,ss" square="-cells 33,25 -ends ss,ss"

# PETSc and the library on the stand-ins, made again where they are older than what they are made of. Scripts run at the
# same time: one makes them, and others wait
host=$KC_BUILD/cudahost
device_kernels=${KC_DEVICE_KERNELS:-$(find "$KC_BUILD/src/kernel/cuda" -name '*.o' 2> /dev/null)}
one_at_a_time() { # command...
  (
    if command -v flock > /dev/null; then flock 8; fi
    "$@" 8>&-
  ) 8> "$KC_BUILD/cudahost.lock"
}

stand_in() { one_at_a_time make_stand_in; }

make_stand_in() {
  made=$(find "$host" -maxdepth 1 -name 'libpetsc.so*' -newer "$KC_LIBDIR/libpetsc.so" 2> /dev/null)
  [ -n "$made" ] &&
    [ -z "$(find "$KC_TOP/tests/cudahost" -name make.sh -newer "$made" -o -name '*.cpp' -newer "$made" -o -name '*.h' \
    -newer "$made")" ] && return
  rm -rf "$host"
  sh "$KC_TOP/tests/cudahost/make.sh" "$KC_CONF_DIR" "$KC_CONF_ARCH" "$host"
}

library_on_stand_in() { one_at_a_time make_library; }

make_library() {
  made=$(find "$host" -maxdepth 1 -name libpetsckcycle.so -newer "$KC_LIBRARY" 2> /dev/null)
  [ -n "$made" ] &&
    [ -z "$(find "$KC_TOP/tests/cudahost" "$KC_TOP/src/kernel/cuda" "$KC_TOP/include" "$host"/libpetsc.so.* \
    -newer "$made" ! -type d)" ] && return
  sh "$KC_TOP/tests/cudahost/library.sh" "$KC_CONF_DIR" "$KC_CONF_ARCH" "$KC_BUILD" "$host"
}

# For a script about kernels for devices alone: $plugin is what programs load, on a GPU or on the stand-ins; the script
# ends where there is neither
begin() { # claim
  plugin=$KC_LIBRARY
  mkdir -p "$lists"
  [ -z "${KC_LISTS:-}" ] || return 0
  if [ -z "$device_kernels" ] || [ ! -f "$KC_TUTORIALS/ex45.c" ]; then
    skip "$1" "no kernels for devices, or no tutorials"
    exit
  fi
  if nvidia-smi -L > /dev/null 2>&1; then return; fi
  if [ ! -d "$KC_CONF_DIR/$KC_CONF_ARCH/obj" ]; then
    skip "$1" "no GPU here, and PETSc is not where it was built"
    exit
  fi
  works "PETSc's CUDA types compile for the host" "" stand_in
  works "the kernels of levels compile for the host" "" library_on_stand_in
  plugin=$host/libpetsckcycle.so
  export LD_LIBRARY_PATH="$host${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}
