#include "run/plan/recordings.h"

#include <fmt/format.h>

#include <utility>

#include "base/path.h"
#include "media/write/recording.h"
#include "storage/local/local_options.h"

namespace streamsim::run {

Recordings::Recordings(std::unique_ptr<ByteStore> store, std::string target, bool keep, NoticeSink notice)
    : store_(std::move(store)), target_(std::move(target)), notice_(std::move(notice)), keep_(keep) {}

Result<std::unique_ptr<Recordings>> Recordings::make(const target::Target& target,
                                                     const Credentials& credentials,
                                                     bool keep,
                                                     const NoticeSink& notice) {
    std::unique_ptr<Recordings> made(
        new Recordings(make_byte_store(target, credentials), target.name(), keep, notice));
    const auto there = made->store_->stat(made->target_);
    if (!there) return there.error();
    if (!*there || !(**there).directory) {
        return environment_error(fmt::format("{}: is no directory: recordings go below one", made->target_));
    }
    auto directory = media::make_recordings(*made->store_, made->target_);
    if (!directory) return directory.error();
    made->directory_ = std::move(*directory);
    return made;
}

std::uint32_t Recordings::alignment() {
    const std::string path = join_path(directory_, media::recording_name(0, 0).append(media::kAlignmentKind));
    const auto inside = store_->beneath(directory_);
    if (!inside) return storage::kUsualAlignment;  // each frame will fail, with the reason
    auto made = (*inside)->create(path);
    if (!made || !(*made)->close()) return storage::kUsualAlignment;
    const std::uint32_t alignment = storage::direct_alignment(path);
    (void)(*inside)->remove(path);
    return alignment;
}

Result<void> Recordings::record(const GrowingList<StreamPlan>& streams) {
    std::vector<media::RecordedStream> recorded;
    for (const StreamPlan& plan : streams) {
        if (plan.record == nullptr) continue;
        const std::string& name = plan.clips.front().name;
        recorded.push_back(media::recorded_stream(plan.record->format, base_name(name), plan.options.slots));
    }
    return media::record_streams(*store_, target_, directory_, recorded);
}

Recordings::~Recordings() {
    if (!directory_.empty()) remove(nullptr);
}

void Recordings::remove(const std::function<bool()>& stopped) {
    if (std::exchange(keep_, true)) return;
    for (const std::string& problem : media::remove_recordings(*store_, target_, directory_, stopped))
        notice_(fmt::format("recordings could not be removed (streamsim clean {}): {}", target_, problem));
}

std::vector<std::string> Recordings::vanished(const GrowingList<StreamPlan>& streams) {
    std::vector<std::string> gone;
    for (const StreamPlan& plan : streams) {
        const FrameIndex& index = *plan.clips.front().index;
        if (plan.record == nullptr || index.file_per_frame()) continue;
        const std::string path = index.path_of(0);
        const auto there = store_->stat(path);
        if (there && !*there) gone.push_back(path);
    }
    return gone;
}

void Recordings::leave() {
    keep_ = true;
    notice_(fmt::format("recordings are left in {} (streamsim clean {})", directory_, target_));
}

}  // namespace streamsim::run
