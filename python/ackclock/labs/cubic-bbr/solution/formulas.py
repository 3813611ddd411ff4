def winner(buffer_bdp):
    return "bbr" if buffer_bdp < 3 else "cubic"
