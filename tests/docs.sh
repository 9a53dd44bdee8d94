#!/bin/sh
# make docs: figures that no file holds and dead links are found, and manual pages are made. Prose that make lint
# refuses.
# Run by: make check SEARCH=docs
set -u
. "$KC_TOP/conf/tap.sh"

mkdir -p tree/conf tree/docs tree/bench/results
cp "$KC_TOP/conf/docs.py" "$KC_TOP/conf/lint.py" "$KC_TOP/conf/prose.py" tree/conf/
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

# Links
printf '# A page\n\nSee [more](docs/more.md#two-words), [here](#a-page) and %s, not `[code](none.md)`.\n' \
  '[others](https://example.org/none.md)' > tree/README.md
printf '# More\n\n## Two words\nBack to [the page](../README.md).\n' > tree/docs/more.md
works 'links to files and headings that there are' ' 0 dead links' check
sed -i 's/README/NONE/' tree/docs/more.md
refuses 'a link to a file that is not there' 'docs/more.md:4: dead link: there is no ../NONE.md' check
sed -i 's/NONE/README/; s/Two words/Three words/' tree/docs/more.md
refuses 'a link to a heading that is not there' 'README.md:3: dead link: docs/more.md has no heading #two-words' check
sed -i 's/#two-words//; s/#a-page/#no-page/' tree/README.md
refuses 'the same in the page itself' 'README.md:3: dead link: README.md has no heading #no-page' check
rm tree/docs/more.md

# Prose
prose() { printf '%s\n' "$@" > prose.md && python3 -B "$KC_TOP/conf/prose.py" prose.md; }
long='wordy wordy wordy wordy wordy wordy wordy wordy wordy wordy wordy wordy'
works 'plain sentences, a list, a table, code' ' 0 faults' \
  prose '# Head' 'One sentence.' 'If so, another one, e.g. this: see [x](behind.md).' '' \
  '- an item' '- `behind` in code' '' '| a. B. | c |' '|---|---|' "| $long | $long $long |" '' '    ./app behind. Here'
refuses 'a line that is too long' 'prose.md:1: more than 120 columns' prose "$long $long."
refuses 'a long line of code, too' 'prose.md:1: more than 120 columns' prose "    $long $long"
refuses 'two sentences in a line' 'prose.md:1: more than one sentence' prose 'One. Two.'
refuses 'a sentence of two lines' 'prose.md:1: a sentence goes on' prose 'One sentence' 'of two lines.'
refuses 'a sentence of 26 words' 'prose.md:1: 26 words' prose "a a a a a a a a a a a a a a a a a a a a a a a a a a."
refuses 'a private word in a head' "'behind' is not a word" prose '# Head behind'
refuses 'a private word' "prose.md:2: 'Behind' is not a word" prose '' 'Behind it.'
refuses 'a private word in a table' "'nobody' is not a word" prose '| x |' '|---|' '| nobody |'
works 'but not in what is made from the code' ' 0 faults' \
  prose '<!-- generated -->' "- nobody. Two $long $long" '<!-- end -->'

cp -r "$KC_TOP/src" "$KC_TOP/include" tree/
: > tree/README.md
works 'manual pages are made' 'manual pages in docs/manual' env GIT_DIR=none python3 -B tree/conf/docs.py
works 'of a function: arguments and declaration' 'PetscErrorCode PCKCycleSetKappa(PC pc, PetscInt kappa);' cat \
  tree/docs/manual/PCKCycleSetKappa.md
works 'of a type, with links' '\[`PCKCycleSetKappa()`\](PCKCycleSetKappa.md)' cat tree/docs/manual/PCKCYCLE.md
works 'and an index' '^- \[PCRELAX\](PCRELAX.md): ' cat tree/docs/manual/index.md
works 'the pages of the project quote what their files hold' ' 0 figures without' \
  python3 -B "$KC_TOP/conf/docs.py" --check
works 'and have no dead link' ' 0 dead links' python3 -B "$KC_TOP/conf/docs.py" --check
