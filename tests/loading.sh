#!/bin/sh
# Every way in which an unchanged program gets the plugin, and the ways in which it must be refused.
# Run by: make check SEARCH=loading
# shellcheck disable=SC2086 # $solve and $run are words
set -u
. "$KC_TOP/conf/tap.sh"
PYTHONUSERBASE=$(python3 -m site --user-base 2> /dev/null)
export PYTHONUSERBASE HOME="$KC_WORK/home"
mkdir "$HOME"

ex45=$KC_WORK/ex45
solve="-pc_type kcycle -da_refine 1 -ksp_converged_reason -ksp_view"

# route CLAIM COMMAND...: the command solves with PCKCYCLE, on 1 and 2 processes
route() {
  title=$1
  shift
  for n in 1 2; do works "$title, n=$n" 'type: kcycle' mpi $n "$@"; done
}

in_folder() { ( cd "$1" && shift && "$@" ); }

loads_from_options() {
  # shellcheck disable=SC2016 # PETSc expands it
  refuses 'without the plugin the type is unknown' 'Unable to find requested PC type kcycle' mpi 1 "$ex45" $solve
  route '-dll_append' "$ex45" -dll_append "$KC_LIBRARY" $solve
  works '-dll_prepend' 'type: kcycle' mpi 1 "$ex45" -dll_prepend "$KC_LIBRARY" $solve
  # shellcheck disable=SC2016 # PETSc expands it
  works '-dll_append with a variable in the path' 'type: kcycle' mpi 1 "$ex45" \
    -dll_append '${KC_BUILD}/lib/libpetsckcycle.so' $solve
  route 'PETSC_OPTIONS' env "PETSC_OPTIONS=-dll_append $KC_LIBRARY $solve" "$ex45"
  works 'PETSC_OPTIONS_YAML' 'type: kcycle' mpi 1 env "PETSC_OPTIONS_YAML=dll_append: $KC_LIBRARY" "$ex45" $solve
}

