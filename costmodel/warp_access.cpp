// Counting banks and sectors.
#include "costmodel/warp_access.h"

#include <algorithm>
#include <bit>
#include <span>

namespace lehr {
namespace {

/// Returns whether the words of the threads lie in different banks or are all the same. Each thread accesses
/// `wide` consecutive words from its first one on.
bool without_conflict(std::span<const std::int32_t> firsts, std::uint32_t wide) {
  std::uint32_t differ = 0, banks = 0, doubtful = 0;
  for (const std::int32_t first : firsts) {
    differ |= raw(first) ^ raw(firsts[0]);
    doubtful |= (raw(first) & (wide - 1)) | (banks >> (raw(first) % 32) & 1);
    banks |= 1u << (raw(first) % 32);
  }
  return differ == 0 || doubtful == 0;
}

/// Returns the maximum number of distinct words in one bank, for threads that are served together.
int cycles_of_phase(std::span<const std::int32_t> firsts, std::uint32_t wide) {
  struct Word {
    std::uint32_t word;
    // The previous word in the same bank: 1 + its position in `words`; 0: this word is the first.
    std::uint32_t before;
  };
  std::array<Word, 32> words;
  std::array<std::uint8_t, 32> newest{}, in_bank{};
  std::uint8_t count = 0, most = 1;
  for (const std::int32_t first : firsts) {
    for (std::uint32_t w = 0; w < wide; ++w) {
      const std::uint32_t here = raw(first) + w;
      std::uint32_t known = newest[here % 32];
      while (known != 0 && words[known - 1].word != here) known = words[known - 1].before;
      if (known != 0) continue;
      words[count] = {here, newest[here % 32]};
      newest[here % 32] = ++count;
      most = std::max(most, ++in_bank[here % 32]);
    }
  }
  return most;
}

/// Returns how many words of a thread are served at a time if the thread accesses `words` words.
int words_of_phase(int words) {
  return words <= 1 ? 1 : words == 2 ? 2 : 4;
}

int cycles_of_warp(const Lanes& word, int wide) {
  const auto phases = static_cast<std::size_t>(wide);
  const std::size_t threads = 32 / phases;  // per phase
  int cycles = 0;
  for (std::size_t phase = 0; phase < phases; ++phase) {
    const std::span<const std::int32_t> firsts = std::span(word).subspan(phase * threads, threads);
    cycles += without_conflict(firsts, raw(wide)) ? 1 : cycles_of_phase(firsts, raw(wide));
  }
  return cycles;
}

/// Counts with a hash table of twice as many entries.
int count_distinct(const Lanes& values) {
  constexpr std::size_t kPlaces = 64;
  std::array<std::int32_t, kPlaces> known;
  std::uint64_t used = 0;  // one bit per entry
  for (const std::int32_t value : values) {
    // Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): the six high bits.
    std::size_t place = raw(value) * 2654435769u >> 26;
    while ((used >> place & 1) != 0 && known[place] != value) place = (place + 1) % kPlaces;
    known[place] = value;
    used |= std::uint64_t{1} << place;
  }
  return std::popcount(used);
}

int distinct_sectors(const Lanes& index, int element_bytes) {
  // A sector has a power of two of elements.
  const int shift = std::countr_zero(static_cast<unsigned>(kSectorBytes / element_bytes));
  const std::int32_t least = *std::ranges::min_element(index);
  Lanes sectors;
  for (std::size_t t = 0; t < 32; ++t)
    sectors[t] = static_cast<std::int32_t>((raw(index[t]) - raw(least)) >> shift);
  return count_distinct(sectors);
}

double bytes_of_sectors(int sectors, double access_bytes) {
  return sectors * std::max(1.0, access_bytes / kSectorBytes);
}

}  // namespace

double bank_conflict_degree(const LaneValue& index, double bytes, int element_bytes) {
  if (index.is_uniform()) return 1;
  const int wide = words_of_phase(static_cast<int>(std::clamp(bytes / 4, 1.0, 4.0)));
  Lanes word = index.all();
  if (element_bytes < 4) {
    for (std::int32_t& i : word) i /= 4 / element_bytes;
  } else if (element_bytes > 4) {
    for (std::int32_t& i : word) i *= element_bytes / 4;
  }
  return static_cast<double>(cycles_of_warp(word, wide)) / wide;
}

double sectors_of_warp(const LaneValue& index, double access_bytes, int element_bytes) {
  if (index.is_uniform()) return bytes_of_sectors(1, access_bytes);
  return bytes_of_sectors(distinct_sectors(index.all(), element_bytes), access_bytes);
}

int distinct_values(const LaneValue& value) {
  return value.is_uniform() ? 1 : count_distinct(value.all());
}

}  // namespace lehr
