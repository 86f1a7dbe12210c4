#include "dram/dram.h"
#include "exact.h"
#include "sim_rng.h"
#include <string.h>

#define LONG_AGO (-DRAM_NEVER)

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void dram_reset(dram_channel *channel, const dram_timing *timing)
{
    memset(channel, 0, sizeof *channel);
    channel->last_read_cas = channel->last_write_cas = LONG_AGO;
    channel->next_refresh = timing->t_refi;
    for (int i = 0; i < 4; i++)
        channel->acts[i] = LONG_AGO;
    for (int b = 0; b < DRAM_BANKS; b++) {
        dram_bank *bank = &channel->bank[b];
        bank->row = -1;
        bank->act = bank->close_at = bank->cas_ok = bank->pre_ok = LONG_AGO;
    }
}

/* All banks are precharged, then refreshed together. Refreshes that fell into idle time cost nothing and are
 * only counted, otherwise a long pause would be followed by a burst of them. */
static void refresh(dram_channel *channel, const dram_timing *timing, dram_totals *totals)
{
    int64_t missed = (channel->now - channel->next_refresh) / timing->t_refi;
    channel->next_refresh += missed * timing->t_refi;
    int64_t due = channel->next_refresh, start = due;
    for (int b = 0; b < timing->banks; b++) {
        const dram_bank *bank = &channel->bank[b];
        int64_t closing = due < bank->close_at ? later(due, bank->pre_ok) : bank->close_at;
        start = later(start, closing + timing->t_rp);
    }
    for (int b = 0; b < timing->banks; b++) {
        channel->bank[b].row = -1;
        channel->bank[b].close_at = start + timing->t_rfc - timing->t_rp;
        channel->bank[b].pre_ok = channel->bank[b].close_at;
    }
    channel->next_refresh += timing->t_refi;
    totals->refreshes += missed + 1;
}

static int64_t admit(dram_channel *channel, const dram_policy *policy, const dram_request *requests, int64_t next,
                     int64_t n)
{
    for (; next < n && requests[next].arrival <= channel->now; next++) {
        const dram_request *request = &requests[next];
        dram_queue *queue = request->write ? &channel->writes : &channel->reads;
        if (queue->n == (request->write ? policy->write_queue : policy->read_queue))
            break;
        queue->arrival[queue->n] = request->arrival;
        queue->row[queue->n] = request->row;
        queue->bank[queue->n] = request->bank;
        queue->n++;
    }
    return next;
}

/* The queue to serve now, or NULL when the channel should wait for an arrival. */
static dram_queue *choose_queue(dram_channel *channel, const dram_policy *policy)
{
    int writes = channel->writes.n;
    int opportune = channel->reads.n == 0 && writes >= policy->opportune;
    int low = policy->opportune <= policy->drain_low ? policy->opportune - 1 : policy->drain_low;
    if (channel->draining && writes <= low)
        channel->draining = 0;
    else if (writes >= policy->drain_high || opportune)
        channel->draining = 1;
    if (channel->draining)
        return &channel->writes;
    return channel->reads.n ? &channel->reads : NULL;
}

static int is_open(const dram_bank *bank, int64_t row, int64_t arrival, int64_t now)
{
    return bank->row == row && (now <= bank->close_at || arrival <= bank->close_at);
}

/* Time at which the bank could be activated for another row. */
static int64_t ready_at(const dram_bank *bank, int64_t now, int32_t t_rp)
{
    return now < bank->close_at ? later(now, bank->pre_ok) + t_rp : later(now, bank->close_at + t_rp);
}

/* First ready: the oldest row hit, else the bank that can be activated first, ties to the oldest. */
static int choose_request(const dram_channel *channel, const dram_queue *queue, int32_t t_rp)
{
    int best = 0;
    int64_t earliest = DRAM_NEVER;
    for (int i = 0; i < queue->n && queue->n > 1; i++) {
        const dram_bank *bank = &channel->bank[queue->bank[i]];
        if (is_open(bank, queue->row[i], queue->arrival[i], channel->now))
            return i;
        int64_t ready = ready_at(bank, channel->now, t_rp);
        if (ready < earliest) {
            earliest = ready;
            best = i;
        }
    }
    return best;
}

static void remove_entry(dram_queue *queue, int i)
{
    size_t rest = (size_t)(queue->n - i - 1);
    queue->n--;
    if (rest == 0)
        return;
    memmove(&queue->arrival[i], &queue->arrival[i + 1], rest * sizeof queue->arrival[0]);
    memmove(&queue->row[i], &queue->row[i + 1], rest * sizeof queue->row[0]);
    memmove(&queue->bank[i], &queue->bank[i + 1], rest * sizeof queue->bank[0]);
}

/* floor(log2(cycles)), at most the last bucket. */
static int octave(int64_t cycles)
{
    int i = 0;
    for (; cycles > 1 && i < DRAM_LATENCIES - 1; cycles >>= 1)
        i++;
    return i;
}

