// Folders that replace older ones: nothing goes with the old one but what was written there, as it was
// written.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "base/error.h"
#include "deploy/applied_folder.h"
#include "deploy/bundle_folder.h"
#include "deploy/folder_files.h"
#include "deploy/shipped.h"
#include "measure/system/temp_dir.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kManifest =
    R"({"format": "lehr-bundle-folder", "files": {"kernels/a.so": "0"}, "kernels": [{"source": "sources/a.cpp"}]})";

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Every file below a folder, links as what they lead to, and folders that are empty.
std::map<std::string, std::string> all_of(const fs::path& folder) {
  std::map<std::string, std::string> all;
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

/// A place for folders, and what they are written with.
class FolderFiles : public ::testing::Test {
 protected:
  const TempDir directory_;
  const fs::path root_ = directory_.path();
  const std::string bundle_ = root_ / "bundle", applied_ = root_ / "applied";

  void write_bundle(const std::string& path, const std::string& text = "text") {
    write_folder(path,
                 std::vector<FolderFile>{{"kernels/a.so", text},
                                         {"sources/a.cpp", text},
                                         {"python/lehr_bundle.py", text},
                                         {"python/pyproject.toml", text},
                                         {"manifest.json", kManifest}},
                 &bundle_own_files);
  }
  void write_applied(const std::string& path, const std::string& text = "text") {
    write_folder(path,
                 std::vector<FolderFile>{{"model.onnx", text},
                                         {"weights/w.bin", text},
                                         {"kernels/a.so", text},
                                         {"kernels/manifest.json", kManifest}},
                 &applied_own_files);
  }

  /// The sentence that refuses to write to `path`, or "". All that is there stays if it is refused.
  std::string refused(const std::string& path, const std::function<void()>& again) {
    const auto before = all_of(root_);
    try {
      again();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser) << error.what();
      EXPECT_EQ(all_of(root_), before) << path;
      return error.what();
    }
    return "";
  }
  std::string refused_bundle(const std::string& path) {
    return refused(path, [&] { write_bundle(path, "new"); });
  }
  std::string refused_applied(const std::string& path) {
    return refused(path, [&] { write_applied(path, "new"); });
  }
  std::vector<std::string> drafts() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(root_))
      if (entry.path().extension() == ".tmp") names.push_back(entry.path().filename());
    return names;
  }
};

TEST_F(FolderFiles, AreReplacedByAnotherBundleWithAllThatPythonLeft) {
  write_bundle(bundle_);
  write(bundle_ + "/python/__pycache__/lehr_bundle.cpython-311.pyc", "x");
  write(bundle_ + "/python/lehr_bundle.egg-info/PKG-INFO", "x");
  write(bundle_ + "/python/build/lib/lehr_bundle.py", "x");
  fs::permissions(bundle_, fs::perms::owner_all);
  for (const char* path : {"bundle", "bundle/", "bundle//", "bundle/.", "./bundle", "bundle/../bundle"})
    EXPECT_EQ(refused_bundle(root_ / path), "") << path;
  EXPECT_EQ(read(bundle_ + "/kernels/a.so"), "new");
  EXPECT_FALSE(fs::exists(bundle_ + "/python/build"));
  EXPECT_EQ(fs::status(bundle_).permissions(), fs::perms::owner_all);
  EXPECT_EQ(all_of(bundle_).size(), 6u);  // and the list
  write_applied(applied_);
  EXPECT_EQ(refused_applied(applied_), "");
  EXPECT_EQ(read(applied_ + "/weights/w.bin"), "new");
  EXPECT_THAT(drafts(), IsEmpty());
}

TEST_F(FolderFiles, StayWhereSomethingElseLiesAmongThem) {
  const std::vector<std::pair<std::string, std::function<void(const fs::path&)>>> ways = {
      {"'net.onnx'", [](const fs::path& at) { write(at / "net.onnx", "mine"); }},
      {"'.hidden'", [](const fs::path& at) { write(at / ".hidden", "mine"); }},
      {"'kernels/mine.so'", [](const fs::path& at) { write(at / "kernels/mine.so", "mine"); }},
      {"'notes/'", [](const fs::path& at) { write(at / "notes/deep/in/a.txt", "mine"); }},
      {"'empty/'", [](const fs::path& at) { fs::create_directory(at / "empty"); }},
      {"'build/'", [](const fs::path& at) { write(at / "build/a.o", "mine"); }},
      {"'kernels/__pycache__/'", [](const fs::path& at) { write(at / "kernels/__pycache__/a", "mine"); }},
      {"'link'", [](const fs::path& at) { fs::create_symlink("/etc/passwd", at / "link"); }},
      {"'folder_link'", [](const fs::path& at) { fs::create_directory_symlink("/usr", at / "folder_link"); }},
      {"'kernels/a.so (changed)'", [](const fs::path& at) { write(at / "kernels/a.so", "mine"); }},
      {"'kernels/a.so (changed)'",
       [](const fs::path& at) { write(at / "kernels/a.so", std::string("text\0", 5)); }},
      {"'kernels/a.so (changed)'",
       [](const fs::path& at) {
         fs::remove(at / "kernels/a.so");
         write(at / "../other", "text");
         fs::create_symlink("../../other", at / "kernels/a.so");
       }},
      {"'kernels/a.so/'",
       [](const fs::path& at) {
         fs::remove(at / "kernels/a.so");
         write(at / "kernels/a.so/b", "mine");
       }},
      {"'kernels'",
       [](const fs::path& at) {
         fs::rename(at / "kernels", at / "../kept");
         fs::create_directory_symlink("../kept", at / "kernels");
       }},
      {"'pipe'", [](const fs::path& at) { mkfifo((at / "pipe").c_str(), 0600); }},
      {"'x'", [](const fs::path& at) { fs::create_hard_link(at / "kernels/a.so", at / "x"); }},
  };
  int number = 0;
  for (const auto& [what, add] : ways)
    for (const bool applied : {false, true}) {
      const fs::path folder = root_ / std::to_string(number++);
      fs::create_directory(folder);
      const std::string path = folder / "out";
      applied ? write_applied(path) : write_bundle(path);
      add(path);
      EXPECT_THAT(applied ? refused_applied(path) : refused_bundle(path),
                  AllOf(HasSubstr(path), HasSubstr("lehr has not written all of it: " + what + ";")));
    }
  EXPECT_THAT(drafts(), IsEmpty());
}

