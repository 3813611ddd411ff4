/*
 * flow.c - a TCP source that asks the kernel for its state, and a sink.
 *
 *   flow sink  port=5001 [rcvbuf=BYTES]
 *       accepts one connection, reads to EOF, prints JSON {bytes, first_ns, last_ns, eof_ns}
 *   flow src   dst=IP port=5001 cc=cubic t0=NS start=S stop=S [size=BYTES] [writes=S:BYTES,...]
 *              [sndbuf=BYTES] [dt_ms=10] out=FILE
 *       opens one connection at t0+start (CLOCK_MONOTONIC), sends without pause until
 *       t0+stop, or `size` bytes, or the given timed writes; samples TCP_INFO every dt_ms.
 *       Prints a final JSON line.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef SOL_TCP
#define SOL_TCP 6
#endif
struct bbr_info_v1 {
    uint32_t bw_lo, bw_hi, min_rtt, pacing_gain, cwnd_gain;
};

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void sleep_until(uint64_t t) {
    struct timespec ts = {(time_t)(t / 1000000000ull), (long)(t % 1000000000ull)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, 0) == EINTR) {
    }
}

static void die(const char *m) {
    perror(m);
    exit(1);
}

static char zeros[262144];

static int sink(uint16_t port, int rcvbuf) {
    int l = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (rcvbuf && setsockopt(l, SOL_SOCKET, SO_RCVBUFFORCE, &rcvbuf, sizeof rcvbuf))
        die("SO_RCVBUFFORCE");
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = INADDR_ANY};
    if (bind(l, (void *)&a, sizeof a) || listen(l, 4))
        die("bind/listen");
    printf("LISTENING\n");
    fflush(stdout);
    int c = accept(l, 0, 0);
    if (c < 0)
        die("accept");
    uint64_t n = 0, first = 0, last = 0;
    static char buf[262144];
    for (;;) {
        ssize_t r = read(c, buf, sizeof buf);
        if (r <= 0) {
            if (r < 0 && errno == EINTR)
                continue;
            break;
        }
        last = now_ns();
        if (!first)
            first = last;
        n += (uint64_t)r;
    }
    uint64_t eof = now_ns();
    printf("{\"bytes\": %" PRIu64 ", \"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64
           ", \"eof_ns\": %" PRIu64 "}\n",
           n, first, last, eof);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    const char *dst = 0, *cc = "cubic", *out = 0, *writes = 0;
    uint16_t port = 5001;
    uint64_t t0 = 0, size = 0;
    double start = 0, stop = 10;
    int sndbuf = 0, rcvbuf = 0, dt = 10;
    for (int i = 2; i < argc; i++) {
        char *e = strchr(argv[i], '=');
        if (!e)
            return 2;
        *e++ = 0;
        char *k = argv[i];
        if (!strcmp(k, "dst"))
            dst = e;
        else if (!strcmp(k, "cc"))
            cc = e;
        else if (!strcmp(k, "out"))
            out = e;
        else if (!strcmp(k, "port"))
            port = (uint16_t)atoi(e);
        else if (!strcmp(k, "t0"))
            t0 = strtoull(e, 0, 10);
        else if (!strcmp(k, "size"))
            size = strtoull(e, 0, 10);
        else if (!strcmp(k, "start"))
            start = atof(e);
        else if (!strcmp(k, "stop"))
            stop = atof(e);
        else if (!strcmp(k, "sndbuf"))
            sndbuf = atoi(e);
        else if (!strcmp(k, "rcvbuf"))
            rcvbuf = atoi(e);
        else if (!strcmp(k, "dt_ms"))
            dt = atoi(e);
        else if (!strcmp(k, "writes"))
            writes = e;
        else
            return 2;
    }
    prctl(PR_SET_TIMERSLACK, 1000);
    if (!strcmp(argv[1], "sink"))
        return sink(port, rcvbuf);

    /* timed writes: cumulative byte budget as a step function of time */
    int nw = 0;
    double wt[64];
    uint64_t wb[64], cum = 0;
    if (writes) {
        char *w = strdup(writes);
        for (char *s = strtok(w, ","); s && nw < 64; s = strtok(0, ",")) {
            char *c;
            wt[nw] = strtod(s, &c);
            cum += strtoull(c + 1, 0, 10);
            wb[nw++] = cum;
        }
        size = cum;
    }
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0)
        die("socket");
    if (sndbuf && setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &sndbuf, sizeof sndbuf))
        die("SO_SNDBUFFORCE");
    if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, (socklen_t)strlen(cc)))
        die("TCP_CONGESTION");
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, dst, &a.sin_addr);
    FILE *f = out ? fopen(out, "w") : 0;
    if (f)
        fprintf(f, "t_ms,cwnd,ssthresh,srtt_us,rttvar_us,rto_us,ca_state,unacked,sacked,lost,"
                   "retrans,total_retrans,delivered,bytes_acked,delivery_rate,pacing_rate,min_rtt_"
                   "us,reordering,bbr_bw,bbr_pgain,bbr_cgain,rwnd_us,sndbuf_us,app_limited\n");
    uint64_t ts = t0 + (uint64_t)(start * 1e9), te = t0 + (uint64_t)(stop * 1e9);
    sleep_until(ts);
    uint64_t t_conn = now_ns();
    if (connect(fd, (void *)&a, sizeof a))
        die("connect");
    uint64_t t_est = now_ns();
    fcntl(fd, F_SETFL, O_NONBLOCK);
    uint64_t sent = 0, next = t_est, t_done = 0;
    int is_bbr = !strcmp(cc, "bbr"), fin_sent = 0;
    struct tcp_info ti;
    memset(&ti, 0, sizeof ti);
    for (;;) {
        uint64_t now = now_ns();
        if (now >= te)
            break;
        uint64_t budget = UINT64_MAX;
        int more = 0;
        uint64_t wake = te;
        if (nw) {
            budget = 0;
            for (int i = 0; i < nw; i++) {
                uint64_t w = t0 + (uint64_t)((start + wt[i]) * 1e9);
                if (now >= w)
                    budget = wb[i];
                else {
                    more = 1;
                    if (w < wake)
                        wake = w;
                    break;
                }
            }
        } else if (size)
            budget = size;
        int blocked = 0;
        while (sent < budget) {
            uint64_t want = budget - sent;
            ssize_t w = write(fd, zeros, want < sizeof zeros ? (size_t)want : sizeof zeros);
            if (w < 0) {
                if (errno == EAGAIN) {
                    blocked = 1;
                    break;
                }
                if (errno == EINTR)
                    continue;
                die("write");
            }
            sent += (uint64_t)w;
        }
        if (!fin_sent && size && !more && sent == size) {
            shutdown(fd, SHUT_WR);
            fin_sent = 1;
        }
        now = now_ns();
        if (now >= next) {
            socklen_t l = sizeof ti;
            memset(&ti, 0, sizeof ti);
            getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &l);
            struct bbr_info_v1 bi = {0};
            if (is_bbr) {
                socklen_t bl = sizeof bi;
                getsockopt(fd, IPPROTO_TCP, TCP_CC_INFO, &bi, &bl);
            }
            if (f)
                fprintf(f,
                        "%.3f,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%llu,%llu,%llu,%u,%u,%llu,%u,%u,%"
                        "llu,%llu,%u\n",
                        (double)(now - t0) / 1e6, ti.tcpi_snd_cwnd, ti.tcpi_snd_ssthresh,
                        ti.tcpi_rtt, ti.tcpi_rttvar, ti.tcpi_rto, ti.tcpi_ca_state, ti.tcpi_unacked,
                        ti.tcpi_sacked, ti.tcpi_lost, ti.tcpi_retrans, ti.tcpi_total_retrans,
                        ti.tcpi_delivered, ti.tcpi_bytes_acked, ti.tcpi_delivery_rate,
                        ti.tcpi_pacing_rate, ti.tcpi_min_rtt, ti.tcpi_reordering,
                        (unsigned long long)bi.bw_hi << 32 | bi.bw_lo, bi.pacing_gain, bi.cwnd_gain,
                        ti.tcpi_rwnd_limited, ti.tcpi_sndbuf_limited,
                        ti.tcpi_delivery_rate_app_limited);
            while (next <= now)
                next += (uint64_t)dt * 1000000ull;
            if (size && fin_sent && ti.tcpi_unacked == 0 && ti.tcpi_bytes_acked >= size) {
                t_done = now;
                break;
            }
        }
        if (next < wake)
            wake = next;
        now = now_ns();
        if (wake > now) {
            uint64_t w = wake - now;
            struct timespec p = {(time_t)(w / 1000000000ull), (long)(w % 1000000000ull)};
            struct pollfd pf = {fd, POLLOUT, 0};
            if (blocked)
                ppoll(&pf, 1, &p, 0);
            else
                ppoll(0, 0, &p, 0);
        }
    }
    uint64_t t_end = now_ns();
    socklen_t l = sizeof ti;
    memset(&ti, 0, sizeof ti);
    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &l);
    if (f && (ferror(f) | fclose(f)))
        die("trace");
    printf("{\"connect_ns\": %" PRIu64 ", \"established_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64
           ", \"done_ns\": %" PRIu64
           ", \"bytes_acked\": %llu, \"bytes_sent\": %llu, \"bytes_retrans\": %llu, \"retrans\": "
           "%u, \"dsack_dups\": %u, \"reord_seen\": %u, \"rwnd_limited_us\": %llu, "
           "\"sndbuf_limited_us\": %llu, \"busy_us\": %llu, \"snd_mss\": %u, \"min_rtt_us\": %u, "
           "\"options\": %u, \"delivered_ce\": %u, \"final_cwnd\": %u, \"info_len\": %u}\n",
           t_conn, t_est, t_end, t_done, ti.tcpi_bytes_acked, ti.tcpi_bytes_sent,
           ti.tcpi_bytes_retrans, ti.tcpi_total_retrans, ti.tcpi_dsack_dups, ti.tcpi_reord_seen,
           ti.tcpi_rwnd_limited, ti.tcpi_sndbuf_limited, ti.tcpi_busy_time, ti.tcpi_snd_mss,
           ti.tcpi_min_rtt, ti.tcpi_options, ti.tcpi_delivered_ce, ti.tcpi_snd_cwnd, (unsigned)l);
    struct linger lg = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &lg, sizeof lg);
    close(fd);
    return 0;
}
