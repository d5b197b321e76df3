/* growth_table.c - the calculation behind lib/filter/growth.c: what growing costs.
 *
 * For each first layer n0, growth g and tightening r: the bytes of a filter grown from
 * nothing over those of one made to measure, at 1% error and averaged over 1 to 10
 * million keys, and the layers it has at 10 million. */
#include "seen.h"
#include <math.h>
#include <stdio.h>

static double bytes_for(double n, double p)
{
    seen_size s = {.kind = SEEN_BLOCKED, .keys = (uint64_t)n, .error = p};
    return seen_solve(&s) == 0 ? (double)s.bytes : INFINITY;
}

int main(void)
{
    static const double first[] = {100, 65536, 1048576}, growth[] = {1.5, 2, 2.5, 3, 4};
    static const double tighten[] = {0.5, 0.6, 0.7, 0.8, 0.9};
    double made = bytes_for(1e6, 0.01) / 1e6;
    printf("%8s %5s", "n0", "g");
    for (int r = 0; r < 5; r++)
        printf("   r=%-4g", tighten[r]);
    puts("  layers");
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 5; b++) {
            int layers = 0;
            printf("%8g %5g", first[a], growth[b]);
            for (int c = 0; c < 5; c++) {
                double capacity = 0, bytes = 0, sum = 0, share = 1 - tighten[c],
                       n = first[a];
                layers = 0;
                for (double keys = 1e6; keys <= 1e7; keys += 22500) {
                    while (capacity < keys) {
                        bytes += bytes_for(n, 0.01 * share);
                        capacity += floor(n);
                        n *= growth[b];
                        share *= tighten[c];
                        layers++;
                    }
                    sum += bytes / (keys * made) / 401;
                }
                printf(" %7.2f", sum);
            }
            printf(" %7d\n", layers);
        }
    return 0;
}
