// Logs of strace whose truth is known: one line, one call, one place in a file at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "profile/learning/learn.h"
#include "profile/learning/selection.h"
#include "profile/strace/strace_line.h"
#include "profile/strace/strace_log.h"
#include "profile/traffic/behaviour.h"

namespace streamsim::profile {
namespace {

using ::testing::HasSubstr;

Result<Traffic> read(const std::string& text) {
    std::istringstream in(text);
    return read_strace_log("log", {{"log", &in, std::nullopt}}, [](std::uint64_t) { return true; });
}

/// "read f 0+4096", in order of time.
std::vector<std::string> told(const Traffic& traffic) {
    std::vector<std::string> out;
    for (const TrafficOperation& at : traffic.operations) {
        std::string line = std::string(to_string(at.kind)) + " " + traffic.files[at.file].name;
        if (at.bytes > 0) line += " " + std::to_string(at.offset) + "+" + std::to_string(at.bytes);
        if (at.failed) line += " failed";
        out.push_back(line);
    }
    return out;
}

std::vector<std::string> told(const std::string& text) {
    const auto traffic = read(text);
    if (!traffic) return traffic.error().problems;
    return told(*traffic);
}

using Lines = std::vector<std::string>;

/// Gives zeroes without an end.
class Zeroes final : public std::streambuf {
protected:
    int_type underflow() override {
        given_ += sizeof piece_;
        EXPECT_LT(given_, std::size_t{64} << 20) << "reads on";
        if (given_ > std::size_t{64} << 20) return traits_type::eof();
        setg(piece_, piece_, piece_ + sizeof piece_);
        return traits_type::to_int_type(piece_[0]);
    }

private:
    char piece_[1 << 16] = {};
    std::size_t given_ = 0;
};

TEST(StraceLog, BytesThatNoCallMovesAreLeftOut) {
    EXPECT_EQ(told("1 1.000000 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3</a> <0.000100>\n"
                   "1 2.000000 read(3</a>, \"\", 8) = 9223372036854775807 <0.000100>\n"
                   "1 3.000000 read(3</a>, \"\", 8) = 8 <0.000100>\n"),
              (Lines{"open /a", "read /a 0+8"}));
}

TEST(StraceLog, ALineWithoutAnEndEnds) {
    Zeroes zeroes;
    std::istream in(&zeroes);
    const auto read = read_strace_log("log", {{"log", &in, std::nullopt}}, [](std::uint64_t) { return true; });
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().problems.front(), HasSubstr("log: line 1 is longer than 16777216 bytes"));
}

/// The beginnings ascend from 0, and each end comes after its beginning.
void expect_times_in_order(const Traffic& traffic) {
    std::int64_t before = 0;
    for (const TrafficOperation& at : traffic.operations) {
        EXPECT_GE(at.begin_ns, before);
        EXPECT_GE(at.end_ns(), at.begin_ns);
        before = at.begin_ns;
    }
}

TEST(StraceLog, TimesThatAddUpEndAtALatestTime) {
    std::string relative = "0.0 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3</a> <0.1>\n";
    for (int i = 0; i < 100; ++i) relative += "99999999.0 read(3</a>, \"x\", 1) = 1 <99999999.0>\n";
    const auto late = read(relative);
    ASSERT_TRUE(late);
    ASSERT_EQ(late->operations.size(), 101u);
    expect_times_in_order(*late);
    EXPECT_EQ(late->operations.back().begin_ns, std::int64_t{1 << 30} * 8 * 1'000'000'000);
    EXPECT_GT(behaviour_of(late->operations).span_ns, 0);
    const auto learnt = learn(*late, "late");
    EXPECT_TRUE(learnt || !learnt.error().problems.empty());
}

TEST(StraceLog, ACallOfMoreThanThreeYearsHasNoDuration) {
    const auto log = read(
        "1.0 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3</a> <0.1>\n"
        "8500000000.0 read(3</a>, \"x\", 1) = 1 <8500000000.0>\n");
    ASSERT_TRUE(log);
    ASSERT_EQ(log->operations.size(), 2u);
    EXPECT_EQ(log->operations[1].duration_ns, 0);
    expect_times_in_order(*log);
}

TEST(StraceLine, EveryClockAndPrefixIsUnderstood) {
    for (const char* line :
         {"100 12:00:01.500000 read(3, \"\"..., 4) = 4 <0.1>",
          "100   1795320603.500000 read(3, \"\"..., 4) = 4", "[pid 100] 12:00:01 read(3, \"\"..., 4) = 4",
          "[pid   100]      0.500000 read(3, \"\"..., 4) = 4",
          "100 12:00:01.5 (+     0.000010) read(3, \"\"..., 4) = 4",
          "100 12:00:01.5 [  0] [00007f1234567890] read(3, \"\"..., 4) = 4"}) {
        const auto parsed = parse_strace_line(line);
        ASSERT_TRUE(parsed) << line;
        EXPECT_EQ(parsed->kind, StraceLine::Kind::call) << line;
        EXPECT_EQ(parsed->pid, 100u) << line;
        EXPECT_EQ(parsed->name, "read") << line;
        EXPECT_NE(parsed->clock, StraceLine::Clock::none) << line;
    }
}

TEST(StraceLine, ArgumentsEndWhereStringsBracketsAndDecorationsDo) {
    const auto call = parse_strace_call(
        "3</a,(b>, [{iov_base=\"x\\\"),\", iov_len=3}, {iov_base=\"\"...}], 2, 4096) = 7</c d> <1.000002>");
    ASSERT_TRUE(call);
    ASSERT_EQ(call->arguments.size(), 4u);
    EXPECT_EQ(decoration_of(call->arguments[0]), "/a,(b");
    EXPECT_EQ(descriptor_of(call->arguments[0]), 3);
    EXPECT_EQ(number_of(call->arguments[3]), 4096);
    EXPECT_EQ(call->result, 7);
    EXPECT_EQ(call->result_path, "/c d");
    EXPECT_EQ(call->duration_ns, 1'000'002'000);
}

TEST(StraceLine, EscapesAreUndone) {
    EXPECT_EQ(string_of("\"a\\tb\\303\\251\\x41\"..."),
              "a\tb\xc3\xa9"
              "A");
}

TEST(StraceLog, PlacesFollowReadsSeeksCopiesOfDescriptorsAndAppends) {
    EXPECT_EQ(told("1.0 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3 <0.1>\n"
                   "1.1 read(3, \"x\"..., 10) = 10 <0.1>\n"
                   "1.2 pread64(3, \"x\"..., 5, 100) = 5 <0.1>\n"
                   "1.3 dup2(3, 7) = 7 <0.1>\n"
                   "1.4 read(7, \"x\"..., 10) = 10 <0.1>\n"
                   "1.5 lseek(3, -4, SEEK_CUR) = 16 <0.1>\n"
                   "1.6 readv(7, [{iov_base=\"x\", iov_len=1}], 1) = 1 <0.1>\n"
                   "1.7 read(3, \"\", 10) = 0 <0.1>\n"
                   "1.8 open(\"/m/b\", O_WRONLY|O_CREAT|O_TRUNC|O_APPEND, 0644) = 4 <0.1>\n"
                   "1.9 write(4, \"x\"..., 20) = 20 <0.1>\n"
                   "2.0 pwrite64(4, \"x\"..., 8, 1000) = 8 <0.1>\n"
                   "2.1 write(4, \"x\"..., 1) = 1 <0.1>\n"
                   "2.2 close(3) = 0 <0.1>\n"
                   "2.3 read(3, \"x\"..., 10) = 10 <0.1>\n"),
              (Lines{"open /m/a", "read /m/a 0+10", "read /m/a 100+5", "read /m/a 10+10", "read /m/a 16+1",
                     "create /m/b", "write /m/b 0+20", "write /m/b 1000+8", "write /m/b 1008+1"}));
}

TEST(StraceLog, UnfinishedCallsOfThreadsOverlapAndShareDescriptors) {
    const auto traffic = read(
        "10 1.000000 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 11 <0.000001>\n"
        "10 2.000000 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3 <0.000001>\n"
        "10 3.000000 pread64(3,  <unfinished ...>\n"
        "11 3.100000 pread64(3, \"x\"..., 4096, 4096) = 4096 <0.500000>\n"
        "10 4.000000 <... pread64 resumed>\"x\"..., 4096, 0) = 4096 <1.000000>\n");
    // -r: each time counts from the line before
    ASSERT_TRUE(traffic);
    EXPECT_EQ(told(*traffic), (Lines{"open /m/a", "read /m/a 0+4096", "read /m/a 4096+4096"}));
    EXPECT_EQ(traffic->operations[1].begin_ns, 3'000'000'000);
    EXPECT_EQ(traffic->operations[1].duration_ns, 1'000'000'000);
    EXPECT_EQ(traffic->operations[2].begin_ns, 6'100'000'000);
    EXPECT_EQ(traffic->users.size(), 1u);
}

TEST(StraceLog, AForkHasDescriptorsOfItsOwnAndAnExecKeepsSome) {
    EXPECT_EQ(told("10 00:00:01.0 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3\n"
                   "10 00:00:01.1 openat(AT_FDCWD, \"/m/b\", O_RDONLY|O_CLOEXEC) = 4\n"
                   "10 00:00:02.0 vfork( <unfinished ...>\n"
                   "11 00:00:03.0 execve(\"/bin/cat\", [\"cat\"], 0x1 /* 3 vars */) = 0\n"
                   "10 00:00:03.1 <... vfork resumed>) = 11\n"
                   "11 00:00:04.0 read(4, \"x\"..., 7) = 7\n"
                   "11 00:00:04.1 read(3, \"x\"..., 7) = 7\n"
                   "11 00:00:04.2 close(3) = 0\n"
                   "10 00:00:05.0 read(3, \"x\"..., 7) = 7\n"),
              (Lines{"open /m/a", "open /m/b", "read /m/a 0+7", "read /m/a 7+7"}));
}

/// Its lines stand before the end of the call that began it.
TEST(StraceLog, AChildThatActsAtOnceClosesNothingOfItsParent) {
    const auto found = [](const std::string& flags) {
        return told(
            "10 1.0 execve(\"/bin/player\", [\"player\"], 0x1) = 0\n"
            "10 1.1 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3\n"
            "10 1.2 clone(child_stack=NULL, flags=" +
            flags +
            "SIGCHLD <unfinished ...>\n"
            "11 1.3 close_range(3, 4294967295, 0) = 0\n"
            "10 1.4 <... clone resumed>) = 11\n"
            "11 1.5 read(3, \"x\"..., 7) = 7\n"
            "10 1.6 read(3, \"x\"..., 7) = 7\n");
    };
    EXPECT_EQ(found(""), (Lines{"open /m/a", "read /m/a 0+7"}));
    EXPECT_EQ(found("CLONE_VM|CLONE_FILES|"), (Lines{"open /m/a"}));
}

TEST(StraceLog, OfTwoChildrenThatActAtOnceEachHasItsParent) {
    EXPECT_EQ(told("10 1.0 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3\n"
                   "10 1.1 fork() = 20\n"
                   "20 1.2 openat(AT_FDCWD, \"/m/b\", O_RDONLY) = 4\n"
                   "10 1.3 fork( <unfinished ...>\n"
                   "20 1.4 fork( <unfinished ...>\n"
                   "21 1.5 chdir(\"/m\") = 0\n"
                   "11 1.6 chdir(\"/m\") = 0\n"
                   "10 1.7 <... fork resumed>) = 11\n"
                   "20 1.8 <... fork resumed>) = 21\n"
                   "21 1.9 read(4, \"x\"..., 7) = 7\n"
                   "11 2.0 read(4, \"x\"..., 7) = 7\n"),
              (Lines{"open /m/a", "open /m/b", "read /m/b 0+7"}));
}

TEST(StraceLog, ACloseThatEndsLateKeepsTheFileThatHasItsDescriptorMeanwhile) {
    for (const char* const named : {"", "</m/a>"}) {
        const std::string a(named), b(a.empty() ? "" : "</m/b>");
        EXPECT_EQ(told("10 1.0 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3" + a +
                       "\n"
                       "10 1.1 clone(flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 11\n"
                       "10 1.2 close(3" +
                       a +
                       " <unfinished ...>\n"
                       "11 1.3 openat(AT_FDCWD, \"/m/b\", O_RDONLY) = 3" +
                       b +
                       "\n"
                       "11 1.4 read(3" +
                       b +
                       ", \"x\"..., 7) = 7\n"
                       "10 1.5 <... close resumed>) = 0\n"
                       "11 1.6 read(3" +
                       b + ", \"x\"..., 7) = 7\n"),
                  (Lines{"open /m/a", "open /m/b", "read /m/b 0+7", "read /m/b 7+7"}));
    }
}

/// A log for each process has no line of a call's end.
TEST(StraceLog, ACloseOfAnotherFileClosesNothing) {
    EXPECT_EQ(told("10 1.0 clone(flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 11\n"
                   "11 1.1 openat(AT_FDCWD, \"/m/b\", O_RDONLY) = 3</m/b> <0.000300>\n"
                   "10 1.2 close(3</m/a>) = 0 <0.000100>\n"
                   "11 1.3 read(3, \"x\"..., 7) = 7 <0.000100>\n"),
              (Lines{"open /m/b", "read /m/b 0+7"}));
}

TEST(StraceLog, CopiesInsideTheKernelReadAndWrite) {
    EXPECT_EQ(told("1.0 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3 <0.1>\n"
                   "1.0 openat(AT_FDCWD, \"/m/b\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 4 <0.1>\n"
                   "1.1 copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 232064 <0.1>\n"
                   "1.2 copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 0 <0.1>\n"
                   "1.3 sendfile(4, 3, [0] => [100], 100) = 100 <0.1>\n"),
              (Lines{"open /m/a", "create /m/b", "read /m/a 0+232064", "write /m/b 0+232064", "read /m/a 0+100",
                     "write /m/b 232064+100"}));
}

TEST(StraceLog, NamesAreResolvedAndQuestionsCounted) {
    EXPECT_EQ(told("1.0 chdir(\"/m\") = 0 <0.1>\n"
                   "1.1 access(\"x/../f.0000.dpx\", F_OK) = -1 ENOENT (No such file or directory) <0.1>\n"
                   "1.2 newfstatat(AT_FDCWD</n>, \"g\", {st_mode=S_IFREG|0644, st_size=77, ...}, 0) = 0 <0.1>\n"
                   "1.3 openat(AT_FDCWD, \"/m\", O_RDONLY|O_DIRECTORY) = 5 <0.1>\n"
                   "1.4 getdents64(5, 0x1 /* 3 entries */, 32768) = 80 <0.1>\n"
                   "1.5 getdents64(5, 0x1 /* 0 entries */, 32768) = 0 <0.1>\n"
                   "1.6 unlinkat(5, \"h\", 0) = 0 <0.1>\n"
                   "1.7 rename(\"/m/i\", \"/m/j\") = 0 <0.1>\n"
                   "1.8 mkdir(\"/m/k\", 0777) = 0 <0.1>\n"),
              (Lines{"stat /m/f.0000.dpx failed", "stat /n/g", "list /m", "remove /m/h", "rename /m/i",
                     "other /m/k"}));
}

TEST(StraceLog, WhatWasOpenedOutOfSightIsKnownByItsDecoration) {
    EXPECT_EQ(told("1.0 read(0</m/a>, \"x\"..., 9) = 9 <0.1>\n"
                   "1.1 write(1</dev/null<char 1:3>>, \"x\"..., 9) = 9 <0.1>\n"
                   "1.2 read(5<TCP:[127.0.0.1:1->127.0.0.1:2]>, \"x\"..., 9) = 9 <0.1>\n"
                   "1.3 read(0</m/a>, \"x\"..., 9) = 9 <0.1>\n"),
              (Lines{"read /m/a 0+9", "read /m/a 9+9"}));
}

TEST(StraceLog, TimesGoOnPastMidnight) {
    const auto traffic = read(
        "23:59:59.900000 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3 <0.1>\n"
        "00:00:00.400000 read(3, \"x\"..., 9) = 9 <0.1>\n");
    ASSERT_TRUE(traffic);
    EXPECT_EQ(traffic->operations[1].begin_ns, 500'000'000);
}

TEST(StraceLog, TimesThatOrderNothingAreRefused) {
    EXPECT_THAT(told("10 23:59:58.5 getpid() = 1\n10 23:59:59 getpid() = 1\n"),
                testing::ElementsAre(HasSubstr("log: line 2: its time is in whole seconds (-t)")));
    std::istringstream one("23:59:59.9 getpid() = 1\n00:00:00.4 getpid() = 1\n"),
        other("00:00:00.1 getpid() = 1\n");
    const auto several =
        read_strace_log("log", {{"log.1", &one, 1}, {"log.2", &other, 2}}, [](std::uint64_t) { return true; });
    ASSERT_FALSE(several);
    EXPECT_THAT(several.error().problems, testing::ElementsAre(HasSubstr("log.1: line 2: goes past midnight")));
}

TEST(StraceLog, WhatCannotBeSeenIsSaid) {
    const auto traffic = read(
        "1.0 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3\n"
        "1.1 io_uring_setup(8, {...}) = 4\n"
        "1.2 read(9, \"x\"..., 9) = 9\n"
        "--- SIGCHLD {si_signo=SIGCHLD} ---\n"
        "1.4 exit_group(0) = ?\n"
        "+++ exited with 0 +++\n");
    ASSERT_TRUE(traffic);
    std::string all;
    for (const std::string& note : traffic->notes) all += note + "\n";
    EXPECT_THAT(all, HasSubstr("io_uring was used"));
    EXPECT_THAT(all, HasSubstr("opened out of sight"));
    EXPECT_THAT(all, HasSubstr("strace -T"));
}

TEST(StraceLog, IoUringIsSeenInEachOfItsCalls) {
    for (const char* call :
         {"io_uring_setup(8, {...}) = 4", "io_uring_register(5, IORING_REGISTER_FILES, [], 1) = 0",
          "io_uring_enter(5, 8, 8, IORING_ENTER_GETEVENTS, NULL, 8) = 8", "getpid() = 1"}) {
        const auto traffic = read(std::string("1.0 ") + call + "\n1.1 " + call + "\n");
        ASSERT_TRUE(traffic);
        EXPECT_EQ(traffic->io_uring, *call == 'i') << call;
        EXPECT_EQ(traffic->notes.size(), *call == 'i' ? 2u : 1u) << call << ": and that there is no strace -T";
    }
}

TEST(StraceLog, WhatIsNoLogIsRefusedWithItsLines) {
    EXPECT_THAT(told(""), testing::ElementsAre(HasSubstr("is empty")));
    EXPECT_THAT(told("hello\nworld\n").front(), HasSubstr("log: line 1: 'hello': expected a line of strace"));
    EXPECT_THAT(told(std::string("\0\x01\xff\n", 4)).front(), HasSubstr("log: line 1:"));
    EXPECT_THAT(told("read(3, \"x\", 9) = 9\n").front(), HasSubstr("have no times"));
    EXPECT_THAT(told(std::string(3 << 20, 'x')).front(), HasSubstr("log: line 1:"));
}

TEST(StraceLog, DamagedLinesNeverDoMoreThanNotCount) {
    const std::string whole =
        "10 1.0 openat(AT_FDCWD</m>, \"/m/a\", O_RDONLY) = 3</m/a> <0.1>\n"
        "10 1.1 pread64(3</m/a>, \"x\\\"..\"..., 18446744073709551615, 9223372036854775807) = "
        "99999999999999999999\n"
        "10 1.2 read(3</m/a>,  <unfinished ...>\n10 1.3 <... read resumed>\"x\"..., 9) = 9 <9999999999999.9>\n"
        "10 1.4 lseek(3</m/a>, 9223372036854775807, SEEK_SET) = 9223372036854775807 <0.1>\n"
        "10 1.5 read(3</m/a>, \"x\"..., 9) = 9223372036854775807 <0.1>\n";
    for (std::size_t i = 0; i < whole.size(); ++i) {
        (void)read(whole.substr(0, i));
        std::string changed = whole;
        for (const char c : {'\0', '<', '"', '(', '9', '\n'}) {
            changed[i] = c;
            (void)read(changed);
        }
    }
}

TEST(Selection, SystemFilesPipesAndQuietDirectoriesAreLeftOut) {
    const char* const log =
        "1.0 openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = 3 <0.1>\n1.0 read(3, \"x\"..., 900) = 900 <0.1>\n"
        "1.0 openat(AT_FDCWD, \"/home/u/.config\", O_RDONLY) = 4 <0.1>\n1.0 stat(\"/home/u/x\", 0x1) = 0 "
        "<0.1>\n"
        "1.0 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 5 <0.1>\n1.0 read(5, \"x\"..., 90000) = 90000 <0.1>\n"
        "1.0 stat(\"/m/b\", 0x1) = -1 ENOENT (No such file or directory) <0.1>\n";
    auto traffic = read(log);
    ASSERT_TRUE(traffic);
    select(*traffic, {});
    EXPECT_EQ(told(*traffic), (Lines{"open /m/a", "read /m/a 0+90000", "stat /m/b failed"}));
    traffic = read(log);
    select(*traffic, {"/etc"});
    EXPECT_EQ(told(*traffic), (Lines{"open /etc/passwd", "read /etc/passwd 0+900"}));
}

}  // namespace
}  // namespace streamsim::profile
