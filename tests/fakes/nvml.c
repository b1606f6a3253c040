/*
 * A made-up NVML: the functions that our samplers call, in a library of its real name.
 *
 *     cc -shared -fPIC -o libnvidia-ml.so.1 nvml.c
 *
 * Found through LD_LIBRARY_PATH, it gives GPUs that are idle and busy in turn, all at once, by the machine's
 * monotonic clock: every process sees the same schedule, also after a restart or when UTC is set back.
 * Means and counters are exact integrals of that schedule. Variables of the environment:
 *
 *     FAKE_NVML_GPUS                  how many; 2
 *     FAKE_NVML_NAME                  part of their UUIDs, "GPU-fake-<name>-<index>"; "node"
 *     FAKE_NVML_IDLE_SECONDS, FAKE_NVML_BUSY_SECONDS  the schedule; 4 and 6
 *     FAKE_NVML_FOLDER                while a file lost-<index> lies there, that GPU is lost; while a file
 *                                     hang-<index> does, no call about it comes back; power limits and clock
 *                                     locks that were set are kept there, in limit-<index> and lock-<index>
 *     FAKE_NVML_ROOT                  whether power limits and clocks may be set; 0
 *
 * Layouts are those of NVIDIA's nvml.h as nvidia-ml-py 13 declares them.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, INVALID = 2, UNSUPPORTED = 3, NO_PERMISSION = 4, NOT_FOUND = 6, TOO_SMALL = 7, LOST = 15 };
enum { MOST_GPUS = 16, UNSIGNED_INT = 1, UNSIGNED_LONG_LONG = 3 };

typedef struct { int index; } Gpu;
typedef struct { double seconds, busy_seconds; } GpmSample;
typedef struct { unsigned gpu, memory; } Utilisation;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned version, supported; } GpmSupport;
typedef struct {
    uint32_t field, scope;
    int64_t timestamp, latency;
    int type, code;
    union { double number; unsigned small; unsigned long long large; } value;
} FieldValue;
typedef struct {
    unsigned id;
    int code;
    double value;
    const char *texts[3];
} Metric;
typedef struct {
    unsigned version, n_metrics;
    GpmSample *older, *newer;
    Metric metrics[];
} MetricsGet;

/* A GPM metric while the GPU works, in NVML's unit; cycles as a rate a second. Idle is 0, but for DRAM. */
typedef struct { unsigned id; double busy, idle; } Load;
static const double CYCLES = 132 * 1.755e9;
static const Load LOADS[] = {
    {1, 100, 0},    {2, 87, 0},    {3, 32, 0},   {4, 13, 0},     {5, 37.4, 0},   {6, 0, 0},
    {7, 37.4, 0},   {8, 0, 0},     {9, 0, 0},    {10, 31, 5e-4}, {11, 0, 0},     {12, 3, 0},
    {13, 0, 0},     {20, 11, 2.3}, {21, 32, 1.8}, {60, 8000, 0}, {61, 8000, 0},
    {248, CYCLES, CYCLES},         {249, 0.87 * CYCLES, 0},      {250, 0.374 * CYCLES, 0},
    {252, 0.374 * CYCLES, 0},      {253, 0, 0},                  {254, 0, 0},
    {257, 0.13 * CYCLES, 0},       {258, 0, 0},                  {259, 0.03 * CYCLES, 0},
    {260, 0, 0},
};
static const double IDLE_WATTS = 80, BUSY_WATTS = 690;

static Gpu gpus[MOST_GPUS];

static double number_of(const char *variable, double otherwise) {
    const char *text = getenv(variable);
    return text ? atof(text) : otherwise;
}

static unsigned n_gpus(void) { return (unsigned)fmin(number_of("FAKE_NVML_GPUS", 2), MOST_GPUS); }
static double idle_seconds(void) { return number_of("FAKE_NVML_IDLE_SECONDS", 4); }
static double period_seconds(void) { return idle_seconds() + number_of("FAKE_NVML_BUSY_SECONDS", 6); }

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

/* How long the GPUs have worked since the machine started. */
static double busy_until(double seconds) {
    double n_periods = floor(seconds / period_seconds()), busy = period_seconds() - idle_seconds();
    return n_periods * busy + fmax(0, seconds - n_periods * period_seconds() - idle_seconds());
}

static int is_busy(void) { return fmod(now_seconds(), period_seconds()) >= idle_seconds(); }

static double integral(double busy, double idle) {
    double now = now_seconds(), worked = busy_until(now);
    return busy * worked + idle * (now - worked);
}

static int is_told(const char *what, int index) {
    const char *folder = getenv("FAKE_NVML_FOLDER");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%d", folder ? folder : "", what, index);
    return folder && access(path, F_OK) == 0;
}

