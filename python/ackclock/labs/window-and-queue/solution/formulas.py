def goodput(window_bytes, segment_bytes, header_bytes, rtt_s, rate_bps):
    whole = window_bytes // segment_bytes * segment_bytes
    by_window = whole * 8 / rtt_s
    by_rate = rate_bps * segment_bytes / (segment_bytes + header_bytes)
    return min(by_window, by_rate)
