// Classic NewReno over one queue discipline in ns-3: what `ns3_queues.py` runs and reads.
//
// Compiled against an installed ns-3. The arguments describe a dumbbell; one line of JSON comes out: figures of the
// bottleneck's queue and the goodput of all flows between two moments.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <sstream>
#include <vector>

using namespace ns3;

namespace
{

// Sums over the measured interval.
struct Measured
{
    Time from;
    Time changed;
    uint32_t waiting = 0;
    double packetSeconds = 0;
    double waitSeconds = 0;
    uint64_t left = 0;
    uint64_t dropped = 0;
    uint64_t marked = 0;
    uint64_t bytes = 0;

    bool counts() const
    {
        return Simulator::Now() >= from;
    }

    void add()
    {
        Time now = Simulator::Now();
        if (now > from)
        {
            packetSeconds += waiting * (now - std::max(changed, from)).GetSeconds();
        }
        changed = now;
    }
};

Measured measured;

void
Waiting(uint32_t, uint32_t now)
{
    measured.add();
    measured.waiting = now;
}

void
Sojourn(Time wait)
{
    if (measured.counts())
    {
        measured.waitSeconds += wait.GetSeconds();
        measured.left += 1;
    }
}

void
Dropped(Ptr<const QueueDiscItem>)
{
    measured.dropped += measured.counts();
}

void
Marked(Ptr<const QueueDiscItem>, const char*)
{
    measured.marked += measured.counts();
}

void
Received(Ptr<const Packet> packet, const Address&)
{
    if (measured.counts())
    {
        measured.bytes += packet->GetSize();
    }
}

std::vector<double>
Numbers(const std::string& text)
{
    std::vector<double> all;
    std::stringstream stream(text);
    for (std::string one; std::getline(stream, one, ',');)
    {
        all.push_back(std::stod(one));
    }
    return all;
}

NetDeviceContainer
Join(Ptr<Node> one, Ptr<Node> other, double bps, double delayS, const char* room)
{
    PointToPointHelper link;
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(room));
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(bps))));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(delayS)));
    return link.Install(one, other);
}

} // namespace

int
main(int count, char* arguments[])
{
    std::string disc;
    std::string attributes;
    std::string starts;
    std::string delays;
    std::string defaults;
    double rate = 10e6;
    double delay = 0.01;
    double access = 100e6;
    double from = 10;
    double until = 60;
    uint32_t run = 1;
    CommandLine line;
    line.AddValue("disc", "type of the queue discipline", disc);
    line.AddValue("attributes", "its attributes: name=value;name=value", attributes);
    line.AddValue("defaults", "default values: name=value;name=value", defaults);
    line.AddValue("starts", "when flows start, s", starts);
    line.AddValue("delays", "delays of the senders' links, s", delays);
    line.AddValue("rate", "of the bottleneck, bit/s", rate);
    line.AddValue("delay", "of the bottleneck, s", delay);
    line.AddValue("access", "rate of the other links, bit/s", access);
    line.AddValue("from", "start of the measured interval, s", from);
    line.AddValue("until", "its end, s", until);
    line.AddValue("run", "of the random numbers", run);
    line.Parse(count, arguments);

    RngSeedManager::SetRun(run);
    measured.from = Seconds(from);
    auto each = [](const std::string& text, auto set) {
        std::stringstream stream(text);
        for (std::string one; std::getline(stream, one, ';');)
        {
            auto at = one.find('=');
            set(one.substr(0, at), StringValue(one.substr(at + 1)));
        }
    };
    each(defaults, [](const std::string& name, const StringValue& value) {
        Config::SetDefault(name, value);
    });

    Ptr<Node> left = CreateObject<Node>();
    Ptr<Node> right = CreateObject<Node>();
    InternetStackHelper stack;
    stack.Install(left);
    stack.Install(right);
    NetDeviceContainer bottleneck = Join(left, right, rate, delay, "1p");
    TrafficControlHelper control;
    ObjectFactory factory(disc);
    each(attributes, [&factory](const std::string& name, const StringValue& value) {
        factory.Set(name, value);
    });
    Ptr<QueueDisc> queue = factory.Create<QueueDisc>();
    Ptr<TrafficControlLayer> layer = left->GetObject<TrafficControlLayer>();
    layer->SetRootQueueDiscOnDevice(bottleneck.Get(0), queue);
    queue->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Waiting));
    queue->TraceConnectWithoutContext("SojournTime", MakeCallback(&Sojourn));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    queue->TraceConnectWithoutContext("Mark", MakeCallback(&Marked));

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(bottleneck);
    std::vector<double> begin = Numbers(starts);
    std::vector<double> away = Numbers(delays);
    for (size_t flow = 0; flow < begin.size(); flow++)
    {
        Ptr<Node> source = CreateObject<Node>();
        Ptr<Node> sink = CreateObject<Node>();
        stack.Install(source);
        stack.Install(sink);
        for (auto [host, router, far] : {std::tuple(source, left, away[flow]), std::tuple(sink, right, 0.001)})
        {
            NetDeviceContainer link = Join(router, host, access, far, "10000p");
            addresses.NewNetwork();
            addresses.Assign(link);
            // Nothing waits there in a discipline.
            for (uint32_t end = 0; end < 2; end++)
            {
                control.Uninstall(link.Get(end));
            }
        }
        Ipv4Address to = sink->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
        PacketSinkHelper receive("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        Ptr<Application> received = receive.Install(sink).Get(0);
        received->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
        BulkSendHelper send("ns3::TcpSocketFactory", InetSocketAddress(to, 5000));
        send.SetAttribute("MaxBytes", UintegerValue(0));
        send.SetAttribute("SendSize", UintegerValue(1000));
        send.Install(source).Start(Seconds(begin[flow]));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(until));
    Simulator::Run();
    measured.add();
    double seconds = until - from;
    std::cout << "{\"goodput_bps\": " << 8 * measured.bytes / seconds
              << ", \"mean_packets\": " << measured.packetSeconds / seconds
              << ", \"mean_wait_s\": " << measured.waitSeconds / std::max<uint64_t>(measured.left, 1)
              << ", \"drops\": " << measured.dropped << ", \"marks\": " << measured.marked << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
