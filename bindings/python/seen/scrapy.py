"""A dupefilter for Scrapy in a few bits a request.

    DUPEFILTER_CLASS = "seen.scrapy.DupeFilter"

Settings, all optional:

    SEEN_ERROR    share of new requests that may be dropped as old (1e-6)
    SEEN_EXPECT   requests to expect; without it the filter grows
    SEEN_EXACT    True: 64-bit fingerprints, exact in practice, 9-18 bytes a request
    SEEN_URL      redis://host/name: one filter for many spiders

With JOBDIR the state survives kill -9 without losing a page. Scrapy's own disk queue
does not: it writes its index when it closes. So every request that passes the filter is
first written to a journal, and marked as done once its callback has finished; after a
crash the other requests are scheduled again. A page may be fetched twice, but none is
missed.
"""

import logging
import os
import pickle

from scrapy import signals
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.job import job_dir
from scrapy.utils.request import request_from_dict

import seen

logger = logging.getLogger(__name__)


def _sync_folder(path):
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class Journal:
    """The accepted requests, and which are finished: appended to, sometimes rewritten.

    A record is a pickle of (fingerprint, request) or, once done, (fingerprint, None).
    Only the last record can be torn, by a kill in the middle of a write; its request
    had not been accepted yet.
    """

    REWRITE = 64 << 20  # bytes, and four times what was left last time

    def __init__(self, path):
        self.path = path
        self.file = None

    def read(self):
        """All fingerprints of the file, and the unfinished requests in order."""
        known, waiting = set(), {}
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise OSError("%s is not a regular file" % self.path)  # a FIFO would wait
        try:
            file = open(self.path, "rb")
        except FileNotFoundError:
            return known, waiting
        with file:
            while True:
                try:
                    fingerprint, request = pickle.load(file)
                except EOFError:
                    break
                except Exception:  # torn: pickle may raise anything
                    logger.warning("%s: the last record is torn, as after a kill", self.path)
                    break
                known.add(fingerprint)
                if request is None:
                    waiting.pop(fingerprint, None)
                else:
                    waiting[fingerprint] = request
        return known, waiting

    def start(self, waiting):
        """Replaces the file by the unfinished requests, and continues from there."""
        beside = self.path + ".new"
        file = open(beside, "wb")
        for record in waiting.items():
            pickle.dump(record, file, protocol=4)
        file.flush()
        os.fsync(file.fileno())
        os.replace(beside, self.path)
        _sync_folder(self.path)
        if self.file:
            self.file.close()
        self.file = file
        self.size = file.tell()
        self.limit = max(self.REWRITE, 4 * self.size)

    def write(self, fingerprint, request):
        """Appends a record; when this returns, the kernel has it."""
        record = pickle.dumps((fingerprint, request), protocol=4)
        self.file.write(record)
        self.file.flush()
        self.size += len(record)

    def full(self):
        return self.size > self.limit


