"""A spider for the tests: follows every link, appends each page's path to a file.

    spider.py PORT OUT [NAME=VALUE]...     settings of Scrapy; statistics to OUT.json
"""
import json
import sys

import scrapy
from scrapy.crawler import CrawlerProcess

port, out, *words = sys.argv[1:]
settings = {"LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": False,
            "CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"}
settings.update(w.split("=", 1) for w in words)


class Walker(scrapy.Spider):
    name = "walker"
    start_urls = ["http://127.0.0.1:%s/0" % port]

    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, callback=self.parse)
        with open(out, "a") as pages:
            pages.write(response.url.rsplit("/", 1)[1] + "\n")


process = CrawlerProcess(settings)
crawler = process.create_crawler(Walker)
process.crawl(crawler)
process.start()
with open(out + ".json", "w") as file:
    json.dump({k: v for k, v in crawler.stats.get_stats().items() if isinstance(v, (int, float, str))}, file)