TEST_F(FolderFiles, AreNamedAFewOfThemAndCounted) {
  write_bundle(bundle_);
  for (int i = 0; i < 9; ++i) write(bundle_ + "/mine" + std::to_string(i), "mine");
  EXPECT_THAT(refused_bundle(bundle_),
              HasSubstr(": 'mine0', 'mine1', 'mine2', 'mine3', 'mine4' and 4 more;"));
}

TEST_F(FolderFiles, OfAnAppliedNetworkHaveNoPythonModule) {
  write_folder(
      applied_,
      std::vector<FolderFile>{{"model.onnx", ""}, {"python/w.bin", ""}, {"kernels/manifest.json", kManifest}},
      &applied_own_files);
  write(applied_ + "/python/build/mine", "mine");
  EXPECT_THAT(refused_applied(applied_), HasSubstr("'python/build/'"));
}

TEST_F(FolderFiles, WithoutAListAreThoseOfTheFixedNames) {
  write_bundle(bundle_);
  write_applied(applied_);
  for (const std::string& path : {bundle_, applied_}) fs::remove(path + "/" + kFileList);
  fs::create_directory(applied_ + "/kernels/kernels");
  fs::rename(applied_ + "/kernels/a.so", applied_ + "/kernels/kernels/a.so");
  for (const ShippedFile& file : shipped_files()) write(fs::path(bundle_) / file.path, "x");
  for (const char* name : {"CMakeLists.txt", "sources/lehr_linked.cpp", "liblehr_bundle.so",
                           "liblehr_bundle.a", "python/__pycache__/a.pyc"})
    write(fs::path(bundle_) / name, "x");
  write(fs::path(applied_) / kPluginName, "x");
  const fs::path kept = root_ / "kept";
  fs::create_directory(kept);
  fs::copy(bundle_, kept / "bundle", fs::copy_options::recursive);
  write(kept / "bundle/kernels/b.so", "mine");
  write(kept / "bundle/sources/b.cpp", "mine");
  EXPECT_THAT(refused_bundle(kept / "bundle"), HasSubstr(": 'kernels/b.so', 'sources/b.cpp';"));
  EXPECT_THAT(refused_applied(applied_), HasSubstr(": 'weights/';"));
  fs::remove_all(applied_ + "/weights");
  EXPECT_EQ(refused_bundle(bundle_), "");
  EXPECT_EQ(refused_applied(applied_), "");
}

TEST_F(FolderFiles, ReplaceNothingThatIsNoFolderOfTheirKind) {
  write_bundle(bundle_);
  write_applied(applied_);
  write(root_ / "file", "x");
  write(root_ / "mine/kernels/manifest.json", kManifest);
  write(root_ / "other/manifest.json", R"({"format": "other"})");
  write(root_ / "listed" / kFileList, list_text({}));
  fs::create_directory(root_ / "empty");
  fs::create_directory_symlink("bundle", root_ / "link");
  fs::create_directory_symlink("nowhere", root_ / "dangling");
  for (const char* name :
       {"file", "mine", "other", "listed", "empty", "link", "link/", "dangling", "applied"})
    EXPECT_THAT(refused_bundle(root_ / name), HasSubstr("is there already and is no bundle")) << name;
  for (const char* name : {"file", "mine", "bundle", "link"})
    EXPECT_THAT(refused_applied(root_ / name), HasSubstr("is there already and is no bundle")) << name;
  for (const char* path : {"/dev/null", "/", "/tmp", "..", "."})
    EXPECT_THAT(refused_bundle(path), HasSubstr("is there already and is no bundle")) << path;
}

