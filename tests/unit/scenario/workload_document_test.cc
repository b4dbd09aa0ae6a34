// Workloads: every member is read, every mistake has its place, all are told at once; scaled workloads and the
// steps of a sweep.
#include "scenario/workload_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/prng.h"
#include "scenario/workload_steps.h"

namespace streamsim::scenario {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr auto kRead = static_cast<std::size_t>(LoadOperation::read);
constexpr auto kWrite = static_cast<std::size_t>(LoadOperation::write);

/// `meter`, `all`: more members, each beginning with a comma.
std::string document(const std::string& meter, const std::string& all = "") {
    return R"({"schema": "streamsim.workload", "version": 1, "name": "w", "meters": [{"name": "m")" + meter +
           "}]" + all + "}";
}
/// The document of a meter that reads and writes.
std::string transfers(const std::string& meter, const std::string& all = "") {
    return document(R"(, "operations": {"read": 70, "write": 30})" + meter, all);
}
const std::string kFile = R"(, "files": {"bytes": "1MiB"})";
const std::string kPlain = R"(, "blocks": "4KiB", "files": {"count": 2, "bytes": "1MiB"})";

std::vector<std::string> workload_problems(const std::string& text) {
    const auto workload = read_workload(text, "w.json");
    return workload ? std::vector<std::string>{} : workload.error().problems;
}

Workload workload_of(const std::string& text) {
    auto workload = read_workload(text, "w.json");
    EXPECT_TRUE(workload) << testing::PrintToString(workload_problems(text));
    return workload ? *workload : Workload{};
}

const std::string kEverything = R"({"schema": "streamsim.workload", "version": 1, "name": "vdi.login-1",
        "title": "Login", "description": "everybody comes", "basis": "paper: E", "target": "sim:sc7020f",
        "clients": 3, "duration": "2m", "report": "curve",
        "sweep": {"over": "operations_per_s", "values": [1000, 2500.5]},
        "printed": [{"at": 1000, "quantity": "latency_ms", "value": 0.8, "source": "paper: E, text"},
                    {"at": "peak", "model": "h600", "quantity": "bytes_per_s", "value": 1, "source": "F"}],
        "meters": [
          {"name": "office", "users": 40, "loop": "open", "arrival": "poisson", "operations_per_s": 54.5,
           "inflight": 7, "operations": {"read": 1, "write": 2, "open": 3, "stat": 4, "create": 5, "remove": 6,
           "rename": 7, "list": 0.5}, "random_percent": 25, "sequential_from": "anywhere",
           "random_unit": "block", "non_repeating": true,
           "blocks": [{"bytes": "4KiB", "weight": 3}, {"bytes": "64kB"}, {"bytes": "512B", "weight": 0}],
           "lengths": [{"bytes": "2GiB", "weight": 2}, {"bytes": "1MiB"}],
           "files": {"count": 9, "bytes": "4GiB", "directories": 3, "spare": 5, "shared": true},
           "direct": false, "sync": "each-write", "one_more_every": "500ms", "start": "1s", "end": "90s",
           "buffer": {"bytes_per_s": 103000000, "length": "2s", "threshold": "500ms"}, "burst": 12},
          {"name": "copy", "loop": "closed", "operations_per_s": 10, "operations": {"write": 1},
           "blocks": "1MiB", "lengths": {"up_to": "10MiB"}, "files": {"bytes": "1GiB"}, "sync": "at-end",
           "think_time": "20ms"}]})";

TEST(WorkloadDocument, EveryMemberIsRead) {
    const Workload all = workload_of(kEverything);
    EXPECT_EQ(all.source, "w.json");
    EXPECT_EQ(all.name, "vdi.login-1");
    EXPECT_EQ(all.title, "Login");
    EXPECT_EQ(all.description, "everybody comes");
    EXPECT_EQ(all.basis, "paper: E");
    EXPECT_EQ(all.target, "sim:sc7020f");
    EXPECT_EQ(all.clients, 3u);
    EXPECT_EQ(all.duration, seconds(120));
    EXPECT_EQ(all.report, Workload::Report::curve);
    EXPECT_EQ(all.sweep.over, Sweep::Over::operations_per_s);
    EXPECT_THAT(all.sweep.values, ElementsAre(1000, 2500.5));
    ASSERT_THAT(all.printed, SizeIs(2));
    EXPECT_EQ(all.printed[0].at, 1000);
    EXPECT_EQ(all.printed[0].quantity, "latency_ms");
    EXPECT_EQ(all.printed[0].value, 0.8);
    EXPECT_EQ(all.printed[0].source, "paper: E, text");
    EXPECT_EQ(all.printed[0].model, "");
    EXPECT_FALSE(all.printed[0].peak);
    EXPECT_EQ(all.printed[1].model, "h600");
    EXPECT_TRUE(all.printed[1].peak);
    EXPECT_EQ(all.printed[1].quantity, "bytes_per_s");
    EXPECT_THAT(all.meters, SizeIs(2));
}

