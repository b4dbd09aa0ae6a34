#include "cli/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/utf8_path.h"
#include "cli/system.h"

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
    std::error_code error;
    const std::filesystem::file_status there = std::filesystem::status(utf8_path(path), error);
    const bool exists = std::filesystem::exists(there);
    if (exists && std::filesystem::is_directory(there))
        return bad_input(fmt::format("{}: is a directory, expected a file", path));
    if (exists && !std::filesystem::is_regular_file(there)) {
        out.file_ = open_output(path, false);
        if (out.file_ == nullptr) return cannot_write(path, errno);
        return out;
    }
    if (exists && std::filesystem::file_size(utf8_path(path), error) > 0) {
        std::string head(begins_with.size(), '\0');
        std::ifstream(utf8_path(path), std::ios::binary)
            .read(head.data(), static_cast<std::streamsize>(head.size()));
        if (head != begins_with) {
            return bad_input(
                fmt::format("{}: is there and is not an earlier result of this kind: not overwritten; "
                            "name another file or remove it",
                            path));
        }
    }
    out.temporary_ = fmt::format("{}.{}.partial", path, getpid());
    out.file_ = open_output(out.temporary_, true);
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
    std::error_code error;
    if (!temporary_.empty()) std::filesystem::remove(utf8_path(temporary_), error);
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
    std::error_code error;
    if (error_ == 0 && !temporary_.empty()) {
        std::filesystem::rename(utf8_path(temporary_), utf8_path(path_), error);
        error_ = error.default_error_condition().value();
    }
    if (error_ == 0) return {};
    if (!temporary_.empty()) std::filesystem::remove(utf8_path(temporary_), error);
    return cannot_write(path_, error_);
}

}  // namespace streamsim
