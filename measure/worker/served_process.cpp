// The hidden subcommands, in a table.
#include "measure/worker/served_process.h"

#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "measure/system/supervisor.h"
#include "measure/vendor/onnxruntime/trial.h"
#include "measure/worker/worker_main.h"

namespace lehr {
namespace {

/// Parses `--fd N`.
int descriptor(int argc, char** argv) {
  const std::optional<std::int64_t> fd =
      argc == 4 && std::string_view(argv[2]) == "--fd" ? parse_int(argv[3]) : std::nullopt;
  if (!fd || *fd < 0 || *fd > 1'000'000)
    throw_user("lehr {} is started by lehr itself, with --fd N", argv[1]);
  return static_cast<int>(*fd);
}

using Kinds = std::span<const ProblemKind>;

struct Served {
  std::string_view name;
  int (*run)(int argc, char** argv, Kinds kinds);
};
constexpr Served kServed[] = {
    {"supervisor", [](int argc, char** argv, Kinds) { return supervisor_main(descriptor(argc, argv)); }},
    {"worker",
     [](int argc, char** argv, Kinds kinds) {
       const int fd = descriptor(argc, argv);
       return worker_main(kinds, fd, fd);
     }},
    {"engine",
     [](int argc, char** argv, Kinds) {
       if (argc != 4) throw_user("lehr engine is started by lehr itself, with a request and a report");
       return onnxruntime::trial_main(argv[2], argv[3]);
     }},
};

}  // namespace

std::optional<int> served_process(int argc, char** argv, std::span<const ProblemKind> kinds) {
  const std::string_view name = argc >= 2 ? argv[1] : "";
  for (const Served& one : kServed)
    if (one.name == name) return one.run(argc, argv, kinds);
  return std::nullopt;
}

}  // namespace lehr
