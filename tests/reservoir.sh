#!/bin/sh
# The tutorial reservoir: what a file can hold, what is refused, flows that are known, the files and pictures that it
# makes.
# Run by: make check SEARCH=reservoir
set -u
. "$KC_TOP/conf/tap.sh"
src=$KC_TOP/examples/tutorials
python=$(for p in /usr/bin/python3 python3; do if "$p" -c 'import matplotlib' 2> /dev/null; then echo "$p"; \
  break; fi; done)

if petsc_has PETSC_USE_COMPLEX; then
  skip 'reservoir' 'structured levels are for real numbers'
  exit
fi
compile c "$src/reservoir.c" reservoir "$src/fieldfile.c" "$src/wells.c" -std=gnu99 "-I$KC_TOP/include" "$KC_LIBRARY" \
  "-Wl,-rpath,$KC_BUILD/lib" > build.log 2>&1 || { cat build.log; exit 1; }

wells=1,1,1,1,bhp,2,4,3,1,1,bhp,1

# grdecl NAME TEXT: a file with 4 x 3 x 1 cells, where the text is all but the sizes
grdecl() { printf 'DIMENS\n4 3 1 /\nDXV\n4*10 /\nDYV\n3*10 /\nDZV\n1 /\n%b\n' "$2" > "$1"; }

# refused CLAIM MESSAGE TEXT [OPTIONS]
# shellcheck disable=SC2086 # words
refused() {
  grdecl wrong.grdecl "$3"
  refuses "$1 is refused" "$2" ./reservoir -file wrong.grdecl -wells $wells ${4:-}
}

# refused_options CLAIM MESSAGE OPTIONS: with a file that is right
# shellcheck disable=SC2086 # words
refused_options() {
  claim=$1 message=$2
  shift 2
  refuses "$claim is refused" "$message" ./reservoir "$@"
}

files() {
  refused 'too few numbers' 'wrong.grdecl, line 11: PERMX has 11 numbers, but a grid of 4 x 3 x 1 cells needs 12' \
    'PERMX\n5*1 5\n5*2 /'
  refuses 'too few numbers, n=2, is refused' 'PERMX has 11 numbers' mpi 2 ./reservoir -file wrong.grdecl -wells $wells
  refused 'too many numbers' 'wrong.grdecl, line 12: PERMX has 15 numbers, but a grid of 4 x 3 x 1 cells needs 12' \
    'PERMX\n12*1 2\n3\n4 /'
  refused 'too many by a repeat count' 'PERMX has 1000 numbers' 'PERMX\n1000*1 /'
  refused 'a keyword without a slash' \
    'line 11: .PERMY. where a number was expected; the numbers of a keyword end with a /' 'PERMX\n12*1\nPERMY\n12*1 /'
  refused 'the end of the file within a keyword' 'the file ends within PERMX, whose numbers must end with a /' \
    'PERMX\n12*1'
  refused 'a missing PERMX' 'wrong.grdecl has no PERMX' 'ACTNUM\n12*1 /'
  refused 'NaN' 'line 10: PERMX is nan, which is not a finite number' 'PERMX\n11*1 nan /'
  refused 'Inf' 'line 10: PERMX is inf, which is not a finite number' 'PERMX\n11*1 1e999 /'
  refused 'a negative permeability' 'line 10: PERMX is -3, but must not be negative' 'PERMX\n11*1 -3 /'
  refused 'a bad repeat count' 'line 10: bad repeat count in 1.5\*2' 'PERMX\n1.5*2 11*1 /'
  refused 'a repeat count of 0' 'bad repeat count in 0\*2' 'PERMX\n0*2 12*1 /'
  refused 'a default' '.12\*. where a number was expected' 'PERMX\n12* /'
  refused 'a word' '.1.2.3. where a number was expected' 'PERMX\n1.2.3 11*1 /'
  refused 'ACTNUM of 2' 'line 12: ACTNUM is 2, but must be 1 for an active cell or 0 for an inactive one' \
    'PERMX\n12*1 /\nACTNUM\n11*1 2 /'
  refused 'a porosity above 1' 'PORO is 20, but lies between 0 and 1' 'PERMX\n12*1 /\nPORO\n12*20 /'
  refused 'a grid without an active cell' 'wrong.grdecl has no active cell' 'PERMX\n12*1 /\nACTNUM\n12*0 /'
  refused 'permeabilities that are all 0' 'wrong.grdecl has no active cell' 'PERMX\n12*0 /'
  refused 'a keyword that changes others' 'MULTIPLY is not understood here' 'PERMX\n12*1 /\nMULTIPLY\nPERMX 2 /\n/'
  refused 'a keyword that is given twice' 'PERMX is given a second time' 'PERMX\n12*1 /\nPERMX\n12*2 /'
  refused 'another DIMENS than -cells' 'DIMENS is 4 x 3 x 1, but the grid has 3 x 4 x 1 cells' 'PERMX\n12*1 /' \
    '-cells 3,4,1'
  refused 'DX with DXV' 'DX, but the file has had sizes in this direction already' 'PERMX\n12*1 /\nDX\n11*10 12 /'
  refused 'an option for sizes that the file has' '-dx is an option and in the file as well' 'PERMX\n12*1 /' '-dx 10'
  refused '-kz_over_kx with PERMZ' 'so leave -kz_over_kx out' 'PERMX\n12*1 /\nPERMZ\n12*1 /' '-kz_over_kx 0.1'
  printf 'DIMENS\n2 2.5 1 /\n' > sizes.grdecl
  refused_options 'a size that is not whole' 'DIMENS has three sizes, each at least 1, and not 2.5' -file sizes.grdecl
  printf 'DIMENS\n2 2 1 /\nPERMX\n4*1 /\nDX\n10 12 10 13 /\n' > crooked.grdecl
  refused_options 'DX that is not the same in a column' 'line 6: DX is 12 in one cell of a column and 13 in another' \
    -file crooked.grdecl
  for n in 1 2; do refuses "a file that does not exist, n=$n, is refused" 'none.grdecl cannot be opened' mpi $n \
    ./reservoir -file none.grdecl; done
  refused_options 'a folder' 'cannot be read' -file . -format grdecl
}

