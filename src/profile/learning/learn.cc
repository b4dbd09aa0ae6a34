#include "profile/learning/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/path.h"
#include "base/units.h"
#include "base/utf8.h"
#include "profile/learning/pace.h"
#include "profile/learning/transfers.h"

namespace streamsim::profile {
namespace {

constexpr std::size_t kMetersMax = 8;
constexpr std::uint64_t kBlockBytesMax = 1ull << 30;  // largest block of a document
constexpr std::uint64_t kPage = 4096;
constexpr std::int64_t kSecond = 1'000'000'000;  // ns

std::string name_of(std::string text, const char* fallback) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    std::ranges::replace_if(
        text, [&](char c) { return kPlain.find(c) == std::string_view::npos; }, '-');
    text = text.substr(0, 64);
    text.erase(0, text.find_first_not_of('.'));
    return text.empty() ? fallback : text;
}

bool same(const std::vector<WeightedSize>& one, const std::vector<WeightedSize>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const auto& a, const auto& b) {
        return a.bytes == b.bytes && std::abs(a.weight - b.weight) <= 0.01 * std::max(a.weight, b.weight);
    });
}

std::uint64_t largest_of(const std::vector<WeightedSize>& sizes) {
    return sizes.empty() ? 0 : std::ranges::max(sizes, {}, &WeightedSize::bytes).bytes;
}

class Learner {
public:
    Learner(const Traffic& traffic, std::vector<TrafficOperation> operations, std::string name)
        : traffic_(traffic) {
        out_.spec.name = std::move(name);
        out_.operations = std::move(operations);
        cut_giants();
    }

    /// Empty when no operation is one that a meter can do.
    std::optional<LearntMeter> learn() {
        out_.behaviour = behaviour_of(out_.operations);
        found_ = find_transfers(traffic_, out_.operations);
        std::erase_if(found_.units, [](const TrafficUnit& unit) {
            return !load_operation(unit.kind) || (moves_data(unit.kind) && unit.bytes == 0);
        });
        if (found_.units.empty()) return std::nullopt;
        count_operations();
        take_sizes();
        find_pace(found_.units, out_);
        take_files();
        take_sync();
        find_sequence();
        return std::move(out_);
    }

private:
    /// Larger than any block of a document, as copies inside the kernel may be.
    void cut_giants() {
        std::vector<TrafficOperation> pieces;
        for (const TrafficOperation& at : out_.operations) {
            TrafficOperation piece = at;
            for (std::uint64_t left = at.bytes; left > kBlockBytesMax; left -= kBlockBytesMax) {
                piece.bytes = kBlockBytesMax;
                piece.duration_ns = static_cast<std::int64_t>(static_cast<double>(at.duration_ns) *
                                                              static_cast<double>(kBlockBytesMax) /
                                                              static_cast<double>(at.bytes));
                pieces.push_back(piece);
                piece.begin_ns += piece.duration_ns;
                piece.offset += kBlockBytesMax;
                piece.bytes = left - kBlockBytesMax;
            }
            pieces.push_back(piece);
        }
        if (pieces.size() == out_.operations.size()) return;
        std::ranges::stable_sort(pieces, {}, &TrafficOperation::begin_ns);
        out_.operations = std::move(pieces);
        out_.notes.push_back("blocks above 1 GiB are counted as several");
    }

    void count_operations() {
        double random = 0;
        for (const TrafficUnit& unit : found_.units) {
            out_.spec.weights[static_cast<std::size_t>(*load_operation(unit.kind))] += 1;
            if (!moves_data(unit.kind)) continue;
            ++out_.transfers;
            if (unit.random) random += 1;
        }
        if (out_.transfers == 0) return;
        // To a tenth of a percent.
        out_.spec.random_share = std::round(random / static_cast<double>(out_.transfers) * 1000) / 1000;
        find_non_repeating();
    }

    /// True when no block repeats although random choice alone would have repeated many.
    void find_non_repeating() {
        if (found_.whole_files || out_.spec.random_share < 0.9) return;
        std::set<std::pair<std::uint32_t, std::uint64_t>> places;
        std::uint64_t blocks = 0;
        double expected = 0;
        std::map<std::uint32_t, double> by_file;
        for (const TrafficOperation& at : out_.operations) {
            if (!at.moves_data()) continue;
            ++blocks;
            places.emplace(at.file, at.offset);
            const double all = static_cast<double>(traffic_.files[at.file].bytes) /
                               static_cast<double>(std::max<std::uint64_t>(at.bytes, 1));
            if (all >= 1) expected += by_file[at.file]++ / all;
        }
        out_.spec.non_repeating = places.size() == blocks && expected >= 10;
    }

    void take_sizes() {
        MeterSpec& spec = out_.spec;
        spec.whole_files = found_.whole_files;
        const bool reads = !found_.reads.blocks.empty();
        const TransferSizes& first = reads ? found_.reads : found_.writes;
        spec.blocks = first.blocks;
        spec.lengths = first.lengths;
        if (!reads || found_.writes.blocks.empty()) return;
        if (same(spec.blocks, found_.writes.blocks) && same(spec.lengths, found_.writes.lengths)) return;
        spec.writes = found_.writes;
    }

