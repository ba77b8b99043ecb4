<?php
function of_sha1($data)
{
    for ($i = 0; $i < 10; $i++)
        sha1($data);
}
$data = str_repeat('0123456789abcdef', 10000);
of_sha1($data);
