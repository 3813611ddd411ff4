// Classic NewReno over one queue discipline in ns-3: what `ns3_queues.py` runs and reads.
//
// Compiled against an installed ns-3. The arguments describe a dumbbell; one line of JSON comes out: figures of the
// bottleneck's queue and the goodput of all flows between two moments. A file gets each segment that the bottleneck
// transmits: nanosecond, flow, sequence number.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint16_t FIRST_PORT = 5000;

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

// What is dropped from the head has been counted as leaving.
void
DroppedLate(Ptr<const QueueDiscItem> item, const char*)
{
    if (measured.counts())
    {
        measured.waitSeconds -= (Simulator::Now() - item->GetTimeStamp()).GetSeconds();
        measured.left -= 1;
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

std::ofstream packets;

void
Transmitted(Ptr<const Packet> sent)
{
    Ptr<Packet> packet = sent->Copy();
    PppHeader ppp;
    Ipv4Header ip;
    TcpHeader tcp;
    packet->RemoveHeader(ppp);
    packet->RemoveHeader(ip);
    packet->RemoveHeader(tcp);
    if (packet->GetSize() > 0)
    {
        packets << Simulator::Now().GetNanoSeconds() << " " << tcp.GetDestinationPort() - FIRST_PORT << " "
                << tcp.GetSequenceNumber().GetValue() - 1 << "\n";
    }
}

// The device below a discipline takes a packet when it has transmitted the one before: nothing waits there.
class OneAtATime : public QueueLimits
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ns3::OneAtATime").SetParent<QueueLimits>().AddConstructor<OneAtATime>();
        return id;
    }

    static void Install(Ptr<NetDevice> device)
    {
        Ptr<OneAtATime> limits = CreateObject<OneAtATime>();
        limits->m_queue = device->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0);
        limits->m_queue->SetQueueLimits(limits);
        device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&OneAtATime::End, PeekPointer(limits)));
    }

    void Reset() override
    {
        m_busy = false;
    }

    void Queued(uint32_t) override
    {
        m_busy = true;
    }

    // The packet has left the queue, but not the device.
    void Completed(uint32_t) override
    {
    }

    int32_t Available() const override
    {
        return m_busy ? -1 : 0;
    }

  private:
    void End(Ptr<const Packet>)
    {
        m_busy = false;
        // The device has to finish with this packet before it can take the next.
        Simulator::ScheduleNow(&NetDeviceQueue::NotifyTransmittedBytes, m_queue, 1);
    }

    bool m_busy = false;
    Ptr<NetDeviceQueue> m_queue;
};

NS_OBJECT_ENSURE_REGISTERED(OneAtATime);

// NewReno by RFC 6582 and RFC 5681, where TcpSocketBase, TcpTxBuffer and TcpNewReno of ns-3.44 differ.
class StandardSocket : public TcpSocketBase
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ns3::StandardSocket").SetParent<TcpSocketBase>().AddConstructor<StandardSocket>();
        return id;
    }

  protected:
    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& header) override
    {
        SequenceNumber32 ack = header.GetAckNumber();
        TcpSocketState::TcpCongState_t state = m_tcb->m_congState;
        bool duplicate = ack == m_txBuffer->HeadSequence() && ack < m_tcb->m_highTxMark && packet->GetSize() == 0;
        bool open = state == TcpSocketState::CA_OPEN || state == TcpSocketState::CA_DISORDER;
        // RFC 6582 section 3.2 step 2: it has to cover more than recover.
        if (duplicate && open && ack <= m_recover)
        {
            return;
        }
        // RFC 5681 section 3.2 step 3: three segments have left the network, not one.
        if (duplicate && open && m_dupAckCount + 1 == m_retxThresh)
        {
            for (uint32_t one = 1; one < m_retxThresh; one++)
            {
                m_txBuffer->AddRenoSack();
            }
        }
        // RFC 6582 section 3.2 step 3: with the recovery its duplicates are forgotten.
        if (state == TcpSocketState::CA_RECOVERY && ack >= m_recover)
        {
            m_txBuffer->ResetRenoSack();
        }
        // The same: a partial ACK takes from the window all that it acknowledges, and adds a segment.
        if (state != TcpSocketState::CA_RECOVERY)
        {
            m_inflated = 0;
        }
        else if (duplicate || (ack > m_txBuffer->HeadSequence() && ack < m_recover))
        {
            uint32_t window = m_inflated > 0 ? m_inflated : m_tcb->m_cWndInfl.Get();
            uint32_t acknowledged = ack - m_txBuffer->HeadSequence();
            m_inflated = window - std::min(window, acknowledged) + m_tcb->m_segmentSize;
        }
        TcpSocketBase::ReceivedAck(packet, header);
    }

    uint32_t AvailableWindow() const override
    {
        if (m_tcb->m_congState != TcpSocketState::CA_RECOVERY)
        {
            return TcpSocketBase::AvailableWindow();
        }
        // Before the first ACK of a recovery it is ssthresh and the three duplicates.
        uint32_t window = std::min(m_inflated > 0 ? m_inflated : m_tcb->m_cWndInfl.Get(), m_rWnd.Get());
        uint32_t flight = m_tcb->m_highTxMark.Get() - m_txBuffer->HeadSequence();
        return window - std::min(window, flight);
    }

  private:
    // The window of a recovery; 0 before its first ACK.
    uint32_t m_inflated = 0;
};