TEST(WorkloadDocument, EveryMemberOfAMeterIsRead) {
    const Workload all = workload_of(kEverything);
    ASSERT_THAT(all.meters, SizeIs(2));
    const MeterSpec& office = all.meters[0];
    EXPECT_EQ(office.name, "office");
    EXPECT_EQ(office.users, 40u);
    EXPECT_EQ(office.loop, MeterSpec::Loop::open);
    EXPECT_EQ(office.arrival, MeterSpec::Arrival::poisson);
    EXPECT_EQ(office.operations_per_s, 54.5);
    EXPECT_EQ(office.inflight, 7u);
    EXPECT_THAT(office.weights, ElementsAre(1, 2, 3, 4, 5, 6, 7, 0.5));
    EXPECT_EQ(office.random_share, 0.25);
    EXPECT_TRUE(office.sequential_from_anywhere);
    EXPECT_TRUE(office.random_by_block);
    EXPECT_TRUE(office.non_repeating);
    ASSERT_THAT(office.blocks, SizeIs(3));
    EXPECT_EQ(office.blocks[0].bytes, 4096u);
    EXPECT_EQ(office.blocks[0].weight, 3);
    EXPECT_EQ(office.blocks[1].bytes, 64'000u);
    EXPECT_EQ(office.blocks[1].weight, 1);
    EXPECT_EQ(office.blocks[2].weight, 0);
    ASSERT_THAT(office.lengths, SizeIs(2));
    EXPECT_EQ(office.lengths[0].bytes, 2ull << 30) << "longer than any block may be";
    EXPECT_EQ(office.set.files, 9u);
    EXPECT_EQ(office.set.file_bytes, 4ull << 30);
    EXPECT_EQ(office.set.directories, 3u);
    EXPECT_EQ(office.set.spare_files, 5u);
    EXPECT_EQ(office.set.of, WorkingSet::Of::all);
    EXPECT_FALSE(office.direct);
    EXPECT_EQ(office.sync, MeterSpec::Sync::each_write);
    EXPECT_EQ(office.one_more_every, milliseconds(500));
    EXPECT_EQ(office.start, seconds(1));
    EXPECT_EQ(office.end, seconds(90));
    EXPECT_EQ(office.burst, 12u);
    ASSERT_TRUE(office.buffer);
    EXPECT_EQ(office.buffer->bytes_per_s, 103'000'000u);
    EXPECT_EQ(office.buffer->length, seconds(2));
    EXPECT_EQ(office.buffer->threshold, milliseconds(500));
    EXPECT_FALSE(all.meters[1].buffer);
    const MeterSpec& copy = all.meters[1];
    EXPECT_EQ(copy.loop, MeterSpec::Loop::closed);
    EXPECT_EQ(copy.operations_per_s, 10);
    EXPECT_THAT(copy.blocks, SizeIs(1));
    EXPECT_THAT(copy.lengths, IsEmpty());
    EXPECT_EQ(copy.length_up_to, 10ull << 20);
    EXPECT_EQ(copy.sync, MeterSpec::Sync::at_end);
    EXPECT_EQ(copy.think_time, milliseconds(20));
    EXPECT_TRUE(copy.direct);
}

TEST(WorkloadDocument, WhatIsLeftOutHasItsDefault) {
    const Workload least = workload_of(document(R"(, "operations": {"stat": 1})"));
    EXPECT_EQ(least.clients, 1u);
    EXPECT_EQ(least.duration, seconds(10));
    EXPECT_EQ(least.report, Workload::Report::table);
    EXPECT_EQ(least.sweep.over, Sweep::Over::none);
    EXPECT_FALSE(least.target);
    const MeterSpec& meter = least.meters[0];
    EXPECT_EQ(meter.users, 1u);
    EXPECT_EQ(meter.loop, MeterSpec::Loop::closed);
    EXPECT_EQ(meter.operations_per_s, 0);
    EXPECT_EQ(meter.inflight, 1u);
    EXPECT_EQ(meter.set.files, 1u);
    EXPECT_EQ(meter.set.file_bytes, 0u);
    EXPECT_FALSE(meter.end);
    EXPECT_EQ(meter.sync, MeterSpec::Sync::never);
}

/// A document and what its only problem says, the place first.
struct Wrong {
    std::string text;
    std::string place;
    std::string says;
};

const std::vector<Wrong> kWrong = {
    {"[]", "/", "expected an object"},
    {R"({"schema": "streamsim.workload", "version": 1, "name": "w", "meters": []})", "/meters",
     "an array that is not empty"},
    {document(""), "/meters/0/operations", "missing"},
    {document(R"(, "operations": {})"), "/meters/0/operations", "a weight above 0"},
    {document(R"(, "operations": {"stat": 0})"), "/meters/0/operations", "a weight above 0"},
    {document(R"(, "operations": {"stat": -1})"), "/meters/0/operations/stat", "expected a number"},
    {document(R"(, "operations": {"stat": 1, "chmod": 1})"), "/meters/0/operations/chmod", "unknown key"},
    {document(R"(, "operations": {"stat": 1}, "colour": 1)"), "/meters/0/colour", "unknown key"},
    {transfers(kFile), "/meters/0/blocks", "missing"},
    {transfers(R"(, "blocks": "4KiB")"), "/meters/0/files", "missing"},
    {transfers(R"(, "blocks": "4KiB", "files": {})"), "/meters/0/files/bytes", "missing"},
    {transfers(R"(, "blocks": "4KiB", "files": {"bytes": 4096})"), "/meters/0/files/bytes", "a size such as"},
    {transfers(R"(, "blocks": "4096")" + kFile), "/meters/0/blocks", "is not a size"},
    {transfers(R"(, "blocks": 4096)" + kFile), "/meters/0/blocks", "a size such as"},
    {transfers(R"(, "blocks": "0")" + kFile), "/meters/0/blocks", "expected 1 B to 1024 MiB"},
    {transfers(R"(, "blocks": "2GiB", "files": {"bytes": "1TiB"})"), "/meters/0/blocks", "expected 1 B to"},
    {transfers(R"(, "blocks": [])" + kFile), "/meters/0/blocks", "1 to 10000 sizes"},
    {transfers(R"(, "blocks": [{"bytes": "4KiB", "weight": 0}])" + kFile), "/meters/0/blocks",
     "a weight above 0"},
    {transfers(R"(, "blocks": [{"bytes": "4KiB"}, {"bytes": "4096B"}])" + kFile), "/meters/0/blocks/1/bytes",
     "4 KiB is given twice"},
    {transfers(R"(, "blocks": [{"bytes": "4KiB", "weigth": 1}])" + kFile), "/meters/0/blocks/0/weigth",
     "unknown key"},
    {transfers(R"(, "blocks": "2MiB")" + kFile), "/meters/0/blocks", "2 MiB do not fit a file of 1 MiB"},
    {transfers(R"(, "blocks": "4KiB", "lengths": [{"bytes": "1KiB"}, {"bytes": "3MiB"}])" + kFile),
     "/meters/0/lengths/1", "3 MiB do not fit a file of 1 MiB"},
    {transfers(R"(, "blocks": "4KiB", "lengths": {"up_to": "2MiB"})" + kFile), "/meters/0/lengths",
     "2 MiB do not fit"},
    {transfers(R"(, "blocks": "4KiB", "lengths": {"up_to": "2KiB"})" + kFile), "/meters/0/lengths/up_to",
     "less than the smallest block, 4 KiB"},
    {
        transfers(R"(, "blocks": "4KiB", "lengths": {"to": "2KiB"})" + kFile),
        "/meters/0/lengths/",
        "",
    },
    {transfers(kPlain + R"(, "random_percent": 101)"), "/meters/0/random_percent", "from 0 to 100"},
    {transfers(kPlain + R"(, "non_repeating": true)"), "/meters/0/non_repeating", "random_percent is 0"},
    {transfers(kPlain + R"(, "sync": "always")"), "/meters/0/sync", "expected one of never"},
    {transfers(kPlain + R"(, "loop": "open")"), "/meters/0/operations_per_s", "missing"},
    {transfers(kPlain + R"(, "arrival": "poisson")"), "/meters/0/arrival", "of an open loop"},
    {transfers(kPlain + R"(, "loop": "open", "operations_per_s": 1, "think_time": "1s")"),
     "/meters/0/think_time", "of a closed loop"},
    {transfers(kPlain + R"(, "think_time": 5)"), "/meters/0/think_time", "expected a text"},
    {transfers(kPlain + R"(, "think_time": "5")"), "/meters/0/think_time", "with a unit"},
    {transfers(kPlain + R"(, "users": 0)"), "/meters/0/users", "from 1 to"},
    {transfers(kPlain + R"(, "users": 2.5)"), "/meters/0/users", "expected an integer"},
    {transfers(kPlain + R"(, "inflight": 0)"), "/meters/0/inflight", "from 1 to"},
    {transfers(kPlain + R"(, "users": 1000000, "inflight": 2)"), "/meters/0/inflight", "more than 1000000"},
    {transfers(kPlain + R"(, "start": "10s")"), "/meters/0/start", "never runs"},
    {transfers(kPlain + R"(, "end": "11s")"), "/meters/0/end", "is after the end"},
    {transfers(kPlain + R"(, "users": 11, "one_more_every": "1s")"), "/meters/0/one_more_every",
     "the last of 11 users would begin when all ends"},
    {transfers(kPlain + R"(, "users": 99, "one_more_every": "1s")"), "/meters/0/one_more_every",
     "after all has ended"},
    {document(R"(, "operations": {"stat": 1}, "blocks": "4KiB")"), "/meters/0/blocks",
     "reads and writes, which this meter has none of"},
    {document(R"(, "operations": {"stat": 1}, "sync": "at-end")"), "/meters/0/sync", "none of"},
    {transfers(kPlain, R"(, "duration": "0s")"), "/duration", "more than no time"},
    {transfers(kPlain, R"(, "clients": 0)"), "/clients", "from 1 to"},
    {transfers(kPlain, R"(, "report": "chart")"), "/report", "expected one of"},
    {transfers(kPlain, R"(, "sweep": {"over": "colour", "values": [1]})"), "/sweep/over", "expected one of"},
    {transfers(kPlain, R"(, "sweep": {"over": "users", "values": []})"), "/sweep/values", "1 to 1000"},
    {transfers(kPlain, R"(, "sweep": {"over": "users", "values": [1, 2.5]})"), "/sweep/values/1",
     "an integer from 1"},
    {transfers(kPlain, R"(, "sweep": {"over": "read_percent", "values": [100, 101]})"), "/sweep/values/1",
     "a number from 0 to 100"},
    {transfers(kPlain, R"(, "sweep": {"over": "cache", "values": ["cool"]})"), "/sweep/values/0",
     "\"cold\" or \"warm\""},
    {transfers(kPlain, R"(, "sweep": {"over": "fill_percent", "values": [50, 80, 80]})"), "/sweep/values/2",
     "more than the value before"},
    {transfers(kPlain, R"(, "sweep": {"over": "block_bytes", "values": ["4KiB", 512]})"), "/sweep/values/1",
     "a size such as"},
    {transfers(kPlain, R"(, "sweep": {"over": "block_bytes", "values": ["4KiB", "2MiB"]})"), "/sweep/values/1",
     "does not fit the files of m"},
    {transfers(kPlain, R"(, "sweep": {"over": "operations_per_s", "values": [100]})"), "/sweep",
     "no meter has any"},
    {document(R"(, "operations": {"stat": 1})", R"(, "sweep": {"over": "read_percent", "values": [1]})"),
     "/sweep", "no meter has any"},
    {transfers(kPlain + R"(, "one_more_every": "3s")", R"(, "sweep": {"over": "users", "values": [2, 5]})"),
     "/meters/0/one_more_every", "the last of 5 users"},
    {transfers(kPlain, R"(, "printed": [{"at": 1, "quantity": "latency_ms", "value": 1, "source": "x"}])"),
     "/printed/0/at", "there is no sweep"},
    {transfers(kPlain, R"(, "printed": [{"quantity": "iops", "value": 1, "source": "x"}])"),
     "/printed/0/quantity", "expected one of"},
    {transfers(kPlain, R"(, "sweep": {"over": "users", "values": [1]}, "printed": [{"quantity":
         "latency_ms", "value": 1, "source": "x"}])"),
     "/printed/0/at", "missing"},
    {transfers(kPlain, R"(, "printed": [{"at": "peak", "quantity": "latency_ms", "value": 1, "source": "x"}])"),
     "/printed/0/at", "there is no sweep"},
    {transfers(kPlain, R"(, "sweep": {"over": "users", "values": [1]}, "printed": [{"at": "most",
         "quantity": "latency_ms", "value": 1, "source": "x"}])"),
     "/printed/0/at", "expected an integer"},
    {transfers(kPlain, R"(, "printed": [{"model": "sim:h600", "quantity": "latency_ms", "value": 1,
         "source": "x"}])"),
     "/printed/0/model", "expected the name of a model"},
};

