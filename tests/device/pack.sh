#!/bin/sh
# pack.sh: everything that run.sh needs on a machine with a GPU, its driver and CUDA's libraries, and nothing else: no
# MPI, no compiler, no network. Makes build/device-pack.tar.gz, to be unpacked there: a PETSc without MPI (built once,
# in a cache folder), the library, programs, lists of solves, and what they give on the host.
#
#   KCYCLE_CUDA_ARCH=80   for an A100; 90, the default, for an H100
#   KCYCLE_PETSC="PETSC_DIR=... PETSC_ARCH=..."   another PETSc with CUDA, whose MPI has to be there, too
#   FAKE=1                stand-ins of tests/cudahost, which make check SEARCH=device makes with such a PETSc, and small
#                         sizes: for this machine, in build/device-fake; no archive
# shellcheck disable=SC2154 # variables that print-petsc sets
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
fake=${FAKE:-}
pack=$top/build/device-${fake:+fake}
[ -n "$fake" ] || pack=${pack}pack
most=60000000 # bytes

complain() { echo "pack: $*" >&2; exit 1; }

where=${KCYCLE_PETSC:-$(sh "$top/conf/petsc-build.sh" device)}
# Without MPI calls of it are macros, and gcc cannot see that they set what they are to set
# shellcheck disable=SC2086 # words
make -s --no-print-directory -C "$top" -j"$(nproc)" all $where \
  "WARNFLAGS=-Wall -Wextra -Werror -Wno-maybe-uninitialized" || complain "the library does not build"
# shellcheck disable=SC2086
eval "$(make -s --no-print-directory -C "$top" print-petsc $where | sed -n "s/^\([a-z_]*\)=\(.*\)$/\1='\2'/p")"
[ -n "$(find "$build/src/kernel/cuda" -name '*.o' 2> /dev/null)" ] ||
  complain "the library was built without kernels for devices"
pc=$libdir/pkgconfig/PETSc.pc
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")

# shellcheck disable=SC2046 # words
program() { # source flags...
  source=$1
  shift
  $(pkg-config --variable=ccompiler "$pc") -w -O2 -std=gnu99 -I"$top/include" $(pkg-config --cflags "$pc") \
    -o "$pack/bin/$(basename "$source" .c)" "$source" "$@" $(pkg-config --libs "$pc") -lm
}

programs() {
  program "$top/bench/battery.c"
  program "$top/bench/device.c" -I"$cuda/include"
  # Of tests/device.sh
  cp "$tutorials/ex45.c" "$pack/tutorials/"
  program "$tutorials/ex45.c"
  for name in incpoisson deflsub dpcg kcg; do program "$top/tests/$name.c" "$library"; done
}

