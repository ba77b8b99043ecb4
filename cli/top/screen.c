#include "cli/top/screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <term.h>
#include <unistd.h>

#include "cli/top/text.h"

#define SAID_MOST 65536 /* bytes of standard error to keep */
#define ESCAPE_MS 25    /* maximum time between the bytes of a key */

enum asking { ASK_NOTHING, ASK_FILTER, ASK_SEARCH };

struct screen {
    FILE *in, *out; /* the terminal */
    SCREEN *terminal;
    int saved[3];    /* copies of descriptors 0 to 2; -1: none */
    int said;        /* a file in memory that collects standard error */
    size_t at, from; /* the selected row, and the first one drawn */
    uint64_t key;    /* of the selected row */
    bool help;
    enum asking asking;
    char answer[TOP_TEXT]; /* typed so far */
    bool not_found;        /* the last search failed; until the next key */
};

static const char *const help[] = {
    "up down pgup pgdn home end  move",
    "enter space                 fold, unfold",
    "v 1 2 3                     view: tree, callers, flat",
    "s                           sort: total, self, name",
    "f                           filter contexts by a function's name",
    "/ n                         search a name, again",
    "+ -                         hide more, fewer light rows",
    "t                           threads as roots, or together",
    "o                           only the selected thread, or all",
    "p                           pause",
    "c                           count anew",
    "h ?                         this help",
    "q                           quit",
};

/* Standard descriptors --------------------------------------------------------------------------------------- */

static int replace_file(int fd, int with)
{
    int rc = with < 0 || dup2(with, fd) < 0 ? -errno : 0;
    if (with >= 0)
        close(with);
    return rc;
}

static int redirect_files(struct screen *s)
{
    for (int fd = 0; fd < 3; fd++)
        if ((s->saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3)) < 0)
            return -errno;
    s->said = memfd_create("said", MFD_CLOEXEC);
    int rc = s->said < 0 ? -errno : replace_file(0, open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (rc == 0)
        rc = replace_file(1, open("/dev/null", O_WRONLY | O_CLOEXEC));
    return rc == 0 ? replace_file(2, fcntl(s->said, F_DUPFD_CLOEXEC, 3)) : rc;
}

static void restore_files(struct screen *s)
{
    static char text[SAID_MOST];
    for (int fd = 0; fd < 3; fd++)
        if (s->saved[fd] >= 0) {
            dup2(s->saved[fd], fd);
            close(s->saved[fd]);
        }
    ssize_t size = s->said < 0 ? 0 : pread(s->said, text, sizeof text, 0);
    if (size > 0 && write(STDERR_FILENO, text, (size_t)size) < 0)
        size = 0; /* there is nowhere to report it */
    if (s->said >= 0)
        close(s->said);
}

/* Whether the terminal has a screen, not only lines. */
static bool can_move(void)
{
    char name[] = "cup";
    const char *move_to = tigetstr(name);
    return move_to && move_to != (const char *)-1;
}

int screen_open(struct screen **out, struct fathom_error *err)
{
    struct screen *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    memset(s->saved, 0xff, sizeof s->saved);
    s->said = -1;
    fflush(stdout);
    setlocale(LC_CTYPE, "");
    int rc = redirect_files(s);
    s->in = rc == 0 ? fdopen(fcntl(s->saved[0], F_DUPFD_CLOEXEC, 3), "r") : NULL;
    s->out = rc == 0 ? fdopen(fcntl(s->saved[1], F_DUPFD_CLOEXEC, 3), "w") : NULL;
    s->terminal = s->in && s->out ? newterm(NULL, s->out, s->in) : NULL;
    if (s->terminal && !can_move()) {
        endwin();
        delscreen(s->terminal);
        s->terminal = NULL;
    }
    if (!s->terminal) {
        screen_close(s);
        return rc < 0 ? error_system(err, -rc, "cannot set up the screen")
                      : error_set(err, ENOTTY,
                                  "this kind of terminal ($TERM) is unknown, or has no screen: give --once "
                                  "or --count");
    }
    set_term(s->terminal);
    set_escdelay(ESCAPE_MS);
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    if (has_colors()) {
        start_color();
        use_default_colors();
        init_pair(1, COLOR_RED, -1);
        init_pair(2, COLOR_YELLOW, -1);
        init_pair(3, COLOR_CYAN, -1);
    }
    *out = s;
    return 0;
}

void screen_close(struct screen *s)
{
    if (!s)
        return;
    if (s->terminal) {
        move(LINES - 1, 0); /* where the shell continues on terminals with one screen */
        clrtoeol();
        refresh();
        endwin();
        delscreen(s->terminal);
    }
    if (s->in)
        fclose(s->in);
    if (s->out)
        fclose(s->out);
    restore_files(s);
    free(s);
}

