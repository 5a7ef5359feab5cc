// The files in each page, as they were when this was built.
#pragma once

#include <string_view>

namespace lehr::report {

struct PageFile {
  std::string_view text;
  std::string_view sha256;  ///< in hexadecimal digits: the page's policy allows no other to run
};
struct PageFiles {
  PageFile page, licence;          ///< page.html, which has positions for all others; chart_licence.txt
  PageFile script, style, charts;  ///< page.js, page.css, Chart.js
};
const PageFiles& page_files();

}  // namespace lehr::report
