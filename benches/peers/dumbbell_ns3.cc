// The dumbbell of `ackclock bench` for ns-3 (Debian's libns3-dev). Usage: dumbbell_ns3 FLOWS SECONDS
// What the device queue has no room for waits in the queue discipline that ns-3 installs by itself (FQ-CoDel): without it
// NewReno of ns-3.37 loses so much that the flows carry 14 % less than those of the other simulators.
// Prints one line of JSON: data packets sent and received in order, seconds of CPU of the events.

#include <ctime>
#include <iostream>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

static uint64_t g_sent = 0;

static void Sent(Ptr<const Packet> packet, const TcpHeader &, Ptr<const TcpSocketBase>) {
    g_sent += packet->GetSize() > 0;
}

static void Watch(Ptr<Application> sender) {
    DynamicCast<BulkSendApplication>(sender)->GetSocket()->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
}

static NetDeviceContainer Link(Ptr<Node> a, Ptr<Node> b, double mbps, double ms, int packets) {
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(mbps * 1e6))));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(uint64_t(ms * 1000))));
    // The limit does not count the packet in transmission.
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, packets - 1)));
    NetDeviceContainer devices = link.Install(a, b);
    // The header of the link layer is no part of the packets of the others.
    for (uint32_t i = 0; i < 2; i++) {
        devices.Get(i)->SetMtu(1500);
    }
    return devices;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        return 2;
    }
    const int flows = atoi(argv[1]);
    const double seconds = atof(argv[2]);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(40 * 1460));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 22));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 22));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(250)));

    NodeContainer routers, senders, receivers;
    routers.Create(2);
    senders.Create(flows);
    receivers.Create(flows);
    InternetStackHelper stack;
    stack.InstallAll();
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.252");
    auto connect = [&](Ptr<Node> a, Ptr<Node> b, double mbps, double ms, int packets) {
        NetDeviceContainer devices = Link(a, b, mbps, ms, packets);
        Ipv4InterfaceContainer given = addresses.Assign(devices);
        addresses.NewNetwork();
        return given;
    };
    connect(routers.Get(0), routers.Get(1), 10.0 * flows, 10, 16 * flows);
    ApplicationContainer sinks;
    for (int i = 0; i < flows; i++) {
        connect(senders.Get(i), routers.Get(0), 100, 1 + i % 10, 1000);
        Ipv4InterfaceContainer last = connect(routers.Get(1), receivers.Get(i), 100, 1, 1000);
        sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000)).Install(receivers.Get(i)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(last.GetAddress(1), 5000));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(1460));
        ApplicationContainer sender = bulk.Install(senders.Get(i));
        const Time start = NanoSeconds(uint64_t(40e6 * i / flows));
        sender.Start(start);
        Simulator::Schedule(start + NanoSeconds(1), &Watch, sender.Get(0));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(seconds));
    const clock_t start = clock();
    Simulator::Run();
    const double cpu = double(clock() - start) / CLOCKS_PER_SEC;
    uint64_t received = 0;
    for (uint32_t i = 0; i < sinks.GetN(); i++) {
        received += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx() / 1460;
    }
    std::cout << "{\"sent\": " << g_sent << ", \"acked\": " << received << ", \"cpu_s\": " << cpu << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
