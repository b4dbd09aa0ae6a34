// How the NFS backend works
// =========================
//
// libuv watches the sockets of all connections, which only wakes the loop. reap() asks the system which
// connections have replies, without waiting, and lets libnfs take the replies from those. So each turn of the
// loop polls all connections with one system call, as with io_uring.
//
// A read or a write is cut into pieces, each one request of at most the size that the server allows; a piece
// goes to the connection with the fewest outstanding calls. libnfs hands over a reply in its own buffer, from
// which the data are copied once, to the operation's buffer. A piece waits in the queue of its node and goes
// out again when its reply is short, when its connection is lost, and when the server asks to try again later.
// A file whose handle or state the server has forgotten is opened again meanwhile. Only an error that the
// server replies and the end of RemotePlace::timeout end an operation with an error.
//
// Writes (version 3) may stay in the server's memory (UNSTABLE) until a sync has them committed. A server that
// restarts in between replies with another verifier: the data that it had in memory are lost, and the sync
// fails with EIO.
//
// Stamps. completed_at is the time at which the last piece had been copied; not_before is the last conclusive
// poll before it (operation_intake.h).
//
// Operations that end early (cancelled, failed, timed out) abandon their pieces: the replies to those are
// ignored. So no memory of an operation is touched after its callback, and no operation waits for a server that
// is gone.
#include "storage/nfs/nfs_storage.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/system/errno_values.h"
#include "storage/backends.h"
#include "storage/errno_text.h"
#include "storage/nfs/nfs_sharing.h"
#include "storage/remote/remote_names.h"

