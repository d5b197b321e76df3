# maintain.mk - what a maintainer runs: format, lint, coverage, uninstall, dist.
#
#   make format           the lines changed since HEAD (FORMAT_BASE=main: since main)
#   make wrap             every line of C over 88 columns, by clang-format
#   make lint             columns, shellcheck, cppcheck, clang-tidy; ANALYZE=1: path analysis too
#   make coverage         the tests (PARTS="unit cli": some), then a table a room
#   make uninstall        removes what make install put there, with the same PREFIX, LIBDIR, ...
#   make dist             build/seen-VERSION.tar.gz, the same bytes for the same commit
.PHONY: format wrap lint lint-columns lint-shell lint-cppcheck lint-tidy coverage uninstall dist

FORMAT_BASE ?= HEAD
format:
	git clang-format --extensions c,h $(FORMAT_BASE) || test $$? = 1

# The C of the tree; and the numbers of a file's lines that are too long, as clang-format
# takes them. A line may become two that are still too long: three rounds are enough.
C_FILES = $(shell git ls-files '*.c' '*.h' '*.cc' 2>/dev/null | grep -v '^tests/golden/')
LONG_LINES = perl -CSD -ne 'chomp; print " --lines=$$.:$$." if length > 88'
wrap:
	@for round in 1 2 3; do for f in $(C_FILES); do \
	    lines=$$($(LONG_LINES) "$$f"); [ -z "$$lines" ] || clang-format -i $$lines "$$f"; done; done

# ---- lint -----------------------------------------------------------------------
# Sources that need a package are read only where it is, as they are built.
LINT_SRC = $(LIB_SRC) $(KIT_SRC) $(CLI_SRC) $(REDIS_SRC) $(REMOTE_SRC) \
	$(if $(CRAWL_MISSING),,$(CRAWL_SRC)) $(patsubst $(BUILD)/obj/%.o,%.c,$(GUARD_OBJ) $(LEVELDB_OBJ))
LINT_FLAGS = -Iinclude -DSEEN_UNSTABLE -Ilib -Ikit -I. -Icli -Icrawl -Iplugins/redis -Iremote -Iguard -Iplugins/leveldb $(REMOTE_FLAGS) $(CRAWL_FLAGS) $(GUARD_PQ)
# Every file that says it is a shell script, and what such files read in.
LINT_SHELL = $(shell git ls-files 2>/dev/null | grep -v -e '^tests/golden/' -e '^tests/fuzz/corpus/' | \
	xargs grep -lIE '^(.!/bin/(ba)?sh|. shellcheck shell=)' 2>/dev/null)
lint: lint-columns lint-shell lint-cppcheck lint-tidy
lint-columns:
	@perl -CSD -ne 'chomp; if (length > 88) { print "$$ARGV:$$.: ", length, " columns\n"; $$bad = 1 } \
	    close ARGV if eof; END { exit $$bad || 0 }' $(C_FILES)
lint-shell:
	shellcheck -S warning $(LINT_SHELL)
lint-cppcheck:
	cppcheck --quiet -j2 --enable=warning,portability --std=c11 --inline-suppr --error-exitcode=1 \
	    --suppressions-list=.cppcheck -D__x86_64__ -D__GNUC__ -D__SIZEOF_INT128__=16 $(LINT_FLAGS) $(sort $(LINT_SRC))
# A source is read again when it, or a header that it was built with, has changed.
LINT_TIDY = $(patsubst %.c,$(BUILD)/lint/%.ok,$(sort $(LINT_SRC)))
lint-tidy: $(LINT_TIDY)
$(BUILD)/lint/%.ok: %.c $(BUILD)/obj/%.o .clang-tidy
	@mkdir -p $(@D)
	@clang-tidy --quiet $(if $(ANALYZE),--checks=clang-analyzer-*) $< -- $(STD) $(LINT_FLAGS) >$@.log 2>&1 || { cat $@.log; exit 1; }
	@mv $@.log $@

# ---- coverage -------------------------------------------------------------------
# In a build of its own. Processes that are killed leave no counts. Tests that make every
# allocation or file fail may fail themselves: what counts there needs both.
coverage:
	-$(MAKE) -s test BUILD=$(BUILD)/coverage CFLAGS='-O1 -g --coverage -fprofile-update=atomic' LDFLAGS=--coverage PARTS='$(PARTS)'
	@tests/coverage $(BUILD)/coverage

# ---- install's other way, and the archive -----------------------------------------
# What install would put where is asked of install itself.
uninstall:
	@t=$$(mktemp -d) && $(MAKE) -s install $(if $(NGINX_MODULE),install-nginx) DESTDIR=$$t >/dev/null && \
	(cd $$t && find . ! -type d) | sed 's|^\.|$(DESTDIR)|' | while read -r f; do rm -fv "$$f"; done; \
	rm -rf "$$t"; $(if $(DESTDIR),true,PATH="$$PATH:/usr/sbin:/sbin" ldconfig 2>/dev/null || true)

dist:
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=seen-$(VERSION)/ HEAD | gzip -9n >$(BUILD)/seen-$(VERSION).tar.gz
	@echo $(BUILD)/seen-$(VERSION).tar.gz
