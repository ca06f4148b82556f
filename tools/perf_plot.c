/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf.h"
#include "tool.h"

/*
 * pier perf plot: what --json or --csv has printed, as a picture.  gnuplot
 * draws it, and is needed for nothing else.
 */

#define FILES_MAX 16
#define SIZE_MAX_DRAWN 1e15
#define TITLE_SIZE 300
#define MARGIN_MAX 80	/* characters beside a panel, for titles */

extern char **environ;

struct plot {
	const char *output;
	char part[PATH_MAX];	/* where it is until it is whole */
	int fd;			/* of the same; gnuplot's standard output */
	struct {
		const char *path;
		json_t *root;
	} files[FILES_MAX];
	int count;
	int panels[2];		/* results of each measure */
	double smallest, largest;	/* sizes of all */
	double low, high;	/* latencies of all */
	FILE *to;		/* gnuplot's standard input */
	pid_t child;
};

/* Dark enough on white. */
static const char *const colours[] = {
	"#0060ad", "#d0181f", "#008a45", "#8040a0",
	"#d07000", "#404040", "#00909a", "#905000",
};

static const char *word_of(const json_t *root, const char *key)
{
	const char *word = json_string_value(json_object_get(root, key));

	return word ? word : "";
}

static int measure_of(const json_t *root)
{
	return perf_measure_of(word_of(root, "measure"));
}

/* What a result of @root must have to be drawn. */
static const char *value_key(const json_t *root)
{
	return measure_of(root) == PERF_LAT ? "median" : "gb_per_s";
}

static double number_of(const json_t *result, const char *key)
{
	return json_number_value(json_object_get(result, key));
}

/* Every result has a size, and a value above 0. */
static int is_complete(const json_t *root)
{
	const json_t *results = json_object_get(root, "results");
	size_t i;

	if (measure_of(root) < 0 || !json_array_size(results))
		return 0;
	for (i = 0; i < json_array_size(results); i++) {
		const json_t *result = json_array_get(results, i);

		if (number_of(result, "size") < 1 ||
		    number_of(result, "size") > SIZE_MAX_DRAWN ||
		    number_of(result, value_key(root)) <= 0)
			return 0;
	}
	return 1;
}

/* NULL: it cannot be read, which was reported. */
static json_t *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	json_error_t error;
	json_t *root;

	if (!file) {
		tool_message("pier perf plot: %s: %s", path, strerror(errno));
		return NULL;
	}
	if (fgetc(file) == EOF) {
		tool_message("pier perf plot: %s: %s", path,
			     ferror(file) ? strerror(errno) : "is empty");
		fclose(file);
		return NULL;
	}
	rewind(file);
	if (perf_csv_is(file)) {
		snprintf(error.text, sizeof(error.text), "not a line of one "
			 "measurement by pier perf --csv");
		root = perf_csv_load(file, &error.line);
	} else {
		root = json_loadf(file, 0, &error);
	}
	fclose(file);
	if (!root)
		tool_message("pier perf plot: %s: line %d: %s", path,
			     error.line, error.text);
	return root;
}

static int load(struct plot *plot, const char *path)
{
	json_t *root = read_file(path);

	if (!root)
		return 1;
	plot->files[plot->count].path = path;
	plot->files[plot->count++].root = root;
	if (!is_complete(root)) {
		tool_message("pier perf plot: %s: no results of pier perf "
			     "--json or --csv", path);
		return 1;
	}
	plot->panels[measure_of(root)]++;
	return 0;
}

/* As gnuplot has it: in ', which is written twice within. */
static void quote(FILE *to, const char *text)
{
	fputc('\'', to);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', to);
		fputc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text,
		      to);
	}
	fputc('\'', to);
}

/* Latencies that others have measured may be medians only. */
static int has_p99(const json_t *root)
{
	const json_t *results = json_object_get(root, "results");

	return measure_of(root) == PERF_LAT &&
	       number_of(json_array_get(results, 0), "p99") > 0;
}

static void write_rows(FILE *to, const json_t *root)
{
	const json_t *results = json_object_get(root, "results");
	int lat = has_p99(root);
	size_t i;

	for (i = 0; i < json_array_size(results); i++) {
		const json_t *result = json_array_get(results, i);
		double value = number_of(result, value_key(root));
		double p99 = lat ? number_of(result, "p99") : value;

		fprintf(to, "%.0f %.6f %.6f\n", number_of(result, "size"),
			value, p99 > 0 ? p99 : value);
	}
}

static void write_data(const struct plot *plot)
{
	for (int i = 0; i < plot->count; i++) {
		fprintf(plot->to, "$result%d << END_OF_DATA\n", i);
		write_rows(plot->to, plot->files[i].root);
		fputs("END_OF_DATA\n", plot->to);
	}
}

