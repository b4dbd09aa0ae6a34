#include "report/html/html_report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "base/document/json.h"
#include "base/units.h"
#include "report/facts/headline.h"
#include "report/facts/selection.h"
#include "report/html/html_text.h"
#include "result/json_report.h"
#include "unit/report/sample_results.h"

namespace streamsim::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr samples::Sample kPages[] = {{"plays", samples::plays},
                                      {"does_not_play", samples::does_not_play},
                                      {"failures", samples::failures},
                                      {"seats_and_stalls", samples::seats_and_stalls},
                                      {"as_fast_as_it_goes", samples::as_fast_as_it_goes},
                                      {"interrupted", samples::interrupted},
                                      {"many_streams", samples::many_streams},
                                      {"told_in_full", samples::told_in_full},
                                      {"hostile", samples::hostile},
                                      {"modelled", samples::modelled}};

/// The page without library, scripts and style.
std::string page_of(const RunResult& result) {
    const std::string whole = html_report(result);
    const std::string body = whole.substr(whole.find("<body>"));
    return body.substr(0, body.find("<script>\n"));
}

/// The text of a piece of HTML.
std::string text_of(const std::string& html) {
    std::string out = std::regex_replace(html, std::regex("<[^>]*>"), "");
    for (const auto& [entity, text] :
         {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
        out = std::regex_replace(out, std::regex(entity), text);
    }
    return out;
}

/// "streams.3.frames_late" in a document.
const Json* find(const Json& document, const std::string& key) {
    const Json* at = &document;
    for (std::size_t begin = 0; begin <= key.size();) {
        const std::size_t end = std::min(key.find('.', begin), key.size());
        const std::string part = key.substr(begin, end - begin);
        if (at->is_array() && std::stoul(part) < at->size()) {
            at = &(*at)[std::stoul(part)];
        } else if (at->is_object() && at->contains(part)) {
            at = &(*at)[part];
        } else {
            return nullptr;
        }
        begin = end + 1;
    }
    return at;
}

struct Datum {
    std::string value, key, text;
};

std::vector<Datum> data_of(const std::string& page) {
    static const std::regex kData(
        R"re(<data (?:class="word" )?value="([^"]*)" data-key="([^"]*)">([^<]*)</data>)re");
    std::vector<Datum> out;
    for (auto it = std::sregex_iterator(page.begin(), page.end(), kData); it != std::sregex_iterator(); ++it)
        out.push_back({(*it)[1], (*it)[2], (*it)[3]});
    return out;
}

/// The elements that are not closed, or closed without having been opened.
std::vector<std::string> ill_nested(const std::string& page) {
    static const std::regex kTag(R"re(<(/?)([a-z0-9]+)[^>]*?(/?)>)re");
    std::vector<std::string> open, wrong;
    for (auto it = std::sregex_iterator(page.begin(), page.end(), kTag); it != std::sregex_iterator(); ++it) {
        const std::string name = (*it)[2];
        if ((*it)[3] == "/") continue;
        if ((*it)[1] != "/") {
            open.push_back(name);
        } else if (!open.empty() && open.back() == name) {
            open.pop_back();
        } else {
            wrong.push_back("/" + name);
        }
    }
    wrong.insert(wrong.end(), open.begin(), open.end());
    return wrong;
}

TEST(HtmlReport, SaysTheVerdictWordForWord) {
    for (const samples::Sample& sample : kPages) {
        const RunResult result = sample.make();
        const std::string page = page_of(result);
        const std::size_t begin = page.find("<h1>");
        EXPECT_EQ(text_of(page.substr(begin, page.find("</h1>") - begin)), verdict_line(result)) << sample.name;
    }
}

TEST(HtmlReport, IsGreenOnlyWhereTheClaimStands) {
    RunResult result = samples::plays();
    ProveResult& prove = result.claims->prove.emplace();
    for (const auto& [decided, tone] : {std::pair{ProveDecision::stands, "good"},
                                        {ProveDecision::undecided, "doubtful"},
                                        {ProveDecision::failed, "bad"}}) {
        prove.decided = decided;
        const std::string page = page_of(result);
        EXPECT_THAT(page, HasSubstr("<header class=\"verdict " + std::string(tone) + "\">"));
        EXPECT_THAT(page, HasSubstr(std::string("; claim ") + to_string(decided) + "</span></h1>"));
    }
}

TEST(HtmlReport, HasTheNumbersOfTheJsonDocument) {
    for (const samples::Sample& sample : kPages) {
        SCOPED_TRACE(sample.name);
        const RunResult result = sample.make();
        auto document = parse_json(result::json_report(result), "result");
        ASSERT_TRUE(document);
        for (const Datum& datum : data_of(page_of(result))) {
            const Json* there = find(*document, datum.key);
            ASSERT_NE(there, nullptr) << datum.key;
            EXPECT_EQ(there->is_string() ? there->get<std::string>() : there->dump(), datum.value) << datum.key;
            if (datum.key.find("frames_") == std::string::npos || !there->is_number_unsigned()) continue;
            EXPECT_EQ(datum.text, show_count(there->get<std::uint64_t>())) << datum.key;
        }
    }
}

TEST(HtmlReport, NamesEveryTotalAndEachStreamsCounts) {
    for (const samples::Sample& sample : kPages) {
        SCOPED_TRACE(sample.name);
        const RunResult result = sample.make();
        std::vector<std::string> keys;
        for (const Datum& datum : data_of(page_of(result))) keys.push_back(datum.key);
        const auto expect = [&keys](const std::string& key) {
            EXPECT_NE(std::find(keys.begin(), keys.end(), key), keys.end()) << key;
        };
        expect("verdict.pass");
        expect("verdict.limit");
        for (const char* total :
             {"frames_scheduled", "frames_on_time", "frames_dropped", "frames_late", "frames_failed",
              "frames_cancelled", "startup_drops", "stalls", "bytes_read", "wall_ns", "passes"})
            expect(std::string("totals.") + total);
        for (std::size_t i = 0; i < result.streams.size(); ++i) {
            for (const char* count :
                 {"frames_scheduled", "frames_on_time", "frames_dropped", "frames_late", "frames_failed"})
                expect("streams." + std::to_string(i) + "." + count);
        }
    }
}

TEST(HtmlReport, CountsNoDropOfTheFirstSecondAsMissed) {
    const std::string text = text_of(page_of(samples::does_not_play()));
    EXPECT_THAT(text, HasSubstr("Frames missed200212 dropped (12 in the first second, not counted), 0 late, "));
    EXPECT_THAT(page_of(samples::told_in_full()), HasSubstr("Stream 0: 50 frames missed"));
    EXPECT_THAT(verdict_line(samples::does_not_play()), HasSubstr("212 of 960 frames dropped (12 of them in"));
    EXPECT_EQ(closing_line(samples::does_not_play()).rest, ": 200 of 960 frames missed");
}

TEST(HtmlReport, IsWellNested) {
    for (const samples::Sample& sample : kPages) {
        std::string page = page_of(sample.make());
        const std::size_t data = page.find("<script type");
        page = page.substr(0, data) + page.substr(page.find("</script>", data) + 9) + "</body>";
        EXPECT_THAT(ill_nested(page), IsEmpty()) << sample.name;
    }
    EXPECT_THAT(ill_nested("<p><b></p></b><br/>"), ElementsAre("/p", "p"));
}

TEST(HtmlReport, KeepsHostileNamesOutOfItsMarkup) {
    const std::string whole = html_report(samples::hostile());
    EXPECT_THAT(whole, StartsWith(kHtmlReportBegins));
    EXPECT_THAT(whole, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(whole, Not(HasSubstr("<img")));
    EXPECT_THAT(whole, HasSubstr("&lt;img src=x onerror=alert(1)&gt;"));
    EXPECT_THAT(whole, Not(HasSubstr("\x1b")));
    EXPECT_THAT(whole, Not(HasSubstr("\xff")));
    EXPECT_THAT(text_of(whole), HasSubstr(R"('it'\''s <b>&amp;</b>')"));
}

TEST(HtmlReport, FetchesNothing) {
    const std::string whole = html_report(samples::told_in_full());
    EXPECT_THAT(whole, HasSubstr("default-src 'none'"));
    EXPECT_FALSE(std::regex_search(whole.substr(0, whole.find("<script>\n")), std::regex("(src|href)=\"[^#]")));
    EXPECT_THAT(whole, Not(HasSubstr("@import")));
    EXPECT_THAT(whole, HasSubstr("Released under the MIT License"));
}

TEST(HtmlReport, TellsWhatIsKnownAndWhatIsNot) {
    const std::string full = text_of(page_of(samples::told_in_full()));
    for (const char* part :
         {"filer:/export/media on /mnt/media, type nfs4", "rsize=1048576", "eth0, 10 Gbit/s",
          "play again with --inflight 8", "at depth 2 the link is 41 % busy",
          "Other frames on each pass: 2 of 48", "Memory pressurenot recorded", "44.1 %", "3,400.0 MB/s",
          "A Linux client is no Windows SMB seat", "209 missed frames in no event", "no data for"})
        EXPECT_THAT(full, HasSubstr(part));
    const std::string empty = page_of(samples::interrupted());
    EXPECT_THAT(empty, Not(HasSubstr("<canvas")));
    EXPECT_THAT(empty, HasSubstr("Not recorded over time."));
    EXPECT_THAT(text_of(page_of(samples::modelled())), HasSubstr("This is no measurement"));
}

TEST(HtmlReport, CallsWhatWasWrittenRecorded) {
    RunResult result = samples::told_in_full();
    EXPECT_THAT(text_of(page_of(result)), HasSubstr("read 1,200.0 MB/s"));
    result.streams[0].records = true;
    std::string page = page_of(result);
    EXPECT_THAT(page, HasSubstr(">moved</th>"));
    EXPECT_THAT(text_of(page), HasSubstr("moved 1,200.0 MB/s"));
    EXPECT_THAT(page, HasSubstr("The read-ahead was filled"));
    for (StreamResult& stream : result.streams) stream.records = true;
    page = page_of(result);
    EXPECT_THAT(page, HasSubstr(">recorded</th>"));
    EXPECT_THAT(text_of(page), HasSubstr("recorded 1,200.0 MB/s"));
    EXPECT_THAT(page, Not(HasSubstr("The read-ahead was filled")));
}

TEST(HtmlReport, PutsManyStreamsAtItsEnd) {
    const std::string page = page_of(samples::many_streams());
    EXPECT_LT(page.find("id=\"latency\""), page.find("id=\"all-streams\""));
    EXPECT_THAT(page, HasSubstr("The 24 worst streams"));
    EXPECT_THAT(page, HasSubstr("76 more streams over time, the worst at the top"));
    EXPECT_THAT(page_of(samples::plays()), Not(HasSubstr("all-streams")));
}

TEST(HtmlReport, StaysSmallEnoughForAMail) {
    RunResult result = samples::told_in_full();
    const std::vector<StreamSeries::Point> points(400, {-1'000'000, 3, 12});
    result.streams.resize(8, result.streams[0]);
    for (StreamResult& stream : result.streams) stream.series = {9'000'000'000, points};
    result.timeline.resize(4096, result.timeline.back());
    result.margin_bins.resize(60, result.margin_bins.back());
    result.drops.resize(20'000, result.drops[0]);
    result.drops_omitted = 980'000;
    result.events.resize(1'000, result.events[0]);
    const std::string whole = html_report(result);
    EXPECT_LT(whole.size(), 700'000u);
    EXPECT_THAT(whole, HasSubstr("800 more events: events in --json"));
    EXPECT_THAT(whole, HasSubstr("980,000 missed frames in no event"));
}

TEST(HtmlReport, NamesItsProject) {
    RunResult result = samples::plays();
    EXPECT_THAT(html_report(result), Not(HasSubstr("class=\"project\"")));
    result.project = {
        .title = "Stage <4>", .client = "ACME", .note = "again", .logo = "data:image/png;base64,AA==\">"};
    const std::string page = html_report(result);
    EXPECT_THAT(page, HasSubstr("<p class=\"title\"><bdi>Stage &lt;4&gt;</bdi></p>"));
    EXPECT_THAT(page, HasSubstr("<img src=\"data:image/png;base64,AA==&quot;&gt;\" alt=\"Logo of ACME\">"));
    EXPECT_THAT(result::json_report(result), HasSubstr("\"client\":\"ACME\""));
}

TEST(HtmlReport, AStepOfMoreThanASecondIsAMeanOfItsOwn) {
    RunResult result = samples::plays();
    result.timeline = {{.t_ns = 0, .interval_ns = 100'000'000, .bytes = 10'000'000},
                       {.t_ns = 100'000'000, .interval_ns = 5'000'000'000, .bytes = 1'000'000'000},
                       {.t_ns = 5'100'000'000, .interval_ns = 5'000'000'000, .bytes = 1'500'000'000}};
    EXPECT_THAT(html_report(result), HasSubstr("\"label\":\"read, mean of the last second\",\"role\":\"line\","
                                               "\"x\":[0.1,5.1,10.1],\"y\":[100.0,200.0,300.0]"));
}

TEST(HtmlReport, MarksTheHeatOfStreamsThatAreNotStrips) {
    RunResult result = samples::many_streams();
    for (StreamResult& stream : result.streams) {
        stream.series.interval_ns = 1'000'000'000;
        stream.series.points.assign(10, {std::nullopt, 8, 0});
    }
    result.streams[97].counts.dropped = 0;  // a strip less
    result.streams[3].series.points[4] = {std::nullopt, 0, 0};
    result.streams[3].counts.on_time -= 1;
    const auto rectangles = [](const std::string& page, const std::string& level) {
        const std::size_t begin = page.find("<path class=\"heat " + level + "\" d=\"");
        const std::string path = page.substr(begin, page.find("/>", begin) - begin);
        return std::count(path.begin(), path.end(), 'M');
    };
    // The worst stream is a strip: with 24 that are worse, the next ones are in the map.
    for (std::size_t i = 40; i < 64; ++i) result.streams[i].counts.dropped = 5;
    const std::string page = html_report(result);
    EXPECT_EQ(rectangles(page, "empty"), 1);
    EXPECT_EQ(rectangles(page, "lost"), 0);
    EXPECT_THAT(page, HasSubstr("76 more streams over time, the worst at the top; 0 of them missed frames"));
}

TEST(HtmlText, EscapesWhatWouldBreakOut) {
    EXPECT_EQ(html::escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
    EXPECT_EQ(html::escaped("\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xac"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xac");
    const std::string bad = "\xef\xbf\xbd";
    EXPECT_EQ(html::escaped("\n\x7f\xc2\x9b"), bad + bad + bad);
    EXPECT_EQ(html::escaped("\xc3"), bad);                      // cut off
    EXPECT_EQ(html::escaped("\xc0\xafx"), bad + bad + "x");     // overlong
    EXPECT_EQ(html::escaped("\xed\xa0\x80"), bad + bad + bad);  // a surrogate
    EXPECT_EQ(html::escaped("\xe2\x82<"), bad + bad + "&lt;");  // nothing hides a bracket
    EXPECT_EQ(html::escaped("\xf4\x90\x80\x80"), bad + bad + bad + bad);
}

TEST(HtmlTable, LeavesOutColumnsWithoutValues) {
    Table table{.title = "t"};
    table.left({"a"});
    table.right({"none", "some"}, Column::Keep::where_not_zero);
    table.right({"kept"}, Column::Keep::on_page);
    table.row({"x", count_cell("totals.stalls", 0), "0", "0"});
    table.row({"y", "", "3", kNoValue});
    const std::string page = html::table_html(table);
    EXPECT_THAT(page, Not(HasSubstr("none")));
    EXPECT_THAT(page, HasSubstr("<td class=\"n\">3</td><td class=\"n\">\u2013</td>"));
}

TEST(HtmlTime, SecondsAreOfAtLeastASecond) {
    std::vector<TimelineEntry> timeline(1, {-300'000'000, 300'000'000, 5});
    for (std::int64_t i = 0; i < 10; ++i) {
        timeline.push_back({i * 400'000'000, 400'000'000, 1});
        timeline.back().margin_ns_min = 100 - i;
    }
    const std::vector<TimelineEntry> seconds = in_seconds(timeline);
    ASSERT_EQ(seconds.size(), 5u);
    EXPECT_EQ(seconds[0].bytes, 5u) << "preroll stays apart";
    for (std::size_t i = 1; i < 4; ++i) {
        EXPECT_EQ(seconds[i].interval_ns, 1'200'000'000);
        EXPECT_EQ(seconds[i].bytes, 3u);
    }
    EXPECT_EQ(seconds[1].margin_ns_min, 98);
    EXPECT_EQ(seconds[4].interval_ns, 400'000'000);
}

TEST(HtmlTime, PutsNeighboursTogether) {
    std::vector<TimelineEntry> timeline = samples::told_in_full().timeline;
    const std::vector<TimelineEntry> coarse = coarser(timeline, 4);
    ASSERT_EQ(coarse.size(), 3u);  // the rest at the end is too short for a step of its own
    std::uint64_t bytes = 0, before = 0, dropped = 0;
    for (const TimelineEntry& entry : timeline) before += entry.bytes;
    for (const TimelineEntry& entry : coarse) {
        bytes += entry.bytes;
        dropped += missed(entry);
    }
    EXPECT_EQ(bytes, before);
    EXPECT_EQ(dropped, 212u);
    EXPECT_EQ(coarse[0].interval_ns, 2'400'000'000);
    EXPECT_EQ(coarse[1].margin_ns_min, -120'000'000);
    EXPECT_EQ(coarse[0].buffer_frames_min, 3u);
    EXPECT_THAT(coarser({}, 4), IsEmpty());
    EXPECT_EQ(of_play(timeline).front().t_ns, 0);
    EXPECT_EQ(of_play(timeline).size(), timeline.size() - 1);
}

}  // namespace
}  // namespace streamsim::report
