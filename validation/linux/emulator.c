/*
 * emulator.c - a bottleneck in user space, between two TUN devices.
 *
 * One process owns both TUN file descriptors (one per network namespace) and
 * moves packets between them:
 *
 *   ns A (senders) --tunA--> [drop rules] [drop-tail FIFO | R bit/s] [delay] --tunB--> ns B (sinks)
 *   ns B           --tunB--> [drop rules] [FIFO | R_rev or infinite ] [delay] --tunA--> ns A
 *
 * Service times are computed on an exact virtual clock (start = max(arrival,
 * previous finish)), so that scheduling jitter of this process does not
 * accumulate; the lateness of every delivery against that clock is recorded
 * and reported, so a disturbed run can be recognised and repeated.
 *
 * The queue limit counts WAITING packets only; the packet being serialised is
 * not counted.
 *
 * Arguments are key=value; see usage().
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MAXPKT 2048
#define POOL 65536 /* packets in flight inside the emulator */
#define MAXFLOW 16
#define MAXRULE 512

typedef struct {
    uint64_t t;   /* arrival, ns */
    uint64_t due; /* ideal delivery time, ns */
    uint64_t ord; /* tie break */
    uint16_t len;
    uint8_t flow; /* 0..MAXFLOW-1, 255 = not ours */
    uint32_t seq, ack;
    uint16_t paylen;
    uint8_t tcpflags;
    uint8_t data[MAXPKT];
} pkt_t;

typedef struct { /* log record, 40 bytes, host endian */
    uint64_t t_ns;
    uint64_t aux_ns; /* meaning depends on ev */
    uint32_t seq, ack;
    uint16_t len, paylen;
    uint16_t qpkts; /* waiting packets after the event */
    uint8_t ev, dir, flow, tcpflags;
    uint16_t pad;
    uint32_t pad2;
} rec_t;

enum {
    EV_ENQ = 1,
    EV_DROP_TAIL = 2,
    EV_DROP_RAND = 3,
    EV_DROP_LIST = 4,
    EV_START = 5,
    EV_DELIVER = 6,
    EV_MARK = 7
};

typedef struct {
    int in_fd, out_fd;
    double rate_bps; /* 0 = infinite */
    uint64_t delay_ns;
    uint32_t lim_pkts;  /* 0 = no limit */
    uint32_t lim_bytes; /* 0 = no limit */
    uint32_t ecn_pkts;  /* mark CE when waiting packets >= this; 0 = off */
    double loss;
    uint64_t rng;
    int fifo[POOL]; /* ring of waiting packets */
    uint32_t head, tail;
    uint32_t qbytes;
    int serving;    /* packet index or -1 */
    double free_at; /* virtual time the link becomes free, ns (double: sub-ns ok) */
    uint64_t fin;   /* finish time of the packet being served */
    /* statistics */
    uint64_t n_in, n_tail, n_rand, n_list, n_out, n_mark, b_out, n_oversize;
    uint32_t qmax;
} dir_t;

static pkt_t *pool;
static int freelist[POOL], nfree;
static dir_t D[2];
static rec_t *logbuf;
static uint64_t nlog, maxlog;
static uint64_t ordctr;
static uint16_t base_port = 5001;
static uint64_t flow_extra[MAXFLOW];   /* extra one-way delay on the ACK path, ns */
static uint64_t flow_dataidx[MAXFLOW]; /* data packets seen, forward direction */
static uint64_t flow_ackidx[MAXFLOW];  /* pure ACKs seen, reverse direction */
static uint64_t flow_retx[MAXFLOW];    /* of those, retransmissions seen */
static uint32_t flow_maxseq[MAXFLOW];
static bool flow_seen[MAXFLOW];

static struct {
    int flow;
    uint64_t idx;
    uint64_t delay_ns;
    bool drop, retx, rev;
} rule[MAXRULE];

static int nrule;
static volatile sig_atomic_t stop;
static uint16_t mtu = 1500;
static uint64_t late_hist[24];
static uint64_t late_max, late_n;
static double late_sum;
static uint64_t spin_ns = 60000;

static void on_sig(int s) {
    (void)s;
    stop = 1;
}

