/* cookie_jar.h - the cookies of --cookies: one jar for all transfers of a crawl,
 * whichever thread makes them. */
#ifndef CRAWL_COOKIE_JAR_H
#define CRAWL_COOKIE_JAR_H

typedef struct cookie_jar cookie_jar;

/* Reads FILE, in Netscape's form; a file that is not there is an empty jar. Dies if it
 * cannot be written: that shows now, not at the end of the crawl. */
cookie_jar *cookie_jar_open(const char *file);

/* Writes the file. NULL is no jar, and nothing is done. */
void cookie_jar_save(cookie_jar *j);
/* Writes and closes it; after the last transfer that uses it. */
void cookie_jar_close(cookie_jar *j);

/* What libcurl's transfers take it by: a CURLSH. */
void *cookie_jar_share(const cookie_jar *j);

#endif
