<?php
function of_md5($data)
{
    for ($i = 0; $i < 10; $i++)
        md5($data);
}
$data = str_repeat('0123456789abcdef', 10000);
of_md5($data);
