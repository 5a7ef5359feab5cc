// The files that each page includes. They are part of the program.
#pragma once

#include <string_view>

namespace lehr::report {

struct PageFile {
  std::string_view text;
  /// Hash of the text in hexadecimal digits. The page's content security policy permits only scripts and
  /// styles with these hashes.
  std::string_view sha256;
};
struct PageFiles {
  PageFile page, licence;          ///< page.html, with placeholders for all other files; chart_licence.txt
  PageFile script, style, charts;  ///< page.js, page.css, Chart.js
};
const PageFiles& page_files();

}  // namespace lehr::report
