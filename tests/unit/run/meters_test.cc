#include "run/plan/meters.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <set>

#include "unit/run/workload_ranks.h"

namespace streamsim::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<load::MeterPlan> plan_of(std::vector<WeightedSize> blocks) {
    std::vector<load::MeterPlan> plans(1);
    plans[0].spec.name = "m";
    plans[0].spec.direct = true;
    plans[0].spec.blocks = std::move(blocks);
    return plans;
}

TEST(FitToAlignment, LeavesOutRemaindersThatDirectIoCannotTake) {
    std::vector<load::MeterPlan> plans = plan_of({{4096, 1}, {1024, 0}, {512, 0}});
    EXPECT_THAT(fit_to_alignment(plans, 1024), ElementsAre(HasSubstr("remainders of transfers are left out")));
    EXPECT_TRUE(plans[0].spec.direct);
    EXPECT_EQ(plans[0].alignment, 1024U);
    EXPECT_EQ(plans[0].spec.blocks.size(), 2U);
}

TEST(FitToAlignment, KeepsAllBlocksOfAMeterThatCannotBeDirect) {
    std::vector<load::MeterPlan> plans = plan_of({{3000, 1}, {1000, 0}});
    EXPECT_THAT(fit_to_alignment(plans, 512), ElementsAre(HasSubstr("through the page cache")));
    EXPECT_FALSE(plans[0].spec.direct);
    EXPECT_EQ(plans[0].alignment, 1U);
    EXPECT_EQ(plans[0].spec.blocks.size(), 2U);
}

TEST(FitToAlignment, HasNothingToSayOfBlocksThatFit) {
    std::vector<load::MeterPlan> plans = plan_of({{4096, 1}, {512, 0}});
    EXPECT_THAT(fit_to_alignment(plans, 512), IsEmpty());
    EXPECT_TRUE(plans[0].spec.direct);
}

/// The meter, alone on the model.
PlayRequest on_model(const MeterSpec& spec, const ClusterModel& model) {
    PlayRequest request;
    request.target = *target::parse_target("sim:h500");
    request.target.model = std::make_shared<const ClusterModel>(model);
    request.meters = {{spec, 0, 1}};
    return request;
}

TEST(CheckMeters, RefusesAClosedLoopWhoseOperationsTakeNoTime) {
    ClusterModel model;
    model.client.link.bits_per_s = model.node.front_end.bits_per_s = 1e10;
    MeterSpec spec;
    spec.name = "names";
    spec.weights[static_cast<std::size_t>(LoadOperation::stat)] = 1;
    const auto refused = check_meters(on_model(spec, model));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().problems,
                ElementsAre(HasSubstr("meter names: on sim:h500 none of its operations takes time")));

    MeterSpec waits = spec, open = spec, reads = spec, creates = spec;
    waits.think_time = milliseconds(1);
    open.loop = MeterSpec::Loop::open;
    reads.weights[static_cast<std::size_t>(LoadOperation::read)] = 1;
    creates.weights[static_cast<std::size_t>(LoadOperation::create)] = 1;
    for (const MeterSpec& each : {waits, open, reads}) EXPECT_TRUE(check_meters(on_model(each, model)));
    EXPECT_FALSE(check_meters(on_model(creates, model)));
    ClusterModel journal = model, stat = model, far = model;
    journal.node.journal.bytes = 1 << 20;
    stat.node.metadata.cpu_s_per_stat = 1e-6;
    far.client.link.latency = microseconds(1);
    EXPECT_TRUE(check_meters(on_model(creates, journal)));
    EXPECT_FALSE(check_meters(on_model(spec, journal)));
    for (const ClusterModel& each : {stat, far}) EXPECT_TRUE(check_meters(on_model(spec, each)));
    PlayRequest near = on_model(spec, far);
    near.seat_settings.resize(1);
    near.seat_settings[0].link_latency = Duration{};
    EXPECT_FALSE(check_meters(near)) << "the link of the seat is the scenario's";
}

TEST(CheckMeters, CountsTheLatencyOfTheLinkOfEachSeatOfTheMeter) {
    ClusterModel near;
    near.client.link.bits_per_s = near.node.front_end.bits_per_s = 1e10;
    ClusterModel far = near;
    far.client.link.latency = microseconds(1);
    MeterSpec spec;
    spec.weights[static_cast<std::size_t>(LoadOperation::stat)] = 1;
    const auto accepts = [&spec](const ClusterModel& model, std::vector<std::optional<Duration>> links) {
        PlayRequest request = on_model(spec, model);
        request.meters.front().seats = static_cast<std::uint32_t>(links.size());
        for (const auto& latency : links) request.seat_settings.emplace_back().link_latency = latency;
        return static_cast<bool>(check_meters(request));
    };
    const Duration some = microseconds(1);
    EXPECT_TRUE(accepts(near, {some}));
    EXPECT_TRUE(accepts(near, {some, some, some}));
    EXPECT_FALSE(accepts(near, {some, some, std::nullopt})) << "the last link is the model's";
    EXPECT_TRUE(accepts(far, {std::nullopt, some, std::nullopt}));
    EXPECT_FALSE(accepts(far, {std::nullopt, Duration{}, std::nullopt}));
}