TEST(WorkloadDocument, EveryMistakeHasItsPlace) {
    for (const Wrong& wrong : kWrong) {
        const auto found = workload_problems(wrong.text);
        if (wrong.says.empty()) {  // one left out and one unknown
            EXPECT_THAT(found, UnorderedElementsAre(HasSubstr(wrong.place + "up_to: missing"),
                                                    HasSubstr(wrong.place + "to: unknown key")));
            continue;
        }
        EXPECT_THAT(found,
                    ElementsAre(AllOf(HasSubstr("w.json: " + wrong.place + ": "), HasSubstr(wrong.says))))
            << wrong.text;
    }
}

TEST(WorkloadDocument, FilesAreOfAUserAClientOrOfAll) {
    const auto of = [](const std::string& shared) {
        return workload_of(
                   transfers(R"(, "blocks": "4KiB", "files": {"bytes": "1MiB", "shared": )" + shared + "}"))
            .meters[0]
            .set.of;
    };
    EXPECT_EQ(of("false"), WorkingSet::Of::user);
    EXPECT_EQ(of(R"("client")"), WorkingSet::Of::client);
    EXPECT_EQ(of("true"), WorkingSet::Of::all);
    EXPECT_THAT(
        workload_problems(transfers(R"(, "blocks": "4KiB", "files": {"bytes": "1MiB", "shared": "user"})")),
        ElementsAre(HasSubstr("/meters/0/files/shared: expected true, false or \"client\", found")));
}