/* Keys -------------------------------------------------------------------------------------------------------- */

static void select_row(struct screen *s, const struct fathom_top_rows *rows, long to)
{
    long last = (long)rows->count - 1;
    s->at = to < 0 || last < 0 ? 0 : (size_t)(to > last ? last : to);
    s->key = rows->count ? rows->at[s->at].key : 0;
}

static void search_rows(struct screen *s, const struct top_state *state, const struct fathom_top_rows *rows)
{
    for (size_t i = 1; *state->search && i <= rows->count; i++) {
        size_t at = (s->at + i) % rows->count;
        if (strcasestr(rows->at[at].function, state->search)) {
            select_row(s, rows, (long)at);
            return;
        }
    }
    s->not_found = *state->search;
}

static enum screen_wish answer_key(struct screen *s, struct top_state *state,
                                   const struct fathom_top_rows *rows, int key)
{
    size_t length = strlen(s->answer);
    if (key == '\r' || key == '\n' || key == KEY_ENTER) {
        char *to = s->asking == ASK_FILTER ? state->filter : state->search;
        memcpy(to, s->answer, sizeof s->answer);
        if (s->asking == ASK_SEARCH)
            search_rows(s, state, rows);
        s->asking = ASK_NOTHING;
    } else if (key == 27) {
        s->asking = ASK_NOTHING;
    } else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && length) {
        s->answer[length - 1] = 0;
    } else if (key >= ' ' && key < 256 && key != 127 && length + 1 < sizeof s->answer) {
        s->answer[length] = (char)key;
        s->answer[length + 1] = 0;
    }
    return SCREEN_DRAW;
}

static void fold_row(struct top_state *state, const struct fathom_top_row *row)
{
    if (row->has_children && !table_remove(state->folded, row->key))
        table_put(state->folded, row->key, NULL); /* out of memory: it stays unfolded */
}

/* Shows only the thread of the selected row, or all again. */
static void choose_thread(const struct screen *s, struct top_state *state, const struct fathom_top_rows *rows)
{
    if (state->show.thread != FATHOM_TOP_ALL) {
        state->show.thread = FATHOM_TOP_ALL;
        return;
    }
    for (size_t i = s->at + 1;
         state->show.threads && state->show.view == FATHOM_TOP_TREE && i-- > 0 && i < rows->count;)
        if (rows->at[i].is_root) {
            state->show.thread = rows->at[i].item;
            state->thread_name = rows->at[i].function;
            return;
        }
}

/* Selects another row, if the key is for that; returns whether it is. */
static bool key_selects(struct screen *s, const struct fathom_top_rows *rows, int key)
{
    const long page = LINES > 6 ? LINES - 6 : 1, at = (long)s->at;
    switch (key) {
    case KEY_UP:
    case 'k':
        select_row(s, rows, at - 1);
        return true;
    case KEY_DOWN:
    case 'j':
        select_row(s, rows, at + 1);
        return true;
    case KEY_PPAGE:
        select_row(s, rows, at - page);
        return true;
    case KEY_NPAGE:
        select_row(s, rows, at + page);
        return true;
    case KEY_HOME:
    case 'g':
        select_row(s, rows, 0);
        return true;
    case KEY_END:
    case 'G':
        select_row(s, rows, (long)rows->count);
        return true;
    default:
        return false;
    }
}

/* Changes how rows are made, if the key is for that. */
static void key_changes(struct top_state *state, int key)
{
    switch (key) {
    case 'v':
        state->show.view = (state->show.view + 1) % FATHOM_TOP_VIEWS;
        break;
    case '1':
    case '2':
    case '3':
        state->show.view = (enum fathom_top_view)(key - '1');
        break;
    case 's':
        state->show.sort = (top_sort(state) + 1) % FATHOM_TOP_SORTS;
        break;
    case '+':
        state->show.min_percent = state->show.min_percent < 0.01 ? 0.01
                                  : state->show.min_percent < 25 ? 2 * state->show.min_percent
                                                                 : 50;
        break;
    case '-':
        state->show.min_percent = state->show.min_percent > 0.01 ? state->show.min_percent / 2 : 0;
        break;
    case 't':
        state->show.threads = !state->show.threads;
        state->show.thread = FATHOM_TOP_ALL;
        break;
    case 'p':
        state->paused = !state->paused;
        break;
    default:
        break;
    }
}

