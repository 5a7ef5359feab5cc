// Tests of the folders that `lehr export`, `apply` and `optimize` write over: only folders of their own, and
// a refusal comes before any work.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support.h"
#include "tests/network/graph_text.h"

namespace lehr::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

constexpr const char* kProduct = "gemm m=16 n=8 k=24 b=f32:row:constant";

/// Expects one sentence with `why`, and exit code 1.
void expect_refused(const Ran& ran, const std::string& why) {
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(why));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
}

// There is no log, no bundle and no network: the folder is refused first.
TEST(Folders, WithFilesOfAUserAreRefusedBeforeAnyWork) {
  const Scratch scratch;
  write(scratch.path() / "k/notes.txt", "mine");
  write(scratch.path() / "app/model.onnx", "mine");
  write(scratch.path() / "app/lehr_folder", "");
  fs::create_symlink("app/model.onnx", scratch.path() / "link.onnx");
  fs::create_directory_symlink("app", scratch.path() / "other");
  const auto expect = [&](const std::string& line, const std::string& why) {
    expect_refused(run_lehr(words(line), scratch.path()), why);
  };
  for (const std::string line :
       {"export --db none.db --out k", "export --db none.db --out k/ --json",
        "export --db none.db --out ./k/../k --remeasure", "apply none.onnx --bundle none --out k",
        "optimize none.onnx --db none.db --out k"}) {
    expect(line, "remove this one, or pass --replace if lehr wrote it");
    expect(line + " --replace", "has no file lehr_folder");
  }
  expect("export --db none.db --out other --replace", "other is a link");
  expect("export --db app/none.db --out app --replace", "app/none.db lies in it");
  expect("apply none.onnx --bundle app/kernels --out app --replace", "app/kernels lies in it");
  for (const char* file : {"app/model.onnx", "link.onnx", "other/model.onnx", "app/../app/model.onnx"})
    for (const char* command :
         {"apply {} --bundle none --out app/ --replace", "optimize {} --out app --replace"})
      expect(fmt::format(fmt::runtime(command), file), std::string(", ") + file + " lies in it");
  expect_refused(run_lehr(words("export --db ../none.db --out . --replace"), scratch.path() / "app"),
                 "is the current folder");
  EXPECT_EQ(read(scratch.path() / "k/notes.txt"), "mine");
  EXPECT_EQ(read(scratch.path() / "app/model.onnx"), "mine");
  EXPECT_FALSE(fs::exists(scratch.path() / "none.db"));
}

/// Returns a compiler that makes empty libraries at once: nobody loads the plug-in here.
std::string quick_compiler(const fs::path& folder) {
  const fs::path path = folder / "cxx";
  write(path, R"(#!/bin/sh
previous=
for word; do
  [ "$previous" = -o ] && out=$word
  previous=$word
done
case " $* " in *" -shared "*) exec c++ -shared -o "$out" -x c++ /dev/null ;; esac
exec c++ "$@"
)");
  fs::permissions(path, fs::perms::owner_all);
  return "CXX=" + path.string();
}

TEST(Folders, AreAppliedAgainAndSurviveAKill) {
  const Scratch scratch;
  std::vector<std::string> environment = kept_compiler();
  const auto lehr = [&](const std::string& line) {
    return run_lehr(words(line), scratch.path(), {}, environment);
  };
  const fs::path app = scratch.path() / "app";
  write(scratch.path() / "net.onnx", onnx_bytes(R"(
    input x f32 16x24
    constant w f32 24x8
    y = MatMul(x, w)
    output y
  )"));
  record_log(scratch.path() / "log.db", kProduct, 1);
  for (int times = 0; times < 2; ++times)
    parsed(lehr("export --db log.db --target cpu --out k --json --replace"));
  environment = {quick_compiler(scratch.path())};
  const std::string apply = "apply net.onnx --bundle k --no-engine --json --out app --replace";
  const nlohmann::json applied = parsed(lehr(apply));
  EXPECT_EQ(applied["replaced"], 1);
  EXPECT_EQ(applied["threads"], 1) << "those of the bundle";
  parsed(lehr(apply));

  const auto draft = [&]() -> fs::path {
    for (const fs::directory_entry& entry : fs::directory_iterator(scratch.path()))
      if (entry.path().extension() == ".tmp") return entry.path();
    return {};
  };
  for (int tries = 0; tries < 20 && draft().empty(); ++tries)
    run_lehr(
        words(apply), scratch.path(),
        [&](int pid, const std::string&) {
          while (draft().empty() && kill(pid, 0) == 0 &&
                 fs::exists(fs::path("/proc") / std::to_string(pid) / "exe")) {
          }
          kill(pid, SIGKILL);
        },
        environment);
  EXPECT_FALSE(draft().empty());
  parsed(lehr(apply));
  EXPECT_EQ(draft(), "");

  // The folder's owner has put a file into it. Where nothing was written that file stays, with the rest.
  write(app / "labels.txt", "mine");
  EXPECT_NE(lehr(apply + " --feed none.npz").code, 0);
  EXPECT_EQ(read(app / "labels.txt"), "mine");
  parsed(lehr(apply));
  EXPECT_FALSE(fs::exists(app / "labels.txt")) << "the folder is replaced as a whole";
}

TEST(Folders, AreNotAppliedForThreadsThatABundleHasNoKernelFor) {
  const Scratch scratch;
  const auto lehr = [&](const std::string& line) {
    return run_lehr(words(line), scratch.path(), {}, kept_compiler());
  };
  write(scratch.path() / "net.onnx", onnx_bytes(R"(
    input x f32 16x24
    constant w f32 24x8
    y = MatMul(x, w)
    output y
  )"));
  const auto export_for = [&](int threads) {
    record_log(scratch.path() / "log.db", kProduct, 1, threads);
    parsed(lehr("export --db log.db --target cpu --out k --json --replace"));
  };
  export_for(1);
  const std::string apply = "apply net.onnx --bundle k --no-engine --out app --threads 1000";
  expect_refused(
      lehr(apply),
      "k has no kernel for 1000 threads, but for 1: say that with --threads, or tune and export for 1000");
  export_for(2);
  expect_refused(lehr(apply), "but for 1, 2: ");
  EXPECT_FALSE(fs::exists(scratch.path() / "app"));
}

}  // namespace
}  // namespace lehr::testing
