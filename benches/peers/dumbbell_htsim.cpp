// The dumbbell of `ackclock bench` for htsim (Broadcom/csg-htsim). Usage: dumbbell_htsim FLOWS SECONDS
// Prints one line of JSON: data packets sent and acknowledged, drops at the bottleneck, seconds of CPU of the events.

#include <ctime>
#include <iostream>
#include <vector>

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

int main(int argc, char **argv) {
    if (argc != 3) {
        return 2;
    }
    const int flows = atoi(argv[1]);
    const double seconds = atof(argv[2]);
    std::cout.setstate(std::ios::failbit);  // The library talks.
    Packet::set_packet_size(1500);
    EventList events;
    EventList::setEndtime(timeFromSec(seconds));
    TcpRtxTimerScanner timers(timeFromMs(10), events);

    const linkspeed_bps access = speedFromMbps((uint64_t)100);
    const linkspeed_bps shared = speedFromMbps((uint64_t)10 * flows);
    auto queue = [&](linkspeed_bps rate, uint64_t packets) {
        return new Queue(rate, packets * 1500, events, nullptr);
    };
    Queue *forth = queue(shared, 16 * flows), *back = queue(shared, 100000);
    Pipe *wire_forth = new Pipe(timeFromMs(10.0), events), *wire_back = new Pipe(timeFromMs(10.0), events);
    std::vector<TcpSrc *> sources;
    for (int i = 0; i < flows; i++) {
        TcpSrc *source = new TcpSrc(nullptr, nullptr, events);
        TcpSink *sink = new TcpSink();
        source->set_ssthresh(40 * 1500);
        timers.registerTcp(*source);
        auto hop = [&](route_t *route, linkspeed_bps rate, double ms) {
            route->push_back(queue(rate, 1000));
            route->push_back(new Pipe(timeFromMs(ms), events));
        };
        route_t *out = new route_t(), *in = new route_t();
        hop(out, access, 1.0 + i % 10);
        out->push_back(forth);
        out->push_back(wire_forth);
        hop(out, access, 1.0);
        out->push_back(sink);
        hop(in, access, 1.0);
        in->push_back(back);
        in->push_back(wire_back);
        hop(in, access, 1.0 + i % 10);
        in->push_back(source);
        source->connect(*out, *in, *sink, timeFromMs(40.0 * i / flows));
        sources.push_back(source);
    }
    const clock_t start = clock();
    while (EventList::doNextEvent()) {
    }
    const double cpu = double(clock() - start) / CLOCKS_PER_SEC;
    uint64_t sent = 0, acked = 0;
    for (TcpSrc *source : sources) {
        sent += source->_packets_sent / 1500;
        acked += source->_last_acked / 1500;
    }
    printf("{\"sent\": %lu, \"acked\": %lu, \"drops\": %d, \"cpu_s\": %.6f}\n", sent, acked, forth->num_drops(), cpu);
    return 0;
}
