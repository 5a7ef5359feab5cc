#include "cli/report_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "api/lehr.h"
#include "base/args.h"
#include "base/error.h"
#include "base/file_output.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "report/report.h"

namespace lehr {

ReportCommand::ReportCommand(CLI::App& root, const Environment& environment)
    : logs_{environment.database}, others_(fmt::to_string(report::Request().most_others)) {
  CLI::App* command = root.add_subcommand(
      "report", "Write a page of what logs hold: winners, how they were found, what was not");
  command->add_option("LOG", logs_, "trial logs, the oldest first (./lehr.db, or LEHR_DB)")
      ->group("Problem")
      ->option_text(" ");
  command
      ->add_option(
          "--applied", applied_,
          "a folder that lehr apply or lehr optimize wrote: the network's matches and what is covered")
      ->group("Problem")
      ->option_text("DIR");
  value_flag(*command, kOutputGroup, "--out", out_,
             "the page, one HTML file that needs no network (report.html)");
  value_flag(
      *command, kOutputGroup, "--others", others_,
      fmt::format("trials of a task beside the fastest until then and the first of each failure; 0: all ({})",
                  others_)
          .c_str());
  switch_flag(*command, kOutputGroup, "--json", json_,
              "the page's data as one JSON document on stdout, and no page");
  command->footer(examples({{"", "lehr report"},
                            {"problem", "lehr report lehr.db --applied faster"},
                            {"compare", "lehr report before.db after.db"},
                            {"output", "lehr report lehr.db --out llama.html"}}));
}

int ReportCommand::run() {
  if (out_.empty()) throw_user("--out is empty: it must be the name of a file");
  if (json_ && out_ != kUsualPage) throw_user("--json writes no page: leave out --out {}", out_);
  refuse_a_log_as_page();
  report::Request request{logs_, applied_};
  request.most_others = parse_number("--others", others_, 0, api::kMostTrials);
  const report::Document document = report::read(request);
  if (json_) {
    print_json(document.reported);
    return 0;
  }
  const std::string page = report::page_of(document);
  write_file(out_, page);
  fmt::print("{}: {} task{}, {}\n", out_, document.tasks.size(), document.tasks.size() == 1 ? "" : "s",
             format_bytes(static_cast<double>(page.size())));
  return 0;
}

void ReportCommand::refuse_a_log_as_page() const {
  for (const std::string& log : logs_)
    for (const char* part : {"", "-wal", "-shm"})
      if (std::error_code ignored; std::filesystem::equivalent(out_, log + part, ignored))
        throw_user("--out {} is the log itself, which the page would replace: name another file", out_);
}

}  // namespace lehr
