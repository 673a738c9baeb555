/* Fonts of the machine, by the characters that must be drawn: through fontconfig where the library was built with it, else from a short
 * list of usual places. No font at all is not an error. */
#include "viz/viz.h"

#ifdef ATTN_HAVE_FONTCONFIG

#include <string.h>

#include <fontconfig/fontconfig.h>

#define FIRST_EASTERN 0x2e80 /* from here on: Chinese, Japanese, Korean and rarer scripts */

/* Outlines of one weight and one colour; a high half in the index names an instance of a variable font. */
static bool usable(const FcPattern *p)
{
    FcBool variable = FcFalse, scalable = FcTrue, color = FcFalse;
    int index = 0;
    (void)FcPatternGetBool(p, FC_VARIABLE, 0, &variable);
    (void)FcPatternGetBool(p, FC_SCALABLE, 0, &scalable);
    (void)FcPatternGetBool(p, FC_COLOR, 0, &color);
    (void)FcPatternGetInteger(p, FC_INDEX, 0, &index);
    return !variable && scalable && !color && index >> 16 == 0;
}

/* Fonts for `wanted`, the best first, as fontconfig sees it: characters, then family and language. */
static FcFontSet *sorted(FcConfig *config, const char *language, FcCharSet *wanted)
{
    FcPattern *pattern = FcPatternCreate();
    FcFontSet *set = NULL;
    FcResult result;
    if (pattern != NULL && FcPatternAddCharSet(pattern, FC_CHARSET, wanted) &&
        FcPatternAddString(pattern, FC_FAMILY, (const FcChar8 *)"sans-serif") &&
        FcPatternAddString(pattern, FC_LANG, (const FcChar8 *)language) && FcConfigSubstitute(config, pattern, FcMatchPattern)) {
        FcDefaultSubstitute(pattern);
        set = FcFontSort(config, pattern, FcFalse, NULL, &result); /* also fonts that only have other shapes */
    }
    if (pattern != NULL) {
        FcPatternDestroy(pattern);
    }
    return set;
}

/* Characters in use below `end` that no font of the chain has. NULL: out of memory. */
static FcCharSet *lacking(const attn__fonts *f, int32_t end)
{
    FcCharSet *set = FcCharSetCreate();
    for (int32_t c = attn__fonts_next(f, 0); set != NULL && c < end; c = attn__fonts_next(f, c + 1)) {
        attn__glyph g = attn__fonts_glyph(f, c);
        if (g.font < 0 && g.font != ATTN__FONT_BLANK && !FcCharSetAddChar(set, (FcChar32)c)) {
            FcCharSetDestroy(set);
            set = NULL;
        }
    }
    return set;
}

/* ---- shapes: the same character is written otherwise in China and in Japan ---- */

static const char *family_of(const FcPattern *p)
{
    FcChar8 *family;
    return FcPatternGetString(p, FC_FAMILY, 0, &family) == FcResultMatch ? (const char *)family : "";
}

/* Length of a family's name before " SC" and the like, 0 if there is no such end. */
static size_t before_region(const char *family)
{
    static const char *const regions[] = {" JP", " KR", " SC", " TC", " HK", " CN"};
    size_t n = strlen(family);
    for (size_t i = 0; i < sizeof regions / sizeof regions[0] && n > 3; i++) {
        if (strcmp(family + n - 3, regions[i]) == 0) {
            return n - 3;
        }
    }
    return 0;
}

/* Families that cover all of East Asia have a font for the shapes of each region, and any of them may come first: in the place of `p` the
 * one for `region`, which is " SC" or the like, if there is one. */
static const FcPattern *of_region(const FcFontSet *set, const FcPattern *p, const char *region)
{
    const char *family = family_of(p);
    size_t n = before_region(family);
    for (int i = 0; n > 0 && i < set->nfont; i++) {
        const char *other = family_of(set->fonts[i]);
        if (usable(set->fonts[i]) && strncmp(other, family, n) == 0 && strcmp(other + n, region) == 0) {
            return set->fonts[i];
        }
    }
    return p;
}

/* Adds a candidate if it has one of the characters. A font that cannot be read or is broken is passed over. */
static attn_status consider(attn__fonts *f, const FcPattern *candidate, const FcCharSet *wanted)
{
    FcCharSet *has;
    FcChar8 *path;
    int face = 0;
    if (!usable(candidate) || FcPatternGetCharSet(candidate, FC_CHARSET, 0, &has) != FcResultMatch ||
        FcPatternGetString(candidate, FC_FILE, 0, &path) != FcResultMatch || FcCharSetIntersectCount(wanted, has) == 0) {
        return ATTN_OK;
    }
    (void)FcPatternGetInteger(candidate, FC_INDEX, 0, &face);
    attn_status status = attn__fonts_add(f, (const char *)path, face, NULL);
    return status == ATTN_ENOMEM ? status : ATTN_OK;
}

static attn_status add_for(attn__fonts *f, FcConfig *config, const char *language, const char *region, int32_t end)
{
    attn_status status = ATTN_OK;
    FcCharSet *wanted = lacking(f, end);
    FcFontSet *set = wanted != NULL && FcCharSetCount(wanted) > 0 ? sorted(config, language, wanted) : NULL;
    for (int i = 0; set != NULL && i < set->nfont && wanted != NULL && FcCharSetCount(wanted) > 0 && status == ATTN_OK; i++) {
        int before = f->n;
        status = consider(f, of_region(set, set->fonts[i], region), wanted);
        if (f->n > before) {
            FcCharSetDestroy(wanted);
            wanted = lacking(f, end);
        }
    }
    status = wanted == NULL ? ATTN_ENOMEM : status;
    if (set != NULL) {
        FcFontSetDestroy(set);
    }
    if (wanted != NULL) {
        FcCharSetDestroy(wanted);
    }
    return status;
}

attn_status attn__fonts_find(attn__fonts *f)
{
    FcConfig *config = FcInitLoadConfigAndFonts(); /* our own, so that the host program's stays as it is */
    if (config == NULL) {
        return ATTN_OK;
    }
    const char *language = attn__fonts_language(f), *region = " SC";
    if (language == NULL || strcmp(language, "zh-Hans") == 0) {
        language = "zh-cn"; /* fontconfig's name of it is older */
    } else {
        region = strcmp(language, "ja") == 0 ? " JP" : " KR";
    }
    attn_status status = add_for(f, config, "en", region, FIRST_EASTERN);
    status = status == ATTN_OK ? add_for(f, config, language, region, ATTN__CODE_POINTS) : status;
    FcConfigDestroy(config);
    return status;
}

#else

attn_status attn__fonts_find(attn__fonts *f)
{
    static const struct {
        const char *path;
        int face;
    } usual[] = {
        {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", 0},
        {"/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf", 0},
        {"/usr/share/fonts/truetype/wqy/wqy-microhei.ttc", 0},
        {"/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc", 2}, /* face 2 has the simplified Chinese shapes */
        {"/System/Library/Fonts/Supplemental/Arial.ttf", 0},
        {"/System/Library/Fonts/STHeiti Light.ttc", 0},
    };
    attn_status status = ATTN_OK;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0] && status != ATTN_ENOMEM; i++) {
        status = attn__fonts_add(f, usual[i].path, usual[i].face, NULL);
    }
    return status == ATTN_ENOMEM ? status : ATTN_OK;
}

#endif