loads_from_files() {
  for file in dot/.petscrc nodot/petscrc home/.petscrc; do
    mkdir -p "$(dirname "$file")"
    echo "-dll_append $KC_LIBRARY" > "$file"
    case $file in home/*) folder=. ;; *) folder=$(dirname "$file") ;; esac
    for n in 1 2; do
      works "the file $file, n=$n" 'type: kcycle' in_folder "$folder" mpi $n "$ex45" $solve
    done
    rm "$file"
  done
  echo "-dll_append $KC_LIBRARY" > options
  route '-options_file' "$ex45" -options_file options $solve
}

loads_under_other_names() {
  ln -s "$KC_LIBRARY" libkcycle.so
  cp "$KC_LIBRARY" kcycle.so
  route 'a link libkcycle.so' "$ex45" -dll_append "$PWD/libkcycle.so" $solve
  works 'a copy kcycle.so, by a relative path' 'type: kcycle' mpi 1 "$ex45" -dll_append ./kcycle.so $solve
}

loads_beside_another() {
  cat > other.c <<'END'
#include <petscsys.h>
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_other(void);
PetscErrorCode PetscDLLibraryRegister_other(void)
{
  return PetscPrintf(PETSC_COMM_WORLD, "the other library is here\n");
}
END
  compile c other.c libother.so -shared -fPIC
  for list in "$KC_LIBRARY,$PWD/libother.so" "$PWD/libother.so,$KC_LIBRARY"; do
    works "comma list, $(basename "${list%,*}") first: our type" 'type: kcycle' mpi 2 "$ex45" -dll_append "$list" $solve
    works "comma list, $(basename "${list%,*}") first: the other library" 'the other library is here' \
      mpi 1 "$ex45" -dll_append "$list" $solve
  done
}

loads_in_fortran() {
  claim='a Fortran program'
  petsc_has PETSC_HAVE_FORTRAN || { skip "$claim" 'this PETSc has no Fortran'; return; }
  [ -f "$KC_TUTORIALS/ex22f.F90" ] || { skip "$claim" 'no tutorial ex22f.F90'; return; }
  command -v "$(pkg-config --variable=fcompiler "$(petsc_pc)")" > /dev/null || { skip "$claim" 'no Fortran compiler';
    return; }
  compile f "$KC_TUTORIALS/ex22f.F90" ex22f -ffree-line-length-0 > "$log" 2>&1 ||
    { not_ok "$claim" 'does not compile'; return; }
  route "$claim" ./ex22f -dll_append "$KC_LIBRARY" $solve
}

write_python_program() {
  cat > solve.py <<'END'
import os, sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
if os.environ.get("ROUTE") == "module":
    import petsc_kcycle
    assert petsc_kcycle.__version__ == open(os.environ["KC_TOP"] + "/VERSION.txt").read().strip()
grid = PETSc.DMDA().create([33], stencil_width=1)
A = grid.createMat()
start, end = A.getOwnershipRange()
for i in range(start, end):
    for j in range(max(i - 1, 0), min(i + 2, 33)):
        A[i, j] = 2 if i == j else -1
A.assemble()
x, b = A.createVecs()
b.set(1)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.getPC().setDM(grid)
ksp.setFromOptions()
ksp.solve(b, x)
assert ksp.getConvergedReason() > 0 and abs(x.max()[1] - 144.5) < 1e-2, x.max()
PETSc.Sys.Print("type: " + ksp.getPC().getType())
END
}

# The Laplacian of 48 x 40 points as SciPy makes it; every process gives its rows to PETSc, which may be a part of a
# line
write_scipy_program() {
  cat > scipy_grid.py <<'END'
import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
import petsc_kcycle
import scipy.sparse as sparse

def laplacian(n):
    return sparse.diags([-1, 2, -1], [-1, 0, 1], shape=(n, n))

whole = (sparse.kron(sparse.identity(40), laplacian(48)) + sparse.kron(laplacian(40), sparse.identity(48))).tocsr()
start, end = PETSc.Vec().createMPI(whole.shape[0]).getOwnershipRange()
mine = whole[start:end]
A = PETSc.Mat().createAIJ(size=((end - start, whole.shape[0]),) * 2, csr=(mine.indptr, mine.indices, mine.data))
x, b = A.createVecs()
b.set(1)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.getPC().setType("kcycle")
ksp.setFromOptions()
ksp.solve(b, x)
r = A * x - b
its = ksp.getIterationNumber()
assert ksp.getConvergedReason() > 0 and its < 10 and r.norm() < 1e-6 * b.norm(), its
END
}

finds_grids_of_scipy() {
  "$python" -c 'import scipy.sparse' 2> /dev/null || { skip 'petsc4py: a SciPy matrix' 'no SciPy'; return; }
  write_scipy_program
  for n in 1 2 3; do
    works "petsc4py: the grid of a SciPy matrix is found, n=$n" 'grid 48 x 40 found in the matrix' mpi $n $run \
      "$python" scipy_grid.py -ksp_rtol 1e-10 -ksp_view
  done
}

loads_in_python() {
  python=$(find_petsc4py)
  if [ -z "$python" ]; then
    for claim in 'petsc4py.init(sys.argv)' 'PETSC_OPTIONS' 'import petsc_kcycle'; do
      skip "petsc4py: $claim" 'no petsc4py for this PETSc'
    done
    return
  fi
  write_python_program
  run="env -u PETSC_DIR -u PETSC_ARCH PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$KC_TOP/python"
  route 'petsc4py: petsc4py.init(sys.argv)' $run "$python" solve.py -dll_append "$KC_LIBRARY" -pc_type kcycle \
    -ksp_rtol 1e-8
  route 'petsc4py: PETSC_OPTIONS' $run "PETSC_OPTIONS=-dll_append $KC_LIBRARY" "$python" solve.py -pc_type kcycle \
    -ksp_rtol 1e-8
  route 'petsc4py: import petsc_kcycle' $run ROUTE=module "$python" solve.py -pc_type kcycle -ksp_rtol 1e-8
  refuses 'petsc4py: import petsc_kcycle without the library says where it looked' \
    'ImportError: petsc_kcycle:.*KCYCLE_LIB' \
    env -u KCYCLE_LIB $run "$python" -c 'from petsc4py import PETSc; import petsc_kcycle'
  finds_grids_of_scipy
}

links() {
  compile c "$KC_TOP/tests/registration.c" linked "-I$KC_TOP/include" "$KC_LIBRARY" "-Wl,-rpath,$KC_BUILD/lib"
  for n in 1 2; do
    works "linked, no option, two PetscInitialize(), n=$n" 'pass 2: .*converged: yes' mpi $n ./linked
    works "linked and loaded, n=$n" 'pass 2: .*converged: yes' mpi $n ./linked -dll_append "$KC_LIBRARY"
  done
  cat > early.c <<'END'
#include <petsckcycle.h>
int main(void) { return (int)KCycleInitializePackage(); }
END
  compile c early.c early "-I$KC_TOP/include" "$KC_LIBRARY" "-Wl,-rpath,$KC_BUILD/lib"
  refuses 'KCycleInitializePackage() before PetscInitialize() says so' 'PetscInitialize() has not been called yet' mpi \
    1 ./early
}

# Another PETSc of this machine: its prefix by name of pkg-config's module, or the brother folder of such a prefix
other_petsc() {
  case $1 in
    integers) set -- "$(pkg-config --variable=prefix petsc64 2> /dev/null)" \
      "$(pkg-config --variable=prefix petsc 2> /dev/null)" ;;
    numbers)  real=$(pkg-config --variable=prefix petsc 2> /dev/null)
              set -- "${real%-real}-complex" "$real" ;;
  esac
  for prefix in "$@"; do
    [ -f "$prefix/include/petscconf.h" ] && [ "$prefix" != "$KC_CONF_DIR" ] && differs "$prefix" && echo "$prefix" &&
      return
  done
}

property() { grep -c -e 'define PETSC_USE_64BIT_INDICES 1' -e 'define PETSC_USE_COMPLEX 1' "$1/include/petscconf.h"; }

differs() {
  own=$KC_CONF_DIR${KC_CONF_ARCH:+/$KC_CONF_ARCH}
  [ "$(property "$1")" != "$(property "$own")" ]
}

make_for() { # PETSc target variables...
  other_prefix=$1
  shift
  env -u PETSC_ARCH PETSC_DIR="$other_prefix" make -s -j2 --no-print-directory -C "$KC_TOP" "$@"
}

# The library that is tested, but for the only file that depends on the version of PETSc
others=0
only_register() { # variables of make; another PETSC_DIR is in the environment
  others=$((others + 1))
  mkdir "other$others" && cp -rp "$KC_BUILD/src" "$KC_BUILD/single" "other$others" && rm "other$others/src/register.o"
  make -s -j2 --no-print-directory -C "$KC_TOP" all B="$KC_WORK/other$others" "$@" > "$log" 2>&1 &&
    library=$KC_WORK/other$others/lib/libpetsckcycle.so
}

# What "make PETSC_DIR=..." has built, up to date. If there is none, a library in another folder, which is not optimised
library_for() {
  library=$(make_for "$1" print-library)
  set -- "$1" all
  if [ ! -f "$library" ]; then
    library=${library%/lib/*}-quick/lib/${library##*/}
    set -- "$@" B="${library%/lib/*}" OPTFLAGS='-O0 -DKCYCLE_ONE_VERSION'
  fi
  make_for "$@" > "$log" 2>&1
}

