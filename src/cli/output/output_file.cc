#include "cli/output/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/prng.h"
#include "base/system/utf8_path.h"
#include "base/utf8.h"
#include "cli/process/descriptors.h"

namespace streamsim::cli {
namespace {

constexpr std::size_t kPartBytes = std::size_t{64} << 10;
/// Names that are tried beside the one that was asked for.
constexpr int kNamesBesideMax = 99;

// Names of files that are not whole yet, for a process that ends at once. More than these are left behind.
std::array<std::atomic<char*>, 32> temporaries{};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void remember_temporary(const std::string& name) {
    auto* const copy = static_cast<char*>(std::malloc(name.size() + 1));
    if (copy == nullptr) return;
    std::memcpy(copy, name.c_str(), name.size() + 1);
    for (auto& slot : temporaries) {
        char* free_slot = nullptr;
        if (slot.compare_exchange_strong(free_slot, copy)) return;
    }
    std::free(copy);
}

void forget_temporary(const std::string& name) {
    for (auto& slot : temporaries) {
        char* known = slot.load();
        if (known == nullptr || name != known || !slot.compare_exchange_strong(known, nullptr)) continue;
        std::free(known);
        return;
    }
}

Error cannot_write(const std::string& path, int error) {
    return environment_error(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
}

/// "r.json" -> "r.2.json"
std::string beside(const std::string& path, int number) {
    const std::size_t name = path.find_last_of('/') + 1;
    const std::size_t dot = path.find_last_of('.');
    const std::size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
    return fmt::format("{}.{}{}", path.substr(0, at), number, path.substr(at));
}

/// By chance: in a container each run may have the same process number.
std::string temporary_beside(const std::string& path) {
    return fmt::format("{}.{:016x}.partial", path, entropy64());
}

}  // namespace

void remove_temporary_outputs() {
    for (auto& slot : temporaries) {
        if (char* const name = slot.exchange(nullptr)) unlink(name);
    }
}

Result<OutputFile> OutputFile::prepare(const std::string& path, std::string_view begins_with) {
    OutputFile out;
    out.path_ = path;
    if (path == "-") {
        out.file_ = stdout;
        return out;
    }
    std::error_code error;
    const std::filesystem::file_status there = std::filesystem::status(system_path(path), error);
    const bool exists = std::filesystem::exists(there);
    if (error == std::errc::too_many_symbolic_link_levels) return cannot_write(path, ELOOP);
    if (exists && std::filesystem::is_directory(there))
        return bad_input(fmt::format("{}: is a directory, expected a file", path));
    const std::string real = behind_links(path);
    // Opened anew, a file behind a descriptor would be emptied, and written from its beginning.
    if (const auto descriptor = own_descriptor(real)) {
        if (*descriptor == STDOUT_FILENO && standard_output_is_open()) return prepare("-", begins_with);
        out.file_ = open_descriptor(*descriptor);
        if (out.file_ == nullptr) return cannot_write(path, errno);
        return out;
    }
    // A link in /proc leads to files without a name, too.
    const bool has_name =
        real == path || std::filesystem::equivalent(system_path(path), system_path(real), error);
    if (exists && (!std::filesystem::is_regular_file(there) || !has_name)) {
        out.file_ = open_output(path, false);
        if (out.file_ == nullptr) return cannot_write(path, errno);
        return out;
    }
    out.path_ = real;
    out.before_ = identity_of(real);
    if (exists && std::filesystem::file_size(system_path(path), error) > 0) {
        std::string head(begins_with.size(), '\0');
        std::ifstream(system_path(path), std::ios::binary)
            .read(head.data(), static_cast<std::streamsize>(head.size()));
        if (head != begins_with) {
            return bad_input(fmt::format(
                "{}: the file exists and is not an earlier result of this kind; it is not overwritten: "
                "name another file or remove it",
                path));
        }
    }
    out.temporary_ = temporary_beside(real);
    out.file_ = open_output(out.temporary_, true);
    if (out.file_ == nullptr) return cannot_write(path, errno);
    remember_temporary(out.temporary_);
    return out;
}

OutputFile::OutputFile(OutputFile&& other) noexcept {
    *this = std::move(other);
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(temporary_, other.temporary_);
    std::swap(kept_, other.kept_);
    std::swap(refusal_, other.refusal_);
    std::swap(before_, other.before_);
    std::swap(file_, other.file_);
    std::swap(error_, other.error_);
    std::swap(progress_, other.progress_);
    return *this;
}

OutputFile::~OutputFile() {
    if (file_ == nullptr || file_ == stdout) return;
    std::fclose(file_);
    if (temporary_.empty()) return;
    std::error_code error;
    std::filesystem::remove(system_path(temporary_), error);
    forget_temporary(temporary_);
}

void OutputFile::write(std::string_view text) {
    while (!text.empty() && error_ == 0) {
        const std::string_view part = text.substr(0, kPartBytes);
        if (std::fwrite(part.data(), 1, part.size(), file_) != part.size()) error_ = errno;
        text.remove_prefix(part.size());
        if (progress_) progress_();
    }
}

/// Gives the finished file its name, or one beside it; it keeps the one that it has where it can have neither.
Result<void> OutputFile::put_in_place() {
    const FileIdentity now = identity_of(path_);
    const bool as_before = now == before_;
    const int refused = as_before && now.exists ? replace_file(temporary_, path_)
                        : now.exists            ? EEXIST
                                                : name_new(temporary_, path_);
    int error = refused == 0 ? 0 : EEXIST;
    std::string name = path_;
    for (int i = 2; error == EEXIST && i <= kNamesBesideMax; ++i) {
        name = beside(path_, i);
        error = name_new(temporary_, name);
    }
    std::error_code ignored;
    if (!kept_.empty()) std::filesystem::remove(system_path(kept_), ignored);  // this one has what it had
    kept_ = error != 0 && std::filesystem::exists(system_path(temporary_), ignored) ? temporary_ : "";
    if (error != 0 && kept_.empty()) return cannot_write(path_, refused);
    if (error != 0)
        return environment_error(fmt::format("{}: cannot be written: {}: the result is in {}", path_,
                                             std::strerror(refused), kept_));
    if (name != path_ && refused == EEXIST) {
        const char* const why = "another file has appeared there during the run and is kept";
        fmt::print(stderr, "streamsim: {}: {}: the result is in {}\n", printable(path_), why, printable(name));
    } else if (name != path_ && refusal_.empty()) {
        refusal_ = fmt::format("{}: cannot be written: {}", path_, std::strerror(refused));
    }
    path_ = name;  // the next result replaces this one
    before_ = identity_of(path_);
    return {};
}

Result<void> OutputFile::in_its_place() const {
    if (refusal_.empty()) return {};
    return environment_error(fmt::format("{}: the result is in {}", refusal_, path_));
}

Result<void> OutputFile::finish() {
    auto done = close();
    return done ? in_its_place() : done;
}

Result<void> OutputFile::close() {
    if (std::fflush(file_) != 0 && error_ == 0) error_ = errno;
    if (file_ == stdout) {
        file_ = nullptr;
        if (error_ != 0) return cannot_write("standard output", error_);
        return {};
    }
    if (error_ == 0 && !in_place()) error_ = to_disk(file_);
    if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) error_ = errno;
    if (in_place()) return error_ == 0 ? Result<void>() : cannot_write(path_, error_);
    std::error_code error;
    if (error_ != 0) std::filesystem::remove(system_path(temporary_), error);
    forget_temporary(temporary_);
    return error_ == 0 ? put_in_place() : cannot_write(path_, error_);
}

Result<void> OutputFile::write_for_now(const std::function<void(const TextSink& sink)>& write) {
    if (in_place()) return {};
    OutputFile now;
    now.path_ = path_;
    now.before_ = before_;
    now.kept_ = kept_;
    now.refusal_ = refusal_;
    now.temporary_ = temporary_beside(path_);
    now.file_ = open_output(now.temporary_, true);
    if (now.file_ == nullptr) return cannot_write(path_, errno);
    remember_temporary(now.temporary_);
    write([&now](std::string_view piece) { now.write(piece); });
    auto done = now.close();
    path_ = now.path_;
    before_ = now.before_;
    kept_ = now.kept_;
    if (std::exchange(refusal_, now.refusal_).empty() && !refusal_.empty()) {
        // The process may end before the last one.
        fmt::print(stderr, "streamsim: {}: the result is in {}\n", printable(refusal_), printable(path_));
    }
    return done;
}

}  // namespace streamsim::cli
