# plugins/leveldb/: filter policies for LevelDB. Debian's libleveldb-dev has no pkg-config
# file, so we look for the header.
FUZZ_OBJ_table_filter = $(BUILD)/obj/plugins/leveldb/table_filter.o
ifneq ($(call have-header,leveldb/c.h),)
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
BENCHES += $(BUILD)/bench/leveldb/reads_per_absent_key

CONFIG_leveldb := $(LEVELDB_OBJ)
$(LIBSEEN_LEVELDB): $(LEVELDB_OBJ) $(BUILD)/config/leveldb
	@rm -f $@
	$(AR) rcs $@ $(LEVELDB_OBJ)

# Tests and bench count file reads. That needs the static library: only there can
# LevelDB's mapping of tables be turned off, and reads of mapped tables cannot be counted.
# Its dependencies are named as libleveldb-dev installs them, which is without g++.
LEVELDB_STATIC = $(LIBSEEN_LEVELDB) $(LIBSEEN) -l:libleveldb.a -l:libsnappy.so.1 -l:libstdc++.so.6 $(LIB_LIBS)
$(BUILD)/tests/leveldb/%.t: tests/leveldb/%.c tests/leveldb/counted_reads.h tests/tap.h $(LIBSEEN_LEVELDB) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iplugins/leveldb -Itests -o $@ $< $(LDFLAGS) $(LEVELDB_STATIC)
$(BUILD)/bench/leveldb/%: bench/leveldb/%.c tests/leveldb/counted_reads.h $(LIBSEEN_LEVELDB) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iplugins/leveldb -Itests -o $@ $< $(LDFLAGS) $(LEVELDB_STATIC)
$(BUILD)/examples/leveldb_absent: examples/leveldb_absent.c $(LIBSEEN_LEVELDB) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iplugins/leveldb -o $@ $< $(LDFLAGS) $(LIBSEEN_LEVELDB) $(LIBSEEN) -lleveldb $(LIB_LIBS)
else
$(call part-skip,leveldb,libleveldb-dev)
endif
