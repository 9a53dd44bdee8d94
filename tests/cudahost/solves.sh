# shellcheck shell=sh
# For tests/device*.sh: solves with levels on the device beside those on the host, and PETSc on the stand-ins.
# shellcheck disable=SC2034 # variables are for those scripts

# Stand-ins take seconds to make matrices of small levels, which tests/device_matrix.sh has; elsewhere there are none
steps="-pc_kcycle_matrix_below 0"

# One of PETSc's own programs on a device; what PCKCYCLE does there
# shellcheck disable=SC2086 # words
poisson() { # processes matrix vectors options...
  processes=$1 matrix=$2 vectors=$3
  shift 3
  CUDAHOST_REPORT=1 mpi "$processes" "$KC_WORK/ex45" -dll_append "$plugin" -pc_type kcycle -da_grid_x 17 -da_grid_y 17 -da_grid_z 17 -ksp_type cg -ksp_rtol 1e-8 \
    -dm_mat_type "$matrix" -dm_vec_type "$vectors" -ksp_converged_reason -ksp_view -malloc_dump $steps "$@"
}

# The same iterations as on the host
as_on_host() { # processes matrix vectors options...
  poisson "$@" > "$KC_WORK/there" 2>&1 || { cat "$KC_WORK/there"; return 1; }
  shift 3
  poisson "$processes" aij standard "$@" > "$KC_WORK/here" 2>&1 || { cat "$KC_WORK/here"; return 1; }
  cat "$KC_WORK/there"
  [ "$(grep 'solve converged' "$KC_WORK/there")" = "$(grep 'solve converged' "$KC_WORK/here")" ]
}

# shellcheck disable=SC2086 # words
# One of PETSc's own programs, with levels on the device: iterations and residuals are those of the host, these to a part of the first one
same_history() { # part program processes matrix options...
  part=$1 program=$2 processes=$3 matrix=$4
  shift 4
  for vectors in cuda standard; do
    [ $vectors = cuda ] || matrix=$(echo "$matrix" | sed 's/cusparse//')
    mpi "$processes" "$KC_WORK/$program" -dll_append "$plugin" -pc_type kcycle -ksp_type cg -ksp_rtol 1e-8 -dm_mat_type "$matrix" -dm_vec_type $vectors -ksp_monitor \
      -ksp_converged_reason -ksp_view -malloc_dump -pc_kcycle_process_eq_limit 0 $steps "$@" > "$KC_WORK/$vectors" 2>&1 || { cat "$KC_WORK/$vectors"; return 1; }
  done
  cat "$KC_WORK/cuda"
  grep -q -e 'structured levels on the device' -e 'sweeps on the device' "$KC_WORK/cuda" || return 1
  [ "$(grep 'solve converged' "$KC_WORK/cuda")" = "$(grep 'solve converged' "$KC_WORK/standard")" ] || { cat "$KC_WORK/standard"; return 1; }
  awk -v part="$part" '
    FNR == 1 { n = 0 }
    / KSP Residual norm / && NR == FNR { there[n++] = $NF }
    / KSP Residual norm / && NR != FNR { d = $NF - there[n]; if ((d < 0 ? -d : d) > part * there[0]) { print "residual " n ": " there[n] " there, " $NF " here"; status = 1 } n++; all++ }
    END { exit status || all < 3 }' "$KC_WORK/cuda" "$KC_WORK/standard"
}

# Neither clusters nor lines, which lines_and_clusters has
points="-repeat 1 -mg_levels_pc_relax_clusters off -pc_kcycle_anisotropy off"
cube="-da_grid_x 17 -da_grid_y 17 -da_grid_z 17" square="-da_grid_x 33 -da_grid_y 25"

# PETSc and the library on the stand-ins, made again where they are older than what they are made of. Scripts run at the same time: one makes them, and others wait
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
  [ -n "$made" ] && [ -z "$(find "$KC_TOP/tests/cudahost" -name make.sh -newer "$made" -o -name '*.cpp' -newer "$made" -o -name '*.h' -newer "$made")" ] && return
  rm -rf "$host"
  sh "$KC_TOP/tests/cudahost/make.sh" "$KC_CONF_DIR" "$KC_CONF_ARCH" "$host"
}

library_on_stand_in() { one_at_a_time make_library; }

make_library() {
  made=$(find "$host" -maxdepth 1 -name libpetsckcycle.so -newer "$KC_LIBRARY" 2> /dev/null)
  [ -n "$made" ] && [ -z "$(find "$KC_TOP/tests/cudahost" "$KC_TOP/src/kernel/cuda" "$KC_TOP/include" "$host"/libpetsc.so.* -newer "$made" ! -type d)" ] && return
  sh "$KC_TOP/tests/cudahost/library.sh" "$KC_CONF_DIR" "$KC_CONF_ARCH" "$KC_BUILD" "$host"
}

# For a script about kernels for devices alone: $plugin is what programs load, on a GPU or on the stand-ins; the script ends where there is neither
begin() { # claim
  plugin=$KC_LIBRARY
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
