#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "scenario/reading.h"
#include "scenario/workload_document.h"
#include "scenario/workload_steps.h"

namespace streamsim::scenario {
namespace {

constexpr std::uint64_t kBlockMax = 1ull << 30;

std::optional<std::uint64_t> read_size(const Json& value,
                                       const std::string& pointer,
                                       std::uint64_t least,
                                       std::uint64_t most,
                                       JsonProblems& problems) {
    if (!value.is_string()) {
        problems.add(pointer, fmt::format("expected a size such as \"64KiB\", found {}", json_text(value)));
        return std::nullopt;
    }
    const auto size = parse_size(value.get_ref<const std::string&>());
    if (!size) {
        problems.add(pointer, size.error().problems.front());
    } else if (*size < least || *size > most) {
        problems.add(pointer, fmt::format("expected {} to {}, found {}", show_io_size(least),
                                          show_io_size(most), value.get_ref<const std::string&>()));
    } else {
        return *size;
    }
    return std::nullopt;
}

/// One meter.
class MeterReader {
public:
    MeterReader(const Json& value, std::string pointer, const MeterContext& context, JsonProblems& problems)
        : context_(context), problems_(problems), object_(value, std::move(pointer), problems) {}

    MeterSpec read() {
        spec_.name = read_load_name(object_);
        spec_.users = read_count(object_, "users", kWorkloadUsersMax, 1);
        spec_.inflight = read_count(object_, "inflight", kLoadInflightMax, 1);
        spec_.burst = read_count(object_, "burst", 1'000'000'000, 0, 0);
        read_operations();
        read_loop();
        read_transfers();
        read_files();
        check_fit();
        check_sizes();
        read_times();
        read_buffer();
        object_.finish();
        return std::move(spec_);
    }

private:
    void read_operations() {
        const Json* value = object_.member("operations");
        if (value == nullptr) return;
        JsonObject weights(*value, object_.pointer_of("operations"), problems_);
        bool right = value->is_object();
        double sum = 0;
        for (std::size_t i = 0; i < kLoadOperations; ++i) {
            const char* name = to_string(static_cast<LoadOperation>(i));
            if (!weights.has(name)) continue;
            const auto weight = weights.number(name, 0, 1e9);
            right = right && weight.has_value();
            spec_.weights[i] = weight.value_or(0);
            sum += spec_.weights[i];
        }
        weights.finish();
        if (right && sum <= 0) object_.problem("operations", "expected at least one with a weight above 0");
        operations_known_ = right && sum > 0;
        transfers_ = spec_.weights[0] > 0 || spec_.weights[1] > 0;
    }

    /// Notes `key` where it has no meaning.
    void only(const char* key, bool meant, const char* of) {
        if (object_.has(key) && !meant) object_.problem(key, fmt::format("is of {}", of));
    }

    void read_loop() {
        const auto loop = object_.one_of("loop", {"closed", "open"}, false);
        const bool open = loop == "open";
        spec_.loop = open ? MeterSpec::Loop::open : MeterSpec::Loop::closed;
        const auto arrival = object_.one_of("arrival", {"constant", "poisson"}, false);
        spec_.arrival = arrival == "poisson" ? MeterSpec::Arrival::poisson : MeterSpec::Arrival::constant;
        only("arrival", open, "an open loop (\"loop\": \"open\")");
        spec_.operations_per_s =
            object_.number("operations_per_s", kLoadRateMin, kLoadRateMax, open).value_or(0);
        spec_.think_time = read_scenario_time(object_, "think_time", false).value_or(Duration{});
        only("think_time", !open, "a closed loop");
    }

    void read_transfers() {
        spec_.random_share = object_.number("random_percent", 0, 100, false).value_or(0) / 100;
        spec_.sequential_from_anywhere =
            object_.one_of("sequential_from", {"last", "anywhere"}, false) == "anywhere";
        spec_.random_by_block = object_.one_of("random_unit", {"transfer", "block"}, false) == "block";
        spec_.non_repeating = object_.boolean("non_repeating", false).value_or(false);
        spec_.whole_files = object_.boolean("whole_files", false).value_or(false);
        spec_.direct = object_.boolean("direct", false).value_or(true);
        const auto sync = object_.one_of("sync", {"never", "each-write", "at-end"}, false);
        spec_.sync = sync == "each-write" ? MeterSpec::Sync::each_write
                     : sync == "at-end"   ? MeterSpec::Sync::at_end
                                          : MeterSpec::Sync::never;
        read_sizes(object_, "blocks", object_.member("blocks", transfers_), spec_.blocks);
        read_lengths();
        read_writes();
        if (!operations_known_) return;
        for (const char* key : {"random_percent", "sequential_from", "random_unit", "non_repeating", "blocks",
                                "lengths", "writes", "whole_files", "direct"}) {
            only(key, transfers_, "reads and writes, which this meter has none of");
        }
        // A sweep over read_percent may bring the writes.
        only("sync", transfers_ || sync == "never", "writes, which this meter has none of");
        if (spec_.non_repeating && spec_.random_share == 0)
            object_.problem("non_repeating", "is of random transfers: random_percent is 0");
        if (!spec_.whole_files) return;
        for (const char* key : {"sequential_from", "random_unit", "non_repeating"})
            only(key, false, "places within files, which whole_files has none of");
        if (spec_.length_up_to) object_.problem("lengths", "up_to is not for whole_files: give sizes");
    }

    void read_weighted(const Json& value, const std::string& pointer, std::vector<WeightedSize>& into) {
        JsonObject entry(value, pointer, problems_);
        WeightedSize size;
        if (const Json* bytes = entry.member("bytes")) {
            size.bytes = read_block(*bytes, entry.pointer_of("bytes")).value_or(0);
        }
        size.weight = entry.number("weight", 0, 1e9, false).value_or(1);
        entry.finish();
        for (const WeightedSize& other : into) {
            if (size.bytes > 0 && other.bytes == size.bytes)
                entry.problem("bytes", fmt::format("{} is given twice", show_io_size(size.bytes)));
        }
        into.push_back(size);
    }

    std::optional<std::uint64_t> read_block(const Json& value, const std::string& pointer) {
        return read_size(value, pointer, 1, sizes_most_, problems_);
    }

    /// "1MiB", or an array of {"bytes", "weight"}.
    void read_sizes(JsonObject& object, const char* key, const Json* value, std::vector<WeightedSize>& into) {
        if (value == nullptr) return;
        const std::string pointer = object.pointer_of(key);
        if (!value->is_array()) {
            if (const auto bytes = read_block(*value, pointer)) into.push_back({*bytes, 1});
            return;
        }
        if (value->empty() || value->size() > 10'000) {
            object.problem(key, "expected 1 to 10000 sizes");
            return;
        }
        std::size_t i = 0;
        double sum = 0;
        for (const Json& each : *value) {
            read_weighted(each, fmt::format("{}/{}", pointer, i++), into);
            sum += into.back().weight;
        }
        if (sum <= 0) object.problem(key, "expected at least one with a weight above 0");
    }

    void read_lengths() {
        const Json* value = object_.member("lengths", false);
        if (value == nullptr) return;
        sizes_most_ = kLoadFileBytesMax;
        if (!value->is_object()) {
            read_sizes(object_, "lengths", value, spec_.lengths);
            return;
        }
        JsonObject lengths(*value, object_.pointer_of("lengths"), problems_);
        if (const Json* most = lengths.member("up_to")) {
            spec_.length_up_to = read_block(*most, lengths.pointer_of("up_to"));
        }
        lengths.finish();
        for (const WeightedSize& block : spec_.blocks) smallest_ = std::min(smallest_, block.bytes);
        if (spec_.length_up_to && !spec_.blocks.empty() && *spec_.length_up_to < smallest_)
            lengths.problem("up_to",
                            fmt::format("is less than the smallest block, {}", show_io_size(smallest_)));
    }

    void read_writes() {
        const Json* value = object_.member("writes", false);
        if (value == nullptr) return;
        JsonObject writes(*value, object_.pointer_of("writes"), problems_);
        WriteSizes sizes;
        sizes_most_ = kBlockMax;
        read_sizes(writes, "blocks", writes.member("blocks"), sizes.blocks);
        sizes_most_ = kLoadFileBytesMax;
        read_sizes(writes, "lengths", writes.member("lengths", false), sizes.lengths);
        writes.finish();
        if (spec_.length_up_to) object_.problem("writes", "has no meaning beside lengths up_to");
        spec_.writes = std::move(sizes);
    }

    void read_files() {
        const Json* value = object_.member("files", transfers_);
        if (value == nullptr) return;
        JsonObject files(*value, object_.pointer_of("files"), problems_);
        spec_.set.files = read_count(files, "count", kWorkloadFilesMax, 1);
        if (const Json* bytes = files.member("bytes", transfers_)) {
            const auto size = read_size(*bytes, files.pointer_of("bytes"), 0, kLoadFileBytesMax, problems_);
            spec_.set.file_bytes = size.value_or(0);
            bytes_known_ = size.has_value();
        }
        spec_.set.directories = read_count(files, "directories", kWorkloadFilesMax, 1);
        spec_.set.spare_files = read_count(files, "spare", kWorkloadFilesMax, 0, 0);
        read_shared(files);
        files.finish();
    }

    /// false, true or "client".
    void read_shared(JsonObject& files) {
        const Json* shared = files.member("shared", false);
        if (shared == nullptr || *shared == false) return;
        if (*shared == true) {
            spec_.set.of = WorkingSet::Of::all;
        } else if (*shared == "client") {
            spec_.set.of = WorkingSet::Of::client;
        } else {
            files.problem("shared",
                          fmt::format("expected true, false or \"client\", found {}", json_text(*shared)));
        }
    }

    /// Blocks and lengths lie within a file.
    void check_fit() {
        if (!bytes_known_ || !transfers_) return;
        const std::uint64_t bytes = spec_.set.file_bytes;
        const auto too_long = [&](const char* key, const std::vector<WeightedSize>& sizes) {
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                if (sizes[i].bytes <= bytes) continue;
                const std::string pointer = object_.pointer() + "/" + key;
                problems_.add(sizes.size() == 1 ? pointer : fmt::format("{}/{}", pointer, i),
                              fmt::format("{} do not fit a file of {}", show_io_size(sizes[i].bytes),
                                          show_io_size(bytes)));
            }
        };
        too_long("blocks", spec_.blocks);
        too_long("lengths", spec_.lengths);
        if (spec_.writes) {
            too_long("writes/blocks", spec_.writes->blocks);
            too_long("writes/lengths", spec_.writes->lengths);
        }
        if (spec_.length_up_to && *spec_.length_up_to > bytes)
            object_.problem("lengths", fmt::format("{} do not fit a file of {}",
                                                   show_io_size(*spec_.length_up_to), show_io_size(bytes)));
    }

