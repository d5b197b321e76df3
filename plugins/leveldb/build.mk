# plugins/leveldb/: filter policies for LevelDB. Debian's libleveldb-dev has no pkg-config
# file, so the header is looked for.
FUZZ_OBJ_table_filter = $(BUILD)/obj/plugins/leveldb/table_filter.o
ifneq ($(shell printf '\#include <leveldb/c.h>\n' | $(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 && echo yes),)
LEVELDB_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard plugins/leveldb/*.c)))
LIBSEEN_LEVELDB = $(BUILD)/libseen_leveldb.a
ALL += $(LIBSEEN_LEVELDB) $(BUILD)/examples/leveldb_absent
INSTALL_LIB += $(LIBSEEN_LEVELDB)
INSTALL_INC += plugins/leveldb/seen_leveldb.h
ALL += $(BUILD)/seen_leveldb.pc
INSTALL_PC += $(BUILD)/seen_leveldb.pc
PC_WHAT_seen_leveldb = A filter policy for LevelDB
PC_REQUIRES_seen_leveldb = seen
PC_LIBS_seen_leveldb = -lleveldb
LEVELDB_TESTS := $(patsubst %.c,$(BUILD)/%.t,$(wildcard tests/leveldb/*.c))
TESTS += $(LEVELDB_TESTS)
BENCHES += $(BUILD)/bench/leveldb/reads

$(LIBSEEN_LEVELDB): $(LEVELDB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

# Tests and bench count file reads. That needs the static library: only there can
# LevelDB's mapping of tables be turned off, and mapped tables are read unseen.
LEVELDB_STATIC = $(LIBSEEN_LEVELDB) $(LIBSEEN) -l:libleveldb.a -l:libsnappy.so.1 -lstdc++ $(LIB_LIBS)
$(BUILD)/tests/leveldb/%.t: tests/leveldb/%.c tests/leveldb/reads.h tests/tap.h $(LIBSEEN_LEVELDB) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iplugins/leveldb -Itests -o $@ $< $(LDFLAGS) $(LEVELDB_STATIC)
$(BUILD)/bench/leveldb/%: bench/leveldb/%.c tests/leveldb/reads.h $(LIBSEEN_LEVELDB) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iplugins/leveldb -Itests -o $@ $< $(LDFLAGS) $(LEVELDB_STATIC)
$(BUILD)/examples/leveldb_absent: examples/leveldb_absent.c $(LIBSEEN_LEVELDB) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iplugins/leveldb -o $@ $< $(LDFLAGS) $(LIBSEEN_LEVELDB) $(LIBSEEN) -lleveldb $(LIB_LIBS)
else
$(call part-skip,leveldb,libleveldb-dev)
endif
