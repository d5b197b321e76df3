"""python_pandas.py - drops the rows of a table whose key is in a filter.

The filter is a file: made once, mapped by every process that needs it. Needs pandas.
"""
import sys

import pandas

import seen

rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
table = pandas.DataFrame({"user": range(rows), "page": ["/page/%d" % (i % 1000) for i in range(rows)]})

blocked = seen.Filter(rows // 10, 0.001)
blocked.update(range(0, rows, 10))  # every tenth user
blocked.save("blocked.seen")

with seen.open("blocked.seen") as f:
    kept = table[~f.has_many(table["user"])]
print(len(kept), "of", len(table), "rows are not blocked")
