// Tests that folders are written whole or not at all, replace only folders of our own, and touch nothing
// else.
#include "deploy/folder_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "base/error.h"
#include "measure/system/temp_dir.h"

namespace {

enum class Then { kFail, kFailForGood, kDie };

/// The number of the call below that fails, counted from 0; -1: each call works.
int steps_left = -1;
Then then = Then::kFail;

bool ends_here() {
  if (steps_left < 0 || steps_left-- > 0) return false;
  if (then == Then::kDie) raise(SIGKILL);
  if (then == Then::kFailForGood) steps_left = 0;
  errno = EIO;
  return true;
}

}  // namespace

// The libraries of the product call these.
extern "C" {
int mkdir(const char* path, mode_t mode) noexcept {
  return ends_here() ? -1 : mkdirat(AT_FDCWD, path, mode);
}
int rename(const char* from, const char* to) noexcept {
  return ends_here() ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}
int fsync(int file) {
  return ends_here() ? -1 : static_cast<int>(syscall(SYS_fsync, file));
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  if (then == Then::kDie && ends_here()) return -1;
  return static_cast<int>(syscall(SYS_unlinkat, folder, path, flags));
}
}

namespace lehr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

using Contents = std::map<std::string, std::string>;

/// Returns every file below a folder, links as what they lead to, and folders that are empty.
Contents all_of(const fs::path& folder) {
  Contents all;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().lexically_relative(folder).string();
    if (entry.is_symlink())
      all[path] = "-> " + fs::read_symlink(entry).string();
    else if (!entry.is_directory())
      all[path] = entry.is_regular_file() ? read(entry) : "a pipe";
    else if (fs::is_empty(entry))
      all[path] = "/";
  }
  return all;
}

/// A location for folders, and the files that are written.
class FolderFiles : public ::testing::Test {
 protected:
  const TempDir directory_;
  const fs::path root_ = fs::path(directory_.path()) / "root";
  const std::string folder_ = root_ / "k";

  void SetUp() override { fs::create_directory(root_); }

  static std::vector<FolderFile> files(const std::string& text) {
    return {{"kernels/a.so", text}, {"manifest.json", text}, {"deep/in/b", text}};
  }
  static Contents contents(const std::string& text) {
    Contents all;
    for (const FolderFile& file : files(text)) all[file.path] = text;
    all[kFolderMarker] = "lehr wrote this folder, and with --replace it removes all that is in it.\n";
    return all;
  }
  void write_ours(const std::string& path, const std::string& text = "old", bool replace = false) {
    write_folder(path, files(text), replace);
  }

  /// Returns the sentence that ends `call`, or "". Nothing has changed then.
  std::string refused(ErrorKind kind, const std::function<void()>& call) {
    const Contents before = all_of(root_);
    try {
      call();
    } catch (const Error& error) {
      steps_left = -1;
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_EQ(all_of(root_), before) << error.what();
      return error.what();
    }
    return "";
  }
  /// Expects that check_out_folder() and write_folder() refuse the path with one sentence.
  void expect_refused(const std::string& path, bool replace, const std::string& why) {
    const std::string checked = refused(ErrorKind::kUser, [&] { check_out_folder(path, replace); });
    EXPECT_THAT(checked, AllOf(HasSubstr(path), HasSubstr(why))) << path;
    EXPECT_EQ(refused(ErrorKind::kUser, [&] { write_ours(path, "new", replace); }), checked);
  }
  std::vector<std::string> drafts() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(root_))
      if (entry.path().extension() == ".tmp") names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
};

TEST_F(FolderFiles, AreWrittenWhereNothingOrAnEmptyFolderIs) {
  for (const bool replace : {false, true}) {
    for (const std::string path : {"k", "k2/", "./k3//", "empty", "empty2/.", "empty3/../empty3"}) {
      if (path.starts_with("empty")) fs::create_directory(root_ / path.substr(0, path.find('/')));
      check_out_folder(root_ / path, replace);
      write_ours(root_ / path, "old", replace);
      EXPECT_EQ(all_of(root_ / path), contents("old")) << path;
      fs::remove_all(fs::canonical(root_ / path));
    }
  }
  EXPECT_THAT(all_of(root_), IsEmpty());
}

