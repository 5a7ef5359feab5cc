// The document, its figures and the page's own files -> one HTML file.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "report/figures.h"
#include "report/page_files.h"
#include "report/report.h"
#include "report/svg.h"

namespace lehr::report {
namespace {

/// RFC 4648 of the bytes that pairs of hexadecimal digits are.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  unsigned bits = 0, count = 0;
  for (const char digit : hex) {
    bits = bits << 4 | static_cast<unsigned>(kHex.find(digit));
    count += 4;
    if (count >= 6) out += kDigits[bits >> (count -= 6) & 63];
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

std::string hash_of(const PageFile& file) {
  return fmt::format("'sha256-{}'", base64_of_hex(file.sha256));
}

/// For a script element: what could end it, or begin a comment in it, is written otherwise.
std::string script_json(const Document& document) {
  std::string out;
  const std::string text =
      nlohmann::json(document).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (const char c : text)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

}  // namespace

std::string page_of(const Document& document) {
  const auto& [script, style, charts] = page_files();
  std::string page = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {} {}; "
      "style-src "
      "{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Lehr: {}</title>\n",
      hash_of(charts), hash_of(script), hash_of(style), escaped(document.logs[0].file));
  page += fmt::format("<style>{}</style>\n</head>\n<body>\n", style.text);
  page +=
      "<noscript>This page draws its tables by a script of its own, which this browser does not "
      "run.</noscript>\n";
  page += "<main id=\"page\"></main>\n<div id=\"figures\" hidden>\n" + figures_of(document) + "</div>\n";
  page += "<script type=\"application/json\" id=\"data\">" + script_json(document) + "</script>\n";
  page += fmt::format("<!--{}-->\n<script>{}</script>\n<script>{}</script>\n</body>\n</html>\n",
                      charts_licence(), charts.text, script.text);
  return page;
}

}  // namespace lehr::report
