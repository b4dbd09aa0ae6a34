// Failures that are not bugs. Bad input lists every problem found, each with its place; the environment
// (storage not there, no permission, no space) gives one. The command line turns the kind into an exit code.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"

namespace streamsim {

enum class ErrorKind {
    bad_input,    // an option, a document or a media file is wrong: exit 2
    environment,  // the program could not do its work here: exit 3
    interrupted,  // the user asked it to stop: exit 130
};

/// An error, as sentences that name the file, the place and the expected content.
struct Error {
    ErrorKind kind = ErrorKind::bad_input;
    std::vector<std::string> problems;
    bool inaccessible = false;  // environment: the file that it names is missing, or this user may not open it
    bool no_room = false;       // environment: the storage is full, or a quota is used up
};

inline Error bad_input(std::string problem) {
    return {ErrorKind::bad_input, {std::move(problem)}};
}
inline Error environment_error(std::string problem) {
    return {ErrorKind::environment, {std::move(problem)}};
}
inline Error interrupted_error() {
    return {ErrorKind::interrupted, {"interrupted"}};
}

/// A value or an Error. The names follow std::expected (C++23). Taking the value of an error is a bug.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : value_(std::in_place, std::move(value)) {}  // NOLINT: implicit
    Result(Error error) : error_(std::move(error)) {}             // NOLINT: implicit

    bool has_value() const { return value_.has_value(); }
    explicit operator bool() const { return has_value(); }

    T& value() & {
        STREAMSIM_CHECK(has_value(), "value() of a Result that holds an error");
        return *value_;
    }
    const T& value() const& {
        STREAMSIM_CHECK(has_value(), "value() of a Result that holds an error");
        return *value_;
    }
    T&& value() && {
        STREAMSIM_CHECK(has_value(), "value() of a Result that holds an error");
        return *std::move(value_);
    }
    const Error& error() const {
        STREAMSIM_CHECK(!has_value(), "error() of a Result that holds a value");
        return error_;
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

private:
    // A std::variant takes several times as long to compile, and there are a hundred of these.
    std::optional<T> value_;
    Error error_;  // without problems, where there is a value
};

/// Success or an Error, where there is no value to give.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

    bool has_value() const { return !error_.has_value(); }
    explicit operator bool() const { return has_value(); }
    const Error& error() const {
        STREAMSIM_CHECK(error_.has_value(), "error() of a Result that holds a value");
        return *error_;
    }

private:
    std::optional<Error> error_;
};

}  // namespace streamsim
