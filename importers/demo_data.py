"""temporary"""


def load_demo(engine, say): ...
