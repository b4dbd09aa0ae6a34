// Operations by name, failures, and ends at any time.
#include <fmt/format.h>

#include "base/prng.h"
#include "unit/load/chi_square.h"
#include "unit/load/meter_rig.h"

namespace streamsim::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

TEST(WorkingSet, EachUserHasItsOwnFilesOrAllShareThem) {
    MeterSpec spec;
    spec.users = 2;
    spec.set = {3, 1 << 20, 2, 1, WorkingSet::Of::user};
    const load::WorkingSetNames own = load::working_set(spec, "r", 7);
    EXPECT_THAT(own.parents, ElementsAre("r", "r/s7", "r/s7/u0", "r/s7/u1"));
    EXPECT_THAT(own.directories, ElementsAre("r/s7/u0/d0", "r/s7/u0/d1", "r/s7/u1/d0", "r/s7/u1/d1"));
    EXPECT_THAT(own.files, ElementsAre("r/s7/u0/d0/f0.load", "r/s7/u0/d1/f1.load", "r/s7/u0/d0/f2.load",
                                       "r/s7/u1/d0/f0.load", "r/s7/u1/d1/f1.load", "r/s7/u1/d0/f2.load"));
    EXPECT_THAT(own.spare, ElementsAre("r/s7/u0/d0/e7-0-0.load", "r/s7/u1/d0/e7-1-0.load"));
    spec.set.of = WorkingSet::Of::all;
    const load::WorkingSetNames shared = load::working_set(spec, "r", 7);
    EXPECT_THAT(shared.parents, ElementsAre("r", "r/shared"));
    EXPECT_THAT(shared.directories, ElementsAre("r/shared/d0", "r/shared/d1"));
    EXPECT_THAT(shared.files, ElementsAre("r/shared/d0/f0.load", "r/shared/d1/f1.load", "r/shared/d0/f2.load"));
    EXPECT_THAT(shared.spare, ElementsAre("r/shared/d0/e7-0-0.load", "r/shared/d0/e7-1-0.load"));
    spec.set.directories = 1;
    EXPECT_THAT(load::working_set(spec, "r", 7).directories, ElementsAre("r/shared"));
    spec.set.of = WorkingSet::Of::client;
    const load::WorkingSetNames of_client = load::working_set(spec, "r", 7);
    EXPECT_THAT(of_client.parents, ElementsAre("r", "r/s7"));
    EXPECT_THAT(of_client.directories, ElementsAre("r/s7"));
    EXPECT_THAT(of_client.files, ElementsAre("r/s7/f0.load", "r/s7/f1.load", "r/s7/f2.load"));
    EXPECT_THAT(of_client.spare, ElementsAre("r/s7/e7-0-0.load", "r/s7/e7-1-0.load"));
}

