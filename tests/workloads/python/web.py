"""A loop of requests as in Flask: a router, decorators, context managers, templates, exceptions on the way.

path 30 <module>;main;App.handle;timed.<locals>.wrapper;index;render;sub;render.<locals>.<lambda>;fill;spin
path 20 <module>;main;App.handle;timed.<locals>.wrapper;listing;dumps;JSONEncoder.encode;JSONEncoder.iterencode;default;spin
path 15 <module>;main;App.handle;timed.<locals>.wrapper;missing;look_up;spin
path 15 <module>;main;App.handle;App.failed;spin
path 10 <module>;main;App.handle;timed.<locals>.wrapper;guarded;Session.__enter__;spin
path 10 <module>;main;App.handle;timed.<locals>.wrapper;guarded;Session.__exit__;spin
path - <module>;main;App.handle;timed.<locals>.wrapper;(index|listing|missing|guarded|Session.__init__);.*
path - <module>;main;App.handle;timed.<locals>.wrapper;guarded;Session.__init__
path - <module>;main;App.handle;timed.<locals>.wrapper;listing;JSONEncoder.__init__
path - <module>;main;App.handle;timed.<locals>.wrapper;listing;dumps;JSONEncoder.encode;JSONEncoder.iterencode;.*
path - <module>;main;App.handle;timed.<locals>.wrapper;listing;dumps;JSONEncoder.__init__
path - <module>;main;App.handle;timed.<locals>.wrapper;index;render;sub;_compile.*
path - <module>;main;Random.shuffle.*
path - <module>;App.route.*
"""
import functools
import json
import random
import re
import sys

from rounds import spin


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


class App:
    def __init__(self):
        self.routes = {}

    def route(self, path):
        def add(function):
            self.routes[path] = function
            return function
        return add

    def handle(self, path):
        try:
            return self.routes[path]()
        except LookupError as error:
            return self.failed(error)

    def failed(self, error):
        return spin(3)


app = App()


def fill(name):
    spin(3)
    return name.upper()


def render(text):
    return re.sub(r"{(\w+)}", lambda m: fill(m.group(1)), text)


@app.route("/")
@timed
def index():
    return render("<p>{user} and {item}</p>")


class Thing:
    pass


def default(thing):
    spin(4)
    return "thing"


@app.route("/list")
@timed
def listing():
    return json.dumps({"things": [1, Thing()]}, default=default)


def look_up(key):
    spin(3)
    raise KeyError(key)


@app.route("/missing")
@timed
def missing():
    return look_up("none")


class Session:
    def __enter__(self):
        spin(2)
        return self

    def __exit__(self, *what):
        spin(2)
        return True


@app.route("/guarded")
@timed
def guarded():
    with Session():
        raise ValueError("caught")


def main(rounds):
    order = ["/"] * 5 + ["/list"] * 5 + ["/missing"] * 5 + ["/guarded"] * 5
    for _ in range(rounds):
        random.shuffle(order)
        for path in order:
            app.handle(path)


main(int(sys.argv[1]))
