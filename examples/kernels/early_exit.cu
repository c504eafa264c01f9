// A decoder that leaves early: numbers are small integers, so that all sums are exact.

// h = (state, turned by one, + the row of the table for the last token) mod 16
extern "C" __global__ void remember(const float *table, const unsigned *token, const float *state, float *h, unsigned vocabulary, unsigned d) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= d) return;
    unsigned row = min(*token, vocabulary - 1);
    float sum = state[i + 1 < d ? i + 1 : 0] + table[row * d + i];
    h[i] = sum - 16.0f * floorf(sum / 16.0f);
}

// y = (w · x) / 8, rounded down, from 0 to 15; one thread a row.
extern "C" __global__ void dense(const float *w, const float *x, float *y, unsigned d) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= d) return;
    float sum = 0.0f;
    for (unsigned i = 0; i < d; i++) sum += w[row * d + i] * x[i];
    y[row] = fminf(fmaxf(floorf(sum / 8.0f), 0.0f), 15.0f);
}

// scores = head · x; one thread a token.
extern "C" __global__ void score(const float *head, const float *x, float *scores, unsigned vocabulary, unsigned d) {
    unsigned token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= vocabulary) return;
    float sum = 0.0f;
    for (unsigned i = 0; i < d; i++) sum += head[token * d + i] * x[i];
    scores[token] = sum;
}

// token = the first one of the best; unsure = it leads the next one by less than `lead`. One thread.
extern "C" __global__ void pick(const float *scores, unsigned *token, unsigned *unsure, float lead, unsigned vocabulary) {
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    float best = scores[0], next = -1e30f;
    unsigned at = 0;
    for (unsigned i = 1; i < vocabulary; i++) {
        float own = scores[i];
        if (own > best) {
            next = best;
            best = own;
            at = i;
        } else {
            next = fmaxf(next, own);
        }
    }
    *token = at;
    *unsure = best - next < lead;
}

// Adds the token to the text, and counts it, also among the deep ones if it was unsure; go = it does not end the text. One thread.
extern "C" __global__ void append(const unsigned *token, const unsigned *unsure, unsigned *text, unsigned *counts, unsigned *go, unsigned most) {
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    unsigned at = counts[0];
    if (at < most) text[at] = *token;
    counts[0] = at + 1;
    counts[1] += *unsure;
    *go = *token != 0;
}
