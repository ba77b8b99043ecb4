r"""Recursion: of as many calls as the second argument says, below them half of the work each on two paths.

path 50 (<module>;main|\[script functions not read\]);down(;down)*;left;spin
path 50 (<module>;main|\[script functions not read\]);down(;down)*;right;spin
path - <module>
path - (<module>;main|\[script functions not read\]);down(;down)*
"""
import sys

from rounds import spin


def left():
    spin(20)


def right():
    spin(20)


def down(depth):
    if depth > 1:
        down(depth - 1)
    else:
        for _ in range(50):
            left()
            right()


def main(rounds, depth):
    sys.setrecursionlimit(depth + 1000)
    for _ in range(rounds):
        down(depth)


main(int(sys.argv[1]), int(sys.argv[2]))