class StandardReno : public TcpNewReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ns3::StandardReno").SetParent<TcpNewReno>().AddConstructor<StandardReno>();
        return id;
    }

    // RFC 5681 equation 4: FlightSize is all that is not acknowledged.
    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t) override
    {
        return TcpNewReno::GetSsThresh(state, state->m_highTxMark.Get() - state->m_lastAckedSeq);
    }

    // RFC 5681 section 3.1: each ACK of new data, also the one that ends the repair after a timeout, and no ACK twice.
    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t) override
    {
        TcpNewReno::IncreaseWindow(state, 1);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<StandardReno>(this);
    }
};

class StandardFactory : public SocketFactory
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ns3::StandardFactory").SetParent<SocketFactory>().AddConstructor<StandardFactory>();
        return id;
    }

    Ptr<Socket> CreateSocket() override
    {
        Ptr<Node> node = GetObject<Node>();
        Ptr<TcpL4Protocol> tcp = node->GetObject<TcpL4Protocol>();
        Ptr<StandardSocket> socket = CreateObject<StandardSocket>();
        socket->SetNode(node);
        socket->SetTcp(tcp);
        socket->SetRtt(CreateObject<RttMeanDeviation>());
        socket->SetCongestionControlAlgorithm(CreateObject<StandardReno>());
        socket->SetRecoveryAlgorithm(CreateObject<TcpClassicRecovery>());
        tcp->AddSocket(socket);
        return socket;
    }
};

NS_OBJECT_ENSURE_REGISTERED(StandardSocket);
NS_OBJECT_ENSURE_REGISTERED(StandardReno);
NS_OBJECT_ENSURE_REGISTERED(StandardFactory);

std::vector<Time>
Times(const std::string& text)
{
    std::vector<Time> all;
    std::stringstream stream(text);
    for (std::string one; std::getline(stream, one, ',');)
    {
        all.push_back(NanoSeconds(std::stoll(one)));
    }
    return all;
}

NetDeviceContainer
Join(Ptr<Node> one, Ptr<Node> other, double bps, Time delay, uint16_t mtu)
{
    PointToPointHelper link;
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000p"));
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(bps))));
    link.SetDeviceAttribute("Mtu", UintegerValue(mtu));
    link.SetChannelAttribute("Delay", TimeValue(delay));
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
    uint16_t mtu = 1500;
    bool own = false;
    std::string file;
    CommandLine line;
    line.AddValue("disc", "type of the queue discipline", disc);
    line.AddValue("attributes", "its attributes: name=value;name=value", attributes);
    line.AddValue("defaults", "default values: name=value;name=value", defaults);
    line.AddValue("starts", "when flows start, ns", starts);
    line.AddValue("delays", "delays of the senders' links, ns", delays);
    line.AddValue("rate", "of the bottleneck, bit/s", rate);
    line.AddValue("delay", "of the bottleneck, s", delay);
    line.AddValue("access", "rate of the other links, bit/s", access);
    line.AddValue("mtu", "of all links, and the quantum of queues in turns, bytes", mtu);
    line.AddValue("from", "start of the measured interval, s", from);
    line.AddValue("until", "its end, s", until);
    line.AddValue("run", "of the random numbers", run);
    line.AddValue("own", "the sender is that of ns-3 as it is", own);
    line.AddValue("packets", "file for the segments that the bottleneck transmits", file);
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
    NetDeviceContainer bottleneck = Join(left, right, rate, Seconds(delay), mtu);
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
    queue->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&DroppedLate));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    queue->TraceConnectWithoutContext("Mark", MakeCallback(&Marked));

    OneAtATime::Install(bottleneck.Get(0));
    packets.open(file);
    bottleneck.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Transmitted));

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(bottleneck);
    std::vector<Time> begin = Times(starts);
    std::vector<Time> away = Times(delays);
    for (size_t flow = 0; flow < begin.size(); flow++)
    {
        Ptr<Node> source = CreateObject<Node>();
        Ptr<Node> sink = CreateObject<Node>();
        stack.Install(source);
        stack.Install(sink);
        for (auto [host, router, far] : {std::tuple(source, left, away[flow]), std::tuple(sink, right, MilliSeconds(1))})
        {
            NetDeviceContainer link = Join(router, host, access, far, mtu);
            addresses.NewNetwork();
            addresses.Assign(link);
            // Nothing waits there in a discipline.
            for (uint32_t end = 0; end < 2; end++)
            {
                control.Uninstall(link.Get(end));
            }
        }
        Ipv4Address to = sink->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
        uint16_t port = FIRST_PORT + flow;
        PacketSinkHelper receive("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        Ptr<Application> received = receive.Install(sink).Get(0);
        received->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
        source->AggregateObject(CreateObject<StandardFactory>());
        BulkSendHelper send(own ? "ns3::TcpSocketFactory" : "ns3::StandardFactory", InetSocketAddress(to, port));
        send.SetAttribute("MaxBytes", UintegerValue(0));
        send.SetAttribute("SendSize", UintegerValue(1000));
        send.Install(source).Start(begin[flow]);
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