numbers() {
  printf '1 2 3 # four are missing\n 5*4\n' > short.txt
  refused_options 'plain numbers without -cells' 'give -cells nx,ny,nz' -file short.txt
  refused_options 'too few plain numbers' \
    'the file has 8 numbers, but a grid of 3 x 3 x 1 cells needs 9, or 3 times as many' -file short.txt -cells 3,3,1
  refused_options 'too many plain numbers' \
    'the file has 8 numbers, but a grid of 2 x 2 x 1 cells needs 4, or 3 times as many' -file short.txt -cells 2,2,1
  printf '123456789' > short.bin
  refused_options 'a binary file of 9 bytes' '9 bytes are no numbers of 8 bytes each' -file short.bin -cells 1,1,1
  printf '1234567890123456' > long.bin
  refused_options 'a binary file of 16 bytes' 'the file has 2 numbers, but a grid of 1 x 1 x 1 cells needs 1' \
    -file long.bin -cells 1,1,1
  refused_options 'no file' '-file <name> says where the permeability is' -cells 1,1,1
  cp short.txt short.values
  refused_options 'a name that tells no format' 'say -format grdecl, text or binary' -file short.values
  printf '8*1\n' > thick.txt
  refused_options 'no vertical permeability' 'has no PERMZ: give -kz_over_kx' -file thick.txt -cells 2,2,2 -dx 1 -dy 1 \
    -dz 1
  refused_options 'no sizes of cells' 'the file has no sizes of cells: give -dy' -file short.txt -cells 4,2,1 -dx 1
  refused_options 'a wrong number of sizes' '-dx has 3 numbers, and not one for all or one for each of 4 cells' \
    -file short.txt -cells 4,2,1 -dx 1,2,3
  refused_options 'too many sizes' '-dx has at least 5 numbers' -file short.txt -cells 4,2,1 -dx 1,2,3,4,5,6
  refused_options 'a size of 0' '-dx is positive, not 0' -file short.txt -cells 4,2,1 -dx 0
}

