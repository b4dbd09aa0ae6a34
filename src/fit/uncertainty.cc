#include "fit/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace streamsim::fit {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// Keeps a matrix regular where nothing depends on a parameter.
constexpr double kRidge = 1e-6;
constexpr double kDeviationMax = 1;

/// By Gauss and Jordan, without pivots. REQUIRES: symmetric and positive definite, a few rows.
Matrix inverse_of(Matrix matrix) {
    const std::size_t size = matrix.size();
    for (std::size_t i = 0; i < size; ++i) {
        matrix[i].resize(2 * size);
        matrix[i][size + i] = 1;
    }
    for (std::size_t i = 0; i < size; ++i) {
        const double pivot = matrix[i][i];
        for (double& value : matrix[i]) value /= pivot;
        for (std::size_t k = 0; k < size; ++k) {
            if (k == i) continue;
            const double factor = matrix[k][i];
            for (std::size_t m = 0; m < 2 * size; ++m) matrix[k][m] -= factor * matrix[i][m];
        }
    }
    for (auto& row : matrix) row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(size));
    return matrix;
}

Matrix product(const Matrix& left, const Matrix& right) {
    Matrix out(left.size(), std::vector<double>(left.size(), 0));
    for (std::size_t i = 0; i < left.size(); ++i)
        for (std::size_t k = 0; k < left.size(); ++k)
            for (std::size_t m = 0; m < left.size(); ++m) out[i][k] += left[i][m] * right[m][k];
    return out;
}

}  // namespace

Uncertainty uncertainty_of(const std::vector<std::vector<double>>& derivatives,
                           const std::vector<double>& spreads) {
    const std::size_t rows = derivatives.size();
    const std::size_t parameters = rows > 0 ? derivatives.front().size() : 0;
    Matrix normal(parameters, std::vector<double>(parameters, 0));
    Matrix weighted = normal;
    for (std::size_t k = 0; k < parameters; ++k) {
        for (std::size_t m = 0; m < parameters; ++m) {
            for (std::size_t i = 0; i < rows; ++i) {
                const double both = derivatives[i][k] * derivatives[i][m];
                normal[k][m] += both;
                weighted[k][m] += both * spreads[i] * spreads[i];
            }
        }
        normal[k][k] += kRidge;
    }
    const Matrix inverse = inverse_of(normal);
    const Matrix covariance = product(product(inverse, weighted), inverse);
    Uncertainty out;
    for (std::size_t k = 0; k < parameters; ++k) {
        const bool known = normal[k][k] > 2 * kRidge;
        out.deviations.push_back(known ? std::min(std::sqrt(std::max(covariance[k][k], 0.0)), kDeviationMax)
                                       : kDeviationMax);
    }
    out.correlation.assign(parameters, std::vector<double>(parameters, 0));
    for (std::size_t k = 0; k < parameters; ++k) {
        for (std::size_t m = 0; m < parameters; ++m) {
            const double scale = std::sqrt(covariance[k][k] * covariance[m][m]);
            out.correlation[k][m] = k == m      ? 1
                                    : scale > 0 ? std::clamp(covariance[k][m] / scale, -0.99, 0.99)
                                                : 0;
        }
    }
    return out;
}

}  // namespace streamsim::fit
