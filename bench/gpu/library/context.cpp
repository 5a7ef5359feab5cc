// Tests what contexts of an exported library do on a driver. Each function of the library gets random inputs.
// All contexts must have the same result to the bit as the first one on the default stream: two on two
// streams at once, one that another thread calls, one in a graph, one in a CUDA context of its own. Prints
// also how long making a context takes, a call on a stream and in a graph, and how much a call costs the
// host.
//   gpu_context LIBRARY
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/dtype.h"
#include "measure/core/element.h"
#include "measure/cuda/cuda_driver.h"
#include "measure/cuda/cuda_functions.h"
#include "measure/vendor/bundle/exported_library.h"

namespace {

using namespace lehr;

using Bytes = std::vector<unsigned char>;
using Context = ExportedLibrary::Context;

/// Functions of the driver that CudaDriver does not use. The stand-ins have no `create`: then no context of
/// CUDA's own is tried.
struct ContextFunctions : LibraryFunctions {
  Function<CudaCode(void**, unsigned, int)> create{this, "cuCtxCreate_v2"};
  Function<CudaCode(void**)> current{this, "cuCtxGetCurrent"};
};

/// The contexts and the library under test. `own` and `in_own` are of a CUDA context beside the primary one.
struct Asked {
  explicit Asked(const std::string& path) : library(path) {}

  std::unique_ptr<CudaDriver> driver;
  ContextFunctions contexts;
  ExportedLibrary library;
  void *primary = nullptr, *own = nullptr;
  CudaStream one, two;
  Context first, second, in_own;
  int failures = 0;
};

/// A function's arguments in memory of the CUDA context that was current.
struct Arguments {
  std::vector<CudaMemory> memory;
  std::vector<void*> addresses;
  std::size_t output = 0;
};

void expect(const Asked& asked, CudaStatus status) {
  if (!status.ok()) throw std::runtime_error(asked.driver->text_of(status));
}

void set_current(const Asked& asked, void* context) {
  expect(asked, {asked.driver->functions().context_set_current(context), "cuCtxSetCurrent"});
}

void wait_for_all(const Asked& asked) {
  expect(asked, {asked.driver->functions().stream_synchronize(nullptr), "cuStreamSynchronize"});
}

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void fail(Asked& asked, const std::string& sentence) {
  fmt::print("  FAILED {}\n", sentence);
  ++asked.failures;
}

void expect_current(Asked& asked, const void* context, const char* after) {
  void* current = nullptr;
  expect(asked, {asked.contexts.current(&current), "cuCtxGetCurrent"});
  if (current != context) fail(asked, fmt::format("another context is current after {}", after));
}

Context made(const Asked& asked, const char* where) {
  kernels_options options = {};
  options.cuda = 1;
  std::string why_not;
  const double begun = now_us();
  Context context = asked.library.context(options, why_not);
  if (!context) throw std::runtime_error(fmt::format("no context {}: {}", where, why_not));
  fmt::print("  a context {}: {:.2f} ms\n", where, (now_us() - begun) / 1000);
  return context;
}

Bytes random_elements(DType type) {
  static std::mt19937 random(1);
  const float most = is_integer(type) ? 127 : 1;
  std::uniform_real_distribution<float> draw(-most, most);
  std::vector<float> values(1 << 20);
  std::ranges::generate(values, [&] { return draw(random); });
  Bytes bytes(values.size() * static_cast<std::size_t>(size_of(type)));
  store_elements(type, values, bytes.data());
  return bytes;
}

/// Returns random inputs; the output is poisoned.
Arguments arguments_for(const Asked& asked, const kernels_function& function) {
  Arguments made;
  for (std::uint32_t i = 0; i < function.tensor_count; ++i) {
    const kernels_tensor& tensor = function.tensors[i];
    const auto bytes = static_cast<std::int64_t>(tensor.bytes);
    CudaMemory& memory = made.memory.emplace_back();
    expect(asked, memory.allocate(*asked.driver, bytes));
    made.addresses.push_back(reinterpret_cast<void*>(memory.address()));
    if (tensor.role == KERNELS_OUT) {
      made.output = i;
      continue;
    }
    const Bytes block = random_elements(parse_dtype(tensor.type).value());
    const auto size = static_cast<std::int64_t>(block.size());
    for (std::int64_t at = 0; at < bytes; at += size)
      expect(asked, memory.write(at, block.data(), std::min(size, bytes - at)));
  }
  return made;
}

void poison(const Asked& asked, const CudaMemory& output) {
  expect(asked, output.fill(0, kPoisonByte, output.bytes()));
  wait_for_all(asked);
}

Bytes bytes_of(const Asked& asked, const CudaMemory& memory) {
  Bytes bytes(static_cast<std::size_t>(memory.bytes()));
  expect(asked, memory.read(0, bytes.data(), memory.bytes()));
  return bytes;
}

void call(const Asked& asked, const Context& context, const kernels_function& function,
          const std::vector<void*>& addresses) {
  asked.library.expect(asked.library.functions().call(context.get(), &function, addresses.data(), 0),
                       context);
}

void expect_same(Asked& asked, const Bytes& wanted, const CudaMemory& output, const char* how) {
  const Bytes bytes = bytes_of(asked, output);
  std::size_t others = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) others += bytes[i] != wanted[i];
  if (others > 0) fail(asked, fmt::format("{}: {} of {} bytes differ", how, others, wanted.size()));
}

