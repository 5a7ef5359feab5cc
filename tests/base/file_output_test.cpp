// Tests of what may stand where a file is to be written: files with modes, links, pipes, devices, folders.
#include "base/file_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileOutput : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/lehr_file_output_XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string in(const std::string& name) const { return (folder_ / name).string(); }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static std::string refusal(const std::string& path) {
    try {
      write_file(path, "new");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
      return error.what();
    }
    return "written";
  }
  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

// In a container each process may have the same id.
TEST_F(FileOutput, IsNotStoppedByWhatAProcessThatWasKilledLeft) {
  put(in("file." + std::to_string(getpid()) + ".tmp"), "left");
  EXPECT_EQ(refusal(in("file")), "written");
}

TEST_F(FileOutput, ReplacesAFileAndKeepsItsMode) {
  const mode_t mask = umask(022);
  write_file(in("new"), "one");
  umask(mask);
  EXPECT_EQ(fs::status(in("new")).permissions(), fs::perms(0644));
  put(in("private"), "old");
  chmod(in("private").c_str(), 0600);
  write_file(in("private"), std::string("a\0b", 3));
  EXPECT_EQ(text_of(in("private")), std::string("a\0b", 3));
  EXPECT_EQ(fs::status(in("private")).permissions(), fs::perms(0600));
  EXPECT_EQ(entries(), 2);
}

TEST_F(FileOutput, WritesBehindLinks) {
  put(in("real"), "old");
  fs::create_symlink("real", in("link"));
  fs::create_symlink(in("link"), in("second"));
  fs::create_symlink("not there", in("dangling"));
  fs::create_symlink("loop", in("loop"));
  write_file(in("second"), "new");
  EXPECT_TRUE(fs::is_symlink(in("second")));
  EXPECT_TRUE(fs::is_symlink(in("link")));
  EXPECT_EQ(text_of(in("real")), "new");
  write_file(in("dangling"), "new");
  EXPECT_EQ(text_of(in("not there")), "new");
  EXPECT_THAT(refusal(in("loop")), HasSubstr("loop cannot be followed: Too many levels of symbolic links"));
}

TEST_F(FileOutput, WritesThroughPipesAndDevices) {
  mkfifo(in("pipe").c_str(), 0600);
  EXPECT_THAT(refusal(in("pipe")), HasSubstr("pipe cannot be written: nobody reads this pipe"));
  const int reader = open(in("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  write_file(in("pipe"), "new");
  char bytes[8] = {};
  EXPECT_EQ(read(reader, bytes, sizeof bytes), 3);
  EXPECT_STREQ(bytes, "new");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(in("pipe")));
  write_file("/dev/null", "new");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (fs::is_character_file("/dev/full")) {
    EXPECT_EQ(refusal("/dev/full"), "/dev/full cannot be written: No space left on device");
  }
}

TEST_F(FileOutput, LeavesWhatItCannotReplace) {
  fs::create_directory(in("folder"));
  EXPECT_THAT(refusal(in("folder")), HasSubstr("folder cannot be replaced: it is a folder, and no file"));
  EXPECT_THAT(refusal(in("no/such/folder")), HasSubstr("cannot be created: No such file or directory"));
  put(in("old"), "old");
  signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit two = {2, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &two);
  EXPECT_THAT(refusal(in("old")), HasSubstr("old cannot be written: File too large"));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(text_of(in("old")), "old");
  EXPECT_EQ(entries(), 2);
}

}  // namespace
}  // namespace lehr
