<?php
/* Each kind of function that PHP has.

path 3.7 {main};rounds;delegated;outer;middle;numbers;spin
path 3.7 {main};rounds;iterated;numbers;spin
path 3.7 {main};rounds;closed;{closure};spin
path 3.7 {main};rounds;{closure};spin
path 3.7 {main};rounds;methods;Kinds::method;spin
path 3.7 {main};rounds;methods;Kinds::of_class;spin
path 3.7 {main};rounds;methods;Kinds::__get;spin
path 3.7 {main};rounds;methods;Kinds::__call;spin
path 3.7 {main};rounds;methods;Kinds::__callStatic;spin
path 3.7 {main};rounds;methods;Kinds::__invoke;spin
path 3.7 {main};rounds;methods;Kinds::bound;Kinds::{closure};spin
path 3.7 {main};rounds;methods;Kinds::from_trait;spin
path 3.7 {main};rounds;methods;Other::from_trait;spin
path 3.7 {main};rounds;methods;Base::inherited;spin
path 3.7 {main};rounds;made;Made::__construct;spin
path 3.7 {main};rounds;made;Made::__destruct;spin
path 3.7 {main};rounds;anonymous;class@anonymous::method;spin
path 3.7 {main};rounds;executed;{main};in_text;spin
path 3.7 {main};rounds;included;{main};spin
path 3.7 {main};rounds;included;{main};in_file;spin
path 3.7 {main};rounds;größe_名前;spin
path 3.7 {main};rounds;(long_){25}\.\.\.;spin
path 3.7 {main};rounds;Some\\Space\\spaced;spin
path 3.7 {main};rounds;thrown;thrower;finally_;spin
path 3.7 {main};rounds;thrown;caught;spin
path 3.7 {main};rounds;fibers;Fiber::start;{closure};spin
path 3.7 {main};rounds;fibers;Fiber::resume;{closure};spin
path - {main};rounds;shuffle
path - {main};rounds;(methods|made|anonymous|executed|included|thrown|fibers|closed|iterated|delegated)(;(?!spin)[^;]+)*
path - {main};rounds
*/
namespace Some\Space {
    function spaced()
    {
        \spin(10);
    }
}

namespace {
    require 'rounds.php';

    function numbers()
    {
        for ($n = 0; $n < 2; $n++) {
            spin(5);
            yield $n;
        }
    }

    function iterated()
    {
        foreach (numbers() as $n);
    }

    function middle()
    {
        yield from numbers();
    }

    function outer()
    {
        yield from middle();
    }

    function delegated()
    {
        foreach (outer() as $n);
    }

    function closed()
    {
        $cost = 10;
        $inner = function () use ($cost) {
            return spin($cost);
        };
        $inner();
    }

    trait Shared
    {
        function from_trait()
        {
            spin(10);
        }
    }

    class Base
    {
        function inherited()
        {
            spin(10);
        }
    }

    class Other
    {
        use Shared;
    }

    class Kinds extends Base
    {
        use Shared;

        function method()
        {
            spin(10);
        }

        static function of_class()
        {
            spin(10);
        }

        function __get($name)
        {
            spin(10);
        }

        function __call($name, $arguments)
        {
            spin(10);
        }

        static function __callStatic($name, $arguments)
        {
            spin(10);
        }

        function __invoke()
        {
            spin(10);
        }

        function bound()
        {
            (fn() => spin(10))();
        }
    }

    function methods()
    {
        $kinds = new Kinds;
        $kinds->method();
        Kinds::of_class();
        $kinds->nothing_like_it;
        $kinds->nor_this();
        Kinds::nor_that();
        $kinds();
        $kinds->bound();
        $kinds->from_trait();
        (new Other)->from_trait();
        $kinds->inherited();
    }

    class Made
    {
        function __construct()
        {
            spin(10);
        }

        function __destruct()
        {
            spin(10);
        }
    }

    function made()
    {
        new Made;
    }

    function anonymous()
    {
        (new class {
            function method()
            {
                spin(10);
            }
        })->method();
    }

    function executed()
    {
        eval('function_exists("in_text") || eval("function in_text() { spin(10); }"); in_text();');
    }

    function in_file()
    {
        spin(5);
    }

    function included()
    {
        include 'included.php';
        include 'included.php';
    }

    function größe_名前()
    {
        spin(10);
    }

    function finally_()
    {
        spin(10);
    }

    function thrower()
    {
        try {
            throw new RuntimeException('no');
        } finally {
            finally_();
        }
    }

    function caught()
    {
        spin(10);
    }

    function thrown()
    {
        try {
            thrower();
        } catch (RuntimeException $no) {
            caught();
        }
    }

    function fibers()
    {
        $fiber = new Fiber(function () {
            spin(10);
            Fiber::suspend();
            spin(10);
        });
        $fiber->start();
        $fiber->resume();
    }

    eval('function ' . str_repeat('long_', 60) . '() { spin(10); }');

    rounds(['iterated', 'delegated', 'closed', fn() => spin(10), 'methods', 'made', 'anonymous', 'executed', 'included', 'größe_名前',
            str_repeat('long_', 60), 'Some\Space\spaced', 'thrown', 'fibers'], (int)$argv[1]);
}
