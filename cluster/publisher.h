// Copies a shard's log to a shared folder while it grows. SQLite never writes there.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster/plan.h"

namespace lehr::cluster {

/// The name of the file that one attempt at a shard publishes: "shard-3-of-8.n017.0123456789ab.db".
struct PublishedName {
  Shard shard;
  std::string host;
  std::string attempt;  ///< first digits of the session that measured the plan's probe
};
inline constexpr std::size_t kAttemptDigits = 12;
std::string to_text(const PublishedName& name);

/// A file of a folder with its parsed name.
struct PublishedFile : PublishedName {
  std::filesystem::path path;
};
/// Returns the files that all attempts at all shards have published, in order of their names. Other files are
/// ignored.
std::vector<PublishedFile> published_in(const std::filesystem::path& folder);

/// Returns the file that marks a shard as finished, and has its result.
std::filesystem::path done_file(const std::filesystem::path& folder, const Shard& shard);

/// Publishes a log in a thread of its own, each time completely: a copy by SQLite's backup beside the log,
/// its bytes under a temporary name, fsync, rename.
class Publisher {
 public:
  /// `tell` gets a sentence, from another thread, when the folder cannot be written, and when it can be
  /// again.
  Publisher(std::filesystem::path folder, PublishedName name, std::filesystem::path log, double every_s,
            std::function<void(const std::string&)> tell);
  Publisher(const Publisher&) = delete;
  /// Publishes once more.
  ~Publisher();
  /// Publishes for the last time. Returns why that failed, a sentence; "": it did not.
  std::string finish();

 private:
  void run(double every_s);
  /// Publishes; returns "", or why that failed.
  std::string publish() const;

  const std::filesystem::path folder_, log_;
  const PublishedName name_;
  const std::function<void(const std::string&)> tell_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace lehr::cluster