options() {
  grdecl right.grdecl 'PERMX\n12*1 /\nACTNUM\n2*1 0 9*1 /'
  set -- -file right.grdecl
  refused_options 'a grid without wells' 'there is no well, so nothing flows' "$@"
  refused_options 'a well of five words' '-wells has 5 words: a well has six' "$@" -wells 1,1,1,1,bhp
  refused_options 'a well outside the grid' 'well 1: column 5 does not exist, the grid has 4' "$@" -wells 5,1,1,1,bhp,1
  refused_options 'a well in layer 0' 'well 1: layer 0 does not exist' "$@" -wells 1,1,0,1,bhp,1
  refused_options 'a well of another kind' 'well 2: pressure is neither bhp (bottom-hole pressure) nor rate' "$@" \
    -wells 1,1,1,1,bhp,1,1,1,1,1,pressure,1
  refused_options 'a well in an inactive cell' 'well 1 is open to no active cell' "$@" -wells 3,1,1,1,bhp,1
  refused_options 'a well that does not fit' 'a well of -well_radius 9.* does not fit a cell' "$@" \
    -wells 1,1,1,1,bhp,1 -well_radius 9
  refused_options 'rates that do not add up to 0' 'the rates of the wells in a part of the grid add up to 1' "$@" \
    -wells 1,1,1,1,rate,1
  printf -- '-- one well\n1 1 1 1 bhp\n' > wells.txt
  refused_options 'a file of wells with five words' 'wells.txt, line 2: 5 words, but a well has six' "$@" \
    -well_file wells.txt
  set -- "$@" -wells $wells
  refused_options '-steps -1' '-steps is not negative' "$@" -steps -1
  refused_options '-dt 0' '-dt is positive, not 0' "$@" -dt 0
  refused_options '-growth 0' '-growth is positive, not 0' "$@" -growth 0
  refused_options '-kz_over_kx -2' '-kz_over_kx is not negative' "$@" -kz_over_kx -2
  printf -- '-- two wells\n\n  1 1  1 1 bhp 2 -- here\n4\t3 1 1 bhp 1\n' > wells.txt
  ./reservoir "$@" > expected
  for n in 1 2; do works "a file of wells, n=$n" '' same mpi $n ./reservoir -file right.grdecl \
    -well_file wells.txt; done
}

same() {
  "$@" > printed && diff expected printed
}

# A field in all formats: as keywords, as numbers, in binary; and with keywords that are ignored
formats() {
  numbers='3 1 4 1 5 9 2 6 5 3 5 8'
  grdecl field.grdecl "-- comment\nPERMX\n3 1 4 1 5 9 -- comment\n2 6 5.0 3D0 .5e1 8 / comment\nPERMZ\n12*1 /"
  ./reservoir -file field.grdecl -wells $wells > expected
  grdecl ignored.grdecl \
    "NOECHO\nPERMX\n$numbers /\nSATNUM\n12*1 /\nMAPUNITS\nMETRES /\nPERMY\n$numbers /\nACTNUM\n12*1 /\n"
  # shellcheck disable=SC2086 # words
  printf '%s\n' $numbers > field.txt
  # shellcheck disable=SC2086 # words
  printf '%s\n' $numbers $numbers 12*1 > three.txt
  python3 -c 'import array, sys; array.array("d", map(float, sys.argv[1:])).tofile(open("field.bin", "wb"))' $numbers
  cp field.bin field.values
  printf 'SPECGRID\n4 3 1 1 F /\nDX\n12*10 /\nDY\n12*10 /\nDZ\n12*1 /\nPERMX\n%s /\n' "$numbers" > cells.grdecl
  for n in 1 2 4; do
    works "keywords to be ignored, n=$n" '' same mpi $n ./reservoir -file ignored.grdecl \
      -ignore NOECHO,SATNUM,MAPUNITS -wells $wells
    works "SPECGRID, DX, DY, DZ, n=$n" '' same mpi $n ./reservoir -file cells.grdecl -wells $wells
    set -- -cells 4,3,1 -dx 10 -dy 10,10,10 -dz 1 -wells $wells
    works "plain numbers, n=$n" '' same mpi $n ./reservoir -file field.txt "$@"
    works "plain numbers for three directions, n=$n" '' same mpi $n ./reservoir -file three.txt "$@"
    works "binary numbers, n=$n" '' same mpi $n ./reservoir -file field.bin "$@"
    works "binary numbers, -format, n=$n" '' same mpi $n ./reservoir -file field.values -format binary "$@"
  done
}

