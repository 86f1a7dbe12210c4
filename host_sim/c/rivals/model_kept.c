/* A model's memory as bytes. Rows of entries that are read must lead to states that are known, and end. */
#include "rivals/model_counts.h"

static int positions_hold(const rivals_model_config *config, const rivals_memory *memory)
{
    for (int64_t i = 0; i < (int64_t)memory->known * config->d_s; i++)
        if (!(memory->position[i] >= 0 && memory->position[i] <= 1))
            return 0;
    return 1;
}

/* An entry leads to an older one: a row ends. No entry is in two rows, or in none. */
static int rows_hold(const rivals_model_config *config, size_t pairs, rivals_memory *memory)
{
    int32_t found = 0;
    memory->rows = 0;
    memory->visited = 0;
    for (size_t i = 0; i < pairs; i++) {
        const rivals_pair *pair = &memory->pair[i];
        int32_t before = memory->entries;
        int64_t total = 0;
        for (int32_t e = pair->head; e != -1; e = memory->entry[e].link) {
            if (e < 0 || e >= before || ++found > memory->entries)
                return 0;
            const rivals_entry *entry = &memory->entry[e];
            if (entry->next < 0 || entry->next >= memory->known || entry->count < 0 || entry->count > config->count_max)
                return 0;
            before = e;
            total += entry->count;
        }
        if (pair->n < 0 || pair->n > RIVALS_COUNT_MAX || pair->total != total)
            return 0;
        memory->rows += pair->head != -1;
        memory->visited += pair->n > 0;
    }
    return found == memory->entries && memory->halved >= 0 && memory->halved < INT64_MAX / 2;
}

void rivals_memory_kept(const rivals_model_config *config, int32_t actions, rivals_memory *memory, kept_row *row)
{
    size_t states = (size_t)config->states, steps = (size_t)config->horizon, in_a_step = states * (size_t)actions;
    size_t pairs = (config->share ? 1 : steps) * in_a_step;
    int32_t entries = memory->entries;
    kept_count(row, &entries, sizeof *memory->entry);
    if (kept_is_read(row) && entries > memory->capacity && !rivals_reserve_entries(memory, entries))
        row->wrong = -1;
    if (row->wrong)
        return;
    memory->entries = entries;
    kept_piece(row, memory->entry, (size_t)entries * sizeof *memory->entry);
    kept_piece(row, memory->pair, pairs * sizeof *memory->pair);
    kept_piece(row, memory->q, steps * in_a_step * sizeof *memory->q);
    kept_piece(row, memory->v, steps * states * sizeof *memory->v);
    kept_piece(row, memory->position, states * (size_t)config->d_s * sizeof *memory->position);
    kept_piece(row, memory->kernel, memory->kernel == NULL ? 0 : states * states * sizeof *memory->kernel);
    kept_piece(row, &memory->known, sizeof memory->known);
    kept_piece(row, &memory->halved, sizeof memory->halved);
    kept_piece(row, &memory->rng, sizeof memory->rng);
    kept_check(row, memory->known >= (config->size_s > 0 ? config->states : 0) && memory->known <= config->states);
    if (kept_is_read(row))
        kept_check(row, positions_hold(config, memory) && rows_hold(config, pairs, memory));
}