# With other sizes of numbers. Objects for one version of PETSc do not go with another one
library_for_sizes() {
  version=$(env -u PETSC_ARCH PETSC_DIR="$1" make -s --no-print-directory -C "$KC_TOP" print-petsc |
    sed -n 's/^version=//p')
  if [ "$version" = "$KC_VERSION" ]; then PETSC_ARCH='' PETSC_DIR=$1 only_register OPTFLAGS=-O0;
    else library_for "$1"; fi
}

refuses_other_sizes() {
  for kind in integers numbers; do
    claim="a library for PETSc with other $kind is refused"
    other=$(other_petsc $kind)
    if [ -z "$other" ]; then skip "$claim" 'no such PETSc here'; continue; fi
    library_for_sizes "$other" || { not_ok "$claim" 'does not build'; continue; }
    for n in 1 2; do
      refuses "$claim, n=$n" 'petsc-kcycle was built for a PETSc with [48]-byte integers and .* numbers of' \
        mpi $n "$ex45" -dll_append "$library" $solve
    done
    [ -z "$(find_petsc4py)" ] ||
      refuses "$claim by petsc4py" 'the PETSc library that this plugin found is not initialized' \
      env -u PETSC_DIR -u PETSC_ARCH "$(find_petsc4py)" solve.py -dll_append "$library" -pc_type kcycle
  done
}

