// NoticeLog: the notices of a run, each passed on once and kept for the result.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "streamsim/storage.h"

namespace streamsim::run {

/// Any thread. Pinned: sink() refers to it.
class NoticeLog {
public:
    explicit NoticeLog(NoticeSink sink) : sink_(std::move(sink)) {}
    NoticeLog(const NoticeLog&) = delete;
    NoticeLog& operator=(const NoticeLog&) = delete;

    void add(const std::string& text) {
        const std::lock_guard lock(mutex_);
        if (std::find(texts_.begin(), texts_.end(), text) != texts_.end()) return;
        texts_.push_back(text);
        sink_(text);
    }
    /// The log outlives the sink.
    NoticeSink sink() {
        return [this](const std::string& text) { add(text); };
    }
    std::vector<std::string> texts() const {
        const std::lock_guard lock(mutex_);
        return texts_;
    }

private:
    const NoticeSink sink_;
    mutable std::mutex mutex_;
    std::vector<std::string> texts_;  // protected by mutex_
};

}  // namespace streamsim::run
