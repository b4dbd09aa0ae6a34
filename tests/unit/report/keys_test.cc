#include "view/keys.h"

#include <gmock/gmock.h>

namespace streamsim::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KeyParser, KnowsLettersAndSequences) {
    view::KeyParser parser;
    EXPECT_THAT(parser.feed("q+-wjkgG \x0c\r\n"),
                ElementsAre(view::Key::quit, view::Key::add, view::Key::remove, view::Key::worst_first,
                            view::Key::down, view::Key::up, view::Key::home, view::Key::end,
                            view::Key::page_down, view::Key::redraw, view::Key::begin, view::Key::begin));
    EXPECT_THAT(parser.feed("\x1b[A\x1b[B\x1b[5~\x1b[6~\x1b[H\x1b[F"),
                ElementsAre(view::Key::up, view::Key::down, view::Key::page_up, view::Key::page_down,
                            view::Key::home, view::Key::end));
    EXPECT_THAT(parser.feed("\x1bOA\x1bOB\x1bOH\x1bOF\x1b[1~\x1b[4~"),
                ElementsAre(view::Key::up, view::Key::down, view::Key::home, view::Key::end, view::Key::home,
                            view::Key::end));
}

TEST(KeyParser, TakesSequencesInPieces) {
    for (const std::string sequence : {"\x1b[A", "\x1b[5~", "\x1bOB"}) {
        view::KeyParser whole;
        const auto expected = whole.feed(sequence);
        for (std::size_t cut = 1; cut < sequence.size(); ++cut) {
            view::KeyParser parser;
            EXPECT_THAT(parser.feed(sequence.substr(0, cut)), IsEmpty());
            EXPECT_EQ(parser.feed(sequence.substr(cut)), expected);
        }
    }
}

TEST(KeyParser, PassesOverWhatMeansNothing) {
    view::KeyParser parser;
    // Control-arrow, a mouse report, F5, alt-q, a letter beyond ASCII: none of their bytes is a key of its own.
    EXPECT_THAT(parser.feed("\x1b[1;5A\x1b[<0;12;7M\x1b[15~\x1bq\xc3\xa9xyz"), IsEmpty());
    EXPECT_THAT(parser.feed("q"), ElementsAre(view::Key::quit));
}

TEST(KeyParser, TheEscapeKeyAloneKeepsNothingBack) {
    view::KeyParser parser;
    EXPECT_THAT(parser.feed("\x1b"), IsEmpty());
    EXPECT_THAT(parser.feed("\x1b[A"), ElementsAre(view::Key::up));
    EXPECT_THAT(parser.feed("\x1b"), IsEmpty());
    parser.pause();
    EXPECT_THAT(parser.feed("q"), ElementsAre(view::Key::quit));
    EXPECT_THAT(parser.feed("\x1b[" + std::string(100, '1') + "q"), ElementsAre(view::Key::quit))
        << "what never ends is given up";
}

}  // namespace
}  // namespace streamsim::report
