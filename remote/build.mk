# remote/ - filters that live in a Redis or Valkey server, for the command and the crawler.
# Programs that want it depend on $(REMOTE_A), link $(REMOTE_LIBS) and are compiled with
# $(REMOTE_FLAGS).
ifeq ($(call have,hiredis),yes)
REMOTE_SRC := $(sort $(wildcard remote/*.c))
REMOTE_OBJ := $(REMOTE_SRC:%.c=$(BUILD)/obj/%.o)
REMOTE_A = $(BUILD)/libremote.a
REMOTE_LIBS = $(REMOTE_A) $(LIBSEEN) $(shell pkg-config --libs hiredis) $(LIB_LIBS)
REMOTE_FLAGS = -DSEEN_REMOTE -Iremote
ALL += $(REMOTE_A)
$(REMOTE_OBJ): CPPFLAGS += -Ilib
$(REMOTE_A): $(REMOTE_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/obj/cli/store_remote.o: CPPFLAGS += $(REMOTE_FLAGS)
$(BUILD)/seen: $(REMOTE_A)
$(BUILD)/seen: CLI_LIBS := $(REMOTE_LIBS) $(CLI_LIBS)
else
$(call part-skip,redis client (seen --redis),libhiredis-dev)
endif
