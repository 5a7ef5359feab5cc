// What each page has in it, as it was when this was built.
#pragma once

#include <string_view>

namespace lehr::report {

struct PageFile {
  std::string_view text;
  std::string_view sha256;  ///< in hexadecimal digits: the page's policy lets no other run
};
struct PageFiles {
  PageFile page, licence;          ///< page.html, a format of all others; chart_licence.txt
  PageFile script, style, charts;  ///< page.js, page.css, Chart.js
};
const PageFiles& page_files();

}  // namespace lehr::report