TEST_F(FolderFiles, AreReplacedAsAWholeWhereThatIsSaid) {
  write_ours(folder_);
  write(folder_ + "/notes.txt", "somebody else's");
  fs::create_directory_symlink("..", folder_ + "/up");
  expect_refused(folder_, false, "not empty: name another folder, remove this one, or pass --replace");
  fs::create_directory_symlink("..", root_ / "above");
  const fs::path here = fs::current_path();
  fs::current_path(root_);
  for (const char* path : {"k", "k/", "k//", "k/.", "./k", "k/../k", "k/deep/in/../../../k", "above/root/k"})
    for (const fs::path& given : {fs::path(path), root_ / path}) {
      check_out_folder(given, true);
      write_ours(given, path, true);
      EXPECT_EQ(all_of(folder_), contents(path));
    }
  fs::current_path(here);
  EXPECT_THAT(drafts(), IsEmpty());
}

TEST_F(FolderFiles, TakeThePlaceOfNothingElse) {
  write_ours(folder_);
  write(root_ / "file", "x");
  write(root_ / "mine/notes.txt", "x");
  write(root_ / "hidden/.git/config", "x");
  fs::create_directories(root_ / "by_name" / kFolderMarker);
  fs::create_directory(root_ / "by_link");
  fs::create_symlink(fs::path("../k") / kFolderMarker, root_ / "by_link" / kFolderMarker);
  fs::create_directory(root_ / "empty");
  fs::create_directory_symlink("k", root_ / "link");
  fs::create_directory_symlink("empty", root_ / "link_to_empty");
  fs::create_directory_symlink("nowhere", root_ / "dangling");
  mkfifo((root_ / "pipe").c_str(), 0600);
  for (const bool replace : {false, true}) {
    for (const char* name : {"file", "pipe"}) expect_refused(root_ / name, replace, "is no folder");
    for (const char* name : {"link", "link/", "link_to_empty", "dangling"})
      expect_refused(root_ / name, replace, "is a link: ");
    for (const char* name : {"mine", "hidden", "by_name", "by_link"})
      expect_refused(root_ / name, replace,
                     replace ? "has no file lehr_folder, which lehr leaves" : "is not empty: ");
    expect_refused("/proc", replace, "is a mount point");
    for (const char* path : {".", "/", "..", "./.", "../."})
      expect_refused(path, replace, "is the current folder, or that is in it");
  }
}

TEST_F(FolderFiles, StayWhereSomebodyWorksInThem) {
  write_ours(folder_);
  fs::create_directory(root_ / "empty");
  const fs::path here = fs::current_path();
  for (const auto& [from, path] : {std::pair<fs::path, std::string>{folder_, "."},
                                   {folder_, "../k"},
                                   {folder_, folder_},
                                   {folder_ + "/deep/in", "../.."},
                                   {folder_ + "/deep", folder_},
                                   {root_ / "empty", "."},
                                   {root_ / "empty", root_ / "empty"}}) {
    fs::current_path(from);
    expect_refused(path, true, "is the current folder, or that is in it");
  }
  fs::current_path(here);
}

TEST_F(FolderFiles, HoldNothingThatIsRead) {
  write_ours(folder_);
  write(folder_ + "/net.onnx", "x");
  fs::create_symlink("k/net.onnx", root_ / "link.onnx");
  fs::create_directory_symlink("k", root_ / "other");
  write(root_ / "net.onnx", "x");
  check_out_folder(folder_, true, {"", root_ / "net.onnx"});
  for (const char* input : {"k/net.onnx", "link.onnx", "other/net.onnx", "k/../k/net.onnx", "k"})
    EXPECT_THAT(refused(ErrorKind::kUser, [&] { check_out_folder(folder_, true, {root_ / input}); }),
                HasSubstr((root_ / input).string() + " lies in it: name another folder"));
  // An input in a folder that is still to be made is refused, too.
  EXPECT_NE(refused(ErrorKind::kUser, [&] { check_out_folder(root_ / "new", false, {root_ / "new/l.db"}); }),
            "");
}

