#!/bin/sh
# The tutorial bubbles: what it refuses, and the files and pictures that it makes.
# Run by: make check SEARCH=bubbles
set -u
. "$KC_TOP/conf/tap.sh"
src=$KC_TOP/examples/tutorials
python=$(for p in /usr/bin/python3 python3; do if "$p" -c 'import matplotlib' 2> /dev/null; then echo "$p"; \
  break; fi; done)

compile c "$src/bubbles.c" bubbles -std=gnu99 "-I$KC_TOP/include" "$KC_LIBRARY" "-Wl,-rpath,$KC_BUILD/lib" > build.log \
  2>&1 || { cat build.log; exit 1; }
printf '0.3 0.3\n' > short.txt
printf '0.3 0.3 zero\n' > words.txt
printf '0.3 0.3 -0.1\n' > negative.txt
: > empty.txt

# shellcheck disable=SC2086 # words
wrong() { refuses "$1 is refused" "$2" ./bubbles $1; }

wrong '-dim 4' '-dim is 2 or 3, not 4'
wrong '-n 1' '-n is at least 2, not 1'
wrong '-bubbles 0' '-bubbles is at least 1, not 0'
wrong '-radius 0.6' 'where bubbles touch, and is not 0.6'
wrong '-height 1' '-height lies between 0 and 1'
wrong '-contrast 0' '-contrast is positive, not 0'
wrong '-smooth -1' '-smooth is not negative'
wrong '-shape drops' 'drops'
wrong '-mean face' '-mean face is for -shape layer'
wrong '-wall pinned -contrast 1' 'stays singular'
wrong '-wall pinned -dim 3' '-wall pinned is for two dimensions'
wrong '-shape file' 'needs -file <name>'
wrong '-file short.txt' '-file is read with -shape file only'
wrong '-shape file -file none.txt' 'none.txt'
wrong '-shape file -file empty.txt' 'has 0 numbers'
wrong '-shape file -file short.txt' 'has 2 numbers: a bubble has 3'
wrong '-shape file -file words.txt' 'not a number'
wrong '-shape file -file negative.txt' 'Bubble 1 of negative.txt has the radius -0.1'
works 'help explains the options' 'Density of the liquid, relative to the gas' ./bubbles -help

# picture PROCESSES FILE OPTIONS...
picture() {
  n=$1 file=$2
  shift 2
  mpi "$n" ./bubbles -output "$file" "$@" && "$python" -B "$src/bubbles.py" "$file" "$file.png" && test -s "$file.png"
}

if petsc_has PETSC_USE_COMPLEX; then skip 'pictures' 'PETSc writes VTK files with real numbers only'
elif [ -z "$python" ]; then skip 'pictures' 'no matplotlib'
else
  works 'a picture in two dimensions' '' picture 2 square.vts -n 20
  works 'a picture with subdomains' 'converged\|CONVERGED' picture 2 subdomains.vts -n 20 -pc_type deflsub \
    -pc_deflsub_boxes 3,3 -deflsub_pc_type jacobi
  works 'a picture of a slice' '' picture 2 cube.vtr -n 12 -dim 3
fi
[ "$tap_count" -gt 0 ]
