/* What all pages have in common. */
#include <string.h>

#include "attn/file.h"
#include "html/html.h"

/* ---- the language ---- */

/* The first code point of UTF-8 text that may be broken; *p moves past it. */
static int32_t next(const unsigned char **p)
{
    static const unsigned char length[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
    int n = length[**p >> 4];
    int32_t code = n == 1 ? **p : **p & (0x7f >> n);
    (*p)++;
    for (int i = 1; i < n && (**p & 0xc0) == 0x80; i++) {
        code = code << 6 | (*(*p)++ & 0x3f);
    }
    return code;
}

void attn__scripts_see(attn__scripts_seen *seen, const char *const *labels, int64_t n)
{
    for (int64_t i = 0; labels != NULL && i < n; i++) {
        bool han = false, latin = false;
        for (const unsigned char *p = (const unsigned char *)(labels[i] != NULL ? labels[i] : ""); *p != '\0';) {
            int32_t c = next(&p);
            han = han || (c >= 0x3400 && c <= 0x9fff) || (c >= 0x20000 && c <= 0x323af);
            latin = latin || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        }
        seen->han += han;
        seen->latin += latin && !han;
    }
}

attn_language attn__language(attn_language wanted, attn__scripts_seen seen)
{
    if (wanted != ATTN_LANGUAGE_AUTO) {
        return wanted;
    }
    return seen.han > 0 && seen.han >= seen.latin ? ATTN_LANGUAGE_ZH : ATTN_LANGUAGE_EN;
}

const char *attn__language_tag(attn_language language)
{
    return language == ATTN_LANGUAGE_ZH ? "zh-Hans" : "en";
}

/* ---- the frame ---- */

static void add_lines(attn__html *h, const attn__asset *a)
{
    for (int i = 0; i < a->n; i++) {
        attn__html_add(h, a->lines[i]);
    }
}

typedef const attn__asset *const *asset_list; /* NULL-terminated */

/* Those of every page. */
static const attn__asset *const styles[] = {&attn__page_css, NULL};
static const attn__asset *const scripts[] = {&attn__page_js, &attn__parts_js, NULL};

/* fn for the assets of every page and then for a page's own. */
static void each(attn__html *h, asset_list common, asset_list own, void (*fn)(attn__html *, const attn__asset *))
{
    const asset_list lists[] = {common, own};
    for (int i = 0; i < 2; i++) {
        for (asset_list a = lists[i]; a != NULL && *a != NULL; a++) {
            fn(h, *a);
        }
    }
}

static void add_hash(attn__html *h, const attn__asset *a)
{
    attn__html_add(h, " 'sha256-");
    attn__html_add(h, a->sha256);
    attn__html_add(h, "'");
}

static void add_style(attn__html *h, const attn__asset *a)
{
    attn__html_add(h, "<style>");
    add_lines(h, a);
    attn__html_add(h, "</style>\n");
}

static void add_script(attn__html *h, const attn__asset *a)
{
    attn__html_add(h, "<script>");
    add_lines(h, a);
    attn__html_add(h, "</script>\n");
}

/* Nothing may be loaded, sent or run but what stands in the page itself. Source: W3C, Content Security Policy Level 3. */
static void add_policy(attn__html *h, const attn__page_plan *plan)
{
    attn__html_add(
        h, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; script-src");
    each(h, scripts, plan->scripts, add_hash);
    attn__html_add(h, "; style-src");
    each(h, styles, plan->styles, add_hash);
    attn__html_add(h, "\">\n");
}

void attn__page_begin(attn__html *h, const attn__page_plan *plan)
{
    attn__html_add(h, "<!DOCTYPE html>\n<html lang=\"");
    attn__html_add(h, attn__language_tag(plan->language));
    attn__html_add(h, "\">\n<head>\n<meta charset=\"utf-8\">\n");
    add_policy(h, plan);
    attn__html_add(h,
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
                   "dark\">\n<meta name=\"generator\" content=\"attn ");
    attn__html_add(h, attn_version());
    attn__html_add(h, "\">\n<title>");
    h->key = "title";
    attn__html_text(h, plan->title);
    attn__html_add(h, "</title>\n");
    each(h, styles, plan->styles, add_style);
    attn__html_add(h, "</head>\n<body>\n<main id=\"page\"><noscript><p>");
    attn__html_add(h, plan->language == ATTN_LANGUAGE_ZH ? "此页面需要 JavaScript，它的数据和程序都在这个文件里。"
                                                         : "This page needs JavaScript; its data and its program are in this one file.");
    attn__html_add(h, "</p></noscript></main>\n<script type=\"application/json\" id=\"data\">");
}

attn_status attn__page_end(attn__html *h, const attn__page_plan *plan, attn_page *page)
{
    attn__html_add(h, "</script>\n");
    each(h, scripts, plan->scripts, add_script);
    attn__html_add(h, "</body>\n</html>\n");
    *page = (attn_page){0};
    if (h->status == ATTN_OK) {
        *page = (attn_page){.bytes = h->bytes, .size = h->size, .allocator = h->allocator != NULL ? *h->allocator : attn__malloc};
    } else {
        attn__free(h->allocator, h->bytes);
    }
    h->bytes = NULL;
    return h->status;
}

attn_status attn_page_write(const char *path, const attn_page *page, attn_error *error)
{
    return attn_file_write(path, page->bytes, page->size, &page->allocator, error);
}

void attn_page_free(attn_page *page)
{
    if (page == NULL || page->bytes == NULL) {
        return;
    }
    attn__free(&page->allocator, page->bytes);
    *page = (attn_page){0};
}
