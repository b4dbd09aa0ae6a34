#include "report/html/html_page.h"

#include <fmt/format.h>

#include "report/html/html_text.h"

namespace streamsim::report::html {

std::string document(const Page& page, const LiveParts& live) {
    // The browser fetches nothing, whatever a name in the data says.
    std::string out = fmt::format(
        "{}\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:{}\">\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}<main>\n{}</main>\n",
        page.begins, live.follows ? "; connect-src 'self'" : "", escaped(page.title), page_style(), live.state,
        page.main);
    if (!page.data.empty()) {
        out += "<script type=\"application/json\" id=\"data\">" + page.data + "</script>\n<script>\n";
        out += chart_library();
        out += "</script>\n<script>\n";
        out += page_script();
        out += "</script>\n";
    }
    if (live.follows) out += fmt::format("<script data-live>\n{}</script>\n", live_script());
    return out + "</body>\n</html>\n";
}

}  // namespace streamsim::report::html
