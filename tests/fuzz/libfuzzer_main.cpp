// One fuzzing program per target: LEHR_FUZZ_TARGET is its name.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  for (const lehr::test::FuzzTarget& target : lehr::test::fuzz_targets())
    if (target.name == LEHR_FUZZ_TARGET) target.run({reinterpret_cast<const char*>(bytes), count});
  return 0;
}
