def finish(segments, window, rate_bps, delay_s):
    one = 1000 * 8 / rate_bps
    rounds, rest = divmod(segments - 1, window)
    # A window starts when the first ACK of the one before is back, or when that is sent.
    return rounds * max(2 * delay_s + one, window * one) + (rest + 1) * one + delay_s
