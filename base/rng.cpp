#include "base/rng.h"

#include "base/error.h"
#include "base/hash.h"

namespace lehr {
namespace {

std::uint64_t rotl(std::uint64_t x, int k) {
  return (x << k) | (x >> (64 - k));
}

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += kSplitmixStep;
    word = mix64(seed);
  }
}

std::uint64_t Rng::next() {
  const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  CHECK(bound > 0);
  for (;;) {
    const std::uint64_t x = next();
    // Values below 2^64 mod bound would be biased. That limit is less than `bound`, so most draws need not
    // compute it.
    if (x >= bound || x >= (0 - bound) % bound) return x % bound;
  }
}

double Rng::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

Rng Rng::fork(std::string_view role) const {
  return Rng(hash_combine(hash_combine(state_[0], state_[3]), stable_hash(role)));
}

}  // namespace lehr
