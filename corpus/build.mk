# corpus/build.mk - packs with what the kit unpacks with; gzip twice as fast with
# libdeflate.
ifeq ($(call linkable,libdeflate.h,-ldeflate),yes)
DEDUP_FLAGS := -DSEEN_LIBDEFLATE
CLI_LIBS += -ldeflate
else
$(call part-skip,packing gzip fast,libdeflate-dev)
endif
CONFIG_dedup := $(DEDUP_FLAGS)
$(BUILD)/obj/corpus/packing.o: CPPFLAGS += $(DEDUP_FLAGS) $(UNPACK_FLAGS)
$(BUILD)/obj/corpus/packing.o: $(BUILD)/config/dedup $(BUILD)/config/compression

# Word boundaries beside libunistring's.
DEDUP_WORDS := $(addprefix $(BUILD)/obj/corpus/,words.o byte_masks.o)
TESTS += $(BUILD)/tests/dedup/word_boundaries.t
ifeq ($(call linkable,uniwbrk.h,-lunistring),yes)
UNISTRING_FLAGS := -DHAVE_UNISTRING
UNISTRING_LIBS := -lunistring
endif
CONFIG_unistring := $(UNISTRING_FLAGS)
$(BUILD)/tests/dedup/%.t: tests/dedup/%.c $(DEDUP_WORDS) $(LIBKIT) $(LIBSEEN) $(BUILD)/config/unistring tests/tap.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(UNISTRING_FLAGS) -I. -Icli -Ikit -Itests $(LDFLAGS) -o $@ $< $(DEDUP_WORDS) $(LIBKIT) $(LIBSEEN) $(CLI_LIBS) $(UNISTRING_LIBS)
FUZZ_OBJ_json_line = $(BUILD)/obj/corpus/json_line.o
FUZZ_OBJ_words = $(DEDUP_WORDS) $(BUILD)/obj/corpus/spelling.o