/// Returns microseconds a call of `calls` on the stream, between two events.
double timed_us(const Asked& asked, const CudaStream& stream, int calls, const std::function<void()>& work) {
  expect(asked, stream.record_begin());
  work();
  expect(asked, stream.record_end());
  expect(asked, stream.wait());
  double us = 0;
  expect(asked, stream.elapsed_us(us));
  return us / calls;
}

/// Returns the median of what a call costs the host: blocks of 100 calls, fewer than a driver's queue holds.
template <typename Work>
double host_us(const Asked& asked, const CudaStream& stream, const Work& work) {
  std::array<double, 61> blocks;
  for (double& block : blocks) {
    expect(asked, stream.wait());
    const double begun = now_us();
    for (int i = 0; i < 100; ++i) work(i);
    block = (now_us() - begun) / 100;
  }
  expect(asked, stream.wait());
  std::ranges::nth_element(blocks, blocks.begin() + 30);
  return blocks[30];
}

void print_host_costs(const Asked& asked, const kernels_function& function, const Arguments& arguments,
                      const CudaMemory& other_output) {
  std::array<std::vector<void*>, 2> turns = {arguments.addresses, arguments.addresses};
  turns[1][arguments.output] = reinterpret_cast<void*>(other_output.address());
  const auto cost = [&](bool in_turn) {
    return host_us(asked, asked.one,
                   [&](int i) { call(asked, asked.first, function, turns[in_turn ? i % 2 : 0]); });
  };
  fmt::print("    host us a call: {:.2f}; another output each time {:.2f}", cost(false), cost(true));
  if (asked.own != nullptr) {
    set_current(asked, asked.own);
    fmt::print("; another context current {:.2f}", cost(false));
    set_current(asked, asked.primary);
  }
  fmt::print("\n");
}

/// Tests two contexts on two streams at once, another thread, and a graph. Then prints the times of calls.
void ask_streams(Asked& asked, const kernels_function& function, const kernels_variant& row,
                 const Arguments& arguments, const Bytes& wanted) {
  const ExportedFunctions& library = asked.library.functions();
  library.set_stream(asked.first.get(), asked.one.handle());
  library.set_stream(asked.second.get(), asked.two.handle());
  const CudaMemory& output = arguments.memory[arguments.output];
  CudaMemory other;
  expect(asked, other.allocate(*asked.driver, output.bytes()));
  std::vector<void*> with_other = arguments.addresses;
  with_other[arguments.output] = reinterpret_cast<void*>(other.address());
  const auto call_first = [&] { call(asked, asked.first, function, arguments.addresses); };

  poison(asked, output);
  poison(asked, other);
  for (int i = 0; i < 40; ++i) {
    call_first();
    call(asked, asked.second, function, with_other);
  }
  expect(asked, asked.one.wait());
  expect(asked, asked.two.wait());
  expect_same(asked, wanted, output, "the first of two contexts at once");
  expect_same(asked, wanted, other, "the second of two contexts at once");

  poison(asked, output);
  std::thread(call_first).join();  // no context of CUDA is current there
  expect(asked, asked.one.wait());
  expect_same(asked, wanted, output, "called by another thread");

  constexpr int kCalls = 20;
  poison(asked, output);
  CudaGraph graph;
  expect(asked, asked.one.begin_capture());
  for (int i = 0; i < kCalls; ++i) call_first();
  expect(asked, asked.one.end_capture(graph));
  for (int i = 0; i < 3; ++i) expect(asked, asked.one.launch(graph));
  expect(asked, asked.one.wait());
  expect_same(asked, wanted, output, "a captured graph");

  const double streamed = timed_us(asked, asked.one, kCalls, [&] {
    for (int i = 0; i < kCalls; ++i) call_first();
  });
  const double replayed = timed_us(asked, asked.one, kCalls, [&] { expect(asked, asked.one.launch(graph)); });
  fmt::print("    us a call: tuned {:.2f}, on a stream {:.2f}, in a graph {:.2f}\n", row.time_us, streamed,
             replayed);
  if (row.time_us < 12) print_host_costs(asked, function, arguments, other);
  library.set_stream(asked.first.get(), nullptr);
  library.set_stream(asked.second.get(), nullptr);
}

