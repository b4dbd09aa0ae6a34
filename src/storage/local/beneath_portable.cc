// By paths and libuv: each component is looked at before the call, so that a link that is there is refused; one
// that is put there in that moment is not seen.
#include <algorithm>
#include <cerrno>

#include "storage/local/beneath.h"
#include "storage/local/native_path.h"
#include "storage/local/uv_errno.h"
#include "storage/local/uv_request.h"

namespace streamsim::storage {
namespace {

constexpr std::uint64_t kKindMask = 0170000;
constexpr std::uint64_t kRegular = 0100000;
constexpr std::uint64_t kDirectory = 0040000;
constexpr std::uint64_t kLink = 0120000;

int errno_or_zero(int code) {
    return code < 0 ? errno_of_uv(code) : 0;
}

int look(const std::string& path, BeneathFacts& facts) {
    using Kind = BeneathFacts::Kind;
    UvRequest request;
    const int code = uv_fs_lstat(nullptr, &request.fs, native_path(path).c_str(), nullptr);
    if (code < 0) return errno_of_uv(code);
    const uv_stat_t& info = request.fs.statbuf;
    const std::uint64_t kind = info.st_mode & kKindMask;
    facts.kind = kind == kRegular     ? Kind::file
                 : kind == kDirectory ? Kind::directory
                 : kind == kLink      ? Kind::link
                                      : Kind::other;
    facts.bytes = info.st_size;
    facts.bytes_allocated = info.st_blocks * 512;
    facts.links = info.st_nlink;
    facts.modified_s = info.st_mtim.tv_sec;
    facts.device = info.st_dev;
    facts.file_id = info.st_ino;
    return 0;
}

/// The whole path; an errno where a component on the way is no directory or leads elsewhere.
int resolve(const std::string& root, const std::string& path, std::string& whole) {
    if (root.empty()) return EBADF;
    if (path.empty()) return ENOENT;
    whole = root;
    for (std::size_t begin = 0; begin != std::string::npos;) {
        const std::size_t slash = path.find_first_of("/\\", begin);
        const std::string name = path.substr(begin, slash == std::string::npos ? slash : slash - begin);
        if (name == ".." || name.find(':') != std::string::npos || path.front() == '/') return EXDEV;
        if (!whole.ends_with('/')) whole += '/';
        whole += name;
        begin = slash == std::string::npos ? slash : path.find_first_not_of("/\\", slash);
        if (begin == std::string::npos) break;
        BeneathFacts facts;
        if (const int error = look(whole, facts)) return error;
        if (facts.kind == BeneathFacts::Kind::link) return ELOOP;
        if (facts.kind != BeneathFacts::Kind::directory) return ENOTDIR;
    }
    return 0;
}

}  // namespace

Beneath::~Beneath() = default;

Beneath::Beneath(Beneath&& other) noexcept
    : descriptor_(-1), root_(std::exchange(other.root_, std::string())), resolve_(other.resolve_) {}

Beneath& Beneath::operator=(Beneath&& other) noexcept {
    root_.swap(other.root_);
    resolve_ = other.resolve_;
    return *this;
}

int Beneath::open(const std::string& directory, Beneath& into, Resolve resolve) {
    UvRequest request;
    const int code = uv_fs_stat(nullptr, &request.fs, native_path(directory).c_str(), nullptr);
    if (code < 0) return errno_of_uv(code);
    if ((request.fs.statbuf.st_mode & kKindMask) != kDirectory) return ENOTDIR;
    Beneath root;
    root.root_ = directory;
    root.resolve_ = resolve;
    into = std::move(root);
    return 0;
}

int Beneath::enter(const std::string& path, Beneath& into) const {
    std::string whole;
    if (const int error = streamsim::resolve(root_, path, whole)) return error;
    BeneathFacts facts;
    if (const int error = look(whole, facts)) return error;
    if (facts.kind == BeneathFacts::Kind::link) return ELOOP;
    return open(whole, into, resolve_);
}

OpenedFile Beneath::open_file(const std::string& path, Access access, bool direct) const {
    std::string whole;
    if (const int error = streamsim::resolve(root_, path, whole)) return {-1, error};
    if (access == Access::create_new) return open_local(whole.c_str(), access, direct);
    BeneathFacts facts;
    const int error = look(whole, facts);
    if (error == ENOENT && access == Access::create)
        return open_local(whole.c_str(), Access::create_new, direct);
    if (error != 0) return {-1, error};
    if (const int wrong = unsuitable(facts, access != Access::read)) return {-1, wrong};
    return open_local(whole.c_str(), access == Access::create ? Access::write : access, direct);
}

int Beneath::look_at(const std::string& path, BeneathFacts& facts) const {
    std::string whole;
    if (const int error = streamsim::resolve(root_, path, whole)) return error;
    return look(whole, facts);
}

int Beneath::list(const std::string& path, std::vector<DirectoryEntry>& entries) const {
    std::string whole;
    if (const int error = streamsim::resolve(root_, path, whole)) return error;
    BeneathFacts facts;
    if (const int error = look(whole, facts)) return error;
    if (facts.kind == BeneathFacts::Kind::link) return ELOOP;
    UvRequest request;
    const int count = uv_fs_scandir(nullptr, &request.fs, native_path(whole).c_str(), 0, nullptr);
    if (count < 0) return errno_of_uv(count);
    entries.clear();
    uv_dirent_t found{};
    while (uv_fs_scandir_next(&request.fs, &found) == 0) {
        DirectoryEntry entry{found.name, found.type == UV_DIRENT_DIR, found.type == UV_DIRENT_LINK};
        if (found.type == UV_DIRENT_UNKNOWN && look(whole + "/" + entry.name, facts) == 0) {
            entry.directory = facts.kind == BeneathFacts::Kind::directory;
            entry.symbolic_link = facts.kind == BeneathFacts::Kind::link;
        }
        entries.push_back(std::move(entry));
    }
    std::sort(entries.begin(), entries.end(),
              [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
    return 0;
}

int Beneath::make_directory(const std::string& path) const {
    std::string whole;
    if (const int error = streamsim::resolve(root_, path, whole)) return error;
    UvRequest request;
    return errno_or_zero(uv_fs_mkdir(nullptr, &request.fs, native_path(whole).c_str(), 0777, nullptr));
}

int Beneath::rename(const std::string& from, const std::string& to) const {
    BeneathFacts facts;
    const int error = look_at(to, facts);
    if (error == 0) return EEXIST;
    return error == ENOENT ? replace(from, to) : error;
}

int Beneath::set_aside(const std::string& from, const std::string& to) const {
    return rename(from, to);
}

int Beneath::replace(const std::string& from, const std::string& to) const {
    std::string old_path, new_path;
    if (const int error = streamsim::resolve(root_, from, old_path)) return error;
    if (const int error = streamsim::resolve(root_, to, new_path)) return error;
    BeneathFacts facts;
    if (look(new_path, facts) == 0) {
        if (const int wrong = unsuitable(facts, true)) return wrong;
    }
    UvRequest request;
    return errno_or_zero(uv_fs_rename(nullptr, &request.fs, native_path(old_path).c_str(),
                                      native_path(new_path).c_str(), nullptr));
}

int Beneath::remove_file(const std::string& path) const {
    std::string whole;
    if (const int error = streamsim::resolve(root_, path, whole)) return error;
    BeneathFacts facts;
    if (const int error = look(whole, facts)) return error;
    if (facts.kind == BeneathFacts::Kind::directory) return EISDIR;
    UvRequest request;
    return errno_or_zero(uv_fs_unlink(nullptr, &request.fs, native_path(whole).c_str(), nullptr));
}

int Beneath::remove_directory(const std::string& path) const {
    std::string whole;
    if (const int error = streamsim::resolve(root_, path, whole)) return error;
    BeneathFacts facts;
    if (const int error = look(whole, facts)) return error;
    if (facts.kind != BeneathFacts::Kind::directory) return ENOTDIR;
    UvRequest request;
    return errno_or_zero(uv_fs_rmdir(nullptr, &request.fs, native_path(whole).c_str(), nullptr));
}

int Beneath::sync_directory(const std::string& path) const {
    BeneathFacts facts;
    return look_at(path, facts);
}

}  // namespace streamsim::storage
