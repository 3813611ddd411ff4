def first_loss_window(rate_bps, delay_s, limit_packets):
    pipe = rate_bps / 8 / 1000 * 2 * delay_s
    return pipe + limit_packets
