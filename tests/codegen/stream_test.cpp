// The emitted texts that take interleaved streams apart and put them together again, compiled and run.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "codegen/emit.h"
#include "ir/verify.h"

namespace lehr {
namespace {

using namespace ir;

/// Takes `in` apart into `apart`, stream after stream, and puts it together again into `again`.
Kernel kernel_of(int streams, int lanes) {
  KernelBuilder b;
  const std::int64_t count = streams * lanes;
  b.kernel.name = fmt::format("shuffle{}_{}", streams, lanes);
  b.kernel.target = Target::kCpu;
  const BufferId in = b.param("in", DType::kF32, count, Direction::kIn);
  const BufferId apart = b.param("apart", DType::kF32, count, Direction::kOut);
  const BufferId again = b.param("again", DType::kF32, count, Direction::kOut);
  const BufferId held = b.buffer("held", DType::kF32, Scope::kRegister, count, lanes);
  b.kernel.body = block(Alloc{held},
                        Intrinsic{fmt::format("deinterleave{}_{}", streams, lanes),
                                  {Touch{held, integer(0), count, true}, Touch{in, integer(0), count, false}},
                                  {},
                                  0});
  for (int stream = 0; stream < streams; ++stream)
    b.kernel.body.push_back(Store{apart, integer(stream * lanes), load(held, integer(stream * lanes), lanes),
                                  lanes, std::nullopt});
  b.kernel.body.push_back(
      Intrinsic{fmt::format("interleave{}_{}", streams, lanes),
                {Touch{again, integer(0), count, true}, Touch{held, integer(0), count, false}},
                {},
                0});
  return std::move(b.kernel);
}

TEST(Streams, AreTakenApartAndPutTogether) {
  char dir_name[] = "/tmp/lehr_stream_test_XXXXXX";
  const std::filesystem::path dir = ::mkdtemp(dir_name);
  std::ofstream text(dir / "all.cpp");
  for (const int streams : {2, 4})
    for (const int lanes : {4, 8, 16}) {
      const Kernel kernel = kernel_of(streams, lanes);
      ASSERT_EQ(why_malformed(kernel).value_or(""), "");
      text << "namespace of_" << kernel.name << " {\n" << emit(kernel).text << "}\n";
    }
  text.close();
  const std::string object = (dir / "all.so").string();
  const std::string command = fmt::format("g++ -O2 -march=native -nostdlib -shared -fPIC -w -o {} {}", object,
                                          (dir / "all.cpp").string());
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  void* library = ::dlopen(object.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  for (const int streams : {2, 4})
    for (const int lanes : {4, 8, 16}) {
      SCOPED_TRACE(fmt::format("{} streams, {} lanes", streams, lanes));
      auto entry = reinterpret_cast<void (*)(void* const*, void*, long)>(
          ::dlsym(library, kernel_of(streams, lanes).name.c_str()));
      ASSERT_NE(entry, nullptr);
      const auto count = static_cast<std::size_t>(streams * lanes);
      std::vector<float> in(count), apart(count, -1), again(count, -1);
      std::iota(in.begin(), in.end(), 0.0f);
      void* const params[] = {in.data(), apart.data(), again.data()};
      entry(params, nullptr, 0);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t stream = i / static_cast<std::size_t>(lanes),
                          lane = i % static_cast<std::size_t>(lanes);
        EXPECT_EQ(apart[i], in[lane * static_cast<std::size_t>(streams) + stream]) << i;
      }
      EXPECT_EQ(again, in);
    }
  ::dlclose(library);
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace lehr
