<?php
/* Recursion: of as many calls as the second argument says, below them half of the work each on two paths.

path 50 ({main};main|\[script functions not read\]);down(;down)*;left;spin
path 50 ({main};main|\[script functions not read\]);down(;down)*;right;spin
path - {main}(;main)?
path - ({main};main|\[script functions not read\]);down(;down)*
*/
require 'rounds.php';

function left()
{
    spin(40);
}

function right()
{
    spin(40);
}

function down($depth)
{
    if ($depth > 1) {
        down($depth - 1);
    } else {
        for ($i = 0; $i < 50; $i++) {
            left();
            right();
        }
    }
}

function main($rounds, $depth)
{
    for (; $rounds; $rounds--)
        down($depth);
}

main((int)$argv[1], (int)$argv[2]);
