"""A loop of known cost: the programs beside this one call it, each path so often that its share is known."""


def spin(n):
    x = 0
    for i in range(n * 400):
        x += i
    return x
