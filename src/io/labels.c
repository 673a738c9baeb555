/* Labels: one a line, or gathered by a reader of matrices. */
#include <string.h>

#include "core/file.h"
#include "io/io.h"

bool attn__labels_begin(const attn__input *in, int64_t count, size_t bytes, attn__label_room *room)
{
    size_t pointers, zeros = (size_t)count;
    *room = (attn__label_room){0};
    if (!attn__size_mul((size_t)count, sizeof *room->text, &pointers) || bytes > SIZE_MAX - pointers ||
        zeros > SIZE_MAX - pointers - bytes) {
        return false;
    }
    room->text = attn__calloc(in->allocator, pointers + bytes + zeros, 1);
    room->at = (char *)room->text + (room->text != NULL ? pointers : 0);
    return room->text != NULL;
}

void attn__labels_put(attn__label_room *room, const char *text, size_t size)
{
    memcpy(room->at, text, size); /* the zero is there */
    room->text[room->count++] = room->at;
    room->at += size + 1;
}

static attn_status parse(attn__input *in, attn_labels *labels)
{
    attn__label_room room;
    int64_t count = 0;
    attn_status status = attn__text_open(in);
    if (status != ATTN_OK) {
        return status;
    }
    attn__text_lines lines = attn__lines_of(in);
    while (attn__next_line(&lines)) {
        count++;
    }
    if (count == 0) {
        return attn__input_fail(in, ATTN_EFORMAT, "the file is empty, expected labels, one a line");
    }
    if (!attn__labels_begin(in, count, in->size, &room)) {
        return attn__input_no_memory(in);
    }
    lines = attn__lines_of(in);
    while (attn__next_line(&lines)) {
        attn__labels_put(&room, lines.text, lines.size);
    }
    labels->text = room.text;
    labels->count = count;
    return ATTN_OK;
}

attn_status attn_labels_read(const char *path, attn_labels *labels, const attn_allocator *allocator, attn_error *error)
{
    char *bytes;
    size_t size;
    *labels = (attn_labels){.allocator = allocator != NULL ? *allocator : attn__malloc};
    attn_status status = attn__read_file(path, allocator, &bytes, &size, error);
    if (status == ATTN_OK) {
        attn__input in = {bytes, size, strcmp(path, "-") == 0 ? "standard input" : path, &labels->allocator, error};
        status = parse(&in, labels);
        attn__free(allocator, bytes);
    }
    return status;
}

void attn_labels_free(attn_labels *labels)
{
    if (labels != NULL) {
        attn__free(labels->allocator.free != NULL ? &labels->allocator : NULL, (void *)labels->text);
        *labels = (attn_labels){.allocator = labels->allocator};
    }
}
