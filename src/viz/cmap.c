/* Colour maps: light to dark, darker is more; or dark, light, dark, where lighter is nearer to 0. */
#include <math.h>
#include <string.h>

#include "viz/viz.h"

/* A map is a row of colours, evenly spaced from 0 to 1, mixed linearly between neighbours. To add a map, add it here.
 *
 * blues and greys are our own ramps in OKLCH (Ottosson 2020), t = 0..1: lightness falls evenly, .985 to .28 and .98 to .25; blues has hue
 * 240 to 262 degrees and chroma .004 + .12 sin(pi t) + .075 t^2 as far as sRGB reaches; greys has a trace of blue (chroma .004, hue 255),
 * so that it never equals the grey of a hidden cell. viridis and magma: every fifth colour of the tables by Smith and van der Walt (CC0);
 * cividis: of the table by Nunez, Anderton and Renslow 2018, PLOS ONE 13(7) e0199239 (free of copyright). All three reversed.
 * blue_red is our own too: from the middle, t = 0..1 to either side, lightness .985 - .685 t, chroma .003 + .13 sin(pi t)^.9 + .08 t^2 as
 * far as sRGB reaches, hue 240 to 262 below and 45 to 22 degrees above. */
static const struct {
    const char *name;
    const char *colors; /* RRGGBB RRGGBB ... without spaces */
    bool diverges;
} maps[] = {
    {"blues", "f8fafddeeffdc4e3fdabd7fc93cafa7cbdf768b0f255a2eb4594e23786d72c79ca256cbb205fab1d539a1a4787183c7415316212274f", false},
    {"viridis_r",
     "fde725f1e51de5e419d8e219cae11fbddf26b0dd2fa2da3795d84089d5487cd25070cf5765cb5e5ac86450c46a46c06f3dbc7435b779"
     "2eb37c28ae8024aa8321a5851fa1881e9c891f978b20928c218e8d23898e25848e27808e297b8e2a768e2c718e2e6d8e31688e33638d"
     "355e8d38598c3a538b3d4e8a3f4889414287433d8445378146307e472a7a482475481d6f48176947106346085c440154",
     false},
    {"cividis_r",
     "fee838fce236f6dd3ff0d846ead34ce5cf52dfca57dac65bd4c15fcfbd62c9b965c4b468bfb06bbaac6db5a86fafa471aaa073a59c74"
     "a098759b9476969077928c788d88788885788381797e7d787a7a787676767272746d6f72696b7165687060646f5c616e575d6d535a6d"
     "4e566c49536c444f6c3f4c6c3a486c34456c2e416d273e6e203a6f163770083370003070002d68002a5f00265600224e",
     false},
    {"magma_r",
     "fcfdbffcf4b6fdebacfde2a3fed89afecf92fec68afebd82feb47bfeaa74fea16efd9869fc8e64fb8560f97b5df7725cf4695cf1605d"
     "ec5860e75263e04c67d9466bd2426fca3e72c23b75ba3878b2357baa337da1307e992d80912b81892881812581792282721f816a1c81"
     "6219805a167e52137c4a1079420f75390f6e31116529115a21114e1a1042140e360e0b2b09072005041602020b000004",
     false},
    {"greys", "f7f9fbe8eaeddadcdfccced1bfc0c3b1b3b5a4a5a896989a898b8d7d7e8170727464656858595c4c4e504142443537392b2c2e202224", false},
    {"blue_red",
     "152c5716366d174182184d961959a91c66bb2274cb2b82da3890e6489ff05badf871bbfd8bc9ffa5d6ffc0e3ffdbeffffafaf9"
     "ffe6dcffd3c2ffbfa8fcab90f7987bef8669e57559da644bcc5540bd4737ad3b2f9c312a892825772121641c1d50181a",
     true},
};

int attn_cmap_count(void)
{
    return (int)(sizeof maps / sizeof maps[0]);
}

const char *attn_cmap_name(int cmap)
{
    return cmap >= 0 && cmap < attn_cmap_count() ? maps[cmap].name : NULL;
}

int attn_cmap_find(const char *name)
{
    for (int i = 0; i < attn_cmap_count(); i++) {
        if (strcmp(name, maps[i].name) == 0) {
            return i;
        }
    }
    return -1;
}

bool attn_cmap_diverges(int cmap)
{
    return attn_cmap_name(cmap) != NULL && maps[cmap].diverges;
}

static int nibble(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static int channel(const char *colors, int color, int c)
{
    const char *p = colors + 6 * color + 2 * c;
    return 16 * nibble(p[0]) + nibble(p[1]);
}

int attn__cmap_step(double v)
{
    v = v > 0 ? (v < 1 ? v : 1) : 0;
    return (int)(v * (ATTN__STEPS - 1) + 0.5);
}

void attn_cmap_color(int cmap, double v, uint8_t rgb[3])
{
    if (attn_cmap_name(cmap) == NULL) {
        memset(rgb, 0, 3);
        return;
    }
    const char *colors = maps[cmap].colors;
    int last = (int)(strlen(colors) / 6) - 1;
    int span = ATTN__STEPS - 1, at = attn__cmap_step(v) * last, left = at / span;
    left = left == last ? last - 1 : left;
    double mix = (double)(at - left * span) / span;
    for (int c = 0; c < 3; c++) {
        int a = channel(colors, left, c), b = channel(colors, left + 1, c);
        rgb[c] = (uint8_t)lround(a + (b - a) * mix);
    }
}

/* WCAG 2.2, "relative luminance". */
static double linear(uint8_t c)
{
    double s = c / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

double attn_luminance(const uint8_t rgb[3])
{
    return 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
}

/* Ottosson 2020, "A perceptual color space for image processing". */
void attn__oklab(const uint8_t rgb[3], double lab[3])
{
    double r = linear(rgb[0]), g = linear(rgb[1]), b = linear(rgb[2]);
    double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
    lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
    lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

/* Contrast (Y + .05) / .05 with black equals 1.05 / (Y + .05) with white at Y = sqrt(1.05 * .05) - .05 = .179, where both are 4.58. */
bool attn_black_text(const uint8_t rgb[3])
{
    return attn_luminance(rgb) > 0.179;
}
