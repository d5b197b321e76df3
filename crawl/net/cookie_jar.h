/* cookie_jar.h - the cookies of --cookies: all threads of a crawl share one jar. */
#ifndef CRAWL_COOKIE_JAR_H
#define CRAWL_COOKIE_JAR_H

typedef struct cookie_jar cookie_jar;

/* Reads FILE, in Netscape's form; a missing file is an empty jar. Dies if FILE
 * cannot be written, so that the user learns of it now and not at the end of the
 * crawl. */
cookie_jar *cookie_jar_open(const char *file);

/* Writes the file. Does nothing if J is NULL. */
void cookie_jar_save(cookie_jar *j);
/* Writes the file and frees the jar. Call it after the last transfer. */
void cookie_jar_close(cookie_jar *j);

/* The jar as libcurl's transfers share it: a CURLSH. */
void *cookie_jar_share(const cookie_jar *j);

#endif
