#!/bin/sh
# make docs: figures that no file holds are found, and manual pages are made.
# Run by: make check SEARCH=docs
set -u
. "$KC_TOP/conf/tap.sh"

mkdir -p tree/conf tree/docs tree/bench/results
cp "$KC_TOP/conf/docs.py" "$KC_TOP/conf/lint.py" tree/conf/
printf 'title,ours,theirs\ncube,6,1.234\nsquare,7,2.5\n' > tree/bench/results/times.csv

# page LINE...: a README whose table and text come from the file
page() {
  printf '# A page with 3 things\n<!-- figures: bench/results/times.csv -->\n' > tree/README.md
  printf '%s\n' "$@" '<!-- end -->' >> tree/README.md
}
check() { python3 -B tree/conf/docs.py --check; }
head='| | ours | theirs |'
rule='|---|---|---|'

page "$head" "$rule" '| cube | 6 | 1.23 |' '| square | **7** | 2.5 |' 'It took 1.2 seconds.'
works 'figures that the file holds, rounded' ' 0 figures without' check
page "$head" "$rule" '| cube | 6 | 1.24 |'
refuses 'another digit' 'README.md:5: 1.24 is not in bench/results/times.csv' check
page "$head" "$rule" '| cube | 7 | 1.23 |'
refuses 'a figure of another line' 'README.md:5: 7 is not in' check
page "$head" "$rule" '| cube | 1.23 | 6 |'
refuses 'a figure of another column' 'README.md:5: 1.23 is not in' check
page "$head" "$rule" '| any | 7 | 2.5 |'
sed -i 's/times.csv -->/times.csv cube -->/' tree/README.md
refuses 'a figure of a line that is not meant' 'README.md:5: 7 is not in' check
page 'It took 9 seconds.'
refuses 'a figure in the text' 'README.md:3: 9 is not in' check
page 'nothing'
echo 'It is 4 times as fast.' >> tree/README.md
refuses 'a figure without a file' "README.md:5: '4 times' comes from no file" check
printf '<!-- figures: bench/results/none.csv -->\n1\n<!-- end -->\n' > tree/README.md
refuses 'a file that is not there' 'README.md:1: there is no bench/results/none.csv' check

cp -r "$KC_TOP/src" "$KC_TOP/include" tree/
: > tree/README.md
works 'manual pages are made' 'manual pages in docs/manual' env GIT_DIR=none python3 -B tree/conf/docs.py
works 'of a function: arguments and declaration' 'PetscErrorCode PCKCycleSetKappa(PC pc, PetscInt kappa);' cat tree/docs/manual/PCKCycleSetKappa.md
works 'of a type, with links' '\[`PCKCycleSetKappa()`\](PCKCycleSetKappa.md)' cat tree/docs/manual/PCKCYCLE.md
works 'and an index' '^- \[PCRELAX\](PCRELAX.md): ' cat tree/docs/manual/index.md
works 'the pages of the project quote what their files hold' ' 0 figures without' python3 -B "$KC_TOP/conf/docs.py" --check