    /// The files that the operations read and wrote, or named where nothing moves.
    struct UsedFiles {
        std::map<std::uint32_t, std::set<std::uint32_t>> users_of;  // by file
        std::set<std::string> directories;
        double bytes = 0;
        std::uint64_t bytes_min = UINT64_MAX, bytes_max = 0;
        std::uint64_t shared = 0;  // files of more than one user
        std::uint64_t blocks = 0, direct_blocks = 0;
        bool aligned = true;  // every block is whole pages

        std::uint64_t bytes_mean() const {
            return static_cast<std::uint64_t>(bytes / static_cast<double>(users_of.size()));
        }
    };

    UsedFiles used_files() const {
        UsedFiles out;
        for (const TrafficOperation& at : out_.operations) {
            if (!at.moves_data() && out_.transfers > 0) continue;
            out.users_of[at.file].insert(at.user);
            ++out.blocks;
            if (at.session != kNoSession && traffic_.sessions[at.session].direct) ++out.direct_blocks;
            if (at.bytes % kPage != 0) out.aligned = false;
        }
        for (const auto& [file, users] : out.users_of) {
            const TrafficFile& each = traffic_.files[file];
            out.bytes += static_cast<double>(each.bytes);
            out.bytes_min = std::min(out.bytes_min, each.bytes);
            out.bytes_max = std::max(out.bytes_max, each.bytes);
            out.directories.insert(parent_of(each.name));
            if (users.size() > 1) ++out.shared;
        }
        return out;
    }

    void take_files() {
        const UsedFiles used = used_files();
        MeterSpec& spec = out_.spec;
        const bool moves = out_.transfers > 0;
        if (moves && spec.users > 1 && used.shared * 2 > used.users_of.size())
            spec.set.of = WorkingSet::Of::all;
        const std::uint64_t users = spec.set.shared() ? 1 : spec.users;
        spec.set.files = static_cast<std::uint32_t>((used.users_of.size() + users - 1) / users);
        spec.set.directories =
            static_cast<std::uint32_t>(std::min<std::size_t>(used.directories.size(), spec.set.files));
        if (!moves) return;
        take_file_bytes(used);
        drop_lengths_of_whole_files();
        // A capture shows what passed the client's cache, and direct I/O passes that cache.
        const bool captured = traffic_.recorder != "strace" && used.aligned && spec.set.file_bytes % kPage == 0;
        spec.direct = captured || used.direct_blocks * 2 > used.blocks;
    }

    void take_file_bytes(const UsedFiles& used) {
        MeterSpec& spec = out_.spec;
        std::uint64_t longest = std::max(largest_of(spec.blocks), largest_of(spec.lengths));
        if (spec.writes)
            longest = std::max({longest, largest_of(spec.writes->blocks), largest_of(spec.writes->lengths)});
        const bool alike = used.bytes_min == used.bytes_max;
        spec.set.file_bytes = alike              ? used.bytes_max
                              : spec.whole_files ? longest
                                                 : (used.bytes_mean() + kPage - 1) / kPage * kPage;
        spec.set.file_bytes = std::max(spec.set.file_bytes, longest);
        if (alike) return;
        out_.notes.push_back(fmt::format("its files have {} to {} bytes; those of the document all {}",
                                         show_count(used.bytes_min), show_count(used.bytes_max),
                                         show_count(spec.set.file_bytes)));
    }

    /// A document need not state the length of transfers that are whole files of one size.
    void drop_lengths_of_whole_files() {
        MeterSpec& spec = out_.spec;
        const auto is_file = [&](const std::vector<WeightedSize>& lengths) {
            return lengths.size() == 1 && lengths.front().bytes == spec.set.file_bytes;
        };
        if (!spec.whole_files || !is_file(spec.lengths)) return;
        if (spec.writes && !is_file(spec.writes->lengths)) return;
        spec.lengths.clear();
        if (spec.writes) spec.writes->lengths.clear();
    }

    void take_sync() {
        const auto weight = [this](LoadOperation each) {
            return out_.spec.weights[static_cast<std::size_t>(each)];
        };
        const double gone =
            weight(LoadOperation::remove) + weight(LoadOperation::rename) - weight(LoadOperation::create);
        if (gone > 0) out_.spec.set.spare_files = static_cast<std::uint32_t>(std::max(gone, 1000.0));
        std::uint64_t synchronous = 0;
        for (const TrafficOperation& at : out_.operations)
            if (at.kind == TrafficKind::write && at.session != kNoSession &&
                traffic_.sessions[at.session].synchronous)
                ++synchronous;
        const Behaviour& all = out_.behaviour;
        const std::uint64_t syncs = all.of(TrafficKind::sync) + synchronous, writes = all.writes.blocks;
        if (writes > 0 && syncs * 2 >= writes) {
            out_.spec.sync = MeterSpec::Sync::each_write;
        } else if (writes > 0 && syncs > 0) {
            out_.spec.sync = MeterSpec::Sync::at_end;
            out_.notes.push_back(fmt::format("{} syncs for {} writes: the document syncs once, at the end",
                                             show_count(syncs), show_count(writes)));
        }
        if (const auto others = all.of(TrafficKind::other); others > 0) {
            out_.notes.push_back(fmt::format(
                "{} directories made, files cut or attributes set: a document has no such operation",
                show_count(others)));
        }
    }