/* "FILE: lat write", and "99 %" of its second line. */
static size_t title_of(const struct plot *plot, int i, const char *suffix,
		       char ret[TITLE_SIZE])
{
	const char *slash = strrchr(plot->files[i].path, '/');
	const json_t *root = plot->files[i].root;

	snprintf(ret, TITLE_SIZE, "%s: %s %s%s",
		 slash ? slash + 1 : plot->files[i].path,
		 word_of(root, "operation"), word_of(root, "device"), suffix);
	return strlen(ret);
}

static void write_title(const struct plot *plot, int i, const char *suffix)
{
	char title[TITLE_SIZE];

	title_of(plot, i, suffix, title);
	quote(plot->to, title);
}

/* The same beside both panels, so that their sizes are above each other. */
static void write_margins(const struct plot *plot)
{
	char title[TITLE_SIZE];
	size_t longest = 0;

	for (int i = 0; i < plot->count; i++) {
		size_t len = title_of(plot, i, ", median", title);

		if (len > longest)
			longest = len;
	}
	longest += 8;		/* the line's sample */
	fprintf(plot->to, "set lmargin 12\nset rmargin %zu\n",
		longest < MARGIN_MAX ? longest : MARGIN_MAX);
}

static void widen(double value, double *low, double *high)
{
	if (!*low || value < *low)
		*low = value;
	if (value > *high)
		*high = value;
}

static void find_ranges(struct plot *plot, const json_t *root)
{
	const json_t *results = json_object_get(root, "results");
	size_t i;

	for (i = 0; i < json_array_size(results); i++) {
		const json_t *result = json_array_get(results, i);

		widen(number_of(result, "size"), &plot->smallest,
		      &plot->largest);
		if (measure_of(root) != PERF_LAT)
			continue;
		widen(number_of(result, "median"), &plot->low, &plot->high);
		if (number_of(result, "p99") > 0)
			widen(number_of(result, "p99"), &plot->low,
			      &plot->high);
	}
}

/* One value alone is in the middle; none is at the edge. */
static void write_range(FILE *to, const char *axis, double low, double high)
{
	double factor = low < high ? 1.05 : 2;

	fprintf(to, "set %srange [%.17g:%.17g]\n", axis, low / factor,
		high * factor);
}

/* The lines of one measure, in its own axes. */
static void write_panel(const struct plot *plot, int measure)
{
	const char *separator = "plot ";
	int lat = measure == PERF_LAT;

	if (!plot->panels[measure])
		return;
	fputs(lat ? "set title 'Latency'\nset ylabel 'latency (us)'\n"
		    "set logscale y 10\nset yrange [*:*]\n" :
		    "set title 'Bandwidth'\nset ylabel 'bandwidth (GB/s)'\n"
		    "unset logscale y\nset yrange [0:*]\n", plot->to);
	if (lat && plot->low == plot->high)
		write_range(plot->to, "y", plot->low, plot->high);
	for (int i = 0, n = 0; i < plot->count; i++) {
		const char *colour = colours[n % 8];

		if (measure_of(plot->files[i].root) != measure)
			continue;
		fprintf(plot->to, "%s$result%d using 1:2 with linespoints "
			"lc rgb '%s' pt %d lw 2 title ", separator, i, colour,
			4 + n++);
		write_title(plot, i, lat ? ", median" : "");
		separator = ", ";
		if (!has_p99(plot->files[i].root))
			continue;
		fprintf(plot->to, ", $result%d using 1:3 with lines "
			"lc rgb '%s' lw 1 dt 2 title ", i, colour);
		write_title(plot, i, ", 99 %");
	}
	fputc('\n', plot->to);
}

static void write_mark(FILE *to, uint64_t size, const char *end)
{
	char text[TOOL_SIZE_TEXT];

	fprintf(to, "'%s' %" PRIu64 "%s",
		size == 1 ? "1 byte" : tool_size(size, text), size, end);
}

/* The marks of the axis: each third power of two, and the largest size. */
static void write_sizes(struct plot *plot)
{
	uint64_t largest;

	for (int i = 0; i < plot->count; i++)
		find_ranges(plot, plot->files[i].root);
	write_range(plot->to, "x", plot->smallest, plot->largest);
	largest = (uint64_t)plot->largest;
	fputs("set xtics (", plot->to);
	for (uint64_t size = 1; size < largest; size *= 8)
		if (size <= largest / 4)	/* room for its text */
			write_mark(plot->to, size, ", ");
	write_mark(plot->to, largest, ")\n");
}