    /// In the largest step.
    std::uint64_t users_in_all() const {
        return std::uint64_t{context_.seats} * (context_.users_max > 0 ? context_.users_max : spec_.users);
    }

    /// Bounds the memory that a computer needs for each file and for each user of a file.
    void check_sizes() {
        const std::uint64_t users = users_in_all();
        if (users > kWorkloadUsersMax)
            object_.problem("users", fmt::format("{} on {} clients are more than {}", users / context_.seats,
                                                 context_.seats, kWorkloadUsersMax));
        const auto too_many = [&](std::uint64_t each) { return each > kWorkloadFilesMax / users; };
        if (too_many(spec_.set.files) || too_many(spec_.set.spare_files) || too_many(spec_.set.directories))
            object_.problem("files", fmt::format("{} users with {} files, {} spare ones and {} directories are "
                                                 "more than {} in all",
                                                 users, spec_.set.files, spec_.set.spare_files,
                                                 spec_.set.directories, kWorkloadFilesMax));
        if (users * spec_.inflight > kWorkloadUsersMax)
            object_.problem("inflight", fmt::format("{} users with {} in flight are more than {} in all", users,
                                                    spec_.inflight, kWorkloadUsersMax));
    }

    void read_times() {
        spec_.start = read_scenario_time(object_, "start", false).value_or(Duration{});
        spec_.one_more_every = read_scenario_time(object_, "one_more_every", false).value_or(Duration{});
        spec_.end = read_scenario_time(object_, "end", false);
        const Duration all = context_.longest;
        if (all.ns <= 0) return;  // a problem of its own
        if (spec_.end && *spec_.end > all)
            object_.problem("end", fmt::format("is after the end, {}", show_duration(all)));
        const Duration end = std::min(spec_.end.value_or(all), all);
        check_begins(object_, {spec_.start, spec_.one_more_every, {}}, users_in_all(), end, "runs", " users");
    }

