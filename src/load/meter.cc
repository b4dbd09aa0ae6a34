#include "load/meter.h"

#include <algorithm>

#include "base/check.h"

namespace streamsim::load {
namespace {

/// Arrivals that are drawn in one turn of the loop at the end, in a fraction of a millisecond: others play on.
constexpr std::uint64_t kDrawsOfATurn = 10'000;

}  // namespace

Meter::Meter(
    EventLoop& loop, Storage& storage, const MeterPlan& plan, std::span<std::byte> memory, Callback changed)
    : context_{loop, storage, plan, Callback::of<&Meter::user_finished>(this)}, changed_(changed) {
    STREAMSIM_CHECK(memory.size() >= memory_bytes(plan), "a meter gets the memory that it needs");
    const std::uint64_t each = user_memory_bytes(plan.spec);
    for (std::uint32_t user = 0; user < plan.spec.users; ++user)
        users_.emplace_back(context_, user, memory.subspan(user * each, each));
}

void Meter::prepare() {
    STREAMSIM_CHECK(state_ == State::idle, "a meter is prepared once");
    state_ = State::preparing;
    opens_out_ = 1;
    if (context_.files.kept_open()) open_files();
    opened_one();
}

void Meter::play(Instant from, Instant until) {
    STREAMSIM_CHECK(ready(), "a meter that plays is ready");
    state_ = State::playing;
    MeterStats& stats = context_.stats;
    const MeterSpec& spec = context_.plan.spec;
    const Instant begin = from + spec.start;
    stats.begin(from);
    stats.set_end(std::max(begin, std::min(until, spec.end ? from + *spec.end : until)));
    end_timer_ = context_.loop.at(stats.end(), Callback::of<&Meter::on_end>(this));
    for (std::uint32_t user = 0; user < spec.users; ++user) {
        const std::int64_t number = std::int64_t{context_.plan.first_user} + user;
        const Instant at = begin + Duration{spec.one_more_every.ns * number};
        stats.begin_user(user, at);
        users_[user].begin(at);
    }
}

void Meter::interrupt() {
    if (context_.interrupted || finished()) return;
    context_.interrupted = true;
    if (state_ == State::preparing) {
        for (Opening& each : opens_) {
            if (each.out) context_.storage.cancel(each);
        }
    } else if (state_ != State::playing) {
        finish();
    } else {
        context_.stats.set_end(std::min(context_.stats.end(), context_.loop.now()));
        stop();
        for (MeterUser& user : users_) user.cancel();
    }
}

std::vector<std::string> Meter::created() const {
    std::vector<std::string> out;
    for (const MeterUser& user : users_) user.list_created(out);
    return out;
}

MeterResult Meter::result() const {
    STREAMSIM_CHECK(finished(), "a result is complete");
    return context_.stats.result();
}

MeterResult Meter::result_without_waiting() const {
    STREAMSIM_CHECK(context_.interrupted || finished(), "the meter was told to end");
    if (auto played = result_so_far()) return std::move(*played);
    return context_.stats.result();
}

std::optional<MeterResult> Meter::result_so_far() const {
    if (finished()) return context_.stats.result();
    if (state_ != State::playing) return std::nullopt;
    return context_.stats.result_so_far(context_.loop.now());
}

void Meter::Opening::ended() {
    out = false;
    into->file = error == 0 ? file : kNoFile;
    into->error = error;
    if (error != 0 && !meter->context_.interrupted)
        meter->context_.stats.error(LoadOperation::open, error, path);
    meter->opened_one();
}

void Meter::open_files() {
    const MeterPlan& plan = context_.plan;
    const bool writes = plan.spec.weights[static_cast<std::size_t>(LoadOperation::write)] > 0;
    const std::uint32_t files = context_.files.count();
    opens_.resize(std::size_t{plan.spec.users} * files);
    opens_out_ += opens_.size();
    for (std::size_t i = 0; i < opens_.size(); ++i) {
        const auto user = static_cast<std::uint32_t>(i / files);
        const auto file = static_cast<std::uint32_t>(i % files);
        Opening& open = opens_[i];
        open.meter = this;
        open.into = &context_.files.opened(user, file);
        open.done = Callback::of<&Opening::ended>(&open);
        open.tag = {plan.seat, plan.first_stream + user, 0, 0};
        open.path = context_.files.path(user, file).c_str();
        open.access = writes ? Access::write : Access::read;
        open.through_cache = !plan.spec.direct;
        context_.storage.open(open);
    }
}

void Meter::opened_one() {
    if (--opens_out_ > 0) return;
    // The last operation has not returned yet.
    context_.loop.defer(Callback::of<&Meter::prepared>(this));
}

void Meter::prepared() {
    opens_ = {};
    if (context_.interrupted) {
        finish();
        return;
    }
    state_ = State::ready;
    changed_();
}

void Meter::on_end() {
    end_timer_ = 0;
    stop();
}

void Meter::stop() {
    context_.loop.cancel(end_timer_);
    end_timer_ = 0;
    if (counting_ || users_finished_ == users_.size()) return;  // it is at its end already
    counting_ = true;
    for (MeterUser& user : users_) user.stop();
    count_waiting();
}

/// Counts the arrivals of an open loop that wait in line at the end, however many they are.
void Meter::count_waiting() {
    std::uint64_t draws = kDrawsOfATurn;
    while (users_counted_ < users_.size() && users_[users_counted_].count_waiting(draws)) ++users_counted_;
    if (users_counted_ < users_.size()) {
        context_.loop.defer(Callback::of<&Meter::count_waiting>(this));
        return;
    }
    counting_ = false;
    finish_if_over();
}

void Meter::user_finished() {
    ++users_finished_;
    finish_if_over();
}

void Meter::finish_if_over() {
    if (counting_ || users_finished_ < users_.size()) return;
    if (end_timer_ != 0) {  // every byte that was to be read once was read
        context_.loop.cancel(end_timer_);
        end_timer_ = 0;
        context_.stats.end_early();
    }
    finish();
}

void Meter::finish() {
    for (MeterFiles::Opened& each : context_.files.all_opened()) {
        if (each.file != kNoFile) context_.storage.close(each.file);
        each.file = kNoFile;
    }
    context_.loop.defer(Callback::of<&Meter::tell_finished>(this));
}

void Meter::tell_finished() {
    state_ = State::finished;
    changed_();
}

}  // namespace streamsim::load