TEST(WorkloadDocument, ABufferHasARateAndALengthAndItsThresholdLiesInIt) {
    const auto problems = [](const std::string& buffer) {
        return workload_problems(transfers(kPlain + R"(, "buffer": )" + buffer));
    };
    EXPECT_THAT(problems(R"({"bytes_per_s": 1000, "length": "1s"})"), IsEmpty()) << "the threshold is 0";
    EXPECT_THAT(problems(R"({"bytes_per_s": 1000, "length": "1s", "threshold": "1s"})"), IsEmpty());
    EXPECT_THAT(problems(R"({"bytes_per_s": 1000, "length": "1s", "threshold": "2s"})"),
                ElementsAre(HasSubstr("/meters/0/buffer/threshold: expected at most the length")));
    EXPECT_THAT(
        problems(R"({"bytes_per_s": 0, "length": "0"})"),
        UnorderedElementsAre(HasSubstr("/meters/0/buffer/bytes_per_s"), HasSubstr("/meters/0/buffer/length")));
    EXPECT_THAT(problems("{}"), SizeIs(2)) << "both are required";
    EXPECT_THAT(workload_problems(document(R"(, "operations": {"stat": 1},
                                               "buffer": {"bytes_per_s": 1000, "length": "1s"})")),
                ElementsAre(HasSubstr("/meters/0/buffer: is of reads and writes")));
}

TEST(WorkloadDocument, NamesAreOfFilesAndNotTwice) {
    for (const char* name : {"../x", "a/b", "a b", ".hidden", "\u00e4"}) {
        EXPECT_THAT(workload_problems(R"({"schema": "streamsim.workload", "version": 1, "name": ")" +
                                      std::string(name) +
                                      R"(", "meters": [{"name": "m", "operations": {"stat": 1}}]})"),
                    ElementsAre(HasSubstr("w.json: /name: expected at most 64 letters")))
            << name;
    }
    EXPECT_THAT(workload_problems(R"({"schema": "streamsim.workload", "version": 1, "name": "w", "meters": [
        {"name": "m", "operations": {"stat": 1}}, {"name": "m", "operations": {"list": 1}}]})"),
                ElementsAre(HasSubstr("w.json: /meters/1/name: another meter is named \"m\"")));
}

