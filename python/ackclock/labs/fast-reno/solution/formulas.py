DATA, ACK = 1024, 64


def settled_window(rate_bps, delay_s, alpha):
    packets_per_s = rate_bps / 8 / (DATA + ACK)
    round_trip = 2 * delay_s + (DATA + ACK) * 8 / rate_bps
    return alpha + packets_per_s * round_trip
