// Counting on a CUDA device; CODE is the type of codes and classes, CODES four of them.

typedef unsigned int u32;
typedef unsigned long long u64;

enum { DIFFERENCE = 0, APART = 1, JOINT = 2 };

struct Sums {
    double joint, marginal;
};

__device__ double n_log_n(u32 count) { return count ? count * log((double)count) : 0.0; }

__device__ double looked_up(u32 count, const double* table, u32 length) {
    return count < length ? table[count] : n_log_n(count);
}

// The same order of additions in every run: lanes of a warp pairwise, then warp after warp.
__device__ Sums over_all_threads(Sums mine) {
    __shared__ Sums of_warp[32];
    for (int apart = 16; apart > 0; apart /= 2) {
        mine.joint += __shfl_down_sync(~0u, mine.joint, apart);
        mine.marginal += __shfl_down_sync(~0u, mine.marginal, apart);
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    Sums all = {0.0, 0.0};
    if (threadIdx.x == 0)
        for (int warp = 0; warp < blockDim.x / 32; ++warp) {
            all.joint += of_warp[warp].joint;
            all.marginal += of_warp[warp].marginal;
        }
    return all;  // of the first thread alone
}

__device__ void count_rows(const CODE* codes, const CODE* classes, const u32* weights,
                           long long n_rows, long long n_padded, const int* features, int n_members,
                           const int* cardinalities, int n_classes, u32* table) {
    const CODES* four_classes = (const CODES*)classes;
    for (long long four = threadIdx.x; four * 4 < n_rows; four += blockDim.x) {
        u32 a = 0, b = 0, c = 0, d = 0;
        for (int j = 0; j < n_members; ++j) {
            u32 cardinality = cardinalities[features[j]];
            CODES code = ((const CODES*)(codes + features[j] * n_padded))[four];
            a = a * cardinality + code.x;
            b = b * cardinality + code.y;
            c = c * cardinality + code.z;
            d = d * cardinality + code.w;
        }
        CODES y = four_classes[four];
        long long left = n_rows - four * 4;
        bool whole = weights == nullptr;
        atomicAdd(&table[a * n_classes + y.x], whole ? 1 : weights[four * 4]);
        if (left > 1) atomicAdd(&table[b * n_classes + y.y], whole ? 1 : weights[four * 4 + 1]);
        if (left > 2) atomicAdd(&table[c * n_classes + y.z], whole ? 1 : weights[four * 4 + 2]);
        if (left > 3) atomicAdd(&table[d * n_classes + y.w], whole ? 1 : weights[four * 4 + 3]);
    }
}

// The sum of f over cells and classes, and that of g over cells. Where g is chance, totals beyond
// its table are noted, for they are worked out elsewhere.
__device__ Sums sums_of(const u32* table, u32 n_cells, int n_classes, const double* f, u32 f_length,
                        const double* g, u32 g_length, bool is_chance, u32 output, u64* beyond,
                        u32* n_beyond) {
    Sums mine = {0.0, 0.0};
    for (u32 cell = threadIdx.x; cell < n_cells; cell += blockDim.x) {
        u32 total = 0;
        for (int y = 0; y < n_classes; ++y) {
            u32 count = table[cell * n_classes + y];
            total += count;
            mine.joint += looked_up(count, f, f_length);
        }
        if (total < g_length || !is_chance)
            mine.marginal += looked_up(total, g, g_length);
        else
            beyond[atomicAdd(n_beyond, 1)] = ((u64)output << 32) | total;
    }
    return over_all_threads(mine);
}

// Cover-cube. A group of threads counts one block of features for one target (the recorded one, or
// one that was dealt out anew) into its shared memory, and reads the sums of the block's subsets
// off, summing features out one after the other, as in kernels/cube.py.
extern "C" __global__ void score_blocks(
    const CODE* codes, const CODE* targets, const u32* weights, long long n_rows,
    long long n_padded, const int* blocks, int block_size, const int* cardinalities, int n_classes,
    const int* starts, const int* kept, const int* outputs, long long n_outputs, const double* f,
    u32 f_length, const double* g, u32 g_length, int is_chance, int kind, double* sums, u64* beyond,
    u32* n_beyond) {
    extern __shared__ u32 tables[];
    const int* features = blocks + blockIdx.x * block_size;
    const CODE* classes = targets + blockIdx.y * n_padded;
    sums += blockIdx.y * n_outputs * (kind == APART ? 2 : 1);
    u32 at[34];  // where the table of each depth starts
    u32 whole = n_classes;
    for (int j = 0; j < block_size; ++j) whole *= cardinalities[features[j]];
    for (u32 i = threadIdx.x; i < whole; i += blockDim.x) tables[i] = 0;
    __syncthreads();
    count_rows(codes, classes, weights, n_rows, n_padded, features, block_size, cardinalities,
               n_classes, tables);
    __syncthreads();
    at[0] = 0;
    for (int step = starts[blockIdx.x]; step < starts[blockIdx.x + 1]; ++step) {
        int depth = 0, dropped = -1;
        u32 size = n_classes;
        for (int j = 0; j < block_size; ++j) {
            if (kept[step] >> j & 1) {
                size *= cardinalities[features[j]];
            } else {
                ++depth;
                dropped = j;
            }
        }
        u32* here = tables + at[depth];
        at[depth + 1] = at[depth] + size;
        if (depth > 0) {
            const u32* source = tables + at[depth - 1];
            u32 cardinality = cardinalities[features[dropped]], inner = n_classes;
            for (int j = dropped + 1; j < block_size; ++j) inner *= cardinalities[features[j]];
            for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
                u32 first = i / inner * cardinality * inner + i % inner, total = 0;
                for (u32 value = 0; value < cardinality; ++value)
                    total += source[first + value * inner];
                here[i] = total;
            }
            __syncthreads();
        }
        int output = outputs[step];
        if (output < 0) continue;
        Sums found = sums_of(here, size / n_classes, n_classes, f, f_length, g, g_length,
                             is_chance, output, beyond, n_beyond);
        if (threadIdx.x == 0) {
            sums[output] = kind == DIFFERENCE ? found.joint - found.marginal : found.joint;
            if (kind == APART) sums[n_outputs + output] = found.marginal;
        }
        __syncthreads();
    }
}