TEST_F(FolderFiles, AreCopiedFromWhereTheyLie) {
  write(root_ / "source", "of four");
  mkfifo((root_ / "pipe").c_str(), 0600);
  const auto with = [&](const fs::path& source) {
    return std::vector<FolderFile>{{"a", "text"}, {"deep/copy", "", source}};
  };
  write_folder(folder_, with(root_ / "source"));
  EXPECT_EQ(read(folder_ + "/deep/copy"), "of four");
  EXPECT_EQ(fs::hard_link_count(folder_ + "/deep/copy"), 1u);
  for (const auto& [source, reason] : {std::pair<fs::path, const char*>{root_ / "pipe", "is a pipe and no"},
                                       {root_, "is a directory and no file"},
                                       {root_ / "nowhere", "cannot be read"},
                                       {folder_ + "/deep/copy", "lies in it"}})
    EXPECT_THAT(refused(ErrorKind::kUser, [&] { write_folder(folder_, with(source), true); }),
                HasSubstr(reason));
}

TEST_F(FolderFiles, NeedAFolderToLieIn) {
  write(root_ / "file", "x");
  for (const char* path : {"none/k", "file/k"}) {
    const auto check = [&] { check_out_folder(root_ / path, false); };
    EXPECT_THAT(refused(ErrorKind::kEnvironment, check), HasSubstr("k cannot be written: "));
  }
}

TEST_F(FolderFiles, StayAsTheyWereWhereAStepFails) {
  write(root_ / "net.onnx", "x");
  then = Then::kFail;
  std::vector<int> steps;
  for (const bool replace : {false, true})
    for (int step = 0;; ++step) {
      const std::string said = refused(ErrorKind::kEnvironment, [&] {
        steps_left = step;
        write_ours(folder_, replace ? "new" : "old", replace);
        steps_left = -1;
      });
      if (said.empty()) {
        steps.push_back(step);
        break;
      }
      EXPECT_THAT(said, HasSubstr("Input/output error"));
    }
  EXPECT_GT(steps[0], 10) << "folders made, files and folders flushed, one renamed";
  EXPECT_EQ(steps[1], steps[0] + 1) << "the old one";
  EXPECT_EQ(all_of(folder_), contents("new"));
  EXPECT_THAT(drafts(), IsEmpty());
}

// A file that cannot be put back is kept, and the sentence names it.
TEST_F(FolderFiles, AreNotLostWhereAllFailsFromAStepOn) {
  write_ours(folder_);
  const std::string kept = fmt::format("{}.{}.tmp/old", folder_, getpid());
  std::vector<int> moved;
  int step = 0;
  then = Then::kFailForGood;
  for (bool failed = true; failed; ++step) try {
      steps_left = step;
      write_ours(folder_, "new", true);
      failed = false;
      steps_left = -1;
    } catch (const Error& error) {
      steps_left = -1;
      if (!fs::exists(folder_)) {
        moved.push_back(step);
        EXPECT_THAT(error.what(), HasSubstr("the old one is " + kept));
        fs::rename(kept, folder_);
        fs::remove_all(fs::path(kept).parent_path());
      }
      EXPECT_EQ(all_of(folder_), contents("old"));
      EXPECT_THAT(drafts(), IsEmpty()) << step;
    }
  EXPECT_THAT(moved, ElementsAre(step - 2)) << "the last that fails";
  EXPECT_EQ(all_of(folder_), contents("new"));
}