    void read_buffer() {
        const Json* value = object_.member("buffer", false);
        if (value == nullptr) return;
        JsonObject buffer(*value, object_.pointer_of("buffer"), problems_);
        BufferSpec spec;
        spec.bytes_per_s =
            static_cast<std::uint64_t>(buffer.integer("bytes_per_s", 1, 1'000'000'000'000).value_or(1));
        const auto length = read_scenario_length(buffer, "length", true);
        spec.length = length.value_or(Duration{});
        spec.threshold = read_scenario_time(buffer, "threshold", false).value_or(Duration{});
        if (length && spec.threshold > spec.length)
            buffer.problem("threshold", fmt::format("expected at most the length of the buffer, {}",
                                                    show_duration(spec.length)));
        buffer.finish();
        if (operations_known_) only("buffer", transfers_, "reads and writes, which this meter has none of");
        spec_.buffer = spec;
    }

    const MeterContext context_;
    JsonProblems& problems_;
    JsonObject object_;
    MeterSpec spec_;
    bool operations_known_ = false;
    bool transfers_ = false;    // it has reads or writes
    bool bytes_known_ = false;  // the document states the size of the files
    std::uint64_t sizes_most_ = kBlockMax;
    std::uint64_t smallest_ = UINT64_MAX;  // block
};

}  // namespace

std::string read_load_name(JsonObject& object) {
    const auto name = object.string("name");
    if (!name) return "";
    const bool plain = name->find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                           "-_.") == std::string::npos;
    if (!plain || name->front() == '.' || name->size() > 64)
        object.problem("name", fmt::format("expected at most 64 letters, digits, \"-\", \"_\" and \".\", found "
                                           "\"{}\"",
                                           *name));
    return *name;
}

std::optional<std::uint64_t> read_block_bytes(const Json& value,
                                              const std::string& pointer,
                                              JsonProblems& problems) {
    return read_size(value, pointer, 1, kBlockMax, problems);
}

MeterSpec read_meter(const Json& value,
                     const std::string& pointer,
                     const MeterContext& context,
                     JsonProblems& problems) {
    return MeterReader(value, pointer, context, problems).read();
}

}  // namespace streamsim::scenario