// Listed subsets of many cells. A group of threads takes one subset after the other, and counts its
// rows by class in a table of hashes in shared memory: a slot belongs to the first row that came to
// it, whose number and half of whose hash it holds; two counts share a word. A mask keeps the bits
// of a key that a subset's features own.
extern "C" __global__ void score_listed(const u64* keys, const CODE* classes, const u32* weights,
                                        int n_rows, int n_classes, const u64* masks, int n_subsets,
                                        int slot_bits, const double* f, const double* g, int kind,
                                        double* sums) {
    extern __shared__ u32 memory[];
    const int slots = 1 << slot_bits, words = (n_classes + 1) / 2;
    const u32 nobody = ~0u;
    u32* counts = memory;
    u32* owners = memory + slots * words;
    for (int subset = blockIdx.x; subset < n_subsets; subset += gridDim.x) {
        for (int i = threadIdx.x; i < slots * words; i += blockDim.x) counts[i] = 0;
        for (int i = threadIdx.x; i < slots; i += blockDim.x) owners[i] = nobody;
        __syncthreads();
        const u64 mask = masks[subset];
        for (int row = threadIdx.x; row < n_rows; row += blockDim.x) {
            const u64 key = keys[row] & mask;
            const u64 hash = (key ^ key >> 29) * 0x9E3779B97F4A7C15ull;
            const u32 me = (u32)(hash >> 16) << 16 | row;
            u32 slot = (u32)(hash >> (64 - slot_bits));
            while (true) {
                u32 owner = *(volatile u32*)(owners + slot);
                if (owner == nobody) owner = atomicCAS(owners + slot, nobody, me);
                if (owner == nobody) break;
                if ((owner ^ me) >> 16 == 0 && (keys[owner & 0xFFFF] & mask) == key) break;
                slot = (slot + 1) & (slots - 1);
            }
            const u32 y = classes[row], weight = weights == nullptr ? 1 : weights[row];
            atomicAdd(counts + slot * words + y / 2, weight << 16 * (y % 2));
        }
        __syncthreads();
        Sums mine = {0.0, 0.0};
        for (int slot = threadIdx.x; slot < slots; slot += blockDim.x) {
            u32 total = 0;
            for (int word = 0; word < words; ++word) {
                const u32 pair = counts[slot * words + word];
                total += (pair & 0xFFFF) + (pair >> 16);
                mine.joint += f[pair & 0xFFFF] + f[pair >> 16];
            }
            mine.marginal += g[total];
        }
        Sums found = over_all_threads(mine);
        if (threadIdx.x == 0) {
            sums[subset] = kind == DIFFERENCE ? found.joint - found.marginal : found.joint;
            if (kind == APART) sums[n_subsets + subset] = found.marginal;
        }
        __syncthreads();
    }
}

// The classes in a random order within every stratum, a group of threads a deal; the same orders as
// those of kernels/dealing.py. Seed 0 leaves them as they are.
extern "C" __global__ void deal(const CODE* classes, const long long* starts, int n_strata,
                                long long n_rows, long long n_padded, const u64* seeds, int shared,
                                CODE* targets) {
    extern __shared__ u32 memory[];
    CODE* written = targets + blockIdx.x * n_padded;
    CODE* dealt = shared ? (CODE*)memory : written;
    for (long long i = threadIdx.x; i < n_rows; i += blockDim.x) dealt[i] = classes[i];
    __syncthreads();
    u64 state = seeds[blockIdx.x];
    if (threadIdx.x == 0 && state != 0)
        for (int stratum = 0; stratum < n_strata; ++stratum) {
            long long first = starts[stratum];
            for (long long left = starts[stratum + 1] - first; left > 1; --left) {
                state += 0x9E3779B97F4A7C15ull;
                u64 bits = state;
                bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ull;
                bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBull;
                bits ^= bits >> 31;
                long long other = first + (long long)((bits >> 32) * (u64)left >> 32);
                CODE held = dealt[first + left - 1];
                dealt[first + left - 1] = dealt[other];
                dealt[other] = held;
            }
        }
    __syncthreads();
    if (shared)
        for (long long i = threadIdx.x; i < n_rows; i += blockDim.x) written[i] = dealt[i];
}
