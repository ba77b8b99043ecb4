"""Processes that are forked, also from a thread, by multiprocessing and to run another program; an interpreter in the interpreter.

path tag ::forked:: <module>;main;forks;forked;spin
"""
import os
import subprocess
import sys
import threading

from rounds import spin


def forked():
    spin(2000)


def forks():
    pid = os.fork()
    if pid == 0:
        forked()
        os._exit(0)
    os.waitpid(pid, 0)


def threaded():
    thread = threading.Thread(target=forks)
    thread.start()
    thread.join()


def executed():
    subprocess.run([sys.executable, "-c", "def other(n):\n    x = 0\n    for i in range(n):\n        x += i\nother(800000)\n"],
                   check=True)


def worked(n):
    return spin(200)


def pooled():
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(worked, range(10), 1)


def interpreted():
    import _xxsubinterpreters as interpreters
    number = interpreters.create()
    interpreters.run_string(number, "def sub(n):\n    x = 0\n    for i in range(n):\n        x += i\nsub(800000)\n")
    interpreters.destroy(number)


def main():
    forks()
    threaded()
    executed()
    pooled()
    interpreted()


main()
