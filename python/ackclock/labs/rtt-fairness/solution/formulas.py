from math import sqrt


def reno_rate(rtt_s, loss, segment_bytes):
    return segment_bytes * 8 / rtt_s * sqrt(3 / (2 * loss))