static enum screen_wish key_pressed(struct screen *s, struct top_state *state,
                                    const struct fathom_top_rows *rows, int key)
{
    s->not_found = false;
    if (s->asking != ASK_NOTHING)
        return answer_key(s, state, rows, key);
    if (s->help && key != 'q') {
        s->help = false;
        return SCREEN_DRAW;
    }
    if (key_selects(s, rows, key))
        return SCREEN_DRAW;
    switch (key) {
    case 'q':
        return SCREEN_QUIT;
    case 'c':
        return SCREEN_CLEAR;
    case '\r':
    case ' ':
    case KEY_ENTER:
        if (s->at < rows->count)
            fold_row(state, &rows->at[s->at]);
        break;
    case 'f':
    case '/':
        s->asking = key == 'f' ? ASK_FILTER : ASK_SEARCH;
        memset(s->answer, 0, sizeof s->answer);
        break;
    case 'n':
        search_rows(s, state, rows);
        break;
    case 'o':
        choose_thread(s, state, rows);
        break;
    case 'h':
    case '?':
        s->help = true;
        break;
    default:
        key_changes(state, key);
        break;
    }
    return SCREEN_DRAW;
}

enum screen_wish screen_keys(struct screen *s, struct top_state *state, const struct fathom_top_rows *rows,
                             int wait_ms)
{
    enum screen_wish wish = SCREEN_NOTHING;
    timeout(wait_ms);
    for (int key; (key = getch()) != ERR; timeout(0)) {
        enum screen_wish next = key_pressed(s, state, rows, key);
        if (next == SCREEN_QUIT)
            return next;
        wish = next > wish ? next : wish;
    }
    return wish;
}

/* Drawing ----------------------------------------------------------------------------------------------------- */

/* Draws a line, truncated to the screen's width, but not within a character. */
static void put_line(int line, const char *text)
{
    size_t length = strlen(text), width = (size_t)COLS;
    while (length > width && length)
        length--;
    while (length && length < strlen(text) && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    mvaddnstr(line, 0, text, (int)length);
    clrtoeol();
}

static int colour_of(const struct fathom_top_row *row, uint64_t whole)
{
    double share = whole ? (double)row->self / (double)whole : 0;
    return share >= 0.1 ? COLOR_PAIR(1) : share >= 0.02 ? COLOR_PAIR(2) : 0;
}

/* Keeps the same row selected, wherever it is now. */
static void find_selected(struct screen *s, const struct fathom_top_rows *rows, size_t room)
{
    for (size_t i = 0; i < rows->count && s->at; i++)
        if (rows->at[i].key == s->key)
            s->at = i;
    select_row(s, rows, (long)s->at);
    if (s->at < s->from)
        s->from = s->at;
    if (s->at >= s->from + room)
        s->from = s->at - room + 1;
}

static void draw_rows(struct screen *s, const struct top_state *state, const struct fathom_top_rows *rows,
                      int line, int last)
{
    size_t room = last > line ? (size_t)(last - line) : 0;
    if (!room)
        return;
    find_selected(s, rows, room);
    for (size_t i = 0; i < room; i++) {
        char text[TOP_ROW] = "";
        bool there = s->from + i < rows->count, selected = there && s->from + i == s->at;
        const struct fathom_top_row *row = there ? &rows->at[s->from + i] : NULL;
        if (there)
            top_row_format(text, row, rows->whole, state->show.view);
        else if (i == 0)
            snprintf(text, sizeof text, "%s", top_nothing(state));
        int attributes = (selected ? A_REVERSE : 0) | (there ? colour_of(row, rows->whole) : 0);
        attron(attributes);
        put_line(line + (int)i, text);
        attroff(attributes);
    }
}

void screen_draw(struct screen *s, const struct top_state *state, const struct fathom_top_rows *rows)
{
    int line = 0, last = LINES - 1;
    char keys[TOP_TEXT + 48] =
        "q quit  h help  v view  s sort  f filter  / search  enter fold  t threads  p pause";
    erase();
    for (unsigned i = 0; i < TOP_LINES && LINES > 5 + (int)i; i++)
        put_line(line++, state->status[i]);
    if (LINES > 3) {
        attron(A_BOLD);
        put_line(line++, top_heading);
        attroff(A_BOLD);
    }
    if (s->help)
        for (size_t i = 0; i < sizeof help / sizeof *help && line < last; i++)
            put_line(line++, help[i]);
    else
        draw_rows(s, state, rows, line, last);
    if (s->asking != ASK_NOTHING)
        snprintf(keys, sizeof keys, "%s: %s_", s->asking == ASK_FILTER ? "filter" : "search", s->answer);
    else if (s->not_found)
        snprintf(keys, sizeof keys, "no row's function has \"%s\" in its name", state->search);
    attron(COLOR_PAIR(3));
    put_line(last, keys);
    attroff(COLOR_PAIR(3));
    refresh();
}
