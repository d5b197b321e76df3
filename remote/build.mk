# remote/ - filters that live in a Redis or Valkey server, for the command and the crawler.
# Programs that use it depend on $(REMOTE_A), link $(REMOTE_LIBS) and are compiled with
# $(REMOTE_FLAGS).
ifneq ($(HIREDIS),)
REMOTE_SRC := $(sort $(wildcard remote/*.c))
REMOTE_OBJ := $(REMOTE_SRC:%.c=$(BUILD)/obj/%.o)
REMOTE_A = $(BUILD)/libremote.a
REMOTE_LIBS = $(REMOTE_A) $(LIBSEEN) $(HIREDIS_LIBS) $(LIB_LIBS)
REMOTE_FLAGS = -DSEEN_REMOTE -Iremote
ALL += $(REMOTE_A)
$(REMOTE_OBJ): CPPFLAGS += -Ilib $(HIREDIS_FLAGS)
$(REMOTE_OBJ) $(REMOTE_A): $(BUILD)/config/remote
$(REMOTE_A): $(REMOTE_OBJ)
	@rm -f $@
	$(AR) rcs $@ $(REMOTE_OBJ)

$(BUILD)/obj/cli/filters/remote_filter.o: CPPFLAGS += $(REMOTE_FLAGS)
$(BUILD)/seen: $(REMOTE_A)
$(BUILD)/seen: CLI_LIBS := $(REMOTE_LIBS) $(CLI_LIBS)
else
$(call part-skip,redis client (seen --redis),libhiredis-dev)
endif
CONFIG_remote := $(REMOTE_FLAGS) $(HIREDIS_FLAGS) $(HIREDIS_LIBS) $(REMOTE_OBJ)
$(BUILD)/obj/cli/filters/remote_filter.o: $(BUILD)/config/remote
