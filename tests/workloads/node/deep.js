'use strict';
/* A recursion as deep as its second argument says, in which each third call is of another function.

path 100 (processImmediate;main;rounds;|.*functions not read\];).*spin
path - ((?!spin)[^;]+;?)+
*/
const {spin, rounds} = require('./rounds.js');

function down(n) { return n ? (n % 3 ? down : across)(n - 1) : spin(10); }
function across(n) { return n ? down(n - 1) : spin(10); }

setImmediate(function main() { rounds([() => down(+process.argv[3])], +process.argv[2]); });
