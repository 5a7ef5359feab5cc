#!/usr/bin/env bash
# Runs the tests of what XGBoost learns with version 3 of it, from PyPI, where the distribution has an older one:
#   newer_xgboost.sh COSTMODEL_TEST FOLDER
# FOLDER keeps the library. Exit code 77 (skipped): the distribution's is new enough, or PyPI cannot be reached.
set -euo pipefail

test_program=$1 folder=$2
version=3.0.5
used=$(ldd "$test_program" | sed -n 's/.*=> \(.*libxgboost\.so[^ ]*\).*/\1/p')
major=$(python3 -c 'import ctypes, sys
major = ctypes.c_int()
ctypes.CDLL(sys.argv[1]).XGBoostVersion(ctypes.byref(major), None, None)
print(major.value)' "$used") || {
  echo "skipped: there is no Python here"
  exit 77
}
if ((major > 1)); then
  echo "skipped: $used is of version $major itself"
  exit 77
fi
library=$folder/xgboost/lib/libxgboost.so
if [[ ! -e $library ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  if ! python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$folder" "xgboost-cpu==$version"; then
    echo "skipped: xgboost-cpu $version cannot be had from PyPI here"
    exit 77
  fi
  python3 -m zipfile -e "$folder"/xgboost_cpu-*.whl "$folder"
fi
soname=$(basename "$(readelf -d "$test_program" | sed -n 's/.*\[\(libxgboost\.so[^]]*\)\].*/\1/p')")
ln -sf libxgboost.so "$folder/xgboost/lib/$soname"
export LD_LIBRARY_PATH=$folder/xgboost/lib
# No pipe into `grep -q`: it ends at the first match, and an ldd that still writes then fails by SIGPIPE.
loaded=$(ldd "$test_program")
[[ $loaded == *"$folder"* ]] || {
  echo "$test_program does not load $library"
  exit 1
}
exec "$test_program" --gtest_filter='Xgboost*:Forest*:PermutationImportance*:GainShares*:AutotvmModel*:Validity*'
