#include "sim/sim_storage.h"

#include "base/check.h"

namespace streamsim::sim {

SimStorage::~SimStorage() {
    STREAMSIM_CHECK(outstanding_ == 0, "a storage outlives its operations");
}

void SimStorage::open(OpenOp& op) {
    ++outstanding_;
    core_.open(op, *this);
}

void SimStorage::read(ReadOp& op) {
    ++outstanding_;
    core_.read(op, *this);
}

void SimStorage::write(WriteOp& op) {
    ++outstanding_;
    core_.write(op, *this);
}

void SimStorage::sync(SyncOp& op) {
    ++outstanding_;
    core_.sync(op, *this);
}

void SimStorage::perform(PathOp& op) {
    ++outstanding_;
    core_.perform(op, *this);
}

StorageCapabilities SimStorage::capabilities() const {
    StorageCapabilities capabilities;
    capabilities.io = "sim";
    capabilities.fills_buffers = false;
    capabilities.writes = true;
    return capabilities;
}

void SimStorage::shutdown(Callback done) {
    shutdown_ = done;
    if (outstanding_ == 0) say_done();
}

void SimStorage::delivered() {
    if (--outstanding_ == 0 && shutdown_) say_done();
}

void SimStorage::say_done() {
    core_.calendar().at(core_.calendar().now(), shutdown_);
    shutdown_ = {};
}

}  // namespace streamsim::sim
