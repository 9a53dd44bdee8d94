#!/bin/sh
# single.sh OUT OBJECT...: links what was compiled with KCYCLE_SINGLE to one object file, in which the names of our
# functions, and of what AddressSanitizer has of each constant (__odr_asan), end in _Single for the linker.
# So one source is in the library twice.
set -eu
out=$1
shift
ld -r -o "$out.part" "$@"
nm -g --defined-only "$out.part" |
  awk '$3 ~ /^(__odr_asan\.)?KCycle/ && $3 !~ /_Single$/ { print $3, $3 "_Single" }' > "$out.names"
objcopy --redefine-syms="$out.names" "$out.part"
mv "$out.part" "$out"
