/* corpus_size.c - how many keys to expect.
 *
 * Measured on English text: a word and what follows it has 5.3 bytes, a paragraph some
 * 250, a document some 2,000. Most n-grams occur once, so nearly all are keys. A filter
 * that gets more grows; one that gets fewer errs less. */
#include "corpus_size.h"

static const double bytes_per_ngram = 6.5, bytes_per_paragraph = 300,
                    bytes_per_document = 2500;

uint64_t corpus_keys(const dedup_rules *r, uint64_t text)
{
    double each = r->by == BY_PARAGRAPH ? bytes_per_paragraph
                  : r->by == BY_DOCUMENT && r->exact
                      ? bytes_per_document
                      : bytes_per_ngram * (double)r->sample;
    double keys = (double)text / each;
    if (r->shards > 1)
        keys /= r->shards;
    return (uint64_t)keys;
}
