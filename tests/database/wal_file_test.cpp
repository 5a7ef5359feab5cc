// Tests of a write-ahead log: which flipped bits are damage, and which cuts are those that a crash leaves.
#include "database/wal_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "base/rng.h"
#include "database/database.h"
#include "database/salvage.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using test::error_of;
using test::TempDir;
using test::timed;
using ::testing::HasSubstr;

namespace fs = std::filesystem;
constexpr std::size_t kHeader = 32, kFrame = 24 + 4096;

std::string wal_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
void put(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A log with rows in its "-wal", as a killed process leaves it: a copy made while it is open.
class Wal : public ::testing::Test {
 protected:
  static constexpr int kRows = 12;

  void SetUp() override {
    const fs::path open = directory_.path() / "open.db";
    {
      Database::open(open);
    }  // the tables are in the file itself
    Database database = Database::open(open);
    for (int i = 0; i < kRows; ++i) database.append(timed("w", "d", 1 + i));
    fs::copy_file(open, path_);
    wal_ = wal_bytes(open.string() + "-wal");
    ASSERT_GT(wal_.size(), kHeader + 20 * kFrame);
    put(path_.string() + "-wal", wal_);
  }

  TempDir directory_;
  fs::path path_ = directory_.path() / "log.db";
  std::string wal_;
};

TEST_F(Wal, IsSoundAsItIs) {
  EXPECT_EQ(damage_of_wal(path_), "");
  EXPECT_EQ(damage_of_wal(directory_.path() / "absent.db"), "");
  EXPECT_TRUE(Database::open_read_only(path_).verify().sound());
}

TEST_F(Wal, AFlippedBitBeforeALaterTransactionIsDamage) {
  Rng rng(std::random_device{}());
  for (int i = 0; i < 200; ++i) {
    const std::size_t at = rng.below(wal_.size() - 15 * kFrame);
    std::string bytes = wal_;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
    put(path_.string() + "-wal", bytes);
    const std::string damage = damage_of_wal(path_);
    if (at >= 8 && at < 12) continue;  // the size of pages: without it nothing says where frames lie
    EXPECT_THAT(damage, HasSubstr(at < kHeader ? "log.db-wal' is damaged in its header"
                                               : "log.db-wal' is damaged in its frame"))
        << "byte " << at;
  }
}

TEST_F(Wal, WhatACrashLeavesIsSound) {
  // Cut anywhere, the last frame torn, zeros behind, frames of an earlier round behind.
  Rng rng(7);
  for (int i = 0; i < 50; ++i) {
    put(path_.string() + "-wal", wal_.substr(0, rng.below(wal_.size())));
    EXPECT_EQ(damage_of_wal(path_), "") << i;
  }
  std::string torn = wal_;
  torn[torn.size() - 100] ^= 1;
  put(path_.string() + "-wal", torn);
  EXPECT_EQ(damage_of_wal(path_), "");
  put(path_.string() + "-wal", wal_ + std::string(10 * kFrame, '\0'));
  EXPECT_EQ(damage_of_wal(path_), "");
  std::string older = wal_.substr(kHeader);
  for (std::size_t frame = 0; frame < older.size(); frame += kFrame) older[frame + 8] ^= 1;  // other salts
  put(path_.string() + "-wal", wal_ + older);
  EXPECT_EQ(damage_of_wal(path_), "");
}

TEST_F(Wal, DamageIsNamedAndNothingIsWrittenOverIt) {
  std::string bytes = wal_;
  bytes[kHeader + 5 * kFrame + 1000] ^= 4;
  put(path_.string() + "-wal", bytes);
  EXPECT_THAT(Database::open_read_only(path_).verify().structure,
              ::testing::Contains(HasSubstr("in its frame 6")));
  const auto caught = error_of([&] { Database::open(path_); });
  EXPECT_EQ(caught.kind, static_cast<int>(ErrorKind::kDamaged));
  EXPECT_THAT(caught.message, HasSubstr("lehr db salvage"));
  EXPECT_EQ(wal_bytes(path_.string() + "-wal"), bytes);
  const AddedRows rows = salvage(path_, directory_.path() / "saved.db");
  EXPECT_GE(rows.trials.added, kRows - 1);
}

}  // namespace
}  // namespace lehr
