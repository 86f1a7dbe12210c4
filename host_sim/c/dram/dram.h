/* One DRAM channel at the granularity of requests: bank timing, FR-FCFS, write drain, page timeout, refresh.
 *
 * Time is in memory clock cycles. A scheduler decision costs one scan of a queue (at most DRAM_QUEUE entries), so
 * a request costs O(queue); nothing is allocated here. The caller owns every struct and may copy it to
 * try a policy and go back. */
#ifndef DRAM_H
#define DRAM_H
#include <stdint.h>

/* cffi begin */
#define DRAM_BANKS 64
#define DRAM_QUEUE 64
#define DRAM_LATENCIES 24 /* octaves of the latency histogram; the last takes all beyond */
#define DRAM_NEVER 4611686018427387904 /* 2^62: later than any arrival */

typedef struct {
    int32_t banks;
    int32_t cl, cwl, t_rcd, t_rp, t_ras, t_wr, t_rtp, t_wtr, t_ccd, burst, t_rrd, t_faw, t_rfc, t_refi;
} dram_timing;

typedef struct {
    int64_t timeout;     /* a row is closed this long after its last use; DRAM_NEVER leaves it open */
    int32_t opportune;   /* writes that start a drain when no read waits */
    int32_t drain_high;  /* writes that start a drain in any case */
    int32_t drain_low;   /* writes left when a drain stops */
    int32_t read_queue;  /* entries, at most DRAM_QUEUE */
    int32_t write_queue; /* entries, at least drain_high */
    int32_t in_order;    /* 1: first come first served, 0: row hits first */
    int32_t refresh;     /* 1: all banks are refreshed every t_refi */
} dram_policy;

typedef struct {
    int64_t arrival; /* never before the previous request's */
    int64_t row;     /* from 0 */
    int32_t bank;    /* below banks */
    int32_t write;
} dram_request;

typedef struct {
    int64_t row, act, close_at, cas_ok, pre_ok; /* row -1: closed, may be opened from close_at + t_rp on */
} dram_bank;

typedef struct {
    int64_t arrival[DRAM_QUEUE];
    int64_t row[DRAM_QUEUE];
    int32_t bank[DRAM_QUEUE];
    int32_t n;
} dram_queue;

typedef struct {
    int64_t now, last_read_cas, last_write_cas, next_refresh;
    int64_t acts[4]; /* the four last activations, oldest at act_at */
    int32_t act_at, draining;
    dram_bank bank[DRAM_BANKS];
    dram_queue reads, writes;
} dram_channel;

typedef struct {
    int64_t reads, writes;           /* served */
    int64_t hits, closed, conflicts; /* of reads and writes served */
    int64_t reopened;                /* of closed: the row had been closed too early */
    int64_t read_latency, worst_read, refreshes;
    int64_t latency_n[DRAM_LATENCIES]; /* reads that took 2^i to 2^(i+1) - 1 cycles */
} dram_totals;

typedef struct {
    int64_t row[DRAM_BANKS]; /* last requested row of each bank, whatever the policy did */
    int64_t last_arrival;
} dram_shadow;

typedef struct {
    int64_t requests, same_row, writes, span;
} dram_view;

typedef struct {
    double at[DRAM_BANKS];
    int64_t row[DRAM_BANKS], fresh_row;
    int32_t streams;
} dram_streams;

/* A channel that has been idle for ever: every bank closed, first refresh due at t_refi. */
void dram_reset(dram_channel *channel, const dram_timing *timing);

/* Serves requests [0, n): returns once all their reads are done; writes may stay queued for the next call.
 * Requires timing->banks <= DRAM_BANKS and drain_low < drain_high <= write_queue <= DRAM_QUEUE. Adds to *totals. */
void dram_run(dram_channel *channel, const dram_timing *timing, const dram_policy *policy,
              const dram_request *requests, int64_t n, dram_totals *totals);

/* View of the controller on requests [0, n) before any policy touches them. */
void dram_shadow_reset(dram_shadow *shadow);
void dram_observe(dram_shadow *shadow, const dram_request *requests, int64_t n, dram_view *view);

/* Synthetic traffic: one stream a bank stays in its row with probability p after 1 + Exp(gap_stay) cycles, else
 * asks for a new row after 1 + Exp(gap_move). Each stream keeps one pending request from call to call; the
 * numbers of a call come from its seed alone. */
void dram_streams_reset(dram_streams *streams, int32_t n, uint64_t seed, double p, double gap_stay,
                        double gap_move);
void dram_streams_next(dram_streams *streams, uint64_t seed, double p, double gap_stay, double gap_move,
                       double write_share, dram_request *requests, int64_t n);
/* cffi end */

#endif
