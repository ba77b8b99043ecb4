<?php
/* Work that takes time by its argument, and nothing else. */
function spin($n)
{
    $x = 0;
    for ($i = 0; $i < 200 * $n; $i++)
        $x += $i % 7;
    return $x;
}

/* Calls all of them so often, each time in another order. */
function rounds($calls, $rounds)
{
    for (; $rounds; $rounds--) {
        shuffle($calls);
        foreach ($calls as $call)
            $call();
    }
}