TEST(MeterByName, CreatedFilesAreRemovedAndRenamedAndWhatIsLeftIsKnown) {
    Rig rig;
    for (const auto each : {LoadOperation::open, LoadOperation::stat, LoadOperation::create,
                            LoadOperation::remove, LoadOperation::rename, LoadOperation::list})
        rig.weigh(each, 1);
    rig.spec.users = 5;
    rig.spec.inflight = 3;
    rig.spec.set = {20, 0, 4, 10, WorkingSet::Of::user};
    rig.storage.fixed = milliseconds(1);
    rig.run(seconds(2));
    EXPECT_EQ(rig.result.all.done, 30'000u);
    EXPECT_EQ(rig.result.all.failed, 0u) << "nothing is removed that is not there, and no name comes twice";
    EXPECT_THAT(rig.result.errors, IsEmpty());
    std::vector<std::uint64_t> counts;
    for (const auto each : {LoadOperation::open, LoadOperation::stat, LoadOperation::list})
        counts.push_back(rig.of(each).done);
    std::uint64_t changing = 0;
    for (const auto each : {LoadOperation::create, LoadOperation::remove, LoadOperation::rename})
        changing += rig.of(each).done;
    counts.push_back(changing);
    EXPECT_LT(chi_square(counts, {1, 1, 1, 3}), 16.27) << "30,000; 3 degrees of freedom, p = 0.001";
    EXPECT_EQ(rig.asked(Asked::stat).size(), rig.of(LoadOperation::stat).done);
    EXPECT_EQ(rig.asked(Asked::rename).size(), rig.of(LoadOperation::rename).done);
    EXPECT_EQ(rig.asked(Asked::remove).size(), rig.of(LoadOperation::remove).done);
    for (const Asked& each : rig.asked(Asked::rename)) {
        EXPECT_EQ(each.path.substr(0, each.path.rfind('/')), each.to.substr(0, each.to.rfind('/')));
    }
    std::vector<std::string> left = rig.meter->created();
    for (const std::string& name : rig.storage.names) {
        const bool ours = name.find("/c") != std::string::npos;
        if (ours) {
            EXPECT_TRUE(std::erase(left, name) == 1) << name;
        }
    }
    EXPECT_THAT(left, IsEmpty());
}

TEST(MeterByName, WhereNoFileIsLeftOneIsCreatedInstead) {
    Rig rig;
    rig.weigh(LoadOperation::remove, 1);
    rig.spec.set.spare_files = 3;
    rig.run(milliseconds(100));
    EXPECT_EQ(rig.of(LoadOperation::remove).done, 6u);
    EXPECT_EQ(rig.of(LoadOperation::create).done, 4u);
    EXPECT_EQ(rig.result.substituted, 4u);
    EXPECT_EQ(rig.asked(Asked::remove)[0].path, "root/s0/u0/e0-0-0.load");
    EXPECT_EQ(rig.asked(Asked::remove)[3].path, "root/s0/u0/c0-0-3.load")
        << "numbers of tasks that change names";
}

TEST(MeterFailures, TheyAreCountedAndTheLoopDoesNotSpin) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.storage.fixed = Duration{};
    rig.storage.error = [](const Asked& asked) { return asked.kind == Asked::read ? EIO : 0; };
    rig.run(seconds(1));
    EXPECT_EQ(rig.result.all.done, 0u);
    EXPECT_EQ(rig.result.all.failed, 100u) << "each waits for 10 ms";
    EXPECT_EQ(rig.of(LoadOperation::read).failed, 100u);
    EXPECT_EQ(rig.result.blocks_failed, 100u);
    EXPECT_EQ(rig.result.blocks_done, 0u);
    EXPECT_EQ(rig.result.all.bytes, 0u);
    EXPECT_FALSE(rig.result.all.service_ns);
    ASSERT_EQ(rig.result.errors.size(), 1u);
    EXPECT_EQ(rig.result.errors[0].error, EIO);
    EXPECT_EQ(rig.result.errors[0].times, 100u);
    EXPECT_EQ(rig.result.errors[0].path, "root/s0/u0/f0.load");
    EXPECT_EQ(rig.result.errors[0].operation, LoadOperation::read);
}

TEST(MeterFailures, AFullDiskInTheMiddleOfATransferIsAFailedTransfer) {
    Rig rig;
    rig.weigh(LoadOperation::write, 1);
    rig.spec.lengths = {{4096 * 4, 1}};
    rig.storage.error = [](const Asked& asked) {
        return asked.kind == Asked::write && asked.offset == 2 * 4096 ? ENOSPC : 0;
    };
    rig.run(milliseconds(100));
    // Two blocks, the one that fails and the wait: 40 ms; the next one begins behind it.
    EXPECT_EQ(rig.result.all.failed, 1u);
    EXPECT_EQ(rig.result.all.done, 1u);
    EXPECT_EQ(rig.result.blocks_failed, 1u);
    EXPECT_EQ(rig.result.blocks_done, 2u + 4 + 2);
    ASSERT_EQ(rig.result.errors.size(), 1u);
    EXPECT_EQ(rig.result.errors[0].error, ENOSPC);
    EXPECT_EQ(rig.result.cells[0].cell.transfers, 1u);
}

TEST(MeterFailures, AShortReadIsNoneThatIsDone) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.storage.found = [](const Asked& asked) { return asked.offset == 4096 ? 4095 : asked.bytes; };
    rig.run(milliseconds(50));
    EXPECT_EQ(rig.result.all.done, 3u);
    EXPECT_EQ(rig.result.all.failed, 1u);
    ASSERT_EQ(rig.result.errors.size(), 1u);
    EXPECT_EQ(rig.result.errors[0].error, ENODATA);
}

