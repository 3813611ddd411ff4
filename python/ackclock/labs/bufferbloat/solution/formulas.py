def longest_wait_of(rate_bps, limit_bytes):
    return limit_bytes * 8 / rate_bps
