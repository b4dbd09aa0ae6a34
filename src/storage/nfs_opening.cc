#include "storage/nfs_opening.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace streamsim {
namespace {

constexpr std::uint32_t kLinksMax = 40;  // as Linux
constexpr std::size_t kNameMax = 255;
constexpr std::size_t kDirectoriesMax = 10'000;
constexpr Duration kPatience = milliseconds(100);
constexpr Duration kAfterLoss = milliseconds(20);

/// The names of a path, put before those of `rest`, whose last one comes first.
void put_before(std::vector<std::string>& rest, std::string_view path) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string_view name = path.substr(at, end - at);
        if (!name.empty() && name != ".") names.emplace_back(name);
        at = end + 1;
    }
    rest.insert(rest.end(), names.rbegin(), names.rend());
}

}  // namespace

void NfsOpening::begin(NfsNode& node, const std::string& path, void (*done)(void*, NfsOpening&), void* owner) {
    node_ = &node;
    done_ = done;
    owner_ = owner;
    path_ = path;
    const std::size_t slash = path.find_last_of('/');
    directory_ = slash == std::string::npos ? "" : path.substr(0, slash);
    busy_ = true;
    asked_ = ended_ = went_stale_ = false;
    remembers_ = first_walk_ = true;
    error_ = 0;
    links_ = 0;
    not_before_ = {};
    file_ = {};
    rest_.clear();  // begins when there is a root
    step_ = Step::lookup;
    from_root(path);
}

void NfsOpening::from_root(const std::string& path) {
    rest_.clear();
    parents_.clear();
    at_.size = 0;  // the root, whatever it is by then
    first_walk_ = true;
    if (remembers_) {
        const auto known = node_->directories().find(directory_);
        if (known != node_->directories().end()) {
            at_ = known->second;
            put_before(rest_, std::string_view(path).substr(directory_.size()));
            if (rest_.size() == 1) return next();
            rest_.clear();
            at_.size = 0;
        }
    }
    remembers_ = false;
    put_before(rest_, path);
    step_ = Step::lookup;
}

/// What comes next on the way, now that at_ is a directory.
void NfsOpening::next() {
    if (rest_.empty()) return finish(EISDIR);
    step_ = rest_.size() == 1 && node_->version() == 4 && rest_.back() != ".." ? Step::open : Step::lookup;
}

void NfsOpening::advance(Instant now) {
    if (!busy_ || asked_) return;
    if (ended_) return tell();
    if (now < not_before_ || !node_->ready()) return;
    now_ = now;
    step();
    if (ended_) tell();
}

void NfsOpening::tell() {
    busy_ = ended_ = false;
    done_(owner_, *this);
}

void NfsOpening::step() {
    if (at_.size == 0) {
        at_ = node_->root();
        if (!remembers_) {
            const auto below = node_->below_root(path_);
            if (!below) return finish(ENOENT);
            rest_.clear();
            put_before(rest_, *below);
            next();
            if (ended_) return;
        }
    }
    if (step_ == Step::lookup && rest_.back() == "..") {
        if (parents_.empty()) {
            if (!std::exchange(remembers_, false)) return finish(ENOENT);  // above the export
            links_ = 0;
            return from_root(path_);
        }
        at_ = parents_.back();
        parents_.pop_back();
        rest_.pop_back();
        return next();
    }
    if (!rest_.empty() && rest_.back().size() > kNameMax) return finish(ENAMETOOLONG);
    NfsLink& link = node_->pick();
    const Instant now = now_;
    call_ = {on_reply, this};
    const NfsRequests& requests = node_->requests();
    switch (step_) {
        case Step::lookup:
        case Step::look_at_link: asked_ = requests.lookup(link, call_, at_, rest_.back(), now); break;
        case Step::read_link: asked_ = requests.read_link(link, call_, link_, now); break;
        case Step::access: asked_ = NfsRequests::access(link, call_, file_.handle, now); break;
        case Step::confirm: asked_ = NfsRequests::confirm_open(link, call_, file_, now); break;
        case Step::open:
            file_ = {};
            file_.owner = node_->new_owner();
            client_ = node_->client();
            asked_ = NfsRequests::open(link, call_, client_, at_, rest_.back(), file_, now);
            break;
    }
    if (asked_) return node_->count_request();
    finish(EIO);
}