refuses_other_version() {
  claim='a library that says it is for another PETSc version is refused'
  only_register OPTFLAGS='-O0 -DKCYCLE_PETSC_MINOR=17' || { not_ok "$claim" 'does not build'; return; }
  for n in 1 2; do
    refuses "$claim, n=$n" 'petsc-kcycle was built for PETSc 3.17, this is PETSc 3\.[0-9]*: rebuild it' \
      mpi $n "$ex45" -dll_append "$library" $solve
  done
}

refuses_real_other_version() {
  claim='a library built with another PETSc version is refused'
  version=$(pkg-config --modversion petsc 2> /dev/null)
  case $version in
    '' | "${KC_VERSION%.*}".*) skip "$claim" 'no other version here'; return ;;
  esac
  library_for "$(pkg-config --variable=prefix petsc)"
  for n in 1 2; do
    refuses "$claim, n=$n" \
      "petsc-kcycle was built for PETSc ${version%.*}, this is PETSc ${KC_VERSION%.*}: rebuild it" \
      mpi $n "$ex45" -dll_append "$library" $solve
  done
}

reports_misspelt_option() {
  works 'a misspelt option is reported as unused' 'Option left: name:-pc_kcycle_kapa value: 3' \
    mpi 1 "$ex45" -dll_append "$KC_LIBRARY" $solve -pc_kcycle_kapa 3 -options_left
  works 'the correct option is used' 'There are no unused options' \
    mpi 1 "$ex45" -dll_append "$KC_LIBRARY" $solve -pc_kcycle_kappa 3 -options_left
}

check_library_file() {
  readelf -d "$KC_LIBRARY" > dynamic
  nm -D --defined-only "$KC_LIBRARY" | awk '{ print $NF }' > exported
  works 'exports the register function' . grep -x PetscDLLibraryRegister_petsckcycle exported
  # The last three are the linker's
  grep -v -e '^KCycle' -e '^PCKCycle' -e '^PCRelax' -e '^PCDeflSub' -e '^PCIncPoisson' -e '^PCFastPoisson' \
    -e '^PetscDLLibraryRegister_' -e '^_edata$' -e '^_end$' -e '^__bss_start$' \
    exported > unintended
  ours='KCycle*, PCKCycle*, PCRelax*, PCDeflSub*, PCIncPoisson*, PCFastPoisson*, PetscDLLibraryRegister_*'
  works "exports nothing but $ours" nothing \
    sh -c '[ ! -s unintended ] && echo nothing || { cat unintended; exit 1; }'
  works 'stays loaded until the process ends (NODELETE)' . grep NODELETE dynamic
  works 'misses a symbol at load, not later (BIND_NOW)' . grep -e BIND_NOW -e 'Flags:.*NOW' dynamic
  works 'is linked with PETSc, which petsc4py needs' . grep 'NEEDED.*libpetsc' dynamic
}

check_library_file
[ -f "$KC_TUTORIALS/ex45.c" ] || { skip 'loading' "this PETSc comes without its tutorial ex45"; exit; }
compile c "$KC_TUTORIALS/ex45.c" "$ex45"
loads_from_options
loads_from_files
loads_under_other_names
loads_beside_another
loads_in_fortran
loads_in_python
links
reports_misspelt_option
refuses_other_version
refuses_real_other_version
refuses_other_sizes
