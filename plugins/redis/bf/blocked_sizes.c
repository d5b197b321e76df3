/* blocked_sizes.c - bits a key and probes of the blocked kind, by error. */
#include "bf/blocked_sizes.h"
#include <math.h>

/* Entry i is what seen_solve gives for ten million keys at error 2^(-i/4), the first
 * for 0.99. tests/redis/blocked_sizes_agree.c compares. */
static const struct {
    double bits; /* a key */
    uint32_t k;
} sizes[] = {
    {0.2172, 1},   {0.5441, 1},   {0.8144, 1},   {1.1076, 1},   {1.4427, 1},
    {1.8332, 1},   {2.2211, 2},   {2.5464, 2},   {2.8968, 2},   {3.2756, 2},
    {3.6667, 3},   {4.0074, 3},   {4.3660, 3},   {4.7443, 3},   {5.1345, 4},
    {5.4854, 4},   {5.8505, 4},   {6.2308, 4},   {6.6240, 5},   {6.9834, 5},
    {7.3547, 5},   {7.7387, 5},   {8.1359, 5},   {8.5232, 6},   {8.9030, 6},
    {9.2939, 6},   {9.6964, 6},   {10.1110, 6},  {10.5098, 7},  {10.9108, 7},
    {11.3224, 7},  {11.7450, 7},  {12.1790, 7},  {12.5963, 8},  {13.0200, 8},
    {13.4540, 8},  {13.8898, 9},  {14.3161, 9},  {14.7521, 9},  {15.1979, 9},
    {15.6539, 9},  {16.1188, 10}, {16.5697, 10}, {17.0301, 10}, {17.5006, 10},
    {17.9813, 10}, {18.4726, 10}, {18.9585, 11}, {19.4462, 11}, {19.9439, 11},
    {20.4521, 11}, {20.9709, 11}, {21.4957, 12}, {22.0130, 12}, {22.5407, 12},
    {23.0791, 12}, {23.6284, 12}, {24.1890, 12}, {24.7438, 13}, {25.3043, 13},
    {25.8757, 13}, {26.4585, 13}, {27.0528, 13}, {27.6590, 13}, {28.2614, 14},
    {28.8695, 14}, {29.4893, 14}, {30.1211, 14}, {30.7652, 14},
};

bool blocked_size(uint64_t keys, double error, uint64_t *bits, uint32_t *probes)
{
    enum { LAST = sizeof sizes / sizeof *sizes - 1 };
    double x = -4 * log2(error);
    if (!(x >= 0 && x <= LAST) || keys > (uint64_t)1 << 40)
        return false;
    unsigned i = x < LAST ? (unsigned)x : LAST - 1;
    /* Bits over the logarithm of the error are a convex curve as long as the probes
     * stay the same: the chord lies above it. Where they change it may not. */
    double each = sizes[i].bits + (x - i) * (sizes[i + 1].bits - sizes[i].bits);
    each *= sizes[i].k == sizes[i + 1].k ? 1.002 : 1.0 + 0.05 / sizes[i + 1].k;
    uint64_t lines = (uint64_t)ceil((double)keys * each / 512);
    *bits = (lines ? lines : 1) * 512;
    *probes = sizes[i + 1].k;
    return true;
}
