/* What standard output is: a terminal, how wide, with which colours. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "heatmap.h"

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

/* NO_COLOR: see no-color.org. */
static attn_terminal_colors colors_of(color_wish wish, bool terminal)
{
    const char *kind = variable("TERM"), *color = variable("COLORTERM");
    bool dumb = strcmp(kind, "dumb") == 0 || kind[0] == '\0', may = variable("NO_COLOR")[0] == '\0' && terminal && !dumb;
    if (wish == COLOR_NEVER || (wish == COLOR_AUTO && !may)) {
        return ATTN_COLORS_NONE;
    }
    if (strcmp(color, "truecolor") == 0 || strcmp(color, "24bit") == 0 || strstr(kind, "-direct") != NULL) {
        return ATTN_COLORS_24BIT;
    }
    if (strstr(kind, "256color") != NULL) {
        return ATTN_COLORS_256;
    }
    return wish == COLOR_ALWAYS ? ATTN_COLORS_24BIT : ATTN_COLORS_NONE;
}

/* COLUMNS goes before what the terminal says; what is no terminal has no width. */
static int columns_of(bool terminal)
{
    struct winsize size;
    long columns = strtol(variable("COLUMNS"), NULL, 10);
    if (columns > 0 || !terminal) {
        return columns > INT_MAX ? INT_MAX : columns > 0 ? (int)columns : 0;
    }
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

attn_terminal terminal_of_output(color_wish wish)
{
    bool terminal = isatty(STDOUT_FILENO) == 1;
    return (attn_terminal){colors_of(wish, terminal), columns_of(terminal)};
}

/* ---- colour maps ---- */

void print_cmaps(color_wish wish)
{
    enum { BLOCKS = 32, NAMED = 9 };
    attn_terminal_colors colors = terminal_of_output(wish).colors;
    for (int map = 0; map < attn_cmap_count(); map++) {
        int steps = colors == ATTN_COLORS_NONE ? NAMED : BLOCKS;
        printf(colors == ATTN_COLORS_NONE ? "%s" : "%-10s ", attn_cmap_name(map));
        for (int i = 0; i < steps; i++) {
            uint8_t rgb[3];
            char sequence[ATTN_SEQUENCE_SIZE];
            attn_cmap_color(map, i / (steps - 1.0), rgb);
            if (colors == ATTN_COLORS_NONE) {
                printf("\t#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
            } else {
                printf("%s ", attn_terminal_ground(colors, rgb, sequence));
            }
        }
        puts(colors == ATTN_COLORS_NONE ? "" : "\033[0m");
    }
}
