#!/bin/sh
# kernel.sh SOURCE OBJECT FLAGS...: compiles kernels of ours for the host, with a call of a function at each access to
# memory (launcher.cpp).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")
source=$1 object=$2
shift 2

shared='static size_t \2_Key[2]; \2_Type \&\2 = *(\2_Type *)HostSharedVariable(sizeof(\2_Type), \2_Key);'
# extern __shared__ T name[]; and __shared__ T name[N][M]; are one declaration a line
sed -e 's/extern __shared__ \([A-Za-z0-9_ ]*\) \([A-Za-z0-9_]*\)\[\];/\1 *const \2 = (\1 *)HostSharedMemory();/' \
  -e "s/__shared__ \([A-Za-z0-9_ ]*\) \([A-Za-z0-9_]*\)\(\[[^;,]*\]\);/typedef \1 \2_Type\3; $shared/" \
  "$source" > "${object%.o}.cu"
if grep -q __shared__ "${object%.o}.cu"; then
  echo "cudahost: $source declares shared memory in a way that kernel.sh does not support" >&2
  exit 1
fi
g++ -std=c++17 -O2 -fsanitize=thread -fPIC -fvisibility=hidden -w -include "$here/kernels.h" -DTHRUST_DEVICE_SYSTEM=4 \
  "$@" -I"$(dirname "$source")" -I"$cuda/include/cccl" -I"$cuda/include" \
  -x c++ -c "${object%.o}.cu" -o "$object"