static int state_of(const Gpu *gpu) {
    while (is_told("hang", gpu->index)) usleep(20000);
    return is_told("lost", gpu->index) ? LOST : OK;
}

#define ANSWER(gpu, statement) \
    do { int state = state_of(gpu); if (state == OK) { statement; } return state; } while (0)

int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    for (int index = 0; index < MOST_GPUS; index++) gpus[index].index = index;
    return OK;
}

int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }

const char *nvmlErrorString(int code) {
    return code == LOST ? "GPU is lost"
        : code == NOT_FOUND ? "Not Found"
        : code == INVALID ? "Invalid Argument"
        : code == NO_PERMISSION ? "Insufficient Permissions" : "Not Supported";
}

int nvmlSystemGetDriverVersion(char *text, unsigned size) {
    snprintf(text, size, "580.0-fake");
    return OK;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = n_gpus();
    return OK;
}

static void write_uuid(const Gpu *gpu, char *text, unsigned size) {
    const char *name = getenv("FAKE_NVML_NAME");
    snprintf(text, size, "GPU-fake-%s-%d", name ? name : "node", gpu->index);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Gpu **gpu) {
    if (index >= n_gpus()) return INVALID;
    *gpu = &gpus[index];
    ANSWER(*gpu, (void)0);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, Gpu **gpu) {
    char own[96];
    for (unsigned index = 0; index < n_gpus(); index++) {
        write_uuid(&gpus[index], own, sizeof own);
        if (strcmp(own, uuid) == 0) return nvmlDeviceGetHandleByIndex_v2(index, gpu);
    }
    return NOT_FOUND;
}

int nvmlDeviceGetUUID(Gpu *gpu, char *text, unsigned size) { ANSWER(gpu, write_uuid(gpu, text, size)); }
int nvmlDeviceGetName(Gpu *gpu, char *text, unsigned size) { ANSWER(gpu, snprintf(text, size, "NVIDIA H200")); }

int nvmlDeviceGetUtilizationRates(Gpu *gpu, Utilisation *found) {
    ANSWER(gpu, *found = is_busy() ? ((Utilisation){99, 40}) : ((Utilisation){0, 0}));
}

int nvmlDeviceGetClockInfo(Gpu *gpu, int type, unsigned *megahertz) {
    ANSWER(gpu, *megahertz = type == 2 ? 3201 : is_busy() ? 1755 : 345);
}

int nvmlDeviceGetPowerUsage(Gpu *gpu, unsigned *milliwatts) {
    ANSWER(gpu, *milliwatts = 1000 * (is_busy() ? BUSY_WATTS : IDLE_WATTS));
}

int nvmlDeviceGetTemperature(Gpu *gpu, int sensor, unsigned *celsius) {
    (void)sensor;
    ANSWER(gpu, *celsius = is_busy() ? 65 : 38);
}

int nvmlDeviceGetCurrentClocksEventReasons(Gpu *gpu, unsigned long long *reasons) {
    ANSWER(gpu, *reasons = is_busy() ? 4 : 1);
}

int nvmlDeviceGetMemoryInfo(Gpu *gpu, Memory *found) {
    unsigned long long total = 139ULL << 30, used = is_busy() ? 80ULL << 30 : 1ULL << 30;
    ANSWER(gpu, *found = ((Memory){total, total - used, used}));
}

int nvmlDeviceGetTotalEnergyConsumption(Gpu *gpu, unsigned long long *millijoules) {
    ANSWER(gpu, *millijoules = 1000 * integral(BUSY_WATTS, IDLE_WATTS));
}

static void put(FieldValue *field, int type, unsigned long long value) {
    field->type = type;
    field->code = OK;
    if (type == UNSIGNED_INT) field->value.small = (unsigned)value;
    else field->value.large = value;
}

static void answer_field(FieldValue *field) {
    double watts = is_busy() ? BUSY_WATTS : IDLE_WATTS;
    switch (field->field) {
    case 185: case 186: put(field, UNSIGNED_INT, 1000 * watts); break;
    case 82: put(field, UNSIGNED_INT, 50); break;
    case 83: put(field, UNSIGNED_LONG_LONG, 1000 * integral(BUSY_WATTS, IDLE_WATTS)); break;
    case 138: case 139: put(field, UNSIGNED_LONG_LONG, integral(8e9 / 1024, 0)); break;
    default: field->code = UNSUPPORTED;
    }
}

int nvmlDeviceGetFieldValues(Gpu *gpu, int n_fields, FieldValue *fields) {
    ANSWER(gpu, for (int at = 0; at < n_fields; at++) answer_field(&fields[at]));
}

int nvmlGpmQueryDeviceSupport(Gpu *gpu, GpmSupport *support) { ANSWER(gpu, support->supported = 1); }

int nvmlGpmSampleAlloc(GpmSample **sample) {
    *sample = calloc(1, sizeof **sample);
    return *sample ? OK : INVALID;
}

