#!/bin/sh
# single.sh OUT OBJECT...: links what was compiled with KCYCLE_SINGLE to one object file. The names of our functions
# end in _Single there, and so do those of AddressSanitizer for constants (__odr_asan). So one source is in the library
# twice.
set -eu
out=$1
shift
ld -r -o "$out.part" "$@"
nm -g --defined-only "$out.part" |
  awk '$3 ~ /^(__odr_asan\.)?KCycle/ && $3 !~ /_Single$/ { print $3, $3 "_Single" }' > "$out.names"
objcopy --redefine-syms="$out.names" "$out.part"
mv "$out.part" "$out"