TEST_F(FolderFiles, StayWhereSomebodyWorksInThem) {
  write_bundle(bundle_);
  const fs::path here = fs::current_path();
  for (const auto& [from, path] : {std::pair<fs::path, std::string>{bundle_, "."},
                                   {bundle_, "../bundle"},
                                   {bundle_, bundle_},
                                   {bundle_ + "/python", ".."},
                                   {bundle_ + "/python", bundle_}}) {
    fs::current_path(from);
    EXPECT_THAT(refused_bundle(path), HasSubstr("is the current folder")) << path;
  }
  fs::current_path(here);
}

TEST_F(FolderFiles, AreCopiedFromWhereTheyLieAndFromNowhereWithin) {
  write(root_ / "source", "of four");
  mkfifo((root_ / "pipe").c_str(), 0600);
  const auto with = [&](const fs::path& source) {
    return std::vector<FolderFile>{{"manifest.json", kManifest}, {"deep/copy", "", source}};
  };
  write_folder(bundle_, with(root_ / "source"), &bundle_own_files);
  EXPECT_EQ(read(bundle_ + "/deep/copy"), "of four");
  EXPECT_EQ(fs::hard_link_count(bundle_ + "/deep/copy"), 1u);
  for (const auto& [source, reason] :
       {std::pair<fs::path, const char*>{root_ / "pipe", "is a pipe and no file"},
        {root_, "is a directory and no file"},
        {root_ / "nowhere", "cannot be read"},
        {bundle_ + "/deep/copy", "would be replaced"}})
    EXPECT_THAT(refused(bundle_, [&] { write_folder(bundle_, with(source), &bundle_own_files); }),
                HasSubstr(reason));
  EXPECT_THAT(drafts(), IsEmpty());
}

TEST_F(FolderFiles, OfKilledProcessesGoAndOthersStay) {
  const auto draft = [&](const char* name, mode_t mode) {
    const fs::path path = root_ / name;
    write(path / "kernels/a.so", "half");
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  };
  draft("bundle.1.tmp", 01755);
  draft("bundle.4194304.tmp", 01700);
  const fs::path live = draft("bundle.2.tmp", 01755);
  const int lock = open(live.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  draft("bundle.3.tmp", 0755);    // a user's
  draft("bundle.4.tmp", 01777);   // everybody's
  draft("bundle.x5.tmp", 01755);  // no process's number
  draft("bundle..tmp", 01755);
  draft("bundle2.6.tmp", 01755);  // of another folder
  write(root_ / "bundle.7.tmp", "a file");
  fs::create_directory_symlink("bundle.3.tmp", root_ / "bundle.8.tmp");
  write_bundle(bundle_);
  std::vector<std::string> left = drafts();
  std::ranges::sort(left);
  EXPECT_THAT(left, ElementsAre("bundle..tmp", "bundle.2.tmp", "bundle.3.tmp", "bundle.4.tmp", "bundle.7.tmp",
                                "bundle.8.tmp", "bundle.x5.tmp", "bundle2.6.tmp"));
  EXPECT_EQ(read(live / "kernels/a.so"), "half");
  close(lock);
  write_bundle(bundle_);
  EXPECT_FALSE(fs::exists(live));
}

// Killed at any moment, it leaves the old folder or the new one, whole, and nothing that stays.
TEST_F(FolderFiles, AreWholeWhenTheirWriterIsKilled) {
  write_bundle(bundle_, "old");
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) write_bundle(bundle_, "new");
    }
    usleep(static_cast<useconds_t>(500 * i));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(all_of(bundle_).size(), 6u);
    EXPECT_EQ(read(bundle_ + "/kernels/a.so"), read(bundle_ + "/python/pyproject.toml"));
    write_bundle(bundle_, "old");
    EXPECT_THAT(drafts(), IsEmpty());
  }
}

TEST_F(FolderFiles, AreWrittenByTwoProcessesAtOnce) {
  pid_t children[2];
  for (pid_t& child : children) {
    child = fork();
    if (child != 0) continue;
    int written = 0;
    for (int i = 0; i < 100; ++i) try {
        write_bundle(bundle_, "text");
        ++written;
      } catch (const Error&) {
      }
    _exit(written == 0);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(all_of(bundle_).size(), 6u);
  EXPECT_THAT(drafts(), IsEmpty());
}

TEST(FileList, TellsContentsApart) {
  const TempDir directory;
  const fs::path path = fs::path(directory.path()) / "file";
  std::map<std::string, std::string> seen;
  const auto add = [&](std::string text) {
    write(path, text);
    const std::string hash = content_hash(path);
    EXPECT_EQ(hash.size(), 16u);
    EXPECT_TRUE(seen.emplace(hash, text).second) << text.size();
  };
  const std::string zeros(100, '\0');
  for (std::size_t size = 0; size <= zeros.size(); ++size) add(zeros.substr(0, size));
  for (std::size_t at = 0; at < zeros.size(); ++at)
    for (std::size_t other = 0; other <= at; ++other) {
      std::string text = zeros;
      text[at] = text[other] = '\x80';  // the signs of two numbers
      add(text);
    }
  add(std::string((1 << 20) + 1, 'x'));
  add(std::string((1 << 20) + 2, 'x'));
  EXPECT_EQ(content_hash(path / "nowhere"), "");
}

}  // namespace
}  // namespace lehr
