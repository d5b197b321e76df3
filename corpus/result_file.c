/* result_file.c - writes one result. */
#include "result_file.h"
#include "inputs.h"
#include "messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void open_it(result_file *f)
{
    if (f->to)
        return;
    if (f->target)
        inputs_make_folders(f->target);
    if (!(f->to = kit_output_open(f->target)))
        kit_die("%s: %s", f->target, strerror(errno));
}

void result_write(result_file *f, const bytes *b)
{
    open_it(f);
    if (b->len && kit_output_write(f->to, b->data, b->len) < 0)
        kit_output_fail(f->to);
    f->wrote |= b->len > 0;
}

void result_commit(result_file *f, packer *pack, bool sync)
{
    open_it(f);
    if (!f->wrote && pack) {
        bytes none = {0};
        size_t room = packer_bound(pack, 0);
        none.len = packer_run(pack, "", 0, bytes_room(&none, room), room);
        result_write(f, &none);
        free(none.data);
    }
    if (kit_output_finish(f->to, sync) < 0 || kit_output_commit(f->to) < 0)
        kit_output_fail(f->to);
    kit_output_close(f->to);
}
