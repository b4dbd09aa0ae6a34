// How the NFS backend works
// =========================
//
// One epoll descriptor holds the sockets of all connections; libuv polls that one descriptor, which only wakes
// the loop. reap() asks it which connections have something, without waiting, and lets libnfs take the replies
// from those. So each turn of the loop is a look at all connections with one system call, as with io_uring.
//
// A read is cut into pieces, each one request of at most the size that the server gave; pieces go to the
// connection with the least outstanding. libnfs hands over a reply in its own buffer, from which it is copied,
// once, to where it belongs. A piece that comes short, or that the loss of its connection or the server's wish
// for patience sends back, waits in the line of its node and goes out again; a file whose handle or state the
// server no longer knows is opened again meanwhile. Only the answers of the server, and the end of
// RemotePlace::timeout, end an operation with an error.
//
// Stamps. completed_at is the time at which the last piece had been copied. The last look at which it was
// certainly not complete is the one before (looks.h).
//
// Operations that end early (cancelled, failed, too old) let go of their pieces: the reply to a piece that
// belongs to nobody is thrown away. So nothing of an operation is touched after its callback, and nothing waits
// for a server that is gone.
#include "storage/nfs_storage.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "storage/nfs_work.h"
#include "storage/resolve_host.h"

namespace streamsim {
namespace {

constexpr Duration kTick = milliseconds(50);
constexpr Duration kGoodbye = seconds(1);    // for closing files on the server
constexpr std::uint32_t kPiecesOfEach = 32;  // connection, besides those of the reads that may be in flight

}  // namespace

NfsStorage::NfsStorage(EventLoop& loop, std::unique_ptr<NfsServer> server, const RemoteOptions& options)
    : loop_(loop),
      server_(std::move(server)),
      timeout_(server_->place().timeout),
      reads_(std::max(options.parallel_reads, 1u)),
      opens_(std::max(options.parallel_opens, 1u)),
      looks_(loop) {
    for (NfsRead& work : reads_) work.next = std::exchange(free_reads_, &work);
    for (NfsOpen& work : opens_) {
        work.storage = this;
        work.next = std::exchange(free_opens_, &work);
    }
    for (const auto& node : server_->nodes()) desks_.emplace_back().node = node.get();
    for (NfsNode* node : server_->node_by_address()) {
        for (NfsDesk& desk : desks_) {
            if (desk.node == node) desk_by_address_.push_back(&desk);
        }
    }
    pieces_.resize(reads_.size() +
                   std::size_t{kPiecesOfEach} * std::max(server_->place().connections, 1u) * desks_.size());
    for (NfsPiece& piece : pieces_) {
        piece.storage = this;
        piece.next = std::exchange(free_pieces_, &piece);
    }
}

NfsStorage::~NfsStorage() {
    STREAMSIM_CHECK(poll_ == nullptr && outstanding_ == 0, "shutdown() comes before destruction");
}

void NfsStorage::watch(uv_loop_t* uv) {
    poll_ = new uv_poll_t{};
    STREAMSIM_CHECK(uv_poll_init(uv, poll_, server_->epoll()) == 0, "libuv polls an epoll descriptor");
    poll_->data = this;
    uv_poll_start(poll_, UV_READABLE, [](uv_poll_t*, int, int) {});  // the turn that follows calls reap()
    uv_unref(reinterpret_cast<uv_handle_t*>(poll_));
    timer_ = new uv_timer_t{};
    uv_timer_init(uv, timer_);
    timer_->data = this;
    constexpr std::uint64_t kTickMs = static_cast<std::uint64_t>(kTick.ns) / 1'000'000;
    uv_timer_start(
        timer_, [](uv_timer_t* timer) { static_cast<NfsStorage*>(timer->data)->tick(); }, kTickMs, kTickMs);
    uv_unref(reinterpret_cast<uv_handle_t*>(timer_));
    loop_.add_reaper(this);
}

// ---- operations

void NfsStorage::accept(Op& op) {
    STREAMSIM_CHECK(!shutdown_, "no operation comes after shutdown()");
    op.error = 0;
    op.submitted_at = loop_.now();
    op.backend = nullptr;
    ++outstanding_;
    loop_.hold();
}

void NfsStorage::settle(Op& op, int error) {
    op.error = error;
    op.completed_at = loop_.now();
    op.not_before = std::clamp(looks_.last(), op.submitted_at, op.completed_at);
    op.backend = nullptr;
    done_.push(op);
}

void NfsStorage::open(OpenOp& op) {
    accept(op);
    op.file = kNoFile;
    if (free_opens_ != nullptr) {
        NfsOpen& work = *std::exchange(free_opens_, free_opens_->next);
        start_open(op, work);
        go_on();
    } else {
        waiting_opens_.push(op);
    }
}

void NfsStorage::start_open(OpenOp& op, NfsOpen& work) {
    work.op = &op;
    work.desk = &desk_of(op.tag.seat);
    op.backend = &work;
    work.opening.begin(*work.desk->node, op.path, on_opened, &work);
}

void NfsStorage::on_opened(void* of, NfsOpening& opening) {
    auto& work = *static_cast<NfsOpen*>(of);
    NfsStorage& self = *work.storage;
    if (work.op != nullptr) {
        if (opening.error() == 0) work.op->file = self.keep(*work.desk, work.op->path, opening.file());
        self.end_open(work, opening.error());
    } else if (opening.error() == 0) {
        self.close_on_server(*work.desk, opening.file());
    }
    work.next = std::exchange(self.free_opens_, &work);
    if (!self.waiting_opens_.empty()) {
        NfsOpen& next = *std::exchange(self.free_opens_, self.free_opens_->next);
        self.start_open(static_cast<OpenOp&>(self.waiting_opens_.pop()), next);
    }
    self.deliver_later();
}

/// The operation ends; the opening may go on, for nobody.
void NfsStorage::end_open(NfsOpen& work, int error) {
    settle(*std::exchange(work.op, nullptr), error);
}

FileId NfsStorage::keep(NfsDesk& desk, std::string path, const NfsOpenFile& file) {
    if (free_files_.empty()) {
        free_files_.push_back(static_cast<FileId>(files_.size()));
        files_.emplace_back();
    }
    const FileId id = free_files_.back();
    free_files_.pop_back();
    NfsFile& kept = files_[static_cast<std::size_t>(id)];
    kept.open = true;
    kept.opening_again = false;
    ++kept.generation;
    kept.desk = &desk;
    kept.path = std::move(path);
    kept.file = file;
    kept.storage = this;
    return id;
}

void NfsStorage::close(FileId file) {
    const auto index = static_cast<std::size_t>(file);
    STREAMSIM_CHECK(file >= 0 && index < files_.size() && files_[index].open, "a file that is closed was open");
    NfsFile& closed = files_[index];
    closed.open = false;
    if (closed.opening_again) return;  // that ends it
    close_on_server(*closed.desk, closed.file);
    free_files_.push_back(file);
}

void NfsStorage::close_on_server(NfsDesk& desk, const NfsOpenFile& file) {
    if (desk.node->version() != 4 || !desk.node->ready()) return;  // else the server forgets it by itself
    if (free_closes_ == nullptr) free_closes_ = &closes_.emplace_back();
    NfsCall& call = *std::exchange(free_closes_, free_closes_->next);
    call = {on_closed, this};
    if (NfsRequests::close(desk.node->pick(), call, file, loop_.now())) {
        desk.node->count_request();
        deliver_later();  // which flushes
    } else {
        call.next = std::exchange(free_closes_, &call);
    }
}

void NfsStorage::on_closed(void* self, NfsCall& call, const NfsReply&) {
    call.next = std::exchange(static_cast<NfsStorage*>(self)->free_closes_, &call);
}

void NfsStorage::cancel(Op& op) {
    if (op.backend == nullptr) {
        if (!waiting_reads_.remove(op) && !waiting_opens_.remove(op)) return;  // its callback is on the way
        settle(op, ECANCELED);
    } else {
        const auto* read = std::find_if(reads_.data(), reads_.data() + reads_.size(),
                                        [&](const NfsRead& work) { return &work == op.backend; });
        if (read != reads_.data() + reads_.size()) {
            end_read(*static_cast<NfsRead*>(op.backend), ECANCELED);
        } else {
            end_open(*static_cast<NfsOpen*>(op.backend), ECANCELED);
        }
    }
    deliver_later();
}

// ---- the turn

void NfsStorage::reap() {
    const Instant look = loop_.now();
    server_->wait_and_serve({});
    looks_.looked(look);
    go_on();
    deliver();
    if (shutdown_) advance_shutdown();
}

/// Lets openings and pieces take their next steps, and sends all that waits.
void NfsStorage::go_on() {
    const Instant now = loop_.now();
    for (NfsOpen& work : opens_) {
        if (work.opening.busy()) work.opening.advance(now);
    }
    for (NfsFile& file : files_) {
        if (file.opening_again) file.again->advance(now);
    }
    for (NfsDesk& desk : desks_) {
        pump(desk);
        desk.node->flush(now);
    }
}

void NfsStorage::tick() {
    const Instant now = loop_.now();
    for (NfsDesk& desk : desks_) desk.node->tick(now);
    const auto too_old = [&](const Op* op) { return op != nullptr && now - op->submitted_at >= timeout_; };
    for (NfsRead& work : reads_) {
        if (too_old(work.op)) end_read(work, ETIMEDOUT);
    }
    for (NfsOpen& work : opens_) {
        if (too_old(work.op)) end_open(work, ETIMEDOUT);
    }
    expire(waiting_reads_);
    expire(waiting_opens_);
    go_on();
    deliver_later();
}

void NfsStorage::expire(OpList& waiting) {
    const Instant now = loop_.now();
    OpList all = waiting.take();
    while (!all.empty()) {
        Op& op = all.pop();
        if (now - op.submitted_at >= timeout_) {
            settle(op, ETIMEDOUT);
        } else {
            waiting.push(op);
        }
    }
}

void NfsStorage::deliver_later() {
    if (std::exchange(deliver_set_, true)) return;
    loop_.defer({[](void* self) {
                     auto& storage = *static_cast<NfsStorage*>(self);
                     storage.deliver_set_ = false;
                     storage.go_on();
                     storage.deliver();
                     if (storage.shutdown_) storage.advance_shutdown();
                 },
                 this});
}

void NfsStorage::deliver() {
    OpList ops = done_.take();
    while (!ops.empty()) {
        Op& op = ops.pop();
        --outstanding_;
        loop_.release();
        op.done();  // the operation may be gone or submitted again afterwards
    }
}

std::vector<ServerTraffic> NfsStorage::traffic() const {
    std::vector<ServerTraffic> out;
    if (server_ == nullptr) return out;
    for (const auto& node : server_->nodes()) out.push_back(node->traffic());
    return out;
}

// ---- the end

void NfsStorage::shutdown(Callback done) {
    shutdown_ = done;
    loop_.hold();
    deliver_later();
}

void NfsStorage::advance_shutdown() {
    if (outstanding_ > 0 || deliver_set_ || timer_ == nullptr || poll_ == nullptr ||
        uv_is_closing(reinterpret_cast<uv_handle_t*>(poll_)) != 0)
        return;
    const Instant now = loop_.now();
    if (closing_until_ == Instant::never()) {
        closing_until_ = now + kGoodbye;
        for (std::size_t i = 0; i < files_.size(); ++i) {
            if (files_[i].open) close(static_cast<FileId>(i));
        }
        go_on();
    }
    const bool waits = std::any_of(desks_.begin(), desks_.end(), [](const NfsDesk& desk) {
        return desk.node->version() == 4 && desk.node->ready() && desk.node->outstanding() > 0;
    });
    if (!waits || now >= closing_until_) stop_watching();
}

void NfsStorage::stop_watching() {
    uv_close(reinterpret_cast<uv_handle_t*>(timer_),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_timer_t*>(handle); });
    timer_ = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(poll_), [](uv_handle_t* handle) {
        auto* self = static_cast<NfsStorage*>(handle->data);
        delete reinterpret_cast<uv_poll_t*>(handle);
        self->poll_ = nullptr;
        self->loop_.remove_reaper(self);
        self->server_.reset();  // what it still had is answered now, and finds nobody
        self->loop_.release();
        self->shutdown_();  // may destroy us
    });
}

bool nfs_is_built_in() {
    return true;
}

Result<std::unique_ptr<Storage>> make_nfs_storage(EventLoop& loop,
                                                  uv_loop_s* uv,
                                                  const RemotePlace& place,
                                                  const std::string& directory,
                                                  const RemoteOptions& options) {
    RemotePlace resolved = place;
    if (auto known = resolve(resolved); !known) return known.error();
    auto server = std::make_unique<NfsServer>(std::move(resolved), directory, options);
    if (auto connected = server->connect(); !connected) return connected.error();
    auto storage = std::make_unique<NfsStorage>(loop, std::move(server), options);
    storage->watch(uv);
    return std::unique_ptr<Storage>(std::move(storage));
}

}  // namespace streamsim
