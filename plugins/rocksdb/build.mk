# plugins/rocksdb/: a filter policy for RocksDB. C++ at the boundary; the classes behind a
# policy are not public, so we build only for versions whose interface we have compared.
ROCKSDB_VERSION := $(call pkg,--modversion,rocksdb)
ROCKSDB_CXX := $(shell command -v $(firstword $(CXX)))
ifneq ($(and $(filter 7.8.%,$(ROCKSDB_VERSION)),$(ROCKSDB_CXX)),)
ROCKSDB_OBJ := $(BUILD)/obj/plugins/rocksdb/sst_filter.o $(BUILD)/obj/plugins/rocksdb/rocksdb_policy.o $(BUILD)/obj/plugins/leveldb/table_filter.o
LIBSEEN_ROCKSDB = $(BUILD)/libseen_rocksdb.a
ALL += $(LIBSEEN_ROCKSDB) $(BUILD)/seen_rocksdb.pc $(BUILD)/examples/rocksdb_absent
INSTALL_LIB += $(LIBSEEN_ROCKSDB)
INSTALL_INC += plugins/rocksdb/seen_rocksdb.h
INSTALL_PC += $(BUILD)/seen_rocksdb.pc
PC_WHAT_seen_rocksdb = A filter policy for RocksDB
PC_REQUIRES_seen_rocksdb = seen
PC_LIBS_seen_rocksdb = -lrocksdb -lstdc++
TESTS += $(BUILD)/tests/rocksdb/rocksdb_loses_no_key.t $(BUILD)/tests/rocksdb/sst_filter_promises.t
BENCHES += $(BUILD)/bench/rocksdb/policies
CONFIG_rocksdb := $(ROCKSDB_OBJ) $(ROCKSDB_VERSION) $(CXX)

# Type information is not needed, and RocksDB's package may have been built without it.
ROCKSDB_CXXFLAGS = -std=c++17 $(CFLAGS) $(filter-out -Wstrict-prototypes -Wmissing-prototypes,$(WARN)) -fPIC -fvisibility=hidden $(SAN_FLAGS)
$(BUILD)/obj/plugins/rocksdb/rocksdb_policy.o: plugins/rocksdb/rocksdb_policy.cc $(wildcard plugins/rocksdb/*.h) $(BUILD)/config/rocksdb
	@mkdir -p $(@D)
	$(CXX) $(ROCKSDB_CXXFLAGS) $(CPPFLAGS) -c $< -o $@

$(LIBSEEN_ROCKSDB): $(ROCKSDB_OBJ) $(BUILD)/config/rocksdb
	@rm -f $@
	$(AR) rcs $@ $(ROCKSDB_OBJ)

ROCKSDB_LINK = $(LDFLAGS) $(LIBSEEN_ROCKSDB) $(LIBSEEN) -lrocksdb $(LIB_LIBS)
$(BUILD)/tests/rocksdb/sst_filter_promises.t: tests/rocksdb/sst_filter_promises.c $(LIBSEEN_ROCKSDB) $(LIBSEEN) tests/tap.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Iplugins/rocksdb -Itests -o $@ $< $(LDFLAGS) $(BUILD)/obj/plugins/rocksdb/sst_filter.o $(BUILD)/obj/plugins/leveldb/table_filter.o $(LIBSEEN) $(LIB_LIBS)
$(BUILD)/tests/rocksdb/%.t: tests/rocksdb/%.cc tests/rocksdb/rocksdb_store.h tests/tap.h $(LIBSEEN_ROCKSDB) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CXX) $(ROCKSDB_CXXFLAGS) $(CPPFLAGS) -Iplugins/rocksdb -Itests -o $@ $< $(ROCKSDB_LINK)
$(BUILD)/bench/rocksdb/%: bench/rocksdb/%.cc tests/rocksdb/rocksdb_store.h $(LIBSEEN_ROCKSDB) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CXX) $(ROCKSDB_CXXFLAGS) $(CPPFLAGS) -Iplugins/rocksdb -Itests -o $@ $< $(ROCKSDB_LINK)
$(BUILD)/examples/rocksdb_absent: examples/rocksdb_absent.cc $(LIBSEEN_ROCKSDB) $(LIBSEEN)
	@mkdir -p $(@D)
	$(CXX) $(ROCKSDB_CXXFLAGS) $(CPPFLAGS) -Iplugins/rocksdb -o $@ $< $(ROCKSDB_LINK)
else ifeq ($(and $(ROCKSDB_VERSION),$(ROCKSDB_CXX)),)
$(call part-skip,rocksdb,$(strip $(if $(ROCKSDB_VERSION),,librocksdb-dev) $(if $(ROCKSDB_CXX),,g++)))
else
$(info make: rocksdb skipped: made for RocksDB 7.8, found $(ROCKSDB_VERSION))
endif
