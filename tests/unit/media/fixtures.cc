#include "unit/media/fixtures.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "media/catalogue/frame_sizes.h"
#include "media/frames/codec_makers.h"
#include "media/image/dpx.h"
#include "media/write/container_writer.h"

namespace streamsim::testing {
namespace {

namespace fs = std::filesystem;

Error io_error(const std::string& path, const std::string& why) {
    return environment_error(path + ": " + why);
}

Error no_room(const std::string& path) {
    Error error = io_error(path, "No space left on device");
    error.no_room = true;
    return error;
}

Error missing_file(const std::string& path) {
    Error error = io_error(path, "No such file or directory");
    error.inaccessible = true;
    return error;
}

class Source final : public ByteSource {
public:
    Source(const std::string& path, std::atomic<std::uint64_t>& bytes_read)
        : file_(path, std::ios::binary), bytes_read_(bytes_read) {
        file_.seekg(0, std::ios::end);
        size_ = static_cast<std::uint64_t>(file_.tellg());
    }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        if (offset >= size_) return std::size_t{0};
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(offset));
        file_.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
        bytes_read_ += static_cast<std::uint64_t>(file_.gcount());
        return static_cast<std::size_t>(file_.gcount());
    }
    Result<std::uint64_t> size() override { return size_; }

private:
    std::ifstream file_;
    std::uint64_t size_ = 0;
    std::atomic<std::uint64_t>& bytes_read_;
};

class GivenLock final : public FileLock {
public:
    explicit GivenLock(LockMode& locked) : locked_(locked) {}
    Result<bool> change(LockMode mode) override {
        locked_ = mode;
        return true;
    }

private:
    LockMode& locked_;
};

std::mutex room_mutex;

class Sink final : public ByteSink {
public:
    Sink(std::string path, DirectoryStore& store)
        : path_(std::move(path)), store_(store), file_(path_, std::ios::binary | std::ios::trunc) {}
    Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
        if (store_.on_write) store_.on_write(path_);
        std::size_t fits = bytes.size();
        {
            const std::lock_guard lock(room_mutex);
            fits = std::min<std::uint64_t>(fits, store_.room);
            if (store_.room != UINT64_MAX) store_.room -= fits;
        }
        file_.seekp(static_cast<std::streamoff>(offset));
        file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(fits));
        file_.flush();
        if (fits < bytes.size()) return no_room(path_);
        return {};
    }
    Result<void> close() override {
        file_.close();
        return {};
    }

private:
    std::string path_;
    DirectoryStore& store_;
    std::ofstream file_;
};

}  // namespace

Place::Place() {
    std::string name = (fs::temp_directory_path() / "streamsim-media-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
}

Place::~Place() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void Place::write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(at(name)).parent_path());
    std::ofstream(at(name), std::ios::binary) << text;
}

std::string Place::read(const std::string& name) const {
    std::ifstream file(at(name), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> Place::files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
        if (!entry.is_directory()) out.push_back(fs::relative(entry.path(), path_).string());
    }
    std::sort(out.begin(), out.end());
    return out;
}

Result<std::vector<DirectoryEntry>> DirectoryStore::list(const std::string& directory) {
    std::error_code error;
    std::vector<DirectoryEntry> out;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
        out.push_back({entry.path().filename().string(), entry.is_directory(), entry.is_symlink()});
    }
    if (error) return io_error(directory, error.message());
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return out;
}

Result<std::optional<FileInfo>> DirectoryStore::stat(const std::string& path) {
    ++stats;
    std::error_code error;
    const auto link = fs::symlink_status(path, error);
    if (!fs::exists(link)) return std::optional<FileInfo>();
    FileInfo info;
    info.symbolic_link = fs::is_symlink(link);
    info.directory = fs::is_directory(path);
    if (fs::is_regular_file(path)) info.bytes = fs::file_size(path);
    info.modified_s = 1234567890;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) == 0) {
        info.links = facts.st_nlink;
        info.file_id = tells_ids ? facts.st_ino : 0;
        if (tells_times) info.modified_s = facts.st_mtim.tv_sec;
    }
    return std::optional(info);
}

Result<std::unique_ptr<ByteSource>> DirectoryStore::open(const std::string& path) {
    if (on_open) {
        if (auto error = on_open(path)) return *error;
    }
    if (!fs::is_regular_file(path)) return missing_file(path);
    return std::unique_ptr<ByteSource>(std::make_unique<Source>(path, bytes_read));
}

Result<std::unique_ptr<ByteSink>> DirectoryStore::create(const std::string& path) {
    if (fs::exists(fs::symlink_status(path))) return io_error(path, "File exists");
    auto sink = std::make_unique<Sink>(path, *this);
    if (!fs::exists(path)) return io_error(path, "cannot be created");
    if (on_create) {
        if (auto error = on_create(path)) return *error;
    }
    return std::unique_ptr<ByteSink>(std::move(sink));
}

Result<void> DirectoryStore::make_directories(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) return io_error(path, error.message());
    return {};
}

Result<void> DirectoryStore::rename(const std::string& from, const std::string& to) {
    if (on_rename && !on_rename(to)) return io_error(to, "killed");
    if (fs::exists(fs::symlink_status(to))) return io_error(to, "File exists");
    std::error_code error;
    fs::rename(from, to, error);
    if (error) return io_error(from, error.message());
    return {};
}

Result<void> DirectoryStore::remove(const std::string& path) {
    if (on_remove) {
        if (auto error = on_remove(path)) return *error;
    }
    std::error_code error;
    if (!fs::remove(path, error) || error) return io_error(path, "cannot be removed: " + error.message());
    return {};
}