TEST(WorkloadDocument, AllProblemsAtOnce) {
    EXPECT_THAT(workload_problems(R"({"schema": "streamsim.workload", "version": 2, "clients": -1, "meters": [
        {"name": "a", "operations": {"read": 1}, "blocks": "1MB/s", "files": {"bytes": "x"}}, 5]})"),
                UnorderedElementsAre(HasSubstr("/version"), HasSubstr("/name: missing"), HasSubstr("/clients"),
                                     HasSubstr("/meters/0/blocks"), HasSubstr("/meters/0/files/bytes"),
                                     HasSubstr("/meters/1: expected an object")));
}

TEST(WorkloadDocument, MoreClientsThanItWasReadForCanBeTooMany) {
    Workload workload = workload_of(transfers(kPlain));
    EXPECT_EQ(too_large(workload), "");
    workload.meters[0].users = 2;
    workload.meters[0].inflight = 1;
    workload.meters[0].set.files = 100;
    workload.clients = 50'000;
    EXPECT_EQ(too_large(workload), "") << "10 million files";
    workload.clients = 50'001;
    EXPECT_THAT(too_large(workload), HasSubstr("meter m has 100002 users on 50001 clients"));
    workload.meters[0].set.files = 1;
    EXPECT_EQ(too_large(workload), "");
    workload.sweep = {Sweep::Over::users, {21}};
    EXPECT_THAT(too_large(workload), HasSubstr("1050021 users"));
}

