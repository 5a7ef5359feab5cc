#include "memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace lehr::emulator {
namespace {

constexpr unsigned char kCanary = 0xA5;
constexpr unsigned char kPoison = 0xFF;  // four of them are a NaN

std::optional<std::string> misaligned(const char* what, std::uintptr_t address, std::size_t bytes) {
  if ((bytes & (bytes - 1)) == 0 && bytes <= 16 && address % bytes == 0) return std::nullopt;
  return fmt::format("{} of {} bytes is not aligned", what, bytes);
}

}  // namespace

GlobalBuffer::GlobalBuffer(std::string name, const std::vector<float>& values, bool output)
    : name_(std::move(name)), output_(output), bytes_(values.size() * sizeof(float)) {
  storage_.assign(bytes_ + 2 * kCanaryBytes, kCanary);
  if (output) {
    std::memset(data(), kPoison, bytes_);
    writer_.assign(values.size(), 0);
  } else {
    std::memcpy(data(), values.data(), bytes_);
  }
}

std::optional<std::string> GlobalBuffer::access(std::uintptr_t address, std::size_t bytes, bool writes,
                                                const Who& who) {
  const std::size_t offset = address - begin();
  const char* verb = writes ? "writes" : "reads";
  if (offset + bytes > bytes_) {
    return fmt::format("{} {}[{}], {} bytes beyond its {} elements", verb, name_, offset / sizeof(float),
                       offset + bytes - bytes_, bytes_ / sizeof(float));
  }
  if (auto fault = misaligned(writes ? "a write" : "a read", offset, bytes)) {
    return fmt::format("{} {}[{}]: {}", verb, name_, offset / sizeof(float), *fault);
  }
  (writes ? traffic.written_bytes : traffic.read_bytes) += static_cast<std::int64_t>(bytes);
  if (writes && !output_) return fmt::format("writes the input {}[{}]", name_, offset / sizeof(float));
  if (!output_) return std::nullopt;
  const std::int64_t me = 1 + (who.block << 20) + who.thread;
  for (std::size_t element = offset / sizeof(float); element <= (offset + bytes - 1) / sizeof(float);
       ++element) {
    if (writes) {
      if (writer_[element] != 0 && writer_[element] != me) {
        return fmt::format("writes {}[{}], which thread {} of block {} has written", name_, element,
                           (writer_[element] - 1) & ((1 << 20) - 1), (writer_[element] - 1) >> 20);
      }
      writer_[element] = me;
    } else if (writer_[element] != me) {
      return fmt::format("reads {}[{}], which it has not written", name_, element);
    }
  }
  return std::nullopt;
}

std::optional<std::string> GlobalBuffer::damage() const {
  for (std::size_t i = 0; i < kCanaryBytes; ++i) {
    if (storage_[i] != kCanary)
      return fmt::format("{} bytes before {} were overwritten", kCanaryBytes - i, name_);
    if (storage_[storage_.size() - kCanaryBytes + i] != kCanary)
      return fmt::format("byte {} behind {} was overwritten", i, name_);
  }
  return std::nullopt;
}

std::vector<float> GlobalBuffer::values() const {
  std::vector<float> values(bytes_ / sizeof(float));
  std::memcpy(values.data(), storage_.data() + kCanaryBytes, bytes_);
  return values;
}

void SharedMemory::reset(std::int64_t bytes) {
  words_.assign((static_cast<std::size_t>(bytes) + kWord - 1) / kWord, Word{});
  std::memset(memory_, kPoison, words_.size() * kWord);
}

std::optional<std::string> SharedMemory::access(std::uintptr_t address, std::size_t bytes, bool writes,
                                                const Who& who) {
  const std::size_t offset = address - begin();
  const char* verb = writes ? "writes" : "reads";
  const auto place = [&] { return fmt::format("{} shared memory at byte {}", verb, offset); };
  if (offset + bytes > words_.size() * kWord) {
    return fmt::format("{}, beyond its {} bytes", place(), words_.size() * kWord);
  }
  if (auto fault = misaligned(writes ? "a write" : "a read", address, bytes))
    return fmt::format("{}: {}", place(), *fault);
  (writes ? traffic.written_bytes : traffic.read_bytes) += static_cast<std::int64_t>(bytes);
  for (std::size_t word = offset / kWord; word <= (offset + bytes - 1) / kWord; ++word) {
    if (auto fault = access_word(word, writes, who)) return fmt::format("{}: {}", place(), *fault);
  }
  return std::nullopt;
}

std::optional<std::string> SharedMemory::access_word(std::size_t index, bool writes, const Who& who) {
  Word& word = words_[index];
  if (word.copier != kNobody) {
    return fmt::format("thread {}'s asynchronous copy into it has not been waited for", word.copier);
  }
  const bool written_now = word.write_epoch == who.epoch && word.writer != who.thread;
  if (writes) {
    if (written_now)
      return fmt::format("a race: thread {} has written it since the last barrier", word.writer);
    if (word.read_epoch == who.epoch && word.reader != who.thread) {
      return word.reader == kSeveral
                 ? std::string("a race: other threads have read it since the last barrier")
                 : fmt::format("a race: thread {} has read it since the last barrier", word.reader);
    }
    word.writer = who.thread;
    word.write_epoch = who.epoch;
    return std::nullopt;
  }
  if (word.writer == kNobody) return "nobody has written it";
  if (written_now) return fmt::format("a race: thread {} has written it since the last barrier", word.writer);
  word.reader = word.read_epoch == who.epoch && word.reader != who.thread ? kSeveral : who.thread;
  word.read_epoch = who.epoch;
  return std::nullopt;
}

std::optional<std::string> SharedMemory::begin_copy(std::uintptr_t address, std::size_t bytes,
                                                    const Who& who) {
  if (auto fault = access(address, bytes, true, who)) return fault;
  const std::size_t offset = address - begin();
  for (std::size_t word = offset / kWord; word < (offset + bytes) / kWord; ++word)
    words_[word].copier = who.thread;
  std::memset(memory_ + offset, kPoison, bytes);
  return std::nullopt;
}

void SharedMemory::end_copy(std::uintptr_t address, const void* from, std::size_t source_bytes,
                            std::size_t bytes, const Who& who) {
  const std::size_t offset = address - begin();
  std::memset(memory_ + offset, 0, bytes);
  std::memcpy(memory_ + offset, from, source_bytes);
  for (std::size_t index = offset / kWord; index < (offset + bytes) / kWord; ++index) {
    Word& word = words_[index];
    word.copier = kNobody;
    word.writer = who.thread;  // the wait makes it visible to this thread, a barrier to the others
    word.write_epoch = who.epoch;
  }
}

}  // namespace lehr::emulator
