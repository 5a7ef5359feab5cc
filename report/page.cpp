// Writes the document, its figures and the page's own files as one HTML file.
#include <fmt/format.h>

#include <string>

#include "base/encode.h"
#include "report/figures.h"
#include "report/page_files.h"
#include "report/report.h"

namespace lehr::report {
namespace {

std::string hash_of(const PageFile& file) {
  return fmt::format("'sha256-{}'", base64_of_hex(file.sha256));
}

/// Returns the document as text for a script element. Characters that could end the element, or begin a
/// comment in it, are escaped.
std::string script_json(const nlohmann::json& document) {
  std::string text = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), out;
  for (const char c : text)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

}  // namespace

std::string page_of(const Document& document) {
  const auto& [page, licence, script, style, charts] = page_files();
  return fmt::format(fmt::runtime(page.text), fmt::arg("script_hash", hash_of(script)),
                     fmt::arg("charts_hash", hash_of(charts)), fmt::arg("style_hash", hash_of(style)),
                     fmt::arg("title", html_escaped(document.logs[0]["file"].get<std::string>())),
                     fmt::arg("style", style.text), fmt::arg("figures", figures_of(document)),
                     fmt::arg("data", script_json(document.reported)), fmt::arg("licence", licence.text),
                     fmt::arg("charts", charts.text), fmt::arg("script", script.text));
}

}  // namespace lehr::report
