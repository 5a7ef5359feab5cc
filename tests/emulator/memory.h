// Every byte that an emulated kernel may touch, with who touched it and when: finds accesses out of bounds,
// reads of what nobody wrote, and races between barriers.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace lehr::emulator {

/// Bytes as the kernel's text moved them, over all threads.
struct Traffic {
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

/// Who is running. Threads of a block are numbered x first; epochs count the block's barriers.
struct Who {
  int thread = 0;
  int epoch = 0;
  std::int64_t block = 0;
};

/// One parameter of the kernel: a copy of the caller's data between two canaries.
class GlobalBuffer {
 public:
  GlobalBuffer(std::string name, const std::vector<float>& values, bool output);

  void* data() { return storage_.data() + kCanaryBytes; }
  const std::string& name() const { return name_; }
  bool output() const { return output_; }
  bool holds(std::uintptr_t address) const { return address >= begin() && address < begin() + bytes_; }
  /// A sentence when the access is wrong, else nullopt.
  std::optional<std::string> access(std::uintptr_t address, std::size_t bytes, bool writes, const Who& who);
  /// nullopt when both canaries are whole.
  std::optional<std::string> damage() const;
  std::vector<float> values() const;
  Traffic traffic;

 private:
  static constexpr std::size_t kCanaryBytes = 256;
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(storage_.data()) + kCanaryBytes; }

  std::string name_;
  bool output_;
  std::size_t bytes_;
  std::vector<unsigned char> storage_;
  std::vector<std::int64_t> writer_;  // per element: 1 + block * 2^20 + thread; 0 = not written
};

/// Shared memory of the block that runs. Granularity: 4 bytes; two threads that write different bytes of one
/// word between two barriers are reported as a race.
class SharedMemory {
 public:
  /// `memory` is where the kernel's text finds its dynamic shared memory.
  explicit SharedMemory(unsigned char* memory) : memory_(memory) {}

  /// For a new block: everything is poison and written by nobody.
  void reset(std::int64_t bytes);
  bool holds(std::uintptr_t address) const {
    return address >= begin() && address < begin() + words_.size() * kWord;
  }
  /// A sentence when the access is wrong, else nullopt.
  std::optional<std::string> access(std::uintptr_t address, std::size_t bytes, bool writes, const Who& who);
  /// The destination of a copy that is under way: poison, and nobody may touch it until end_copy().
  std::optional<std::string> begin_copy(std::uintptr_t address, std::size_t bytes, const Who& who);
  void end_copy(std::uintptr_t address, const void* from, std::size_t source_bytes, std::size_t bytes,
                const Who& who);
  Traffic traffic;

 private:
  static constexpr std::size_t kWord = 4;
  static constexpr int kNobody = -1;
  static constexpr int kSeveral = -2;
  struct Word {
    int writer = kNobody, write_epoch = -1;
    int reader = kNobody, read_epoch = -1;
    int copier = kNobody;  ///< thread whose cp.async is under way
  };
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(memory_); }
  std::optional<std::string> access_word(std::size_t word, bool writes, const Who& who);

  unsigned char* memory_;
  std::vector<Word> words_;
};

}  // namespace lehr::emulator