    void find_sequence() {
        if (!found_.whole_files) return;
        struct Files {
            std::set<std::uint32_t> files;
            std::uint64_t passes = 0;
        };
        std::map<std::string, Files> patterns;
        for (const TrafficUnit& unit : found_.units) {
            if (unit.kind != TrafficKind::read) continue;
            Files& at = patterns[pattern_of(traffic_.files[unit.file].name)];
            at.files.insert(unit.file);
            ++at.passes;
        }
        patterns.erase("");
        for (const auto& [pattern, at] : patterns) {
            if (at.files.size() < kSequenceFilesMin) continue;
            std::uint64_t blocks = 0;
            for (const TrafficOperation& each : out_.operations)
                if (each.kind == TrafficKind::read && at.files.contains(each.file)) ++blocks;
            const double each = static_cast<double>(blocks) / static_cast<double>(at.passes);
            out_.sequence += fmt::format("{}a sequence of {} files {}, each read whole in {:.3g} read{}",
                                         out_.sequence.empty() ? "" : "; ", show_count(at.files.size()),
                                         pattern, each, each > 1 ? "s" : "");
        }
    }

    const Traffic& traffic_;
    FoundTransfers found_;
    LearntMeter out_;
};

/// By program or client; all together where there are too many of them.
std::map<std::string, std::vector<TrafficOperation>> groups_of(const Traffic& traffic) {
    std::map<std::string, std::vector<TrafficOperation>> groups;
    for (const TrafficOperation& at : traffic.operations)
        groups[name_of(traffic.users[at.user], "process")].push_back(at);
    if (groups.size() <= kMetersMax) return groups;
    return {{"all", traffic.operations}};
}

/// Sets start and end of a meter that does not run the whole time.
void take_times(LearntMeter& meter, std::int64_t span_ns, Duration duration) {
    // Played for longer, or for less, than it was seen: these times are none of play.
    if (span_ns < duration.ns * 9 / 10 || span_ns > duration.ns) return;
    const std::int64_t begin = meter.operations.front().begin_ns;
    const std::int64_t end = begin + meter.behaviour.span_ns;
    // In whole seconds, of which at least one lies between the two: an operation may take no time.
    if (begin > std::max(span_ns / 20, kSecond))
        meter.spec.start = {std::min(begin, duration.ns - kSecond) / kSecond * kSecond};
    if (end < span_ns - std::max(span_ns / 20, kSecond))
        meter.spec.end =
            Duration{std::max((end + kSecond - 1) / kSecond * kSecond, meter.spec.start.ns + kSecond)};
}

}  // namespace

Result<Profile> learn(const Traffic& traffic, const std::string& name) {
    for (const TrafficOperation& at : traffic.operations) {
        const TrafficFile& file = traffic.files[at.file];
        if (file.bytes <= kLoadFileBytesMax) continue;
        return bad_input(fmt::format("{}: the file {} has {} bytes in it: expected {} at most", traffic.source,
                                     printable(file.name), file.bytes, show_bytes(kLoadFileBytesMax)));
    }
    Profile profile;
    Workload& workload = profile.workload;
    std::int64_t span_ns = 0;
    for (const TrafficOperation& at : traffic.operations) span_ns = std::max(span_ns, at.end_ns());
    const std::int64_t whole = (span_ns + kSecond - 1) / kSecond;
    workload.duration = seconds(std::clamp<std::int64_t>(whole, 10, 600));
    for (auto& [group, operations] : groups_of(traffic)) {
        auto meter = Learner(traffic, std::move(operations), group).learn();
        if (!meter) continue;
        take_times(*meter, span_ns, workload.duration);
        workload.meters.push_back(meter->spec);
        profile.meters.push_back(std::move(*meter));
    }
    if (profile.meters.empty()) {
        return bad_input(fmt::format(
            "{}: no read, write or other operation on a file that counts is in it (--only PATH chooses files)",
            traffic.source));
    }
    workload.source = traffic.source;
    workload.name = name_of(name, "profile");
    workload.title = fmt::format("What {} did", base_name(traffic.source));
    workload.description = fmt::format("Learnt from {} operations over {}.",
                                       show_count(traffic.operations.size()), show_duration({span_ns}));
    workload.basis = fmt::format("measured: {} of {}", traffic.recorder, traffic.source);
    return profile;
}

}  // namespace streamsim::profile