TEST(CheckMeters, RefusesUsersThatNeverBegin) {
    MeterSpec spec;
    spec.name = "login";
    spec.loop = MeterSpec::Loop::open;
    spec.users = 3;
    spec.weights[static_cast<std::size_t>(LoadOperation::stat)] = 1;
    spec.one_more_every = seconds(2);
    PlayRequest request = on_model(spec, ClusterModel{});
    const auto problems = [&request] {
        const auto checked = check_meters(request);
        return checked ? std::vector<std::string>{} : checked.error().problems;
    };
    request.duration = seconds(5);
    EXPECT_THAT(problems(), IsEmpty()) << "the last one begins at 4 s";
    request.meters[0].seats = 2;
    EXPECT_THAT(problems(),
                ElementsAre("meter login: the last of 6 users would begin after all has ended, at 5.0 s"));
    request.duration.reset();
    EXPECT_THAT(problems(), IsEmpty()) << "of a minute";
    request.meters[0].spec.end = seconds(10);
    EXPECT_THAT(problems(), ElementsAre(HasSubstr("the last of 6 users would begin when all ends, at 10.0 s")));
    request.meters[0].spec.start = seconds(60);
    request.meters[0].spec.end.reset();
    EXPECT_THAT(problems(), ElementsAre("meter login: never runs: it begins at 60.0 s and ends at 60.0 s"));
    request.frames = 100;
    EXPECT_THAT(problems(), IsEmpty()) << "the length of play is not known yet";
    request.duration = seconds(60);
    request.virtual_storage = [](EventLoop&) { return std::unique_ptr<Storage>(); };
    EXPECT_THAT(problems(), ElementsAre(HasSubstr("never runs")));
}

/// The paths of missing files.
std::set<std::string> paths_of(const Result<media::LoadSetPlan>& plan) {
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().problems.front());
    std::set<std::string> paths;
    for (const media::LoadFile& file : plan->missing.files) paths.insert(file.path);
    return paths;
}

/// Several processes together write the files that one process writes, each file once.
TEST(WorkingSets, AreDividedAmongTheComputersOfARun) {
    Workload workload = test::two_meters(5);
    workload.meters[1].set.of = WorkingSet::Of::all;
    workload.meters[1].set.spare_files = 2;
    const std::string folder = testing::TempDir() + "streamsim-working-sets";
    std::filesystem::create_directory(folder);
    PlayRequest request = test::request_of(workload, folder);
    const auto store = make_byte_store(request.target, {});
    const std::set<std::string> all = paths_of(missing_load_set(*store, request));
    EXPECT_EQ(all.size(), 5U * 2 + 3 + 5 * 2);  // own files of two users, shared ones, spare ones
    std::set<std::string> together;
    std::size_t count = 0;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        request.first_seat = rank;
        request.seat_step = 4;
        request.own_seats = rank == 0 ? 2 : 1;
        const std::set<std::string> own = paths_of(own_missing_load_set(*store, request, rank == 0));
        count += own.size();
        together.insert(own.begin(), own.end());
    }
    EXPECT_EQ(together, all);
    EXPECT_EQ(count, all.size());
    std::filesystem::remove(folder);
}

TEST(WorkingSets, HaveTheFreeSpaceOfTheirTargetWhicheverOfThemIsThere) {
    const std::string folder = testing::TempDir() + "streamsim-two-working-sets";
    std::filesystem::create_directory(folder);
    PlayRequest request = test::request_of(test::two_meters(1), folder);
    const auto store = make_byte_store(request.target, {});
    const std::vector<MeterPart> both = request.meters;
    request.meters = {both[1]};
    const auto second = missing_load_set(*store, request);
    media::PrepareProgress progress;
    ASSERT_TRUE(second && media::write_load_set(*store, *second, 1, progress));
    request.meters = both;
    const auto first = missing_load_set(*store, request);
    ASSERT_TRUE(first);
    EXPECT_GT(first->bytes_to_write, 0U);
    EXPECT_GT(first->bytes_free, 0U);
    std::filesystem::remove_all(folder);
}

/// Windows evicts none, and macOS not all: a cold probe is done all the same.
TEST(WorkingSets, ThatAreNotEvictedAreNoErrorButASentence) {
    const std::string folder = testing::TempDir() + "streamsim-not-evicted";
    std::filesystem::create_directory(folder);
    PlayRequest request = test::request_of(test::two_meters(1), folder);
    const auto store = make_byte_store(request.target, {});
    EXPECT_THAT(*why_not_evicted(*store, request), HasSubstr("cannot open " + folder)) << "there are no files";
    request.only_leads = true;
    EXPECT_THAT(*why_not_evicted(*store, request), IsEmpty());
    std::filesystem::remove(folder);
}

}  // namespace
}  // namespace streamsim::run