TEST(WorkloadDocument, AStepIsWhatTheSweepSays) {
    const std::string two = R"({"schema": "streamsim.workload", "version": 1, "name": "w", "clients": 2,
        "meters": [{"name": "a", "users": 3, "operations_per_s": 10, "operations": {"read": 60, "write": 20,
                    "stat": 20}, "blocks": "4KiB", "files": {"bytes": "1MiB"}},
                   {"name": "b", "users": 1, "operations_per_s": 20, "operations": {"list": 1}}],
        "sweep": )";
    const auto step = [&](const char* sweep, std::size_t index) {
        const Workload workload = workload_of(two + sweep + "}");
        return at_step(workload, workload.sweep.values.at(index));
    };
    EXPECT_EQ(step(R"({"over": "clients", "values": [1, 7]})", 1).clients, 7u);
    const Workload users = step(R"({"over": "users", "values": [5]})", 0);
    EXPECT_EQ(users.meters[0].users, 5u);
    EXPECT_EQ(users.meters[1].users, 5u);
    const Workload rate = step(R"({"over": "operations_per_s", "values": [500]})", 0);
    EXPECT_DOUBLE_EQ(rate.meters[0].operations_per_s, 50) << "2 x (3 x 50 + 1 x 100) = 500";
    EXPECT_DOUBLE_EQ(rate.meters[1].operations_per_s, 100);
    const Workload reads = step(R"({"over": "read_percent", "values": [25, 0]})", 0);
    EXPECT_DOUBLE_EQ(reads.meters[0].weights[kRead], 20);
    EXPECT_DOUBLE_EQ(reads.meters[0].weights[kWrite], 60);
    EXPECT_DOUBLE_EQ(reads.meters[1].weights[kRead], 0);
    const Workload blocks = step(R"({"over": "block_bytes", "values": ["64KiB"]})", 0);
    ASSERT_THAT(blocks.meters[0].blocks, SizeIs(1));
    EXPECT_EQ(blocks.meters[0].blocks[0].bytes, 65'536u);
    EXPECT_THAT(blocks.meters[1].blocks, IsEmpty());
    EXPECT_EQ(step(R"({"over": "cache", "values": ["cold", "warm"]})", 1).clients, 2u);
}

