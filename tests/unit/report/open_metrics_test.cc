#include "view/http/open_metrics.h"

#include <gmock/gmock.h>

#include <set>
#include <sstream>
#include <string>

#include "view/http/http_server.h"
#include "view/http/metrics_server.h"

namespace streamsim::report {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

view::MetricsState two_streams() {
    view::MetricsState state{"0.1.0", "/mnt/x", 1'500'000'000, {}};
    state.streams.push_back({0, 0, "dpx12", 36, 2, 0, 1'800'000'000, 0, 7, -4'000'000, 1.2e9});
    state.streams.push_back({1, 0, "prores-hd", 45, 0, 3, 0, 1000, 8, std::nullopt, 3.5e7});
    return state;
}

TEST(OpenMetrics, SaysWhatIsKnownOfEachStream) {
    const std::string text = view::open_metrics(two_streams());
    for (const char* line :
         {"streamsim_info{version=\"0.1.0\",target=\"/mnt/x\"} 1\n", "streamsim_played_seconds 1.5\n",
          "streamsim_frames_on_time_total{seat=\"0\",stream=\"0\",format=\"dpx12\"} 36\n",
          "streamsim_frames_missed_total{seat=\"0\",stream=\"0\",format=\"dpx12\"} 2\n",
          "streamsim_stalls_total{seat=\"1\",stream=\"0\",format=\"prores-hd\"} 3\n",
          "streamsim_read_bytes_total{seat=\"0\",stream=\"0\",format=\"dpx12\"} 1800000000\n",
          "streamsim_read_bytes_total{seat=\"1\",stream=\"0\",format=\"prores-hd\"} 0\n",
          "streamsim_written_bytes_total{seat=\"1\",stream=\"0\",format=\"prores-hd\"} 1000\n",
          "streamsim_buffered_frames{seat=\"1\",stream=\"0\",format=\"prores-hd\"} 8\n",
          "streamsim_margin_min_seconds{seat=\"0\",stream=\"0\",format=\"dpx12\"} -0.004\n",
          "streamsim_required_bytes_per_second{seat=\"1\",stream=\"0\",format=\"prores-hd\"} "
          "35000000\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
    EXPECT_THAT(text, Not(HasSubstr("margin_min_seconds{seat=\"1\""))) << "no frame yet: no sample";
}

TEST(OpenMetrics, HasTheSumsOfEachComputerOfSeveral) {
    view::MetricsState state = two_streams();
    EXPECT_THAT(view::open_metrics(state), Not(HasSubstr("computer")));
    state.computers.push_back({"seat 1 (host \"h\")", 45, 3, 2, 1000, 500, 3.5e7});
    const std::string text = view::open_metrics(state);
    const std::string label = "{computer=\"seat 1 (host \\\"h\\\")\"} ";
    for (const char* sample : {"frames_on_time_total", "frames_missed_total", "stalls_total",
                               "read_bytes_total", "written_bytes_total"})
        EXPECT_THAT(text, HasSubstr("\nstreamsim_computer_" + (sample + label)));
    EXPECT_THAT(text, HasSubstr("streamsim_computer_frames_missed_total" + label + "3\n"));
    EXPECT_THAT(text, HasSubstr("streamsim_computer_stalls_total" + label + "2\n"));
    EXPECT_THAT(text, HasSubstr("streamsim_computer_written_bytes_total" + label + "500\n"));
    EXPECT_THAT(text, HasSubstr("streamsim_computer_required_bytes_per_second" + label + "35000000\n"));
}

/// The rules of the format that a reader insists on: every sample stands below the metadata of its family, each
/// family once, a counter's samples end in _total, a unit ends the name, and the end is marked.
TEST(OpenMetrics, KeepsToTheFormat) {
    view::MetricsState state = two_streams();
    state.computers.push_back({"seat 0", 36, 2, 0, 1000, 0, 1.2e9});
    const std::string text = view::open_metrics(state);
    EXPECT_THAT(text, EndsWith("\n# EOF\n"));
    std::set<std::string> seen;
    std::string family, type;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && line != "# EOF";) {
        std::istringstream words(line);
        std::string hash, keyword, name, value;
        words >> hash >> keyword >> name >> value;
        if (keyword == "TYPE") {
            EXPECT_TRUE(seen.insert(name).second) << line;
            family = name;
            type = value;
        } else if (hash == "#") {
            EXPECT_EQ(name, family) << line;
            EXPECT_TRUE(keyword != "UNIT" || name.ends_with("_" + value)) << line;
        } else {
            const std::string suffix = type == "counter" ? "_total" : type == "info" ? "_info" : "";
            EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), family + suffix) << line;
        }
    }
    EXPECT_EQ(seen.size(), 16U);
}

TEST(OpenMetrics, NoNameBreaksALine) {
    view::MetricsState state = two_streams();
    state.target = "a \"b\" \\ c\n\xff\xc3\xb6\xed\xa0\x80";
    state.streams[0].format = "x\"} 1\n# EOF";
    const std::string text = view::open_metrics(state);
    EXPECT_THAT(text, HasSubstr("target=\"a \\\"b\\\" \\\\ c\\n?\xc3\xb6???\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("format=\"x\\\"} 1\\n# EOF\"} 36\n"));
}

TEST(HttpAddress, IsLoopbackUnlessToldOtherwise) {
    const auto said = [](const char* text) -> std::string {
        const auto address = view::parse_http_address(text);
        if (!address) return "error";
        return (address->v6 ? "6 " : "4 ") + address->host + " " + std::to_string(address->port);
    };
    for (const char* text : {"9464", ":9464", "localhost:9464", "127.0.0.1:9464"})
        EXPECT_EQ(said(text), "4 127.0.0.1 9464") << text;
    EXPECT_EQ(said("0.0.0.0:80"), "4 0.0.0.0 80");
    EXPECT_EQ(said("[::1]:65535"), "6 ::1 65535");
    EXPECT_EQ(said("127.0.0.1:0"), "4 127.0.0.1 0");
    for (const char* text :
         {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:x", "::1:9464",
          "[::1]", "[]:9464", "example.org:9464", "256.0.0.1:9464", "9464 ", "+9464"}) {
        EXPECT_EQ(said(text), "error") << text;
    }
}

}  // namespace
}  // namespace streamsim::report
