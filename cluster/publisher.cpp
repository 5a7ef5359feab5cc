#include "cluster/publisher.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <regex>
#include <system_error>

#include "base/error.h"
#include "base/file_output.h"
#include "base/text_file.h"
#include "database/database.h"

namespace lehr::cluster {
namespace fs = std::filesystem;

std::string to_text(const PublishedName& name) {
  return fmt::format("shard-{}-of-{}.{}.{}.db", name.shard.index, name.shard.count, name.host, name.attempt);
}

std::vector<PublishedFile> published_in(const fs::path& folder) {
  static const std::regex kName(R"(shard-(\d{1,5})-of-(\d{1,5})\.(.*)\.([0-9a-f]{12})\.db)");
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) throw_user("{} cannot be read: {}", folder.string(), error.message());
  std::vector<PublishedFile> files;
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename();
    std::smatch parts;
    if (!std::regex_match(name, parts, kName)) continue;
    files.push_back({{{std::stoi(parts[1]), std::stoi(parts[2])}, parts[3], parts[4]}, entry.path()});
  }
  std::ranges::sort(files, {}, &PublishedFile::path);
  return files;
}

fs::path done_file(const fs::path& folder, const Shard& shard) {
  return folder / fmt::format("shard-{}-of-{}.done", shard.index, shard.count);
}

Publisher::Publisher(fs::path folder, PublishedName name, fs::path log, double every_s,
                     std::function<void(const std::string&)> tell)
    : folder_(std::move(folder)),
      log_(std::move(log)),
      name_(std::move(name)),
      tell_(std::move(tell)),
      thread_([this, every_s] { run(every_s); }) {}

Publisher::~Publisher() {
  finish();
}

std::string Publisher::finish() {
  if (!thread_.joinable()) return "";
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  thread_.join();
  return publish();
}

void Publisher::run(double every_s) {
  std::string last;
  std::unique_lock lock(mutex_);
  while (!ends_) {
    lock.unlock();
    const std::string problem = publish();
    if (problem != last) tell_(problem.empty() ? "published again" : problem + "; it is tried again");
    last = problem;
    lock.lock();
    wake_.wait_for(lock, std::chrono::duration<double>(every_s), [this] { return ends_; });
  }
}

std::string Publisher::publish() const {
  const fs::path copy = fmt::format("{}.{}.copy", log_.string(), name_.attempt);
  std::string problem;
  try {
    Database::open_read_only(log_).copy_to(copy);
    write_file(folder_ / to_text(name_), read_text_file(copy, SIZE_MAX, "copy of a log"));
    // Flushing the folder makes the new name durable, too.
    const int folder = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
      fsync(folder);
      close(folder);
    }
  } catch (const std::exception& error) {
    problem = fmt::format("the rows since the last time are in {} alone and not published: {}", log_.string(),
                          error.what());
  }
  std::error_code ignored;
  fs::remove(copy, ignored);
  return problem;
}

}  // namespace lehr::cluster
