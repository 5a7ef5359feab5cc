#include "tests/support/guarded.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace lehr::testing {
namespace {

constexpr unsigned char kPoison = 0xc6;

sigjmp_buf before_fault;
void leave(int) {
  siglongjmp(before_fault, 1);
}

}  // namespace

Guarded::Guarded(std::size_t bytes) : bytes_(bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  pages_ = (bytes + page - 1) / page * page + page;
  void* const memory =
      ::mmap(nullptr, pages_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  begin_ = static_cast<unsigned char*>(memory);
  mapped_ = pages_ + page;
  CHECK(::mprotect(begin_ + pages_, page, PROT_NONE) == 0);
  std::fill(begin_, data(), kPoison);
}

Guarded::~Guarded() {
  if (begin_ != nullptr) ::munmap(begin_, mapped_);
}

Guarded::Guarded(Guarded&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)),
      bytes_(other.bytes_),
      pages_(other.pages_),
      mapped_(other.mapped_) {}

bool Guarded::intact() const {
  return std::all_of(begin_, data(), [](unsigned char value) { return value == kPoison; });
}

bool touches_nothing_else(const std::function<void()>& run) {
  struct sigaction to = {}, before = {};
  to.sa_handler = leave;
  to.sa_flags = SA_NODEFER;
  ::sigaction(SIGSEGV, &to, &before);
  const bool came_back = sigsetjmp(before_fault, 1) == 0;
  if (came_back) run();
  ::sigaction(SIGSEGV, &before, nullptr);
  return came_back;
}

}  // namespace lehr::testing
