<?php
class Hash
{
    static function of_sha256($data)
    {
        for ($i = 0; $i < 10; $i++)
            hash('sha256', $data);
    }
}
Hash::of_sha256(str_repeat('0123456789abcdef', 5000));
