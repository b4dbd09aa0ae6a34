// The rows of a CSV file that streamsim wrote.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace streamsim::tests {

/// One row: column by name. Names and values hold no comma here.
using CsvRow = std::map<std::string, std::string>;

inline std::vector<CsvRow> read_csv_rows(const std::string& path) {
    std::ifstream in(path);
    std::string line;
    std::vector<std::string> names;
    std::vector<CsvRow> rows;
    while (std::getline(in, line)) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        std::istringstream fields(line);
        std::vector<std::string> values;
        for (std::string value; std::getline(fields, value, ',');) values.push_back(value);
        if (names.empty()) {
            names = values;
            continue;
        }
        CsvRow row;
        for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = i < values.size() ? values[i] : "";
        rows.push_back(std::move(row));
    }
    return rows;
}

inline double number(const CsvRow& row, const char* column) {
    return std::stod(row.at(column));
}

}  // namespace streamsim::tests
