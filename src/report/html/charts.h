// Charts of a page: the numbers that its script draws (src/report/page/report.js), and the figures that they
// are drawn into. Inside report/ only.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/json.h"

namespace streamsim::report::html {

/// Numbers are rounded to what a chart can show.
inline double to_seconds(std::int64_t ns) {
    return std::round(static_cast<double>(ns) / 1e5) / 1e4;
}
inline double to_ms(std::int64_t ns) {
    return std::round(static_cast<double>(ns) / 1e3) / 1e3;
}
inline double to_mb(double bytes) {
    return std::round(bytes / 1e4) / 1e2;
}

template <class Row, class Value>
OrderedJson array_of(const std::vector<Row>& rows, Value value) {
    OrderedJson out = OrderedJson::array();
    for (const Row& row : rows) out.push_back(value(row));
    return out;
}

class Charts {
public:
    /// Time charts reach from 0 to here. Default: there are none.
    void end_at(std::int64_t end_ns) { end_ = to_seconds(end_ns); }
    /// An axis that several series name.
    void axis(const char* name, OrderedJson values) { axes_[name] = std::move(values); }
    /// Times of the events, marked on every time chart.
    void event(std::int64_t from_ns, std::int64_t to_ns) {
        events_.push_back({to_seconds(from_ns), to_seconds(to_ns)});
    }
    /// `numbers`: as one of the kinds in report.js takes them. Returns the figure, whose label describes the
    /// picture; `low`: half as high.
    std::string add(const std::string& id,
                    OrderedJson numbers,
                    std::string_view label,
                    const std::string& caption,
                    bool low = false);
    /// JSON that is safe in a script element.
    std::string data() const;
    bool empty() const { return charts_.empty(); }

private:
    OrderedJson axes_ = OrderedJson::object();
    OrderedJson events_ = OrderedJson::array();
    OrderedJson charts_ = OrderedJson::object();
    double end_ = 0;
};

}  // namespace streamsim::report::html