TEST_F(FolderFiles, StayAsTheyWereWhereTheDiskIsFull) {
  write_ours(folder_);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little = {1000, before.rlim_max};
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  write(root_ / "large", std::string(100'000, 'x'));
  for (const FolderFile& large :
       {FolderFile{"large", std::string(100'000, 'x')}, FolderFile{"large", "", root_ / "large"}}) {
    const auto fill = [&] {
      setrlimit(RLIMIT_FSIZE, &little);
      write_folder(folder_, std::vector<FolderFile>{{"a", "new"}, large}, true);
    };
    try {
      fill();
      ADD_FAILURE() << "it is written";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
      EXPECT_THAT(error.what(), HasSubstr("large cannot be written: "));
    }
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(all_of(folder_), contents("old"));
    EXPECT_THAT(drafts(), IsEmpty());
  }
  std::signal(SIGXFSZ, ignored);
}

// A writer that is killed at any step leaves the old folder or the new one, whole. The next writer removes
// its draft.
TEST_F(FolderFiles, AreWholeWhereTheirWriterIsKilled) {
  then = Then::kDie;
  int absent = 0, step = 0;
  for (bool killed = true; killed; ++step) {
    write_ours(folder_, "old", true);
    const pid_t child = fork();
    if (child == 0) {
      steps_left = step;
      write_ours(folder_, "new", true);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    killed = WIFSIGNALED(status);
    const bool there = fs::exists(folder_);
    const Contents found = all_of(there ? folder_ : fmt::format("{}.{}.tmp/old", folder_, child));
    EXPECT_TRUE(found == contents("old") || found == contents("new")) << step;
    absent += there ? 0 : 1;
    write_ours(folder_, "next", true);
    EXPECT_EQ(all_of(folder_), contents("next"));
    EXPECT_THAT(drafts(), IsEmpty()) << step;
  }
  EXPECT_EQ(absent, 1) << "between two renames";
  EXPECT_GT(step, 10);
}

TEST_F(FolderFiles, OfKilledProcessesGoAndAllElseStays) {
  const auto draft = [&](const char* name, const char* marker = "lehr_draft") {
    write(root_ / name / "new/kernels/a.so", "half");
    write(root_ / name / marker, "");
    return root_ / name;
  };
  draft("k.1.tmp");
  draft("k.4194304.tmp");
  fs::create_directory(root_ / "k.10.tmp");
  const fs::path live = draft("k.2.tmp");
  const int lock = open(live.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  draft("k.3.tmp", "mine");         // somebody's
  draft("k.4.tmp", kFolderMarker);  // what `--out k.4.tmp` wrote
  draft("k.x5.tmp");                // no process's number
  draft("k.05.tmp");
  draft("k..tmp");
  draft("k.tmp");
  draft("k2.6.tmp");  // another folder's
  write(root_ / "k.7.tmp", "a file");
  fs::create_directory_symlink("k2.6.tmp", root_ / "k.8.tmp");
  write(root_ / "k.9.tmp/mine", "mine");
  fs::create_symlink("../k2.6.tmp/lehr_draft", root_ / "k.9.tmp/lehr_draft");
  Contents before = all_of(root_);
  std::erase_if(before, [](const auto& each) {
    const std::string draft = each.first.substr(0, each.first.find('/'));
    return draft == "k.1.tmp" || draft == "k.4194304.tmp" || draft == "k.10.tmp";
  });
  write_ours(folder_);
  fs::remove_all(folder_);
  EXPECT_EQ(all_of(root_), before);
  close(lock);
  write_ours(folder_);
  EXPECT_FALSE(fs::exists(live));
}

TEST_F(FolderFiles, AreWrittenByTwoProcessesAtOnce) {
  write_ours(folder_);
  pid_t children[2];
  for (pid_t& child : children) {
    child = fork();
    if (child != 0) continue;
    for (int i = 0; i < 100; ++i) try {
        write_ours(folder_, "new", true);
      } catch (const Error&) {  // the other one was there first
      }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
  }
  EXPECT_EQ(all_of(folder_), contents("new"));
  write_ours(folder_, "next", true);
  EXPECT_EQ(all_of(folder_), contents("next"));
  EXPECT_THAT(drafts(), IsEmpty());
}

}  // namespace
}  // namespace lehr