TEST(WorkloadDocument, AScaledWorkloadHasThatShareOfLoadAndBytes) {
    const Workload whole =
        workload_of(R"({"schema": "streamsim.workload", "version": 1, "name": "w", "clients": 2,
        "duration": "1h", "meters": [
          {"name": "many", "users": 3000, "loop": "open", "operations_per_s": 54, "one_more_every": "500ms",
           "operations": {"read": 1, "remove": 1}, "blocks": "16KiB",
           "files": {"bytes": "1GiB", "spare": 40}},
          {"name": "few", "users": 4, "operations_per_s": 10, "operations": {"write": 1}, "blocks": "1MiB",
           "lengths": "8MiB", "files": {"bytes": "1GiB", "shared": true}},
          {"name": "trees", "operations": {"stat": 1}, "files": {"count": 10000, "directories": 1000}}],
        "sweep": {"over": "operations_per_s", "values": [1000, 324000]},
        "printed": [{"at": 324000, "quantity": "latency_ms", "value": 0.8, "source": "x"}]})");
    const Workload part = scaled(whole, 0.1);
    EXPECT_EQ(part.clients, 2u);
    EXPECT_EQ(part.duration, seconds(3600));
    EXPECT_EQ(part.meters[0].users, 300u);
    EXPECT_DOUBLE_EQ(part.meters[0].operations_per_s, 54) << "a tenth of the users with as much each";
    EXPECT_EQ(part.meters[0].set.file_bytes, 1ull << 30);
    EXPECT_EQ(part.meters[0].set.spare_files, 40u);
    EXPECT_EQ(part.meters[0].one_more_every, milliseconds(500));
    EXPECT_EQ(part.meters[1].users, 4u);
    EXPECT_DOUBLE_EQ(part.meters[1].operations_per_s, 1);
    EXPECT_EQ(part.meters[1].set.file_bytes, 102ull << 20) << "102.4 MiB in whole blocks";
    EXPECT_EQ(part.meters[2].set.files, 1000u);
    EXPECT_EQ(part.meters[2].set.directories, 100u);
    EXPECT_THAT(part.sweep.values, ElementsAre(100, 32'400));
    EXPECT_EQ(part.printed[0].at, 32'400);
    EXPECT_EQ(part.printed[0].value, 0.8);
    const Workload least = scaled(whole, 1e-6);
    EXPECT_EQ(least.meters[0].users, 1u);
    EXPECT_NEAR(least.meters[0].operations_per_s, 54 * 3000 * 1e-6, 1e-9);
    EXPECT_EQ(least.meters[1].set.file_bytes, 8ull << 20) << "one transfer";
    EXPECT_EQ(least.meters[2].set.directories, 1u);
    EXPECT_EQ(scaled(whole, 1).meters[1].set.file_bytes, 1ull << 30);
}

/// The operations a second, and the bytes in files, of all users of a meter.
std::pair<double, double> totals_of(const Workload& workload, const MeterSpec& meter) {
    const double users = static_cast<double>(meter.users) * workload.clients;
    const auto sets = static_cast<double>(meter.set.sets(meter.users, workload.clients));
    return {users * meter.operations_per_s, sets * meter.set.files * static_cast<double>(meter.set.file_bytes)};
}

TEST(WorkloadDocument, EachStepOfAScaledSweepOverUsersHasThatShareOfLoadAndBytes) {
    const Workload whole =
        workload_of(R"({"schema": "streamsim.workload", "version": 1, "name": "w", "clients": 2,
        "meters": [
          {"name": "one", "operations_per_s": 10, "operations": {"read": 1}, "blocks": "1MiB",
           "files": {"bytes": "100MiB"}},
          {"name": "many", "users": 100, "operations_per_s": 10, "operations": {"read": 1}, "blocks": "1MiB",
           "files": {"count": 20, "bytes": "10MiB"}},
          {"name": "shared", "operations_per_s": 10, "operations": {"read": 1}, "blocks": "1MiB",
           "files": {"bytes": "100MiB", "shared": true}}],
        "sweep": {"over": "users", "values": [4, 100, 200]},
        "printed": [{"at": 100, "quantity": "latency_ms", "value": 0.8, "source": "x"}]})");
    for (const double scale : {0.1, 2.0}) {
        const Workload part = scaled(whole, scale);
        EXPECT_EQ(part.sweep.values, whole.sweep.values);
        EXPECT_EQ(part.printed[0].at, 100);
        for (const double value : whole.sweep.values) {
            const Workload step = at_step(part, value), of_all = at_step(whole, value);
            for (std::size_t i = 0; i < of_all.meters.size(); ++i) {
                SCOPED_TRACE(testing::Message() << scale << ", " << value << " users, meter " << i);
                EXPECT_EQ(step.meters[i].users, value);
                const auto [rate, bytes] = totals_of(step, step.meters[i]);
                const auto [whole_rate, whole_bytes] = totals_of(of_all, of_all.meters[i]);
                EXPECT_DOUBLE_EQ(rate, scale * whole_rate);
                EXPECT_DOUBLE_EQ(bytes, scale * whole_bytes);
            }
        }
    }
}

std::vector<std::string> shipped() {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(STREAMSIM_SOURCE_DIR "/formats/workload")) {
        std::ifstream in(entry.path());
        out.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
        EXPECT_EQ(workload_of(out.back()).name, entry.path().stem().string());
    }
    return out;
}

/// The rules of a workload that a meter may rely on.
void expect_runnable(const Workload& workload) {
    EXPECT_GT(workload.duration.ns, 0);
    EXPECT_FALSE(workload.meters.empty());
    for (const MeterSpec& meter : workload.meters) {
        double weights = 0;
        for (const double weight : meter.weights) weights += weight;
        EXPECT_GT(weights, 0);
        EXPECT_LT(meter.start, meter.end.value_or(workload.duration));
        if (meter.weights[kRead] + meter.weights[kWrite] == 0) continue;
        double blocks = 0;
        std::uint64_t smallest = meter.set.file_bytes;
        for (const WeightedSize& block : meter.blocks) {
            blocks += block.weight;
            smallest = std::min(smallest, block.bytes);
            EXPECT_GT(block.bytes, 0u);
            EXPECT_LE(block.bytes, meter.set.file_bytes);
        }
        EXPECT_GT(blocks, 0);
        for (const WeightedSize& length : meter.lengths) EXPECT_LE(length.bytes, meter.set.file_bytes);
        EXPECT_LE(meter.length_up_to.value_or(0), meter.set.file_bytes);
        if (meter.length_up_to) EXPECT_LE(smallest, *meter.length_up_to);
        if (!meter.writes) continue;
        for (const WeightedSize& block : meter.writes->blocks) EXPECT_LE(block.bytes, meter.set.file_bytes);
        for (const WeightedSize& length : meter.writes->lengths) EXPECT_LE(length.bytes, meter.set.file_bytes);
    }
}

/// Each step, of all of the load and of a hundredth.
void expect_runnable_steps(const Workload& workload) {
    for (const Workload& each : {workload, scaled(workload, 0.01)}) {
        expect_runnable(each);
        for (const double value : each.sweep.values) expect_runnable(at_step(each, value));
    }
}

