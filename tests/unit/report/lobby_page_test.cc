#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/json.h"
#include "report/html/live_page.h"

namespace streamsim::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SeatsPage, ShowsEachSeatAndNoMarkupOfOthers) {
    SeatsTable lobby{
        "NOT BEGUN", "day.json: 1 of 2 seats are here", {"seat", "targets"}, {}, {"<b>edit1</b> is here"}};
    lobby.rows.push_back({{"<i>edit1</i>", "/mnt/media: 2.0 TB free"}, SeatsTable::Row::State::ready});
    lobby.rows.push_back({{"edit2", "is not mounted"}, SeatsTable::Row::State::wrong});
    const LivePage page = seats_page(lobby, "The run begins when all 2 seats are here.");
    for (const char* part : {"day.json: 1 of 2 seats are here", "&lt;i&gt;edit1&lt;/i&gt;", "2.0 TB free",
                             "class=\"bad\"", "class=\"good\"", "&lt;b&gt;edit1", "begins when all 2 seats"})
        EXPECT_THAT(page.page, HasSubstr(part));
    EXPECT_THAT(page.page, Not(HasSubstr("<i>edit1")));
    const auto event = parse_json(page.event, "event");
    ASSERT_TRUE(event.has_value());
    EXPECT_THAT(event->at("main").get<std::string>(), HasSubstr("edit2"));
}

}  // namespace
}  // namespace streamsim::report
