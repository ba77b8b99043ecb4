<?php
/* C below PHP, and PHP that C calls.

path 8.3 {main};rounds;mapped;array_map;twice;spin
path 8.3 {main};rounds;compared;usort;{closure};spin
path 8.3 {main};rounds;replaced;preg_replace_callback;{closure};spin
path 8.3 {main};rounds;filtered;array_filter;Item::keeps;spin
path 8.3 {main};rounds;encoded;json_encode;Item::jsonSerialize;spin
path 8.3 {main};rounds;reduced;array_reduce;{closure};spin
path 8.3 {main};rounds;read;Item::offsetGet;spin
path 8.3 {main};rounds;walked;iterator_to_array;Item::getIterator;spin
path 8.3 {main};rounds;written;Item::__toString;spin
path 8.3 {main};rounds;loaded;class_exists;{closure};spin
path 8.3 {main};rounds;nested;array_map;{closure};array_map;twice;spin
path 8.3 {main};rounds;buffered;ob_end_clean;{closure};spin
path tag PHP_MD5.* {main};rounds;digested;md5
path tag deflate|compress {main};rounds;squeezed;gzcompress
path tag inflate|uncompress {main};rounds;widened;gzuncompress
path tag pcre2_match_8 {main};rounds;matched;preg_match
path - {main};rounds;shuffle
path - {main};rounds
path - {main};rounds;(mapped|compared|replaced|filtered|encoded|reduced|read|walked|written|loaded|nested|buffered|digested|squeezed|widened|matched)(;(?!spin)[^;]+)*
*/
require 'rounds.php';

function twice($n)
{
    spin(3);
    return 2 * $n;
}

function mapped()
{
    array_map('twice', [1, 2, 3, 4]);
}

function compared()
{
    $numbers = [3, 1, 2];
    usort($numbers, function ($a, $b) {
        spin(4);
        return $a <=> $b;
    });
}

function replaced()
{
    preg_replace_callback('/[ab]/', fn($match) => spin(6), 'xaxb');
}

class Item implements JsonSerializable, ArrayAccess, IteratorAggregate
{
    static function keeps($n)
    {
        spin(4);
        return $n > 1;
    }

    function jsonSerialize(): mixed
    {
        spin(12);
        return 1;
    }

    function offsetGet($n): mixed
    {
        spin(12);
        return 1;
    }

    function offsetExists($n): bool
    {
        return true;
    }

    function offsetSet($n, $value): void
    {
    }

    function offsetUnset($n): void
    {
    }

    function getIterator(): Iterator
    {
        spin(12);
        return new ArrayIterator([1]);
    }

    function __toString(): string
    {
        spin(12);
        return '1';
    }
}

function filtered()
{
    array_filter([1, 2, 3], ['Item', 'keeps']);
}

function encoded()
{
    json_encode([new Item]);
}

function reduced()
{
    array_reduce([1, 2, 3], function ($a, $b) {
        return spin(4);
    });
}

function read()
{
    (new Item)['a'];
}

function walked()
{
    iterator_to_array(new Item);
}

function written()
{
    'a' . new Item;
}

spl_autoload_register(function ($name) {
    spin(12);
});

function loaded()
{
    class_exists('Nothing');
}

function nested()
{
    array_map(fn($list) => array_map('twice', $list), [[1, 2], [3, 4]]);
}

function buffered()
{
    ob_start(function ($text) {
        spin(12);
        return '';
    });
    ob_end_clean();
}

$data = str_repeat('0123456789abcdef', 3000);
$random = '';
mt_srand(3);
for ($i = 0; $i < 5000; $i++)
    $random .= chr(mt_rand(0, 255));
$packed = gzcompress($random . $data);

function digested()
{
    md5($GLOBALS['data']);
}

function squeezed()
{
    gzcompress($GLOBALS['random']);
}

function widened()
{
    gzuncompress($GLOBALS['packed']);
}

function matched()
{
    preg_match('/f0.*z/', $GLOBALS['random']);
}

rounds(['mapped', 'compared', 'replaced', 'filtered', 'encoded', 'reduced', 'read', 'walked', 'written', 'loaded', 'nested', 'buffered',
        'digested', 'squeezed', 'widened', 'matched'], (int)$argv[1]);
