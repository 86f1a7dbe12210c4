"""What several tests share: helpers, the exact reference, and the commands that `python tests` lists."""