int nvmlGpmSampleFree(GpmSample *sample) {
    free(sample);
    return OK;
}

int nvmlGpmSampleGet(Gpu *gpu, GpmSample *sample) {
    double now = now_seconds();
    ANSWER(gpu, *sample = ((GpmSample){now, busy_until(now)}));
}

static void answer_metric(Metric *metric, double seconds, double busy_ratio, const GpmSample *newer) {
    metric->code = UNSUPPORTED;
    for (size_t at = 0; at < sizeof LOADS / sizeof *LOADS; at++) {
        const Load *load = &LOADS[at];
        if (load->id != metric->id) continue;
        metric->code = seconds > 0 ? OK : INVALID;
        metric->value = load->id >= 248
            ? load->busy * newer->busy_seconds + load->idle * (newer->seconds - newer->busy_seconds)
            : load->busy * busy_ratio + load->idle * (1 - busy_ratio);
    }
}

int nvmlGpmMetricsGet(MetricsGet *asked) {
    double seconds = asked->newer->seconds - asked->older->seconds;
    double busy_ratio = (asked->newer->busy_seconds - asked->older->busy_seconds) / seconds;
    for (unsigned at = 0; at < asked->n_metrics; at++)
        answer_metric(&asked->metrics[at], seconds, busy_ratio, asked->newer);
    return OK;
}

/* What was set outlives the process that set it, as on a board: it lies in a file. */
static void path_of(char *path, size_t size, const char *what, int index) {
    const char *folder = getenv("FAKE_NVML_FOLDER");
    snprintf(path, size, "%s/%s-%d", folder ? folder : ".", what, index);
}

static unsigned kept(const char *what, int index, unsigned otherwise) {
    char path[4096];
    path_of(path, sizeof path, what, index);
    FILE *file = fopen(path, "r");
    unsigned value = otherwise;
    if (file && fscanf(file, "%u", &value) != 1) value = otherwise;
    if (file) fclose(file);
    return value;
}

static int keep(const char *what, int index, unsigned value) {
    char path[4096];
    if (number_of("FAKE_NVML_ROOT", 0) == 0) return NO_PERMISSION;
    path_of(path, sizeof path, what, index);
    FILE *file = fopen(path, "w");
    if (!file) return UNSUPPORTED;
    fprintf(file, "%u\n", value);
    fclose(file);
    return OK;
}

enum { DEFAULT_LIMIT = 700000, LEAST_LIMIT = 200000, MOST_LIMIT = 700000 };

int nvmlDeviceGetPowerManagementLimit(Gpu *gpu, unsigned *milliwatts) {
    ANSWER(gpu, *milliwatts = kept("limit", gpu->index, DEFAULT_LIMIT));
}

int nvmlDeviceGetPowerManagementLimitConstraints(Gpu *gpu, unsigned *least, unsigned *most) {
    ANSWER(gpu, *least = LEAST_LIMIT; *most = MOST_LIMIT);
}

int nvmlDeviceSetPowerManagementLimit(Gpu *gpu, unsigned milliwatts) {
    if (state_of(gpu) != OK) return state_of(gpu);
    if (milliwatts < LEAST_LIMIT || milliwatts > MOST_LIMIT) return INVALID;
    return keep("limit", gpu->index, milliwatts);
}

static int list_of(const unsigned *values, unsigned n_values, unsigned *count, unsigned *found) {
    unsigned n_room = *count;
    *count = n_values;
    if (!found || n_room < n_values) return TOO_SMALL;
    memcpy(found, values, n_values * sizeof *values);
    return OK;
}

int nvmlDeviceGetSupportedMemoryClocks(Gpu *gpu, unsigned *count, unsigned *megahertz) {
    static const unsigned CLOCKS[] = {3201, 1593};
    int state = state_of(gpu);
    return state == OK ? list_of(CLOCKS, 2, count, megahertz) : state;
}

int nvmlDeviceGetSupportedGraphicsClocks(Gpu *gpu, unsigned memory, unsigned *count, unsigned *megahertz) {
    static const unsigned CLOCKS[] = {1980, 1755, 1200, 345};
    int state = state_of(gpu);
    if (state != OK) return state;
    return memory == 3201 ? list_of(CLOCKS, 4, count, megahertz) : NOT_FOUND;
}

int nvmlDeviceSetGpuLockedClocks(Gpu *gpu, unsigned least, unsigned most) {
    if (state_of(gpu) != OK) return state_of(gpu);
    return least <= most ? keep("lock", gpu->index, most) : INVALID;
}

int nvmlDeviceResetGpuLockedClocks(Gpu *gpu) {
    if (state_of(gpu) != OK) return state_of(gpu);
    return keep("lock", gpu->index, 0);
}