# All that is linked but for the C library and CUDA
libraries() {
  cp "$library" "$pack/lib/"
  ldd "$library" "$pack"/bin/* | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r file; do
    case $(basename "$file") in
      libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | ld-linux* | libpetsckcycle.so) ;;
      libcu* | libnv*) basename "$file" >> "$pack/cuda-libraries" ;;
      libstdc++* | libgcc_s*) cp -L "$file" "$pack/lib/spare/" ;; # where the machine has none
      *) cp -L "$file" "$pack/lib/" ;;
    esac
  done
  strip --strip-unneeded "$pack"/lib/*.so* "$pack"/bin/*
  sort -u -o "$pack/cuda-libraries" "$pack/cuda-libraries"
}

# What is called on the machine, by names that it has there. Those that check a program, or measure it, run it
stand_ins() {
  cp "$build"/cudahost/libpetsc.so.* "$build/cudahost/libpetsckcycle.so" "$pack/lib/" ||
    complain "there are no stand-ins: make check SEARCH=device makes them"
  mkdir "$pack/commands"
  printf '#!/bin/sh\necho "GPU 0: a stand-in"\n' > "$pack/commands/nvidia-smi"
  # shellcheck disable=SC2016 # for the script
  printf '#!/bin/sh\nwhile :; do case $1 in --csv) shift ;; --*) shift 2 ;; *) exec "$@" ;; esac done\n' |
    tee "$pack/commands/ncu" > "$pack/commands/compute-sanitizer"
  chmod +x "$pack"/commands/*
  touch "$pack/fake"
}

others() {
  cp "$top/tests/device/run.sh" "$pack/"
  cp "$top/conf/tap.sh" "$pack/conf/"
  cp "$top/tests/device.sh" "$pack/tests/"
  cp "$top/tests/cudahost/solves.sh" "$top/tests/cudahost/tiles.sh" "$pack/tests/cudahost/"
  for name in incpoisson deflsub dpcg kcg; do cp "$top/tests/output/$name"*.out "$pack/tests/output/"; done
  cp "$conf_dir/include/petscconf.h" "$pack/include/" 2> /dev/null ||
    cp "$conf_dir/$conf_arch/include/petscconf.h" "$pack/include/"
}

# The solves of tests/device_*.sh on one process, and what they give on the host
solves() {
  export KC_TOP="$top" KC_LIBRARY="$pack/lib/libpetsckcycle.so" KC_BUILD="$build" KC_LIBDIR="$pack/lib" \
    KC_CONF_DIR="$conf_dir" KC_CONF_ARCH="$conf_arch" KC_TUTORIALS="$tutorials" KC_PROCESSES=1
  [ -n "$fake" ] || export KC_GPU=1
  for set in ${SETS:-levels lines planes block matrix tiles parts}; do
    KC_WORK=$(mktemp -d)
    export KC_WORK
    KC_LISTS=$pack/lists/$set sh "$top/tests/device_$set.sh" || complain "device_$set.sh makes no lists"
    rm -r "$KC_WORK"
  done
  LD_LIBRARY_PATH=$pack/lib sh "$pack/run.sh" host || complain "the host does not solve"
}

# list NAME PROBLEM: V- and W-cycles, with tiles and without, recorded and not; the problem is assembled once, and its
# levels are made once. A line's name: dimension, points, kind
list() { # file dimension points problem kinds...
  file=$pack/lists/$1 dim=$2 points=$3 problem=$4
  shift 4
  for kind; do
    options="-keep -pc_kcycle_kappa 1 -pc_kcycle_tile_above never -pc_kcycle_graph 1"
    case $kind in W*) options="$options -pc_kcycle_kappa w" ;; esac
    case $kind in *tiles*) options="$options -pc_kcycle_tile_above 1100" ;; esac
    case $kind in *launched*) options="$options -pc_kcycle_graph 0" ;; esac
    echo "$dim,$points,$kind|-dm_vec_type cuda -dm_mat_type stencil $problem|-pc_kcycle_place device $options" \
      >> "$file"
  done
}

# Vertices, cells and interior points: each has coarser grids of its own kind. PCMG's are those of a DMDA
# shellcheck disable=SC2086 # kinds
measured() {
  mkdir "$pack/lists/first" "$pack/lists/second" "$pack/lists/ncu" "$pack/lists/sanitize"
  if [ -n "$fake" ]; then a=33 b=32 c=15 d=15 e=17; else a=1025 b=4096 c=255 d=511 e=257; fi
  for call in first second; do
    for tiles in "" " tiles"; do
      for kind in V W; do list $call/1.list 2 $a "-cells $a,$a -ends ss,ss" "$kind$tiles" "$kind$tiles launched"; done
      for kind in V W; do list $call/2.list 2 $b "-cells $b,$b -ends dd,dd" "$kind$tiles" "$kind$tiles launched"; done
      for kind in V W; do list $call/3.list 3 $c "-cells $c,$c,$c -ends vv,vv,vv" "$kind$tiles" \
        "$kind$tiles launched"; done
    done
  done
  list second/large.list 3 $d "-cells $d,$d,$d -ends vv,vv,vv" V "V tiles" W "W tiles"
  smoother="-dm_vec_type cuda -dm_mat_type aijcusparse -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi"
  h=$(((e + 1) / 2))
  half="-cells $h,$h,$h -ends ss,ss,ss"
  {
    echo "2,$a,kcycle on aijcusparse|-cells $a,$a -ends ss,ss -dm_vec_type cuda -dm_mat_type aijcusparse|"
    echo "2,$a,PCMG|-cells $a,$a -ends ss,ss $smoother|-pc_type mg -pc_mg_levels 8 -pc_mg_galerkin both"
    echo "3,$h,kcycle on aijcusparse|$half -dm_vec_type cuda -dm_mat_type aijcusparse|"
    echo "3,$h,PCMG|$half $smoother|-pc_type mg -pc_mg_levels 6 -pc_mg_galerkin both"
    echo "2,$a,fastpoisson|-cells $a,$a -ends ss,ss -dm_vec_type cuda -dm_mat_type stencil|-pc_type fastpoisson"
    echo "3,$c,fastpoisson|-cells $c,$c,$c -ends vv,vv,vv -dm_vec_type cuda -dm_mat_type stencil|-pc_type fastpoisson"
  } > "$pack/lists/second/pcmg.list"
  [ -z "$fake" ] || sed -i '/,PCMG|/d' "$pack/lists/second/pcmg.list" # stand-ins have no products of sparse matrices
  list ncu/1.list 3 $e "-cells $e,$e,$e -ends ss,ss,ss -ksp_type preonly" "V tiles launched" "V launched"
  list ncu/2.list 2 $a "-cells $a,$a -ends ss,ss -ksp_type preonly" "V tiles launched" "V launched"
  cuda="-dm_vec_type cuda -dm_mat_type stencil -ksp_max_it 3"
  {
    echo "points|-cells 17,18,19 -ends ss,ss,ss $cuda|-pc_kcycle_kappa 2 -pc_kcycle_matrix_below 150"
    echo "points that vary, launched|-cells 20,18,16 -random 3 -ends pp,ss,nn $cuda|-mg_levels_pc_relax_clusters off \
-pc_kcycle_anisotropy off -pc_kcycle_graph off -mg_levels_pc_relax_type chebyshev"
  } > "$pack/lists/sanitize/1.list"
  {
    echo "parts|-cells 65,65 -ends ss,ss $cuda|-pc_kcycle_tile_above 0"
    echo "parts in single precision|-cells 17,18,19 -ends ss,ss,ss $cuda|-pc_kcycle_tile_above 0 \
-pc_kcycle_precision single"
    echo "tiles|-cells $a,$a -ends ss,ss $cuda -ksp_max_it 1|-pc_kcycle_tile_above 1100"
  } > "$pack/lists/sanitize/2.list"
  {
    echo "lines and clusters|-cells 40,37 -random 8 -ends pp,ss $cuda|-mg_levels_pc_relax_clusters on \
-mg_levels_pc_relax_type alternating"
    echo "planes|-cells 12,14,16 -ends ss,ss,ss $cuda -ksp_max_it 1|-mg_levels_pc_relax_type planes"
  } > "$pack/lists/sanitize/3.list"
}

rm -rf "$pack"
mkdir -p "$pack/bin" "$pack/lib/spare" "$pack/conf" "$pack/tests/output" "$pack/tests/cudahost" "$pack/tutorials" \
  "$pack/include/petsckcycle/private" "$pack/lists"
programs
libraries
[ -z "$fake" ] || stand_ins
others
solves
measured
[ -z "$fake" ] || exit 0
tar -C "$top/build" -czf "$pack.tar.gz" device-pack
bytes=$(wc -c < "$pack.tar.gz")
[ "$bytes" -lt $most ] || complain "$pack.tar.gz has $bytes bytes, and $most are the limit of what may travel"
echo "$pack.tar.gz, $bytes bytes: unpack it on the machine with the GPU, and run there: sh device-pack/run.sh first"