TEST(MeterFailures, FilesThatCannotBeOpenedFailWhatIsAskedOfThem) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.users = 2;
    rig.storage.error = [](const Asked& asked) {
        return asked.kind == Asked::open && asked.path == "root/s0/u1/f0.load" ? EACCES : 0;
    };
    rig.run(seconds(1));
    EXPECT_EQ(rig.result.all.done, 100u);
    EXPECT_EQ(rig.result.all.failed, 100u);
    ASSERT_EQ(rig.result.errors.size(), 2u);
    EXPECT_EQ(rig.result.errors[0].operation, LoadOperation::open);
    EXPECT_EQ(rig.result.errors[0].times, 1u);
    EXPECT_EQ(rig.result.errors[1].operation, LoadOperation::read);
    EXPECT_EQ(rig.result.errors[1].times, 100u);
    EXPECT_EQ(rig.result.errors[1].path, "root/s0/u1/f0.load");
}

TEST(MeterFailures, SoDoFilesThatEachTransferOpensAndSyncsItself) {
    for (const auto refused : {Asked::open, Asked::sync}) {
        Rig rig;
        rig.weigh(LoadOperation::write, 1);
        rig.spec.set = {100, 4096, 1, 0, WorkingSet::Of::user};
        rig.spec.sync = MeterSpec::Sync::at_end;
        rig.storage.error = [refused](const Asked& asked) { return asked.kind == refused ? EACCES : 0; };
        rig.run(seconds(1));
        EXPECT_EQ(rig.result.all.done, 0u);
        EXPECT_GT(rig.result.all.failed, 10u);  // each has its row: see Rig
    }
}

TEST(MeterFailures, AnFsyncThatFailsIsToldAndItsTimeCounts) {
    Rig rig;
    rig.weigh(LoadOperation::write, 1);
    rig.spec.sync = MeterSpec::Sync::at_end;
    rig.storage.error = [](const Asked& asked) { return asked.kind == Asked::sync ? EIO : 0; };
    rig.run(milliseconds(100));
    EXPECT_EQ(rig.result.all.done, 10u);
    EXPECT_EQ(rig.result.wall_ns, milliseconds(110).ns);
    ASSERT_EQ(rig.result.errors.size(), 1u);
    EXPECT_EQ(rig.result.errors[0].error, EIO);
}

TEST(MeterFailures, AnErrorAfterTheEndIsTold) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.storage.stall_from = rig.start() + milliseconds(50);
    rig.storage.stall_to = rig.start() + milliseconds(300);
    rig.storage.error = [&rig](const Asked& asked) {
        return asked.at >= rig.storage.stall_from && asked.kind == Asked::read ? EIO : 0;
    };
    rig.run(milliseconds(100));
    EXPECT_EQ(rig.result.all.done, 5u);
    EXPECT_EQ(rig.result.all.failed, 0u);
    EXPECT_EQ(rig.result.unfinished, 1u);
    EXPECT_EQ(rig.result.failed_after_end, 1u);
    ASSERT_EQ(rig.result.errors.size(), 1u);
    EXPECT_EQ(rig.result.errors[0].operation, LoadOperation::read);
    EXPECT_EQ(rig.result.errors[0].error, EIO);
    EXPECT_EQ(rig.result.errors[0].times, 1u);
}

TEST(MeterFailures, WhatCouldNotBeRemovedIsStillThere) {
    Rig rig;
    rig.weigh(LoadOperation::create, 1);
    rig.weigh(LoadOperation::remove, 1);
    rig.storage.error = [](const Asked& asked) { return asked.kind == Asked::remove ? EACCES : 0; };
    rig.run(seconds(1));
    EXPECT_GT(rig.of(LoadOperation::remove).failed, 10u);
    std::vector<std::string> there;
    for (const std::string& name : rig.storage.names) {
        if (name.find("/c") != std::string::npos) there.push_back(name);
    }
    EXPECT_EQ(there.size(), rig.of(LoadOperation::create).done);
    EXPECT_THAT(rig.meter->created(), UnorderedElementsAreArray(there));
}

Rig& everything(Rig& rig) {
    for (std::size_t i = 0; i < kLoadOperations; ++i) rig.weigh(static_cast<LoadOperation>(i), 1);
    rig.spec.users = 3;
    rig.spec.inflight = 2;
    rig.spec.lengths = {{4096 * 3, 1}, {4096, 1}};
    rig.spec.sync = MeterSpec::Sync::at_end;
    rig.spec.start = milliseconds(5);
    rig.spec.set = {2, 1 << 20, 2, 2, WorkingSet::Of::user};
    return rig;
}