static inline uint64_t now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* splitmix64: one independent stream per direction */
static inline uint64_t sm64(uint64_t *s) {
    uint64_t z = (*s += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static inline double u01(uint64_t *s) {
    return (sm64(s) >> 11) * (1.0 / 9007199254740992.0);
}

/* ---- min-heap of packets on the propagation path, keyed (due, ord) ---- */
static int heap[2][POOL];
static int hn[2];

static inline bool lt(int a, int b) {
    return pool[a].due < pool[b].due || (pool[a].due == pool[b].due && pool[a].ord < pool[b].ord);
}

static void hpush(int d, int p) {
    int i = hn[d]++;
    int *h = heap[d];
    while (i && lt(p, h[(i - 1) / 2])) {
        h[i] = h[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h[i] = p;
}

static int hpop(int d) {
    int *h = heap[d];
    int top = h[0], last = h[--hn[d]], i = 0, n = hn[d];
    for (;;) {
        int c = 2 * i + 1;
        if (c >= n)
            break;
        if (c + 1 < n && lt(h[c + 1], h[c]))
            c++;
        if (!lt(h[c], last))
            break;
        h[i] = h[c];
        i = c;
    }
    if (n)
        h[i] = last;
    return top;
}

static void rec(uint8_t ev, int d, const pkt_t *p, uint64_t t, uint64_t aux) {
    if (nlog >= maxlog)
        return;
    rec_t *r = &logbuf[nlog++];
    *r = (rec_t){.t_ns = t,
                 .aux_ns = aux,
                 .seq = p->seq,
                 .ack = p->ack,
                 .len = p->len,
                 .paylen = p->paylen,
                 .qpkts = (uint16_t)(D[d].tail - D[d].head),
                 .ev = ev,
                 .dir = (uint8_t)d,
                 .flow = p->flow,
                 .tcpflags = p->tcpflags};
}

static void parse(pkt_t *p, int d) {
    p->flow = 255;
    p->seq = p->ack = 0;
    p->paylen = 0;
    p->tcpflags = 0;
    const uint8_t *b = p->data;
    if (p->len < 20 || (b[0] >> 4) != 4)
        return;
    unsigned ihl = (b[0] & 15) * 4;
    if (b[9] == 17 && p->len >= ihl + 8) { /* UDP, used for calibration */
        uint16_t port = (uint16_t)(b[ihl + 2] << 8 | b[ihl + 3]);
        if (port >= base_port && port < base_port + MAXFLOW)
            p->flow = (uint8_t)(port - base_port);
        p->paylen = (uint16_t)(p->len - ihl - 8);
        if (p->paylen >= 4)
            p->seq = (uint32_t)b[ihl + 8] << 24 | b[ihl + 9] << 16 | b[ihl + 10] << 8 | b[ihl + 11];
        return;
    }
    if (b[9] != 6 || p->len < ihl + 20)
        return;
    const uint8_t *t = b + ihl;
    uint16_t port = d == 0 ? (uint16_t)(t[2] << 8 | t[3]) : (uint16_t)(t[0] << 8 | t[1]);
    if (port >= base_port && port < base_port + MAXFLOW)
        p->flow = (uint8_t)(port - base_port);
    p->seq = (uint32_t)t[4] << 24 | t[5] << 16 | t[6] << 8 | t[7];
    p->ack = (uint32_t)t[8] << 24 | t[9] << 16 | t[10] << 8 | t[11];
    unsigned doff = (t[12] >> 4) * 4;
    p->tcpflags = t[13];
    uint16_t tot = (uint16_t)(b[2] << 8 | b[3]);
    if (tot >= ihl + doff)
        p->paylen = (uint16_t)(tot - ihl - doff);
}

static bool mark_ce(pkt_t *p) { /* returns true if ECT and now CE */
    uint8_t *b = p->data;
    if ((b[0] >> 4) != 4)
        return false;
    if ((b[1] & 3) == 0)
        return false;
    if ((b[1] & 3) == 3)
        return true;
    b[1] |= 3;
    b[10] = b[11] = 0;
    uint32_t s = 0;
    unsigned ihl = (b[0] & 15) * 4;
    for (unsigned i = 0; i < ihl; i += 2)
        s += (uint32_t)(b[i] << 8 | b[i + 1]);
    while (s >> 16)
        s = (s & 0xffff) + (s >> 16);
    s = ~s & 0xffff;
    b[10] = (uint8_t)(s >> 8);
    b[11] = (uint8_t)s;
    return true;
}

static void to_wire(int d, int pi, uint64_t fin) { /* serialisation done: enter propagation */
    pkt_t *p = &pool[pi];
    p->due = fin + D[d].delay_ns + (p->due /* extra, stashed */);
    p->ord = ++ordctr;
    hpush(d, pi);
}

static void start_service(int d, int pi, uint64_t t_start) {
    dir_t *x = &D[d];
    pkt_t *p = &pool[pi];
    double s = x->free_at > (double)t_start ? x->free_at : (double)t_start;
    x->free_at = s + p->len * 8e9 / x->rate_bps;
    x->fin = (uint64_t)(x->free_at + 0.5);
    x->serving = pi;
    rec(EV_START, d, p, (uint64_t)s, (uint64_t)s - p->t);
}

static void service(int d, uint64_t now) { /* finish everything with finish time <= now */
    dir_t *x = &D[d];
    while (x->serving >= 0 && x->fin <= now) {
        uint64_t fin = x->fin;
        int pi = x->serving;
        x->serving = -1;
        to_wire(d, pi, fin);
        if (x->head != x->tail) {
            int q = x->fifo[x->head++ % POOL];
            x->qbytes -= pool[q].len;
            start_service(d, q, fin);
        }
    }
}

static void deliver(int d, uint64_t now) {
    while (hn[d] && pool[heap[d][0]].due <= now) {
        int pi = hpop(d);
        pkt_t *p = &pool[pi];
        uint64_t t = now_ns();
        uint64_t l = t - p->due;
        ssize_t w = write(D[d].out_fd, p->data, p->len);
        if (w < 0 && errno != EIO)
            perror("write tun");
        int b = 0;
        while (b < 23 && (l >> (b + 7)))
            b++; /* bucket 0: <128 ns, doubling */
        late_hist[b]++;
        late_n++;
        late_sum += (double)l;
        if (l > late_max)
            late_max = l;
        D[d].n_out++;
        D[d].b_out += p->len;
        rec(EV_DELIVER, d, p, t, l);
        freelist[nfree++] = pi;
    }
}

static bool ingest(int d) { /* read one packet; false when none */
    dir_t *x = &D[d];
    if (!nfree) {
        fprintf(stderr, "pool exhausted\n");
        stop = 1;
        return false;
    }
    int pi = freelist[nfree - 1];
    pkt_t *p = &pool[pi];
    ssize_t n = read(x->in_fd, p->data, MAXPKT);
    if (n <= 0)
        return false;
    nfree--;
    uint64_t now = now_ns();
    service(d, now);
    p->t = now;
    p->len = (uint16_t)n;
    parse(p, d);
    x->n_in++;
    if (n > mtu)
        x->n_oversize++;
    uint64_t extra = 0;
    if (p->flow != 255 && p->paylen && d == 0) {
        uint64_t idx = ++flow_dataidx[p->flow], ridx = 0;
        uint32_t end = p->seq + p->paylen;
        if (flow_seen[p->flow] && (int32_t)(end - flow_maxseq[p->flow]) <= 0)
            ridx = ++flow_retx[p->flow];
        else {
            flow_maxseq[p->flow] = end;
            flow_seen[p->flow] = true;
        }
        for (int i = 0; i < nrule; i++)
            if (!rule[i].rev && rule[i].flow == p->flow &&
                rule[i].idx == (rule[i].retx ? ridx : idx)) {
                if (rule[i].drop) {
                    x->n_list++;
                    rec(EV_DROP_LIST, d, p, now, idx);
                    freelist[nfree++] = pi;
                    return true;
                }
                extra += rule[i].delay_ns;
            }
    }
    if (p->flow != 255 && d == 1 && !p->paylen && !(p->tcpflags & 7)) {
        uint64_t idx = ++flow_ackidx[p->flow];
        for (int i = 0; i < nrule; i++)
            if (rule[i].rev && rule[i].flow == p->flow && rule[i].idx == idx) {
                x->n_list++;
                rec(EV_DROP_LIST, d, p, now, idx);
                freelist[nfree++] = pi;
                return true;
            }
    }
    /* Bernoulli: forward direction hits data packets only; reverse direction hits pure ACKs only */
    bool elig =
        p->flow != 255 && ((d == 0) ? p->paylen > 0 : (p->paylen == 0 && !(p->tcpflags & 7)));
    if (x->loss > 0 && elig && u01(&x->rng) < x->loss) {
        x->n_rand++;
        rec(EV_DROP_RAND, d, p, now, 0);
        freelist[nfree++] = pi;
        return true;
    }
    if (d == 1 && p->flow != 255)
        extra += flow_extra[p->flow];
    p->due = extra;
    if (x->rate_bps <= 0) {
        rec(EV_ENQ, d, p, now, 0);
        to_wire(d, pi, now);
        return true;
    }
    uint32_t waiting = x->tail - x->head;
    if (x->serving < 0) {
        rec(EV_ENQ, d, p, now, 0);
        start_service(d, pi, now);
        return true;
    }
    if ((x->lim_pkts && waiting >= x->lim_pkts) ||
        (x->lim_bytes && x->qbytes + p->len > x->lim_bytes)) {
        x->n_tail++;
        rec(EV_DROP_TAIL, d, p, now, 0);
        freelist[nfree++] = pi;
        return true;
    }
    if (x->ecn_pkts && waiting >= x->ecn_pkts && mark_ce(p)) {
        x->n_mark++;
        rec(EV_MARK, d, p, now, 0);
    }
    x->fifo[x->tail++ % POOL] = pi;
    x->qbytes += p->len;
    if (waiting + 1 > x->qmax)
        x->qmax = waiting + 1;
    rec(EV_ENQ, d, p, now, 0);
    return true;
}

static int open_tun(const char *ns, const char *dev) {
    char path[256];
    snprintf(path, sizeof path, "/var/run/netns/%s", ns);
    int f = open(path, O_RDONLY);
    if (f < 0) {
        perror(path);
        exit(2);
    }
    if (setns(f, CLONE_NEWNET)) {
        perror("setns");
        exit(2);
    }
    close(f);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (fd < 0) {
        perror("/dev/net/tun");
        exit(2);
    }
    struct ifreq ifr;
    memset(&ifr, 0, sizeof ifr);
    ifr.ifr_flags = IFF_TUN | IFF_NO_PI;
    snprintf(ifr.ifr_name, IFNAMSIZ, "%s", dev);
    if (ioctl(fd, TUNSETIFF, &ifr)) {
        perror("TUNSETIFF");
        exit(2);
    }
    return fd;
}

static void usage(void) {
    fprintf(stderr, "emulator nsA=NAME nsB=NAME [rate=BITS/S] [rrate=0] [delay_us=ONE-WAY] [rdelay_us=] "
                    "[qpkts=N] [qbytes=N]\n"
                    "    [loss=P] [rloss=P] [seed=N] [ecn=N] [port=5001] [extra=F:US,...] "
                    "[drop=F:IDX,...] [rdrop=F:J,...] [adrop=F:K,...] [hold=F:IDX:US,...]\n"
                    "    [log=FILE] [dur=S] [rt=1] [spin_us=60]\n"
                    "prints READY when both devices are attached; statistics as JSON on exit "
                    "(SIGTERM/SIGINT or dur)\n");
    exit(2);
}

static struct {
    const char *ns[2], *log;
    double rate, rrate, loss, rloss, duration_s;
    uint64_t delay_ns, rdelay_ns, seed;
    uint32_t queue_pkts, queue_bytes, ecn_pkts;
    int realtime;
} arg = {.duration_s = 60, .rdelay_ns = UINT64_MAX, .seed = 1, .realtime = 1};

/* FLOW:INDEX or FLOW:INDEX:MICROSECONDS, separated by commas; the kind is that of the argument. */
static void add_rules(char kind, char *list) {
    for (char *s = strtok(list, ","); s; s = strtok(0, ",")) {
        char *e;
        int flow = (int)strtol(s, &e, 10);
        if (*e != ':' || flow < 0 || flow >= MAXFLOW)
            usage();
        uint64_t index = strtoull(e + 1, &e, 10);
        if (kind == 'e') {
            flow_extra[flow] = index * 1000;
            continue;
        }
        if (nrule >= MAXRULE || (kind == 'h' && *e != ':'))
            usage();
        rule[nrule].flow = flow;
        rule[nrule].idx = index;
        rule[nrule].drop = kind != 'h';
        rule[nrule].retx = kind == 'r';
        rule[nrule].rev = kind == 'a';
        if (kind == 'h')
            rule[nrule].delay_ns = strtoull(e + 1, 0, 10) * 1000;
        nrule++;
    }
}

static void read_argument(char *text) {
    char *v = strchr(text, '='), *k = text;
    if (!v)
        usage();
    *v++ = 0;
    if (!strcmp(k, "nsA"))
        arg.ns[0] = v;
    else if (!strcmp(k, "nsB"))
        arg.ns[1] = v;
    else if (!strcmp(k, "log"))
        arg.log = v;
    else if (!strcmp(k, "rate"))
        arg.rate = atof(v);
    else if (!strcmp(k, "rrate"))
        arg.rrate = atof(v);
    else if (!strcmp(k, "delay_us"))
        arg.delay_ns = (uint64_t)(atof(v) * 1000);
    else if (!strcmp(k, "rdelay_us"))
        arg.rdelay_ns = (uint64_t)(atof(v) * 1000);
    else if (!strcmp(k, "qpkts"))
        arg.queue_pkts = (uint32_t)atoi(v);
    else if (!strcmp(k, "qbytes"))
        arg.queue_bytes = (uint32_t)atoi(v);
    else if (!strcmp(k, "loss"))
        arg.loss = atof(v);
    else if (!strcmp(k, "rloss"))
        arg.rloss = atof(v);
    else if (!strcmp(k, "seed"))
        arg.seed = strtoull(v, 0, 10);
    else if (!strcmp(k, "ecn"))
        arg.ecn_pkts = (uint32_t)atoi(v);
    else if (!strcmp(k, "port"))
        base_port = (uint16_t)atoi(v);
    else if (!strcmp(k, "dur"))
        arg.duration_s = atof(v);
    else if (!strcmp(k, "rt"))
        arg.realtime = atoi(v);
    else if (!strcmp(k, "spin_us"))
        spin_ns = (uint64_t)(atof(v) * 1000);
    else if (!strcmp(k, "extra") || !strcmp(k, "drop") || !strcmp(k, "rdrop") ||
             !strcmp(k, "adrop") || !strcmp(k, "hold"))
        add_rules(k[0], v);
    else
        usage();
}

static void set_up(void) {
    pool = malloc(sizeof(pkt_t) * POOL);
    for (int i = 0; i < POOL; i++)
        freelist[nfree++] = POOL - 1 - i;
    maxlog = 6000000;
    logbuf = mmap(0, maxlog * sizeof(rec_t), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!pool || logbuf == MAP_FAILED) {
        perror("memory");
        exit(2);
    }
    memset(pool, 0, sizeof(pkt_t) * POOL);
    int a = open_tun(arg.ns[0], "tun0"), b = open_tun(arg.ns[1], "tun0");
    D[0] = (dir_t){.in_fd = a,
                   .out_fd = b,
                   .rate_bps = arg.rate,
                   .delay_ns = arg.delay_ns,
                   .lim_pkts = arg.queue_pkts,
                   .lim_bytes = arg.queue_bytes,
                   .ecn_pkts = arg.ecn_pkts,
                   .loss = arg.loss,
                   .rng = arg.seed * 2 + 1,
                   .serving = -1};
    D[1] = (dir_t){.in_fd = b,
                   .out_fd = a,
                   .rate_bps = arg.rrate,
                   .delay_ns = arg.rdelay_ns,
                   .loss = arg.rloss,
                   .rng = arg.seed * 2 + 0x5EED,
                   .serving = -1};
    signal(SIGTERM, on_sig);
    signal(SIGINT, on_sig);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1000);
    if (arg.realtime) {
        struct sched_param sp = {.sched_priority = 20};
        if (sched_setscheduler(0, SCHED_FIFO, &sp))
            perror("SCHED_FIFO (continuing without)");
    }
}

/* Moves packets until the time is up or a signal comes. */
static void move_packets(void) {
    uint64_t t_end = now_ns() + (uint64_t)(arg.duration_s * 1e9);
    struct pollfd pf[2] = {{D[0].in_fd, POLLIN, 0}, {D[1].in_fd, POLLIN, 0}};
    while (!stop) {
        uint64_t now = now_ns();
        if (now >= t_end)
            break;
        for (int d = 0; d < 2; d++) {
            service(d, now);
            deliver(d, now);
        }
        bool any = false;
        for (int k = 0; k < 64; k++) {
            bool x = ingest(0), y = ingest(1);
            if (!x && !y)
                break;
            any = true;
            if ((k & 7) == 7) {
                now = now_ns();
                for (int d = 0; d < 2; d++) {
                    service(d, now);
                    deliver(d, now);
                }
            }
        }
        if (any)
            continue;
        uint64_t next = t_end;
        for (int d = 0; d < 2; d++) {
            if (D[d].serving >= 0 && D[d].fin < next)
                next = D[d].fin;
            if (hn[d] && pool[heap[d][0]].due < next)
                next = pool[heap[d][0]].due;
        }
        now = now_ns();
        if (next > now + spin_ns) {
            uint64_t w = next - now - spin_ns;
            if (w > 20000000)
                w = 20000000;
            struct timespec ts = {(time_t)(w / 1000000000ull), (long)(w % 1000000000ull)};
            ppoll(pf, 2, &ts, 0);
        }
    }
}

static void write_log(const char *path) {
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(2);
    }
    size_t w = fwrite(logbuf, sizeof(rec_t), nlog, f);
    if (fclose(f) || w != nlog) {
        fprintf(stderr, "log write failed\n");
        exit(2);
    }
}

static void report(void) {
    printf("{\"log_records\": %" PRIu64 ", \"log_full\": %s", nlog,
           nlog >= maxlog ? "true" : "false");
    for (int d = 0; d < 2; d++)
        printf(", \"%s\": {\"in\": %" PRIu64 ", \"out\": %" PRIu64 ", \"out_bytes\": %" PRIu64
               ", \"drop_tail\": %" PRIu64 ", \"drop_rand\": %" PRIu64 ", \"drop_list\": %" PRIu64
               ", \"marks\": %" PRIu64 ", \"over_mtu\": %" PRIu64 ", \"qmax\": %u}",
               d ? "rev" : "fwd", D[d].n_in, D[d].n_out, D[d].b_out, D[d].n_tail, D[d].n_rand,
               D[d].n_list, D[d].n_mark, D[d].n_oversize, D[d].qmax);
    printf(", \"late_us\": {\"mean\": %.2f, \"max\": %.1f",
           late_n ? late_sum / (double)late_n / 1e3 : 0.0, (double)late_max / 1e3);
    const double qs[] = {0.5, 0.9, 0.99, 0.999};
    const char *qn[] = {"p50", "p90", "p99", "p999"};
    for (int i = 0; i < 4; i++) {
        uint64_t c = 0, want = (uint64_t)ceil(qs[i] * (double)late_n);
        int k = 0;
        for (; k < 24; k++) {
            c += late_hist[k];
            if (c >= want)
                break;
        }
        printf(", \"%s_le\": %.1f", qn[i], (double)(1ull << (k + 7)) / 1e3);
    }
    printf("}}\n");
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        read_argument(argv[i]);
    if (!arg.ns[0] || !arg.ns[1])
        usage();
    if (arg.rdelay_ns == UINT64_MAX)
        arg.rdelay_ns = arg.delay_ns;
    set_up();
    printf("READY\n");
    fflush(stdout);
    move_packets();
    if (arg.log)
        write_log(arg.log);
    report();
    return 0;
}
