def completion(servers, answer_bytes, rate_bps):
    with_headers = answer_bytes * 1500 / 1448
    return servers * with_headers * 8 / rate_bps