static void write_all(struct plot *plot, const char *terminal)
{
	int both = plot->panels[PERF_LAT] && plot->panels[PERF_BW];

	write_data(plot);
	fprintf(plot->to, "set terminal %s noenhanced size 1200,%d "
		"font ',12' background '#ffffff'\n", terminal,
		both ? 960 : 540);
	fputs("set grid\nset logscale x 2\nset format y '%.10g'\n"
	      "set xlabel 'size of a message'\n"
	      "set key outside right top vertical\n", plot->to);
	write_sizes(plot);
	write_margins(plot);
	if (both)
		fputs("set multiplot layout 2,1\n", plot->to);
	write_panel(plot, PERF_LAT);
	write_panel(plot, PERF_BW);
	if (both)
		fputs("unset multiplot\n", plot->to);
	fputs("unset output\n", plot->to);
}

static int start_gnuplot(struct plot *plot)
{
	char *const words[] = { (char *)"gnuplot", (char *)"-", NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], err;

	if (pipe(ends)) {
		tool_message("pier perf plot: pipe: %s", strerror(errno));
		return 1;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	posix_spawn_file_actions_adddup2(&actions, plot->fd, STDOUT_FILENO);
	err = posix_spawnp(&plot->child, words[0], &actions, NULL, words,
			   environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	plot->to = err ? NULL : fdopen(ends[1], "w");
	if (plot->to)
		return 0;
	close(ends[1]);
	tool_message("pier perf plot: cannot run gnuplot: %s%s",
		     strerror(err ? err : errno), err == ENOENT ? ": install "
		     "it, as the package gnuplot-nox of Debian or gnuplot of "
		     "Fedora" : "");
	return 1;
}

/* The picture's file, or its directory, is the reason. */
static int fail_output(const struct plot *plot)
{
	tool_message("pier perf plot: -o \"%s\": was not written: %s",
		     plot->output, strerror(errno));
	return 1;
}

/* The mode of the files that this process makes, unlike mkostemp(3). */
static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Its name is of no other file. */
static int open_output(struct plot *plot)
{
	int len = snprintf(plot->part, sizeof(plot->part), "%s.XXXXXX",
			   plot->output), err;

	plot->fd = -1;
	errno = ENAMETOOLONG;
	if (len < (int)sizeof(plot->part))
		plot->fd = mkostemp(plot->part, O_CLOEXEC);
	if (plot->fd >= 0 && !fchmod(plot->fd, usual_mode()))
		return 0;
	err = fail_output(plot);
	if (plot->fd >= 0) {
		close(plot->fd);
		unlink(plot->part);
	}
	return err;
}

/* gnuplot prints its own reasons. */
static int draw_part(struct plot *plot, const char *terminal)
{
	int status;

	if (start_gnuplot(plot))
		return 1;
	signal(SIGPIPE, SIG_IGN);
	write_all(plot, terminal);
	fclose(plot->to);
	if (waitpid(plot->child, &status, 0) == plot->child && !status)
		return 0;
	tool_message("pier perf plot: gnuplot has failed: \"%s\" was not "
		     "written", plot->output);
	return 1;
}

/* It has its name when it is whole: what was there before remains till then. */
static int draw(struct plot *plot, const char *terminal)
{
	int err = open_output(plot);

	if (err)
		return err;
	err = draw_part(plot, terminal);
	close(plot->fd);
	if (!err && rename(plot->part, plot->output))
		err = fail_output(plot);
	if (err)
		unlink(plot->part);
	return err;
}

/* NULL: the file's name has no known end. */
static const char *terminal_of(const char *path)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	if (dot && !strcasecmp(dot, ".svg"))
		return "svg";
	return dot && !strcasecmp(dot, ".png") ? "pngcairo" : NULL;
}

static int load_all(struct plot *plot, const struct pier_args *args)
{
	int err = 0;

	if (!args->argc || args->argc > FILES_MAX) {
		tool_message("pier perf plot: give 1 to %d files that pier "
			     "perf --json or --csv has printed", FILES_MAX);
		return 2;
	}
	for (int i = 0; i < args->argc && !err; i++)
		err = load(plot, args->argv[i]);
	return err;
}

int perf_plot(int argc, char *argv[])
{
	struct plot plot = { 0 };
	const struct pier_option options[] = {
		{ .short_name = "o", .long_name = "output",
		  .value_name = "FILE", .help = "the picture, .svg or .png",
		  .type = PIER_OPTION_STRING,
		  .value = &plot.output },
		{ 0 },
	};
	struct pier_args args = {
		.size = sizeof(args),
		.about = "Draw latency and bandwidth against size, from "
			 "--json or --csv of pier perf.",
		.operands = "RESULT...",
		.options = options,
	};
	const char *terminal;
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);
	terminal = terminal_of(plot.output);
	if (!plot.output) {
		tool_message("pier perf plot: give -o FILE, the picture");
		return 2;
	}
	if (!terminal) {
		tool_message("pier perf plot: -o \"%s\": a name that ends in "
			     ".svg or .png", plot.output);
		return 2;
	}
	err = load_all(&plot, &args);
	if (!err)
		err = draw(&plot, terminal);
	for (int i = 0; i < plot.count; i++)
		json_decref(plot.files[i].root);
	return err;
}