static void serve(dram_channel *channel, const dram_timing *timing, const dram_policy *policy, dram_queue *queue,
                  int i, dram_totals *totals)
{
    int64_t now = channel->now, arrival = queue->arrival[i], row = queue->row[i], cas;
    dram_bank *bank = &channel->bank[queue->bank[i]];
    int write = queue == &channel->writes;
    if (is_open(bank, row, arrival, now)) {
        cas = later(now, bank->cas_ok);
        totals->hits++;
    } else {
        if (now < bank->close_at) {
            totals->conflicts++;
        } else {
            totals->closed++;
            totals->reopened += bank->row == row;
        }
        int64_t act = ready_at(bank, now, timing->t_rp);
        act = later(act, channel->acts[(channel->act_at + 3) & 3] + timing->t_rrd);
        act = later(act, channel->acts[channel->act_at] + timing->t_faw);
        channel->acts[channel->act_at] = act;
        channel->act_at = (channel->act_at + 1) & 3;
        bank->row = row;
        bank->act = act;
        bank->pre_ok = act + timing->t_ras;
        cas = act + timing->t_rcd;
    }
    if (write) {
        cas = later(cas, channel->last_write_cas + timing->t_ccd);
        cas = later(cas, channel->last_read_cas + timing->cl + timing->burst + 2 - timing->cwl);
        channel->last_write_cas = cas;
        bank->pre_ok = later(bank->pre_ok, cas + timing->cwl + timing->burst + timing->t_wr);
        totals->writes++;
    } else {
        cas = later(cas, channel->last_read_cas + timing->t_ccd);
        cas = later(cas, channel->last_write_cas + timing->cwl + timing->burst + timing->t_wtr);
        channel->last_read_cas = cas;
        bank->pre_ok = later(bank->pre_ok, cas + timing->t_rtp);
        int64_t latency = cas + timing->cl + timing->burst - arrival;
        totals->read_latency += latency;
        totals->worst_read = later(totals->worst_read, latency);
        totals->latency_n[octave(latency)]++;
        totals->reads++;
    }
    bank->cas_ok = cas + timing->t_ccd;
    bank->close_at = policy->timeout == DRAM_NEVER ? DRAM_NEVER : later(cas + policy->timeout, bank->pre_ok);
    remove_entry(queue, i);
    channel->now = later(now + 1, cas + timing->burst - timing->t_rp - timing->t_rcd);
}

void dram_run(dram_channel *channel, const dram_timing *timing, const dram_policy *policy,
              const dram_request *requests, int64_t n, dram_totals *totals)
{
    int64_t next = 0;
    for (;;) {
        if (policy->refresh && channel->now >= channel->next_refresh)
            refresh(channel, timing, totals);
        next = admit(channel, policy, requests, next, n);
        if (next == n && channel->reads.n == 0)
            return;
        dram_queue *queue = choose_queue(channel, policy);
        if (queue == NULL) {
            channel->now = later(channel->now, requests[next].arrival);
            continue;
        }
        int i = policy->in_order ? 0 : choose_request(channel, queue, timing->t_rp);
        serve(channel, timing, policy, queue, i, totals);
    }
}

void dram_shadow_reset(dram_shadow *shadow)
{
    for (int b = 0; b < DRAM_BANKS; b++)
        shadow->row[b] = -1;
    shadow->last_arrival = 0;
}

void dram_observe(dram_shadow *shadow, const dram_request *requests, int64_t n, dram_view *view)
{
    memset(view, 0, sizeof *view);
    for (int64_t i = 0; i < n; i++) {
        const dram_request *request = &requests[i];
        view->same_row += shadow->row[request->bank] == request->row;
        view->writes += request->write != 0;
        shadow->row[request->bank] = request->row;
    }
    view->requests = n;
    if (n > 0) {
        view->span = requests[n - 1].arrival - shadow->last_arrival;
        shadow->last_arrival = requests[n - 1].arrival;
    }
}

static double exponential(sim_rng *rng, double mean)
{
    return -mean * exact_log(1.0 - sim_rng_uniform(rng));
}

static void advance_stream(dram_streams *streams, int s, sim_rng *rng, double p, double gap_stay, double gap_move)
{
    int stay = sim_rng_uniform(rng) < p;
    streams->at[s] += 1.0 + exponential(rng, stay ? gap_stay : gap_move);
    if (!stay)
        streams->row[s] = streams->fresh_row++;
}

void dram_streams_reset(dram_streams *streams, int32_t n, uint64_t seed, double p, double gap_stay,
                        double gap_move)
{
    sim_rng rng;
    sim_rng_seed(&rng, seed);
    memset(streams, 0, sizeof *streams);
    streams->streams = n;
    for (int s = 0; s < n; s++) {
        streams->row[s] = streams->fresh_row++;
        advance_stream(streams, s, &rng, p, gap_stay, gap_move);
    }
}

void dram_streams_next(dram_streams *streams, uint64_t seed, double p, double gap_stay, double gap_move,
                       double write_share, dram_request *requests, int64_t n)
{
    sim_rng rng;
    sim_rng_seed(&rng, seed);
    for (int64_t i = 0; i < n; i++) {
        int first = 0;
        for (int s = 1; s < streams->streams; s++)
            if (streams->at[s] < streams->at[first])
                first = s;
        requests[i].arrival = (int64_t)streams->at[first];
        requests[i].row = streams->row[first];
        requests[i].bank = first;
        requests[i].write = sim_rng_uniform(&rng) < write_share;
        advance_stream(streams, first, &rng, p, gap_stay, gap_move);
    }
}