namespace streamsim::storage {
namespace {

constexpr Duration kTick = milliseconds(50);
constexpr Duration kCloseTimeout = seconds(1);      // for closing files on the server
constexpr std::uint32_t kPiecesPerConnection = 32;  // besides one for each transfer in flight

}  // namespace

NfsStorage::NfsStorage(EventLoop& loop, std::unique_ptr<NfsServer> server, const RemoteOptions& options)
    : LimitedIntake(loop, options.parallel_reads, options.parallel_opens),
      server_(std::move(server)),
      timeout_(server_->place().timeout),
      writes_(std::all_of(server_->nodes().begin(),
                          server_->nodes().end(),
                          [](const auto& node) { return node->version() == 3; })),
      transfers_(std::max(options.parallel_reads, 1u)),
      operations_(std::max(options.parallel_opens, 1u)),
      pieces_(transfers_.size() + std::size_t{kPiecesPerConnection} *
                                      std::max(server_->place().connections, 1u) * server_->nodes().size()),
      closes_(0) {
    for (NfsOperation& operation : operations_) operation.storage = this;
    for (NfsPiece& piece : pieces_) piece.storage = this;
    for (const auto& node : server_->nodes()) queues_.emplace_back().node = node.get();
    for (NfsNode* node : server_->node_by_address()) {
        for (NfsNodeQueue& queue : queues_) {
            if (queue.node == node) queue_by_address_.push_back(&queue);
        }
    }
}

NfsStorage::~NfsStorage() {
    STREAMSIM_CHECK(timer_ == nullptr, "shutdown() comes before destruction");
}

void NfsStorage::watch(uv_loop_t* uv) {
    server_->wake(uv);
    timer_ = new uv_timer_t{};
    uv_timer_init(uv, timer_);
    timer_->data = this;
    constexpr std::uint64_t kTickMs = static_cast<std::uint64_t>(kTick.ns) / 1'000'000;
    uv_timer_start(
        timer_, [](uv_timer_t* timer) { static_cast<NfsStorage*>(timer->data)->tick_due_ = true; }, kTickMs,
        kTickMs);
    uv_unref(reinterpret_cast<uv_handle_t*>(timer_));
}

// ---- operations

void NfsStorage::begin(Op& op) {
    if (!start_or_wait(op)) return;
    if (is_transfer(op)) {
        deliver_later();  // transfers that are submitted together go out together, at the end of the turn
    } else {
        go_on();
    }
}

void NfsStorage::start(Op& op) {
    if (is_transfer(op)) {
        start_transfer(op);
    } else {
        start_operation(op);
    }
}

void NfsStorage::start_operation(Op& op) {
    NfsOperation& operation = operations_.take();
    operation.op = &op;
    operation.queue = &queue_of(op.tag.seat);
    operation.syncs = op.operation == OpKind::sync;
    op.backend = &operation;
    if (operation.syncs) {
        start_sync(operation);
    } else {
        start_walk(operation);
    }
}

void NfsStorage::start_sync(NfsOperation& operation) {
    const NfsFile* const file = files_.find(static_cast<SyncOp&>(*operation.op).file);
    operation.asked = false;
    operation.not_before = {};
    if (file != nullptr) {
        operation.queue = file->queue;
    } else {
        end_operation(operation, EBADF);
        deliver_later();
    }
}

void NfsStorage::start_walk(NfsOperation& operation) {
    NfsPathRequest request;
    request.operation = operation.op->operation;
    if (request.operation == OpKind::open) {
        const auto& op = static_cast<OpenOp&>(*operation.op);
        request.path = path_on_server(op.path);
        request.access = op.access;
    } else {
        const auto& op = static_cast<PathOp&>(*operation.op);
        request.kind = op.kind;
        request.path = path_on_server(op.path);
        if (op.kind == PathOp::Kind::rename) request.to = path_on_server(op.to);
    }
    operation.walk.begin(*operation.queue->node, std::move(request), on_walked, &operation);
}

void NfsStorage::on_walked(void* of, NfsPathWalk& walk) {
    auto& operation = *static_cast<NfsOperation*>(of);
    NfsStorage& self = *operation.storage;
    if (operation.op != nullptr) {
        if (operation.op->operation == OpKind::path) {
            auto& op = static_cast<PathOp&>(*operation.op);
            op.bytes = walk.bytes();
            op.entries = walk.entries();
        } else if (walk.error() == 0) {
            auto& op = static_cast<OpenOp&>(*operation.op);
            op.file = self.add_file(*operation.queue, path_on_server(op.path), walk.file());
        }
        self.end_operation(operation, walk.error());
    } else if (walk.error() == 0 && walk.file().handle.size > 0) {
        self.close_on_server(*operation.queue, walk.file());
    }
    self.free_operation(operation);
    self.deliver_later();
}

void NfsStorage::free_operation(NfsOperation& operation) {
    operations_.give_back(operation);
    leave(false);
}

/// The operation ends; its walk goes on without it, as does a sync that was asked for.
void NfsStorage::end_operation(NfsOperation& operation, int error) {
    settle_seen(*std::exchange(operation.op, nullptr), error, now());
    operation.walk.give_up();
    if (operation.syncs && !operation.asked) free_operation(operation);
}

void NfsStorage::ask_sync(NfsOperation& operation) {
    const Instant now = loop().now();
    NfsNode& node = *operation.queue->node;
    const NfsFile* const file = files_.find(static_cast<SyncOp&>(*operation.op).file);
    if (now < operation.not_before || !node.ready() || file == nullptr || file->opening_again) return;
    operation.call = {on_synced, &operation};
    operation.asked = node.requests(now).commit(operation.call, file->file.handle);
}

void NfsStorage::on_synced(void* of, NfsCall&, const NfsReply& reply) {
    auto& operation = *static_cast<NfsOperation*>(of);
    NfsStorage& self = *operation.storage;
    constexpr Duration kPause = milliseconds(50);
    const bool again = reply.outcome == NfsOutcome::lost || reply.outcome == NfsOutcome::later;
    operation.asked = false;
    if (operation.op == nullptr) return self.free_operation(operation);
    if (again) {
        operation.not_before = self.loop().now() + kPause;
        return;
    }
    int error = reply.outcome == NfsOutcome::stale ? ESTALE : reply.error;
    NfsFile& file = self.files_[static_cast<SyncOp&>(*operation.op).file];
    if (reply.outcome == NfsOutcome::done) {
        const bool lost = file.lost || (file.unstable && file.verifier != reply.verifier);
        error = lost ? EIO : 0;
        file.unstable = file.lost = false;
    }
    self.end_operation(operation, error);
    self.deliver_later();
}

FileId NfsStorage::add_file(NfsNodeQueue& queue, std::string path, const NfsOpenFile& file) {
    const FileId id = files_.add();
    NfsFile& added = files_[id];
    added.open = true;
    added.opening_again = added.unstable = added.lost = false;
    added.id = id;
    ++added.generation;
    added.queue = &queue;
    added.path = std::move(path);
    added.file = file;
    added.storage = this;
    return id;
}

void NfsStorage::close(FileId id) {
    NfsFile& file = files_.get(id);
    file.open = false;
    if (file.opening_again) return;  // on_opened_again() closes the file
    close_on_server(*file.queue, file.file);
    files_.give_back(id);
}

void NfsStorage::close_on_server(NfsNodeQueue& queue, const NfsOpenFile& file) {
    if (queue.node->version() != 4 || !queue.node->ready()) return;  // the server drops the file by itself
    NfsCall& call = closes_.take();
    call = {on_closed, this};
    if (queue.node->requests(now()).close(call, file)) {
        deliver_later();  // sends the request
    } else {
        closes_.give_back(call);
    }
}

void NfsStorage::on_closed(void* self, NfsCall& call, const NfsReply&) {
    static_cast<NfsStorage*>(self)->closes_.give_back(call);
}

void NfsStorage::cancel(Op& op) {
    if (op.backend == nullptr) {
        cancel_waiting(op);
        return;
    }
    if (is_transfer(op)) {
        end_transfer(*static_cast<NfsTransfer*>(op.backend), ECANCELED);
    } else {
        end_operation(*static_cast<NfsOperation*>(op.backend), ECANCELED);
    }
    deliver_later();
}

// ---- the turn

void NfsStorage::take_completions() {
    if (server_ != nullptr) server_->wait_and_serve({});
}

/// Time-outs are judged when the replies that have come are taken, and the loop has noted its stalls.
void NfsStorage::before_delivery() {
    if (std::exchange(tick_due_, false)) tick();
    go_on();
}

/// Lets walks and pieces take their next steps, and sends the requests that wait.
void NfsStorage::go_on() {
    if (server_ == nullptr) return;
    const Instant now = loop().now();
    for (NfsOperation& operation : operations_) {
        if (operation.walk.busy()) operation.walk.advance(now);
        if (operation.syncs && operation.op != nullptr && !operation.asked) ask_sync(operation);
    }
    for (NfsFile& file : files_) {
        if (file.opening_again) file.again->advance(now);
    }
    for (NfsNodeQueue& queue : queues_) {
        pump(queue);
        queue.node->flush(now);
    }
}

void NfsStorage::tick() {
    if (server_ == nullptr) return;
    const Instant now = loop().now();
    for (NfsNodeQueue& queue : queues_) queue.node->tick(now);
    const auto expired = [&](const Op& op) {
        return now - op.submitted_at - loop().stalled_within(op.submitted_at, now) >= timeout_;
    };
    for (NfsTransfer& transfer : transfers_) {
        if (transfer.op != nullptr && expired(*transfer.op))
            end_transfer(transfer, error_or_own_shortage(ETIMEDOUT));
    }
    for (NfsOperation& operation : operations_) {
        if (operation.op != nullptr && expired(*operation.op))
            end_operation(operation, error_or_own_shortage(ETIMEDOUT));
    }
    for (OpQueue waiting = take_waiting(expired); !waiting.empty();)
        settle_seen(waiting.pop(), error_or_own_shortage(ETIMEDOUT), now);
}

std::vector<ServerTraffic> NfsStorage::traffic() const {
    std::vector<ServerTraffic> out;
    if (server_ == nullptr) return out;
    for (const auto& node : server_->nodes()) out.push_back(node->traffic());
    return out;
}

// ---- shutdown

bool NfsStorage::close_all() {
    const Instant now = loop().now();
    if (closing_until_ == Instant::never()) {
        closing_until_ = now + kCloseTimeout;
        for (NfsFile& file : files_) {
            if (file.open) close(file.id);
        }
        go_on();
    }
    const bool waits = std::any_of(queues_.begin(), queues_.end(), [](const NfsNodeQueue& queue) {
        return queue.node->version() == 4 && queue.node->ready() && queue.node->outstanding() > 0;
    });
    if (waits && now < closing_until_) return false;
    uv_close(reinterpret_cast<uv_handle_t*>(std::exchange(timer_, nullptr)),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_timer_t*>(handle); });
    server_.reset();  // answers its outstanding calls, for which no operation waits
    return true;
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
    if (auto found = resolve(resolved); !found) return found.error();
    auto server = std::make_unique<NfsServer>(resolved, directory, options);
    auto known =
        resolved.addresses.size() == 1 ? place.sharing->of<NfsSharing>()->take(server->identity()) : nullptr;
    if (known != nullptr) {
        server = std::move(known);
        server->adopt(options);
    } else if (auto connected = server->connect(); !connected) {
        return connected.error();
    }
    auto storage = std::make_unique<NfsStorage>(loop, std::move(server), options);
    storage->watch(uv);
    return std::unique_ptr<Storage>(std::move(storage));
}

}  // namespace streamsim::storage
