#include "cli/output_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace streamsim {
namespace {

Error cannot_write(const std::string& path, int error) {
    return environment_error(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
}

}  // namespace

Result<OutputFile> OutputFile::prepare(const std::string& path, std::string_view begins_with) {
    OutputFile out;
    out.path_ = path;
    if (path == "-") {
        out.file_ = stdout;
        return out;
    }
    struct stat info {};
    const bool exists = stat(path.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return bad_input(fmt::format("{}: is a directory, expected a file", path));
    if (exists && !S_ISREG(info.st_mode)) {
        out.file_ = std::fopen(path.c_str(), "we");
        if (out.file_ == nullptr) return cannot_write(path, errno);
        return out;
    }
    if (exists && info.st_size > 0) {
        std::string head(begins_with.size(), '\0');
        std::ifstream(path, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
        if (head != begins_with) {
            return bad_input(
                fmt::format("{}: is there and is not an earlier result of this kind: not overwritten; "
                            "name another file or remove it",
                            path));
        }
    }
    out.temporary_ = fmt::format("{}.{}.partial", path, getpid());
    out.file_ = std::fopen(out.temporary_.c_str(), "wxe");
    if (out.file_ == nullptr) return cannot_write(path, errno);
    return out;
}

OutputFile::OutputFile(OutputFile&& other) noexcept {
    *this = std::move(other);
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(temporary_, other.temporary_);
    std::swap(file_, other.file_);
    std::swap(error_, other.error_);
    return *this;
}

OutputFile::~OutputFile() {
    if (file_ == nullptr || file_ == stdout) return;
    std::fclose(file_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text) {
    if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), file_) != text.size()) error_ = errno;
}

Result<void> OutputFile::finish() {
    if (std::fflush(file_) != 0 && error_ == 0) error_ = errno;
    if (file_ == stdout) {
        file_ = nullptr;
        if (error_ != 0) return cannot_write("standard output", error_);
        return {};
    }
    if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) error_ = errno;
    if (error_ == 0 && !temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0)
        error_ = errno;
    if (error_ == 0) return {};
    if (!temporary_.empty()) unlink(temporary_.c_str());
    return cannot_write(path_, error_);
}

}  // namespace streamsim