TEST(WorkloadDocument, ASweptBlockIsNoMoreThanTheLengths) {
    const auto with = [](const char* values) {
        return transfers(R"(, "blocks": "4KiB", "lengths": {"up_to": "1MiB"}, "files": {"bytes": "1GiB"})",
                         std::string(R"(, "sweep": {"over": "block_bytes", "values": )") + values + "}");
    };
    EXPECT_THAT(
        workload_problems(with(R"(["4KiB", "2MiB"])")),
        ElementsAre("w.json: /sweep/values/1: a block of 2 MiB is more than the lengths of m, up to 1 MiB"));
    expect_runnable_steps(workload_of(with(R"(["4KiB", "1MiB"])")));
}

TEST(WorkloadDocument, ASweptBlockIsPlayedByReadsAndByWrites) {
    const auto with = [](const std::string& sizes) {
        return transfers(R"(, "blocks": "4KiB", "files": {"bytes": "1GiB"}, )" + sizes,
                         R"(, "sweep": {"over": "block_bytes", "values": ["4KiB", "64KiB"]})");
    };
    const Workload step = at_step(workload_of(with(R"("writes": {"blocks": "1MiB"})")), 65'536);
    ASSERT_THAT(step.meters[0].writes->blocks, SizeIs(1));
    EXPECT_EQ(step.meters[0].writes->blocks[0].bytes, 65'536u);
    for (const char* sizes :
         {R"("lengths": "32KiB")", R"("lengths": [{"bytes": "32KiB"}, {"bytes": "1MiB", "weight": 0}])",
          R"("lengths": "1MiB", "writes": {"blocks": "4KiB", "lengths": "32KiB"})"}) {
        EXPECT_THAT(
            workload_problems(with(sizes)),
            ElementsAre(
                "w.json: /sweep/values/1: a block of 64 KiB is more than the lengths of m, up to 32 KiB"))
            << sizes;
    }
    EXPECT_THAT(workload_problems(with(R"("lengths": [{"bytes": "32KiB"}, {"bytes": "1MiB"}])")), IsEmpty());
}

TEST(WorkloadDocument, FilesOfAScaledWorkloadHoldTheBlocksOfEachStep) {
    expect_runnable_steps(workload_of(
        transfers(R"(, "blocks": "64KiB", "writes": {"blocks": "4MiB"}, "files": {"bytes": "10MiB"})")));
    expect_runnable_steps(workload_of(transfers(
        R"(, "blocks": "64KiB", "writes": {"blocks":"4KiB", "lengths":"4MiB"}, "files": {"bytes":"9MiB"})")));
    expect_runnable_steps(
        workload_of(transfers(R"(, "blocks": "64KiB", "files": {"bytes": "10MiB"})",
                              R"(, "sweep": {"over": "block_bytes", "values": ["4KiB", "4MiB"]})")));
}

/// False: it is refused, with a reason.
bool can_be_played(const std::string& text) {
    const auto workload = read_workload(text, "x");
    if (workload) {
        expect_runnable_steps(*workload);
    } else {
        EXPECT_FALSE(workload.error().problems.empty());
    }
    return workload.has_value();
}

TEST(WorkloadDocument, DamageIsRefusedOrCanBePlayed) {
    Prng prng(20'261'122);
    std::size_t played = 0;
    for (const std::string& text : shipped()) {
        expect_runnable_steps(workload_of(text));
        for (int i = 0; i < 300; ++i) {
            std::string damaged = text;
            for (std::uint64_t times = 1 + prng.below(3); times > 0; --times) {
                damaged[prng.below(damaged.size())] = static_cast<char>(' ' + prng.below(95));
            }
            if (can_be_played(damaged)) ++played;
        }
    }
    EXPECT_GT(played, 100u) << "most of a document is text that may say anything";
}

/// The files are little larger than what is read and written at once: each digit decides whether that fits.
TEST(WorkloadDocument, EachDigitIsRefusedOrCanBePlayed) {
    const std::string digits = "0123456789";
    std::size_t played = 0;
    for (const char* sizes : {R"("lengths": {"up_to": "4MiB"})", R"("writes": {"blocks": "2MiB"})"}) {
        const std::string text =
            transfers(std::string(R"(, "blocks": "4KiB", "files": {"bytes": "9MiB"}, )") + sizes,
                      R"(, "sweep": {"over": "block_bytes", "values": ["4KiB", "4MiB"]})");
        EXPECT_TRUE(can_be_played(text)) << testing::PrintToString(workload_problems(text));
        for (std::size_t at = text.find_first_of(digits); at != std::string::npos;
             at = text.find_first_of(digits, at + 1)) {
            for (const char digit : digits) {
                std::string changed = text;
                changed[at] = digit;
                if (can_be_played(changed)) ++played;
            }
        }
    }
    EXPECT_GT(played, 100u);
}

}  // namespace
}  // namespace streamsim::scenario
