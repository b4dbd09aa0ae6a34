// NFS when a reply of its server fails: each, in each way.
#include <gtest/gtest.h>

#include "failures/storage_trials.h"
#include "loop/uv_loop.h"
#include "real/failing_relay.h"
#include "real/nfs_lab.h"
#include "storage/backends.h"

namespace streamsim {
namespace {

using tests::FailingRelay;
using tests::ReplyFailure;
using How = ReplyFailure::How;

std::vector<ReplyFailure> failures(std::uint32_t version) {
    // RFC 1813 has these; version 4 has the same numbers and those of RFC 7530.
    std::vector<std::uint32_t> numbers{1,  2,  5,     6,     13,    17,    18,    19,    20,
                                       21, 22, 27,    28,    30,    31,    63,    66,    69,
                                       70, 71, 10001, 10002, 10003, 10004, 10005, 10006, 10008};
    if (version == 4)
        numbers.insert(numbers.end(), {10010, 10011, 10012, 10013, 10014, 10015, 10017, 10018, 10020, 10022,
                                       10023, 10024, 10025, 10026, 10029, 10031, 10033, 10036, 10044});
    std::vector<ReplyFailure> out{{How::cut},   {How::lose},  {How::half},
                                  {How::noise}, {How::twice}, {How::denied}};
    for (const std::uint32_t each : numbers) out.push_back({How::status, each});
    for (const std::uint32_t accepted : {1u, 2u, 3u, 4u, 5u}) out.push_back({How::rpc, accepted});
    return out;
}

class NfsFailures : public ::testing::TestWithParam<std::uint32_t> {
protected:
    tests::TrialTarget target() {
        tests::TrialTarget out;
        out.source = &relay_;
        out.on_server = tests::exported;
        out.error_says = "nfs://127.0.0.1/";
        out.make_store = [this](const std::string&) {
            return storage::make_nfs_byte_store(place(), "/export");
        };
        out.make_storage = [this](EventLoop& loop, uv_loop_s* uv, const std::string&) {
            return storage::make_nfs_storage(loop, uv, place(), "/export", {});
        };
        out.writes = GetParam() == 3;
        return out;
    }

private:
    /// One that shares nothing with others.
    RemotePlace place() const {
        RemotePlace place = tests::nfs_place(GetParam(), 1);
        place.port = relay_.ports()[0];
        place.mount_port = relay_.ports()[1];
        place.timeout = relay_.timeout();
        return place;
    }

    FailingRelay relay_{
        RemotePlace::Protocol::nfs, {tests::nfs_port(), tests::nfs_mount_port()}, failures(GetParam())};
};

TEST_P(NfsFailures, OfAReplyToAStore) {
    tests::try_store(target());
}

TEST_P(NfsFailures, OfAReplyToAStorage) {
    tests::try_storage(target());
}

INSTANTIATE_TEST_SUITE_P(Versions, NfsFailures, ::testing::Values(3U, 4U));

}  // namespace
}  // namespace streamsim