void NfsOpening::finish(int error) {
    error_ = error;
    ended_ = true;
}

void NfsOpening::on_reply(void* self, NfsCall&, const NfsReply& reply) {
    auto& opening = *static_cast<NfsOpening*>(self);
    opening.asked_ = false;
    opening.take(reply);
    if (opening.ended_) opening.tell();
}

void NfsOpening::take(const NfsReply& reply) {
    const Instant now = node_->now();
    switch (reply.outcome) {
        case NfsOutcome::done: break;
        case NfsOutcome::failed:
            // The directory that is remembered may be another one by now.
            if (reply.error == ENOENT && remembers_ && links_ == 0) return forget();
            return finish(reply.error);
        case NfsOutcome::later: not_before_ = now + kPatience; return;
        case NfsOutcome::stale: return go_stale();
        case NfsOutcome::lost:
            not_before_ = now + kAfterLoss;
            if (step_ == Step::confirm) step_ = Step::open;
            return;
        case NfsOutcome::expired:
            node_->client_expired(client_);
            step_ = Step::open;
            not_before_ = now + kAfterLoss;
            return;
        case NfsOutcome::is_link: step_ = Step::look_at_link; return;
    }
    switch (step_) {
        case Step::lookup:
        case Step::look_at_link: return take_lookup(reply);
        case Step::read_link: return take_link(reply.text);
        case Step::access: return finish(reply.may_read ? 0 : EACCES);
        case Step::open: return take_open(reply);
        case Step::confirm:
            file_.state = reply.state;
            file_.state_sequence = reply.state_sequence;
            ++file_.owner_sequence;
            return finish(0);
    }
}

void NfsOpening::take_lookup(const NfsReply& reply) {
    if (reply.kind == NfsKind::link) {
        if (rest_.size() == 1) first_walk_ = false;
        link_ = reply.handle;
        step_ = Step::read_link;
        return;
    }
    const bool last = rest_.size() == 1;
    if (reply.kind == NfsKind::directory) {
        if (last) return finish(EISDIR);
        parents_.push_back(at_);
        at_ = reply.handle;
        rest_.pop_back();
        if (rest_.size() == 1 && first_walk_ && !remembers_ && rest_.back() != "..") {
            auto& known = node_->directories();
            if (known.size() >= kDirectoriesMax) known.clear();
            known.insert_or_assign(directory_, at_);
            first_walk_ = false;
        }
        return next();
    }
    if (!last) return finish(ENOTDIR);
    if (reply.kind != NfsKind::file) return finish(EINVAL);
    file_.handle = reply.handle;
    step_ = node_->version() == 4 ? Step::open : Step::access;
}

void NfsOpening::take_link(std::string_view text) {
    if (++links_ > kLinksMax) return finish(ELOOP);
    rest_.pop_back();
    if (text.starts_with('/')) {
        const auto below = node_->below_root(text);
        if (!below) return finish(ENOENT);  // of another export
        at_ = node_->root();
        parents_.clear();
        remembers_ = false;
        put_before(rest_, *below);
    } else {
        put_before(rest_, text);
    }
    next();
}

void NfsOpening::take_open(const NfsReply& reply) {
    file_.handle = reply.handle;
    file_.state = reply.state;
    file_.state_sequence = reply.state_sequence;
    file_.owner_sequence = 1;
    if (!reply.confirm) return finish(0);
    step_ = Step::confirm;
}

/// What was known of the directories is wrong: once more from the root.
void NfsOpening::go_stale() {
    const bool root = parents_.empty() && !remembers_;
    if (root) node_->root_stale(node_->now());
    if (std::exchange(went_stale_, true) && !root) return finish(ESTALE);
    node_->directories().clear();
    forget();
}

void NfsOpening::forget() {
    node_->directories().erase(directory_);
    remembers_ = false;
    links_ = 0;
    from_root(path_);
}

}  // namespace streamsim
