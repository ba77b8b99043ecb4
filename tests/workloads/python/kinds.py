"""Each kind of function that Python has.

path 5 <module>;main;pipeline;double;squares;numbers;spin
path 5 <module>;main;delegated;outer;middle;numbers;spin
path 5 <module>;main;listed;listed.<locals>.<listcomp>;spin
path 5 <module>;main;dicted;dicted.<locals>.<dictcomp>;spin
path 5 <module>;main;setted;setted.<locals>.<setcomp>;spin
path 5 <module>;main;generated;generated.<locals>.<genexpr>;spin
path 5 <module>;main;closed;closed.<locals>.inner;spin
path 5 <module>;main;<lambda>;spin
path 5 <module>;main;methods;Kinds.method;spin
path 5 <module>;main;methods;Kinds.of_class;spin
path 5 <module>;main;methods;Kinds.static;spin
path 5 <module>;main;methods;Kinds.property;spin
path 5 <module>;main;methods;Kinds.__getattr__;spin
path 5 <module>;main;methods;Kinds.__call__;spin
path 5 <module>;main;methods;Kinds.__add__;spin
path 5 <module>;main;made;Meta.__call__;Made.__init__;spin
path 5 <module>;main;executed;<module>;in_text;spin
path 5 <module>;main;größe_名前;spin
path 5 <module>;main;(long_){50}lo\.\.\.;spin
path 5 <module>;main;sent;sent.<locals>.coroutine;spin
path - <module>;main;(executed|made|methods|pipeline|delegated|listed|dicted|setted|generated|closed|sent).*
path - <module>;main;Random.shuffle.*
"""
import random
import sys

from rounds import spin


def numbers():
    for n in range(2):
        spin(5)
        yield n


def squares():
    for n in numbers():
        yield n * n


def double():
    for n in squares():
        yield 2 * n


def pipeline():
    for _ in double():
        pass


def middle():
    yield from numbers()


def outer():
    yield from middle()


def delegated():
    sum(outer())


def listed():
    return [spin(5) for _ in (1, 2)]


def dicted():
    return {n: spin(5) for n in (1, 2)}


def setted():
    return {spin(5) for _ in (1, 2)}


def generated():
    return sum(spin(5) for _ in (1, 2))


def closed():
    cost = 10

    def inner():
        return spin(cost)
    return inner()


short = lambda: spin(10)


class Kinds:
    def method(self):
        spin(10)

    @classmethod
    def of_class(cls):
        spin(10)

    @staticmethod
    def static():
        spin(10)

    @property
    def property(self):
        spin(10)

    def __getattr__(self, name):
        spin(10)

    def __call__(self):
        spin(10)

    def __add__(self, other):
        spin(10)


def methods():
    kinds = Kinds()
    kinds.method()
    kinds.of_class()
    kinds.static()
    kinds.property
    kinds.nothing_like_it
    kinds()
    kinds + 1


class Meta(type):
    def __call__(cls):
        return super().__call__()


class Made(metaclass=Meta):
    def __init__(self):
        spin(10)


def made():
    Made()


text = compile("def in_text():\n    spin(10)\nin_text()\n", "<text>", "exec")


def executed():
    exec(text, {"spin": spin})


def größe_名前():
    spin(10)


def sent():
    def coroutine():
        while True:
            (yield)
            spin(5)
    to = coroutine()
    next(to)
    to.send(1)
    to.send(2)


exec("def " + "long_" * 80 + "():\n    spin(10)\n")


def main(rounds):
    calls = [pipeline, delegated, listed, dicted, setted, generated, closed, short, methods, made, executed, größe_名前,
             sent, globals()["long_" * 80]]
    for _ in range(rounds):
        random.shuffle(calls)
        for call in calls:
            call()


main(int(sys.argv[1]))