TEST(MeterInterrupt, NothingIsLostWheneverItComes) {
    Prng prng(4);
    // The files are opened by 10 ms, play begins at 1005 ms and ends at 1200 ms; then files are synced.
    std::vector<Duration> times = {nanoseconds(1),     milliseconds(10),   milliseconds(500),
                                   milliseconds(1000), milliseconds(1005), milliseconds(1200),
                                   milliseconds(1215), seconds(2)};
    for (int i = 0; i < 200; ++i)
        times.push_back(milliseconds(1000) + Duration{static_cast<std::int64_t>(prng.below(230'000'000))});
    for (const bool open : {false, true}) {
        for (const Duration at : times) {
            Rig rig;
            everything(rig);
            if (open) {
                rig.spec.loop = MeterSpec::Loop::open;
                rig.spec.operations_per_s = 120;
            }
            rig.run(milliseconds(200), at);  // which checks the sums
            const Duration played = std::min(at, milliseconds(1200)) - milliseconds(1005);
            EXPECT_GE(rig.result.wall_ns, std::max<std::int64_t>(played.ns, 0)) << at.ns;
            if (at < milliseconds(1200)) {
                EXPECT_EQ(rig.result.wall_ns, std::max<std::int64_t>(played.ns, 0)) << at.ns;
            }
            EXPECT_THAT(rig.result.errors, IsEmpty()) << at.ns;
        }
    }
}

TEST(MeterInterrupt, WhatIsUnderWayEndsEarly) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.storage.fixed = seconds(100);
    rig.run(seconds(1000), seconds(5));
    EXPECT_EQ(rig.loop.now(), Instant{} + seconds(5)) << "opened by 100 s in vain, or read in vain";
    EXPECT_EQ(rig.result.arrived, 0u);
    Rig play;
    play.weigh(LoadOperation::read, 1);
    play.spec.users = 2;
    play.storage.error = [&](const Asked& asked) {
        if (asked.kind == Asked::open) play.storage.fixed = milliseconds(1);
        return 0;
    };
    play.storage.stall_from = play.start();
    play.storage.stall_to = Instant{} + seconds(100);
    play.run(seconds(1000), seconds(5));
    EXPECT_EQ(play.loop.now(), Instant{} + seconds(5));
    EXPECT_EQ(play.result.arrived, 2u);
    EXPECT_EQ(play.result.unfinished, 2u);
}

TEST(MeterRows, ThereIsOneForEachBlockAndForEachOtherOperation) {
    Rig rig;
    everything(rig).run(milliseconds(200));
    std::uint64_t blocks = 0, others = 0, done = 0;
    for (const OperationRow& row : rig.meter->rows()) {
        const bool transfer = row.operation == LoadOperation::read || row.operation == LoadOperation::write;
        ++(transfer ? blocks : others);
        EXPECT_GE(row.intended_ns, 0);
        EXPECT_GE(row.submitted_ns, row.intended_ns);
        EXPECT_EQ(row.completed_ns, row.submitted_ns + milliseconds(10).ns);
        EXPECT_EQ(row.error, 0);
        if (!transfer && row.completed_ns <= milliseconds(200).ns) ++done;
    }
    EXPECT_EQ(blocks, rig.result.blocks_done);
    EXPECT_GT(others, 0u);
    std::uint64_t of_others =
        rig.result.all.done - rig.of(LoadOperation::read).done - rig.of(LoadOperation::write).done;
    EXPECT_EQ(done, of_others);
    Rig few;
    everything(few).plan.rows_kept = 7;
    few.run(milliseconds(200));
    EXPECT_EQ(few.meter->rows().size(), 7u);
    EXPECT_EQ(few.result.rows_omitted, rig.meter->rows().size() - 7);
    EXPECT_EQ(rig.result.rows_omitted, 0u);
    Rig none;
    everything(none).plan.rows_kept = 0;
    none.run(milliseconds(200));
    EXPECT_EQ(none.result.rows_omitted, 0u) << "none is asked for";
}

}  // namespace
}  // namespace streamsim::test
