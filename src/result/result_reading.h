// How a value is taken from a document that was written as a result: what is of the wrong kind becomes a
// problem with its place. Inside report/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document/json.h"
#include "base/time.h"
#include "streamsim/run_result.h"

namespace streamsim::result::reading {

/// A value of the document and its place.
struct Node {
    const Json& json;
    std::string pointer;
    JsonProblems& problems;

    void expected(const std::string& what) const;
};

// read(node, into): takes a value over, or notes a problem and leaves `into` as it is.

void read(const Node& node, std::uint64_t& into);
void read(const Node& node, std::uint32_t& into);
void read(const Node& node, std::int64_t& into);
void read(const Node& node, int& into);
/// null: not a finite number.
void read(const Node& node, double& into);
void read(const Node& node, bool& into);
void read(const Node& node, std::string& into);
void read(const Node& node, FrameRate& into);
void read(const Node& node, Limit& into);
void read(const Node& node, Cause& into);
void read(const Node& node, PlaceTest::Answer& into);
void read(const Node& node, SeatResult::State& into);
void read(const Node& node, FrameKind& into);
void read(const Node& node, DropReason& into);
void read(const Node& node, PartKind& into);
void read(const Node& node, LatencySummary& into);

template <typename T>
void read(const Node& node, std::optional<T>& into) {
    if (node.json.is_null()) return into.reset();
    into.emplace();
    read(node, *into);
}

template <typename T>
void read(const Node& node, std::vector<T>& into) {
    if (!node.json.is_array()) return node.expected("an array");
    into.reserve(node.json.size());
    for (std::size_t i = 0; i < node.json.size() && !node.problems.enough(); ++i) {
        read(Node{node.json[i], node.pointer + "/" + std::to_string(i), node.problems}, into.emplace_back());
    }
}

/// The members of an object.
class Members {
public:
    explicit Members(const Node& node)
        : object_(node.json, node.pointer, node.problems), problems_(node.problems) {}

    template <typename T>
    Members& get(const char* key, T& into) {
        return take(key, into, true);
    }
    /// May be missing: documents from before it was added do not have it.
    template <typename T>
    Members& added(const char* key, T& into) {
        return take(key, into, false);
    }

private:
    template <typename T>
    Members& take(const char* key, T& into, bool required) {
        if (const Json* value = object_.member(key, required))
            read(Node{*value, object_.pointer_of(key), problems_}, into);
        return *this;
    }

    JsonObject object_;
    JsonProblems& problems_;
};

}  // namespace streamsim::result::reading
