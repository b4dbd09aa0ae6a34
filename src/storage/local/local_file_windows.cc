// Handles are opened for overlapped I/O, and each read and write waits for its own event: otherwise Windows
// performs the reads and writes of one file one after the other. Direct I/O is FILE_FLAG_NO_BUFFERING.
#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cstdlib>

#include "base/system/utf8_path.h"
#include "storage/local/handles_windows.h"
#include "storage/local/local_file.h"
#include "storage/local/local_options.h"

namespace streamsim::storage {
namespace {

/// The event of one thread of the pool.
class Event {
public:
    Event() : handle_(CreateEventW(nullptr, TRUE, FALSE, nullptr)) {}
    ~Event() { CloseHandle(handle_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    HANDLE handle() const { return handle_; }

private:
    HANDLE handle_;
};

DWORD disposition(Access access) {
    if (access == Access::create) return OPEN_ALWAYS;
    return access == Access::create_new ? CREATE_NEW : OPEN_EXISTING;
}

OVERLAPPED at(std::uint64_t offset) {
    constexpr std::uintptr_t kNotAtAPort = 1;  // a completion port of the file gets no report of it
    thread_local const Event event;
    OVERLAPPED place = place_at(offset);
    place.hEvent = reinterpret_cast<HANDLE>(reinterpret_cast<std::uintptr_t>(event.handle()) | kNotAtAPort);
    return place;
}

/// Waits for the read or write that was begun at `place`. A read behind the end of the file returns no bytes
/// and no error.
LocalPiece finish(HANDLE handle, OVERLAPPED& place, BOOL begun) {
    DWORD moved = 0;
    if ((begun || GetLastError() == ERROR_IO_PENDING) && GetOverlappedResult(handle, &place, &moved, TRUE))
        return {moved, 0};
    const DWORD error = GetLastError();
    return {0, error == ERROR_HANDLE_EOF ? 0 : errno_of_system(error)};
}

}  // namespace

OpenedFile open_local(const char* path, Access access, bool direct) {
    constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    const DWORD flags = FILE_FLAG_OVERLAPPED | (direct ? DWORD{FILE_FLAG_NO_BUFFERING} : DWORD{0});
    const bool writes = access != Access::read;
    const HANDLE handle =
        CreateFileW(system_path(path).c_str(), GENERIC_READ | (writes ? DWORD{GENERIC_WRITE} : DWORD{0}),
                    kShareAll, nullptr, disposition(access), flags, nullptr);
    if (handle == INVALID_HANDLE_VALUE) return {-1, errno_of_system(GetLastError())};
    // A small number for the handle; closing that number closes the handle.
    const int file =
        _open_osfhandle(reinterpret_cast<std::intptr_t>(handle), (writes ? _O_RDWR : _O_RDONLY) | _O_BINARY);
    if (file >= 0) return {file, 0};
    CloseHandle(handle);
    return {-1, EMFILE};
}

DirectAnswer direct_answer(int file) {
    // NTFS reads compressed and encrypted files through the page cache, and inside the call.
    constexpr DWORD kThroughCache = FILE_ATTRIBUTE_COMPRESSED | FILE_ATTRIBUTE_ENCRYPTED;
    FILE_BASIC_INFO facts{};
    if (GetFileInformationByHandleEx(handle_of(file), FileBasicInfo, &facts, sizeof facts) &&
        (facts.FileAttributes & kThroughCache) != 0)
        return {true, 0};
    FILE_STORAGE_INFO info{};
    if (!GetFileInformationByHandleEx(handle_of(file), FileStorageInfo, &info, sizeof info)) return {};
    return {true, info.FileSystemEffectivePhysicalBytesPerSectorForAtomicity};
}

LocalPiece read_local(int file, std::uint64_t offset, std::span<std::byte> into) {
    OVERLAPPED place = at(offset);
    const HANDLE handle = handle_of(file);
    return finish(handle, place,
                  ReadFile(handle, into.data(), static_cast<DWORD>(std::min(into.size(), kCallBytesMax)),
                           nullptr, &place));
}

LocalPiece write_local(int file, std::uint64_t offset, std::span<const std::byte> from) {
    OVERLAPPED place = at(offset);
    const HANDLE handle = handle_of(file);
    return finish(handle, place,
                  WriteFile(handle, from.data(), static_cast<DWORD>(std::min(from.size(), kCallBytesMax)),
                            nullptr, &place));
}

int sync_local(int file) {
    return FlushFileBuffers(handle_of(file)) ? 0 : errno_of_system(GetLastError());
}

void read_ahead_local(int /*file*/, std::uint64_t /*offset*/, std::uint64_t /*bytes*/) {}

void close_local(int file) {
    _close(file);
}

void set_environment(const char* name, const std::string& value) {
    if (std::getenv(name) == nullptr) _putenv_s(name, value.c_str());
}

std::uint32_t direct_alignment(const std::string& file) {
    const OpenedFile opened = open_local(file.c_str(), Access::read, false);
    if (opened.file < 0) return kUsualAlignment;
    const DirectAnswer answer = direct_answer(opened.file);
    close_local(opened.file);
    return answer.told && answer.alignment > 0 ? answer.alignment : kUsualAlignment;
}

void raise_open_file_limit() {
    constexpr int kFilesMax = 8192;  // the C library's limit
    _setmaxstdio(kFilesMax);
}

}  // namespace streamsim::storage
