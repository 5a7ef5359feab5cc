// Memory that is used again: sizes, the allocator, and blocks that end on another thread or after it.
#include "base/spare_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <list>
#include <thread>
#include <vector>

namespace lehr {
namespace {

TEST(SpareMemory, GivesTheLastBlockOfASizeAgain) {
  if (SpareMemory::kMost == 0) GTEST_SKIP() << "nothing is kept under the address sanitizer";
  SpareMemory& memory = spare_memory;
  void* const first = memory.take(40);
  void* const second = memory.take(40);
  EXPECT_NE(first, second);
  memory.give_back(first, 40);
  memory.give_back(second, 40);
  EXPECT_EQ(memory.take(48), second);  // sizes are rounded up to multiples of 16
  void* const other = memory.take(49);
  EXPECT_NE(other, first);
  EXPECT_EQ(memory.take(33), first);
  memory.give_back(first, 33);
  memory.give_back(second, 48);
  memory.give_back(other, 49);
}

TEST(SpareMemory, HoldsWhatIsAskedFor) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t bytes = 1; bytes <= 300; ++bytes) {
      void* const block = spare_memory.take(bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t), 0u);
      std::memset(block, static_cast<int>(bytes), bytes);
      blocks.push_back({block, bytes});
    }
    for (const auto& [block, bytes] : blocks) {
      EXPECT_EQ(static_cast<unsigned char*>(block)[bytes - 1], static_cast<unsigned char>(bytes));
      spare_memory.give_back(block, bytes);
    }
    blocks.clear();
  }
}

TEST(SpareMemory, OutlivesTheThreadThatItIsFrom) {
  std::list<int, SpareAllocator<int>> numbers;
  std::thread([&] {
    for (int i = 0; i < 10000; ++i) numbers.push_back(i);
    std::list<int, SpareAllocator<int>> dropped(100, 0);
  }).join();
  int expected = 0;
  for (const int number : numbers) EXPECT_EQ(number, expected++);
  numbers.clear();  // more than a thread keeps
  numbers.assign(100, 7);
  EXPECT_EQ(numbers.back(), 7);
}

}  // namespace
}  // namespace lehr
