#include "storage/local/local_writes.h"

#include <cerrno>

namespace streamsim::storage {

LocalWrites::LocalWrites(const std::string& directory) : directory_(directory), confined_(!directory.empty()) {
    if (confined_) error_ = Beneath::open(directory_, root_);
}

/// A path that is not below stays whole, and Beneath refuses it (EXDEV).
std::string LocalWrites::below(const char* path) const {
    const std::string_view whole = path;
    const std::string_view part = Beneath::below(directory_, whole);
    if (!part.empty()) return std::string(part);
    const bool is_directory = whole.starts_with(directory_) && Beneath::below(whole, directory_).empty();
    return is_directory && whole.find_first_not_of('/', directory_.size()) == std::string_view::npos
               ? "."
               : std::string(whole);
}

const char* LocalWrites::relative(const char* path) const {
    if (root_.descriptor() < 0 || root_.resolve() != Beneath::Resolve::at_once) return nullptr;
    const std::string_view part = Beneath::below(directory_, path);
    return part.empty() ? nullptr : part.data();
}

OpenedFile LocalWrites::open(const OpenOp& op, Access access, bool direct) const {
    if (!confines(op)) return open_local(op.path, access, direct);
    if (error_ != 0) return {-1, error_};
    return root_.open_file(below(op.path), access, direct);
}

int LocalWrites::change(const PathOp& op) const {
    if (error_ != 0) return error_;
    const std::string path = below(op.path);
    switch (op.kind) {
        case PathOp::Kind::make_directory: return root_.make_directory(path);
        case PathOp::Kind::rename: return root_.replace(path, below(op.to));
        case PathOp::Kind::remove: return root_.remove(path);
        case PathOp::Kind::stat:
        case PathOp::Kind::list: break;
    }
    return EINVAL;
}

void LocalWrites::perform(PathOp& op) const {
    if (!confines(op)) return perform_local(op);
    op.error = change(op);
}

PlannedOpen open_as_planned(
    const LocalWrites& writes, const DirectPolicy& policy, const OpenOp& op, bool direct, bool check) {
    PlannedOpen out;
    out.opened = writes.open(op, op.access, direct);
    if (out.opened.error == EINVAL && direct) {
        out.objection = "the file system does not support it (EINVAL)";
    } else if (out.opened.file >= 0 && check) {
        out.checked = true;
        out.answer = direct_answer(out.opened.file);
        out.objection = policy.objection(out.answer);
        if (out.objection != nullptr) close_local(out.opened.file);
    }
    if (out.objection != nullptr) out.opened = writes.open(op, opened_before(op.access), false);
    return out;
}

}  // namespace streamsim::storage
