<?php
/* A page of a server, which is compiled for each request where nothing keeps it: each kind is other code at the addresses of the one before.

path tag PHP_MD5.* {main};of_md5;md5
path tag PHP_SHA1.* {main};of_sha1;sha1
path tag PHP_SHA256.* {main};Hash::of_sha256;hash
path - {main}(;(of_md5(;md5)?|of_sha1(;sha1)?|Hash::of_sha256(;hash)?|str_repeat))?
*/
