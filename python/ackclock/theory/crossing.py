"""Waits where streams of packets cross, without lack of capacity.

In the picture of a liquid nobody waits at a link with capacity to spare. Packets do: one that comes
while another is in service waits for the rest of that service. Packets that all came over one link
were spaced there and do not meet again. But where streams of several links come together (on a
half-duplex link already the data from one side and the ACKs from the other), packets come in no
fixed phase. Then one finds the transmitter busy for a share of the time that is its utilization,
and waits for the rest of the packet in service: on average the sum over packets of

    rate x (service time)^2 / 2

(mean residual work; Kleinrock, Queueing Systems I, 1975, section 5.2). The share of a flow's own
packets is smaller by 1 / n if it has n packets in flight: a packet that is alone meets nobody.

DEVIATION: longer queues than the packet in service are left out where there is capacity to spare.
They depend on how packets bunch, which the theory does not know; the waits here are what remains
without bunches, at most half a packet per visit. In test case 2 of the Caltech paper 12 % of the
queue of a lone F1 is outside of L1, 6 % by this formula. So the base RTT of F2, which crosses only
L1, is 2 ms lower than predicted, and F1 has 1 to 2 % more than predicted while F2 is active.
"""

import numpy as np

from ackclock.arrays import Floats
from ackclock.theory.network import FlowPath, Station


class Crossing:
    """Crossing streams of some flows.

    Args:
        stations: All stations.
        flows: The flows.

    Attributes:
        places: The stations where streams cross.
    """

    def __init__(self, stations: list[Station], flows: list[FlowPath]) -> None:
        capacity = np.array([station.rate_bps for station in stations], dtype=np.float64)
        shape = (len(stations), len(flows))
        data, acks = np.zeros(shape), np.zeros(shape)
        # Half of the square of the service time, summed over a packet and its ACK.
        residual = np.zeros(shape)
        inputs: list[set[object]] = [set() for _ in stations]
        for column, flow in enumerate(flows):
            for visits, path, bits, host in (
                (data, flow.data_visits, flow.data_bits, flow.source),
                (acks, flow.ack_visits, flow.ack_bits, flow.target),
            ):
                before: object = host
                for station in path:
                    visits[station, column] = 1.0
                    residual[station, column] += (bits / capacity[station]) ** 2 / 2
                    inputs[station].add(before)
                    before = station
        self.places = np.array([i for i, sources in enumerate(inputs) if len(sources) > 1], np.intp)
        self._data, self._acks = data[self.places], acks[self.places]
        self._residual = residual[self.places]

    def waits(self, rate: Floats, in_flight: Floats) -> Floats:
        """Mean waits of data packets and of ACKs, seconds.

        Args:
            rate: Packets per second of each flow; shape (flows,).
            in_flight: Packets in flight of each flow, at least 1; shape (flows,).

        Returns:
            Waits of data packets and, second, of ACKs; shape (2, places, flows).
        """
        work = self._residual * rate
        wait = work.sum(axis=1, keepdims=True) - work / in_flight
        return np.array((self._data * wait, self._acks * wait))
