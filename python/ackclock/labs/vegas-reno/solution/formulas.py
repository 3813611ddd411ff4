def delivered(rates_bps, on_s, off_s):
    return sum(rate * on / (on + off) for rate, on, off in zip(rates_bps, on_s, off_s))