# The rate between two wells at the ends of a row of cells: resistances of the wells and of the faces in series.
# row DIRECTION: x, y or z
row() {
  awk -v d="$1" 'BEGIN {
    n = 8; dp = 100; darcy = 0.00852702; pi = atan2(0, -1)
    w["x"] = 40; w["y"] = 30; w["z"] = 5
    k["x"] = 20; k["y"] = 60; k["z"] = 10
    for (i = 1; i <= n; i++) { h[i] = w[d] * i; kd[i] = i * i }
    for (i = 1; i < n; i++)
      r += (h[i] / kd[i] / 2 + h[i + 1] / kd[i + 1] / 2) / darcy * w[d] / (w["x"] * w["y"] * w["z"])
    for (i = 1; i <= n; i += n - 1) {
      w[d] = h[i]; k[d] = kd[i]; a = sqrt(k["y"] / k["x"])
      r0 = 0.28 * sqrt(a * w["x"] ^ 2 + w["y"] ^ 2 / a) / (sqrt(a) + 1 / sqrt(a))
      r += log(r0 / 0.1) / (2 * pi * darcy * sqrt(k["x"] * k["y"]) * w["z"])
    }
    printf "rate %.4g\n", dp / r }' > expected
  squares='1 4 9 16 25 36 49 64'
  case $1 in
    x) set -- 8,1,1 "$squares" '8*60' '8*10' 1,1,1,1,bhp,200,8,1,1,1,bhp,100 -dx 40,80,120,160,200,240,280,320 -dy 30 \
      -dz 5 ;;
    y) set -- 1,8,1 '8*20' "$squares" '8*10' 1,1,1,1,bhp,200,1,8,1,1,bhp,100 -dx 40 -dy 30,60,90,120,150,180,210,240 \
      -dz 5 ;;
    z) set -- 1,1,8 '8*20' '8*60' "$squares" 1,1,1,1,bhp,200,1,1,8,8,bhp,100 -dx 40 -dy 30 -dz 5,10,15,20,25,30,35,40 ;;
  esac
  printf '%s\n%s\n%s\n' "$2" "$3" "$4" > row.txt
  cells=$1 along=$5
  shift 5
  ./reservoir -file row.txt -cells "$cells" -wells "$along" "$@" > row.log || return 1
  cat row.log
  grep '^well 1' row.log | grep -q -F "$(cat expected)"
}

# Iterations are those of one process
alike() {
  ./reservoir -file "$src/reservoir.grdecl" "$@" > expected || return 1
  grep 'iterations' expected
  for n in 2 4; do mpi $n ./reservoir -file "$src/reservoir.grdecl" "$@" | diff expected - || return 1; done
}

parts() {
  # Inactive cells between two parts, and a cell without permeability
  grdecl parts.grdecl 'PERMX\n1 1 5 1\n1 1 5 1\n0 1 5 1 /\nACTNUM\n2*1 0 3*1 0 3*1 2*0 /'
  works 'a part that no well reaches is left out' 'no well reaches 2 of them, which are left out' mpi 2 ./reservoir \
    -file parts.grdecl -wells 1,1,1,1,bhp,2,2,3,1,1,bhp,1
  works 'an inactive cell is none where its permeability is 0' '4 x 3 x 1 cells, 7 active' ./reservoir \
    -file parts.grdecl -wells 1,1,1,1,bhp,2,2,3,1,1,bhp,1
  works 'two parts with rates alone' 'iterations at most 20: yes' mpi 2 ./reservoir -file parts.grdecl -limit 20 \
    -wells 1,1,1,1,rate,2,2,3,1,1,rate,-2,4,1,1,1,rate,3,4,2,1,1,rate,-3
  works 'in time steps all parts stay' 'pressures between 1 and 200: yes' mpi 2 ./reservoir -file parts.grdecl \
    -steps 3 -wells 1,1,1,1,bhp,2,2,3,1,1,bhp,1
}

# picture PROCESSES FILE OPTIONS...
picture() {
  n=$1 file=$2
  shift 2
  mpi "$n" ./reservoir -output "$file" "$@" && "$python" -B "$src/reservoir.py" "$file" "$file.png" &&
    test -s "$file.png"
}

pictures() {
  if [ -z "$python" ]; then skip 'pictures' 'no matplotlib'; return; fi
  works 'a picture' '' picture 2 field.vts -file "$src/reservoir.grdecl" -wells 6,6,1,5,bhp,250 -steps 2
  works 'a field that the script has made, and a picture' '' "$python" -B "$src/reservoir.py" --make 16,12,6 \
    made.grdecl --inactive 0.5
  works 'its picture' '12 x 6 cells, 576 active' picture 2 made.vtr -file made.grdecl -wells 8,6,1,6,bhp,250 -steps 2
  refuses 'a layer that is not there is refused' 'there is no layer 9' "$python" -B "$src/reservoir.py" made.vtr \
    made.png --layer 9
}

files
numbers
options
formats
for direction in x y z; do works "the flow along $direction through cells of all sizes is right to 4 digits" '' row \
  $direction; done
works 'steady flow: the same on 1, 2, 4 processes' 'iterations' alike -wells 6,6,1,5,bhp,250,15,9,1,3,bhp,150
works 'time steps: the same on 1, 2, 4 processes' 'iterations' alike -wells 6,6,1,5,bhp,250,15,9,1,3,rate,-50 -steps 4 \
  -growth 2
parts
pictures
[ "$tap_count" -gt 0 ]