Result<std::uint64_t> DirectoryStore::free_bytes(const std::string& /*path*/) {
    return free;
}

Result<LockAttempt> DirectoryStore::try_lock(const std::string& /*path*/,
                                             LockMode mode,
                                             const std::string& /*note*/) {
    if (!has_locks) return LockAttempt{};
    locked = mode;
    return LockAttempt{LockAttempt::Outcome::held, std::make_unique<GivenLock>(locked)};
}

Result<void> DirectoryStore::evict(const std::string& path) {
    if (const auto error = on_evict ? on_evict(path) : std::nullopt) return *error;
    return {};
}

std::string source_file(const std::string& name) {
    std::ifstream file(std::string(STREAMSIM_SOURCE_DIR) + "/" + name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

media::Catalogue shipped_formats() {
    auto catalogue = media::Catalogue::load(std::string(STREAMSIM_SOURCE_DIR) + "/formats/media");
    if (!catalogue) ADD_FAILURE() << all_problems(catalogue.error());
    return std::move(*catalogue);
}

Result<MediaFormat> read_format(const std::string& text, const std::string& source) {
    const auto document = media::read_format_document(text, source);
    if (!document) return document.error();
    return document->entries.front().own();
}

MediaFormat small_dpx(const std::string& name, int width, int height, int bits, FrameRate rate) {
    Json document = Json::parse(source_file("formats/media/dpx12.json"));
    document["name"] = name;
    document["raster"] = {{"width", width}, {"height", height}};
    document["rate"] = {rate.num, rate.den};
    document["dpx"]["bits"] = bits;
    auto format = read_format(document.dump(), name);
    if (!format) ADD_FAILURE() << all_problems(format.error());
    return *format;
}

MediaFormat small_prores(const std::string& name, int width, int height, std::uint64_t mean_bytes) {
    Json document = Json::parse(source_file("formats/media/prores-hd.json"));
    document["name"] = name;
    document["raster"] = {{"width", width}, {"height", height}};
    document["prores"]["frame_sizes"]["mean_bits_per_s"] = mean_bytes * 8 * 30;
    auto format = read_format(document.dump(), name);
    if (!format) ADD_FAILURE() << all_problems(format.error());
    return *format;
}

void write_mov(DirectoryStore& store,
               const std::string& path,
               const MediaFormat& format,
               std::uint64_t frames) {
    fs::remove(path);
    auto sink = store.create(path);
    const auto maker = media::make_frame_maker(format, 1);
    auto writer = media::ContainerWriter::create(**sink, format, **maker, path);
    ASSERT_TRUE(writer) << all_problems(writer.error());
    for (const std::uint32_t bytes : media::plan_frame_bytes(format, frames, 1, 1)) {
        std::vector<std::byte> frame(bytes);
        media::build_prores_frame(frame, format, bytes);
        ASSERT_TRUE((*writer)->add(frame));
    }
    ASSERT_TRUE((*writer)->finish());
    ASSERT_TRUE((*sink)->close());
}

void write_timecoded_mov(const Place& place,
                         const std::string& name,
                         const std::string& rate,
                         int frames,
                         const std::string& timecode,
                         unsigned each) {
    const Ran made =
        run("ffmpeg -v error -y -f lavfi -i testsrc2=s=64x36:r=" + rate + " -r " + rate + " -frames:v " +
            std::to_string(frames) + " -c:v prores_ks -timecode '" + timecode + "' " + place.at(name));
    ASSERT_EQ(made.code, 0) << made.output;
    std::string bytes = place.read(name);
    const std::size_t entry = bytes.find(std::string("tmcd\0\0\0\0\0\0\0\1", 12));
    ASSERT_NE(entry, std::string::npos);
    const auto at = [&](std::size_t offset) { return static_cast<unsigned char>(bytes[entry + offset]); };
    const unsigned ticks = (at(26) * 256u + at(27)) * each;  // the low half of a frame's duration
    bytes[entry + 26] = static_cast<char>(ticks / 256);
    bytes[entry + 27] = static_cast<char>(ticks % 256);
    bytes[entry + 28] = static_cast<char>(at(28) / each);  // labels a second
    place.write(name, bytes);
}

void write_sequence(const Place& place,
                    const std::string& prefix,
                    const std::string& suffix,
                    const std::vector<std::string>& numbers,
                    const MediaFormat& format) {
    std::string bytes(static_cast<std::size_t>(format.mean_frame_bytes), '\0');
    for (const std::string& number : numbers) {
        const auto header = std::as_writable_bytes(std::span(bytes)).first(format.dpx.image_offset);
        media::write_dpx_header(header, format, prefix + number + suffix, std::stoull(number),
                                std::stoull(numbers.front()));
        place.write(prefix + number + suffix, bytes);
    }
}

std::string path_of(const FrameIndex& index, std::uint64_t frame) {
    std::string path(index.path_capacity(), '\1');
    index.write_path(frame, path.data());
    path.resize(path.find('\0'));
    return path;
}

std::string all_problems(const Error& error) {
    std::string out;
    for (const std::string& problem : error.problems) out += problem + "\n";
    return out;
}

bool have_tool(const std::string& name) {
    return run("command -v " + name).code == 0;
}

Ran run(const std::string& command) {
    Ran ran;
    std::FILE* pipe = ::popen(("{ " + command + "; } 2>&1").c_str(), "r");
    if (pipe == nullptr) return {-1, "popen failed"};
    char part[4096];
    for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, pipe)) > 0;) ran.output.append(part, got);
    const int status = ::pclose(pipe);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
}

}  // namespace streamsim::testing