/// Tests the context of a CUDA context of its own, called while the primary one is current.
void ask_own(Asked& asked, const kernels_function& function, const Arguments& arguments,
             const Bytes& wanted) {
  set_current(asked, asked.own);
  Arguments there;
  there.output = arguments.output;
  for (const CudaMemory& memory : arguments.memory) {
    CudaMemory& copy = there.memory.emplace_back();
    expect(asked, copy.allocate(*asked.driver, memory.bytes()));
    there.addresses.push_back(reinterpret_cast<void*>(copy.address()));
    expect(asked, copy.write(0, bytes_of(asked, memory).data(), memory.bytes()));
  }
  const CudaMemory& output = there.memory[there.output];
  poison(asked, output);
  set_current(asked, asked.primary);
  call(asked, asked.in_own, function, there.addresses);
  expect_current(asked, asked.primary, "a call");
  set_current(asked, asked.own);
  wait_for_all(asked);
  expect_same(asked, wanted, output, "in a context of its own");
  there.memory.clear();
  set_current(asked, asked.primary);
}

void ask(Asked& asked, const kernels_function& function) {
  kernels_variant row = {};
  asked.library.expect(asked.library.functions().describe(asked.first.get(), &function, 0, &row),
                       asked.first);
  fmt::print("  {}\n", function.workload);
  const Arguments arguments = arguments_for(asked, function);
  const CudaMemory& output = arguments.memory[arguments.output];
  poison(asked, output);
  call(asked, asked.first, function, arguments.addresses);
  wait_for_all(asked);
  const Bytes wanted = bytes_of(asked, output);
  ask_streams(asked, function, row, arguments, wanted);
  if (asked.in_own) ask_own(asked, function, arguments, wanted);
}

/// Prints the time of cuLaunchKernelEx with a kernel that does nothing, to compare with a function's call.
void print_bare_launch(const Asked& asked) {
  constexpr const char* kNothing =
      ".version 7.8\n.target sm_80\n.address_size 64\n"
      ".visible .entry nothing(.param .u64 a, .param .u64 b, .param .u64 c)\n{ ret; }\n";
  CudaKernel nothing;
  expect(asked, nothing.load(*asked.driver, kNothing, "nothing"));
  CudaMemory memory;  // a stand-in runs another kernel under this name
  expect(asked, memory.allocate(*asked.driver, 1 << 20));
  CudaAddress address = memory.address();
  std::array<void*, 3> parameters = {&address, &address, &address};
  ir::Launch shape;
  shape.grid = {132, 1, 1}, shape.block = {128, 1, 1};
  const double us = host_us(asked, asked.one,
                            [&](int) { expect(asked, asked.one.launch(nothing, shape, parameters.data())); });
  fmt::print("  host us a launch of an empty kernel: {:.2f}\n", us);
}

/// Makes contexts where no CUDA context is current, where the primary one is, and in one of CUDA's own.
void make_contexts(Asked& asked) {
  int device = 0;
  const CudaDriver::Functions& cuda = asked.driver->functions();
  expect(asked, {cuda.device_get(&device, 0), "cuDeviceGet"});
  const double begun = now_us();
  expect(asked, {cuda.context_retain(&asked.primary, device), "cuDevicePrimaryCtxRetain"});
  fmt::print("  the driver's primary context: {:.1f} ms\n", (now_us() - begun) / 1000);
  set_current(asked, nullptr);
  asked.first = made(asked, "without a current one, the first");
  expect_current(asked, nullptr, "making a context");
  asked.second = made(asked, "without a current one, the second");
  set_current(asked, asked.primary);
  made(asked, "in the primary one");
  if (asked.contexts.create != nullptr) {
    expect(asked, {asked.contexts.create(&asked.own, 0, device), "cuCtxCreate"});
    asked.in_own = made(asked, "in one of its own");
    set_current(asked, asked.primary);
  }
  expect(asked, asked.one.open(*asked.driver));
  expect(asked, asked.two.open(*asked.driver));
}

int failures_of(const std::string& path) {
  Asked asked(path);
  std::string why_not;
  asked.driver = CudaDriver::open("libcuda.so.1", why_not);
  if (!asked.driver) throw std::runtime_error(why_not);
  const std::string name = "libcuda.so.1";
  asked.contexts.find(load_library({&name, 1}).handle);
  fmt::print("{}\n", asked.library.file());
  make_contexts(asked);
  int functions = 0;
  for (std::uint32_t i = 0; const kernels_function* function = asked.library.functions().at(i); ++i) {
    if (function->target != KERNELS_CUDA) continue;
    ++functions;
    try {
      ask(asked, *function);
    } catch (const std::exception& error) {
      fail(asked, error.what());
    }
  }
  print_bare_launch(asked);
  fmt::print("  {} functions, {} failures\n", functions, asked.failures);
  return asked.failures;
}

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc != 2) throw std::runtime_error("usage: gpu_context LIBRARY");
  return failures_of(argv[1]) == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "gpu_context: {}\n", error.what());
  return 1;
}
