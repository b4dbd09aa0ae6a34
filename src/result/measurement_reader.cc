#include "result/measurement_reader.h"

#include <fmt/format.h>

#include <utility>

#include "base/document/json.h"
#include "result/field_reader.h"

namespace streamsim::result {
namespace {

constexpr std::uint32_t kCountMax = 100'000;
constexpr std::uint32_t kInflightMax = 65'536;
constexpr std::uint64_t kAllInflightMax = 64 * kCountMax;  // probes have 64 of each seat
constexpr double kRateMax = 1e15;
constexpr std::int64_t kTimeMax = seconds(3600).ns;

/// Notes the members whose values no measurement has; they would overflow workloads and models.
class Checks {
public:
    Checks(std::string pointer, JsonProblems& problems) : pointer_(std::move(pointer)), problems_(problems) {}
    void expect(bool good, const std::string& key, const char* expected) const {
        if (!good) problems_.add(pointer_ + "/" + key, std::string("expected ") + expected);
    }
    void rate(const std::string& key, double value) const {
        expect(value >= 0 && value <= kRateMax, key, "0 to 1e15");
    }
    void time(const std::string& key, std::int64_t value) const {
        expect(value >= 0 && value <= kTimeMax, key, "0 to an hour, in nanoseconds");
    }

private:
    std::string pointer_;
    JsonProblems& problems_;
};

void check_probe(const Probe& probe, const Checks& checks) {
    const std::uint64_t of_seat = std::uint64_t{probe.users} * probe.inflight;
    checks.expect(probe.seats >= 1 && probe.seats <= kCountMax, "seats", "1 to 100000");
    checks.expect(probe.seats <= 1 || probe.kind == ProbeKind::seats, "seats", "1, but for probes of seats");
    checks.expect(probe.users >= 1 && probe.users <= kInflightMax, "users", "1 to 65536");
    checks.expect(probe.inflight >= 1 && of_seat <= kInflightMax, "inflight", "1 to 65536 for all users");
    checks.expect(probe.seats > kCountMax || of_seat > kInflightMax || probe.seats * of_seat <= kAllInflightMax,
                  "inflight", "at most 6400000 for all seats");
    checks.expect(probe.block_bytes >= 512 && probe.block_bytes <= (std::uint64_t{1} << 30), "block_bytes",
                  "512 bytes to 1 GiB");
    checks.expect(probe.duration_ns > 0 && probe.duration_ns <= seconds(86'400).ns, "duration_ns",
                  "more than 0, and at most a day");
    checks.rate("operations_per_s", probe.operations_per_s);
}

void check_rows(const Measurement& measured, JsonProblems& problems) {
    for (std::size_t i = 0; i < measured.rows.size(); ++i) {
        const ProbeRow& row = measured.rows[i];
        const std::string pointer = fmt::format("/rows/{}", i);
        check_probe(row.probe, {pointer + "/probe", problems});
        const Checks checks(pointer, problems);
        checks.rate("operations_per_s", row.operations_per_s);
        checks.rate("bytes_per_s", row.bytes_per_s);
        checks.time("interval_ns", row.interval_ns);
        const Checks times(pointer + "/response_ns", problems);
        const ResponseQuantiles& of = row.response_ns;
        for (const auto& [key, ns] :
             {std::pair{"p10", of.p10}, std::pair{"p50", of.p50}, std::pair{"p90", of.p90},
              std::pair{"p99", of.p99}, std::pair{"p99_9", of.p99_9}, std::pair{"max", of.max}})
            times.time(key, ns);
    }
    const Checks checks("", problems);
    checks.expect(measured.seats >= 1 && measured.seats <= kCountMax, "seats", "1 to 100000");
    checks.rate("link_bits_per_s", measured.link_bits_per_s);
    checks.expect(measured.mtu == 0 || (measured.mtu >= 576 && measured.mtu <= 65'535), "mtu",
                  "0, or 576 to 65535");
    checks.expect(measured.set_bytes >= (1 << 20) && measured.set_bytes <= (std::uint64_t{1} << 50),
                  "set_bytes", "1 MiB to 1024 TiB");
    if (!measured.held_back) return;
    const Checks held_back("/held_back", problems);
    held_back.expect(measured.held_back->seats >= 1 && measured.held_back->seats <= kCountMax, "seats",
                     "1 to 100000");
    held_back.expect(measured.held_back->streams <= 1'000'000, "streams", "at most 1000000");
}

}  // namespace

Result<Measurement> read_measurement(std::string_view text, const std::string& source) {
    const auto document = parse_json(text, source);
    if (!document) return document.error();
    JsonProblems problems(source);
    JsonObject object(*document, "", problems);
    if (problems.empty()) check_schema(object, "streamsim.measurement", 1);
    if (!problems.empty()) return problems.error();
    Measurement measured;
    const JsonNode root{*document, "", problems};
    FieldReader members(root);
    fields(measured, members);
    if (problems.empty()) check_rows(measured, problems);
    if (!problems.empty()) return problems.error();
    return measured;
}

}  // namespace streamsim::result