class DupeFilter(RFPDupeFilter):
    """Drops the requests that were seen before; see the module for its settings."""

    def __init__(self, crawler):
        super().__init__(debug=crawler.settings.getbool("DUPEFILTER_DEBUG"),
                         fingerprinter=crawler.request_fingerprinter)
        settings = crawler.settings
        self.crawler = crawler
        self.url = settings.get("SEEN_URL")
        self.journal = None
        self.answered = []  # requests whose callbacks may still run
        self.unfinished = {}  # of a run that crashed, until they are scheduled
        folder = job_dir(settings)
        self.path = os.path.join(folder, "requests.filter") if folder else None
        self.filter = self._open(settings)
        if folder:
            self._recover(folder)
            crawler.signals.connect(self._again, signal=signals.spider_opened)
            crawler.signals.connect(self._answer, signal=signals.response_received)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def _open(self, settings):
        error = settings.getfloat("SEEN_ERROR", 1e-6)
        expect = settings.getint("SEEN_EXPECT", 0)
        if self.url:
            return seen.Remote(self.url, keys=expect, error=error)
        if self.path and os.path.exists(self.path):
            return seen.open(self.path, "load")
        if settings.getbool("SEEN_EXACT"):
            return seen.Filter(expect, kind="set", seed="random")
        return seen.Filter(expect, error, seed="random")

    # ---- what passes ------------------------------------------------------------------

    def request_seen(self, request):
        fingerprint = self.fingerprinter.fingerprint(request)
        if not self.url and fingerprint in self.filter:
            return True
        if self.journal:
            self._strike_out()
            self._note(fingerprint, request)
        # A filter in Redis is shared by all spiders, so only its add knows what is new.
        new = self.filter.add(fingerprint)
        if not new and self.journal:
            self.journal.write(fingerprint, None)
        if self.journal and self.journal.full():
            self._checkpoint()
        return not new

    def _note(self, fingerprint, request):
        try:
            self.journal.write(fingerprint, request.to_dict(spider=self.crawler.spider))
        except (ValueError, TypeError, AttributeError, pickle.PicklingError) as why:
            # Scrapy's own queue cannot put these requests on disk either.
            self.crawler.stats.inc_value("dupefilter/not_journalled")
            logger.debug("cannot be kept for a restart: %s (%s)", request, why)

    # ---- what is finished ----------------------------------------------------------------

    def _answer(self, response, request, spider):
        self.answered.append(request)

    def _strike_out(self):
        """Marks answered requests as done whose callbacks and links are finished."""
        slot = getattr(getattr(self.crawler.engine, "scraper", None), "slot", None)
        if not self.answered or slot is None:
            return
        working = [*slot.active, *(entry[1] for entry in slot.queue)]
        busy = {self.fingerprinter.fingerprint(request) for request in working}
        left = []
        for request in self.answered:
            fingerprint = self.fingerprinter.fingerprint(request)
            if fingerprint in busy:
                left.append(request)
            else:
                self.journal.write(fingerprint, None)
        self.answered = left

    def _checkpoint(self):
        """Saves the filter first: the journal may forget only requests in the filter."""
        if not self.url:
            self.filter.save(self.path)
        self.journal.start(self.journal.read()[1])

    # ---- after a crash --------------------------------------------------------------------

    def _recover(self, folder):
        """After a clean exit Scrapy's queue has the waiting requests. After a crash its
        index does not match its files: it is set aside, and the journal has them all."""
        self.journal = Journal(os.path.join(folder, "requests.journal"))
        self.in_order = os.path.join(folder, "requests.in_order")
        known, waiting = self.journal.read()
        crashed = bool(known) and not os.path.exists(self.in_order)
        if crashed:
            self.unfinished = waiting
            if not self.url:
                self.filter.update(known)
                self.filter.save(self.path)
            queue = os.path.join(folder, "requests.queue")
            if os.path.isdir(queue):
                n = 1
                while os.path.exists(f"{queue}.crashed-{n}"):
                    n += 1
                os.rename(queue, f"{queue}.crashed-{n}")
        self.journal.start(waiting)
        if os.path.exists(self.in_order):
            os.unlink(self.in_order)
            _sync_folder(self.in_order)

    def _again(self, spider):
        found, self.unfinished = self.unfinished, {}
        for request in found.values():
            again = request_from_dict(request, spider=spider)
            again.dont_filter = True  # it is already in the filter
            self.crawler.engine.crawl(again)
        if found:
            logger.info("%d requests left unfinished by a crash are scheduled again", len(found))
            self.crawler.stats.inc_value("dupefilter/scheduled_again", len(found))

    # ---- the end ---------------------------------------------------------------------------

    def close(self, reason):
        stats = self.crawler.stats
        stats.set_value("dupefilter/requests", len(self.filter))
        stats.set_value("dupefilter/expected_lost", self.filter.expected_lost)
        stats.set_value("dupefilter/bytes", self.filter.nbytes)
        if self.journal:
            self._strike_out()
            self._checkpoint()
            self.journal.file.close()
            with open(self.in_order, "wb") as marker:
                os.fsync(marker.fileno())
            _sync_folder(self.in_order)
        self.filter.close()
