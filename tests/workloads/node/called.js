'use strict';
/* Machine code below JavaScript, and JavaScript that machine code calls.

path 7.7 processImmediate;main;rounds;mapped;(\(anonymous\);)?spin
path 7.7 processImmediate;main;rounds;compared;(compare;)?spin
path 7.7 processImmediate;main;rounds;reduced;(add;)?spin
path 7.7 processImmediate;main;rounds;revived;(reviver;)?spin
path 7.7 processImmediate;main;rounds;encoded;(toJSON;)?spin
path 7.7 processImmediate;main;rounds;replaced;(each;)?spin
path 7.7 processImmediate;main;rounds;made_array;(item;)?spin
path 7.7 processImmediate;main;rounds;as_text;(toString;)?spin
path 7.7 processImmediate;main;rounds;assigned;(get x;)?spin
path 7.7 processImmediate;main;rounds;nested;(outer;)?(inner;)?spin
path 7.7 processImmediate;main;rounds;iterated;(next;)?spin
path 7.7 processImmediate;main;rounds;sorted_typed;(\(anonymous\);)?spin
path 7.7 processImmediate;main;rounds;listened;(emit;)?(heard;)?spin
path tag .*Scavenge.*|.*MarkCompact.* processImmediate;main;rounds.*
path tag (node|v8)::.*JsonParser.* processImmediate;main;rounds;(parsed|revived|nested(;outer)?)
path tag .*RegExpExec.* processImmediate;main;rounds;(matched|replaced)(;\(regular expression\))?
path - processImmediate;main;rounds;matched;\(regular expression\)
path - processImmediate;main;rounds;((?!spin)[^;]+;?)+
path - processImmediate;main;rounds
*/
const {spin, rounds} = require('./rounds.js');
const own = {};

function mapped() { own.n = [1, 2].map(n => spin(2 * n)); }
function compared() { [2, 1].sort(function compare(a, b) { spin(6); return a - b; }); }
function reduced() { own.n = [1, 2, 3].reduce(function add(a, b) { spin(3); return a + b; }); }
function revived() { JSON.parse('[1]', function reviver(key, value) { spin(3); return value; }); }
function encoded() { own.n = JSON.stringify({toJSON() { spin(6); return 1; }}); }
function replaced() { own.n = 'aXbX'.replace(/X/g, function each() { spin(3); return ''; }); }
function made_array() { Array.from([1, 2], function item() { spin(3); }); }
const text = {toString() { spin(6); return ''; }};
function as_text() { own.n = String(text); }
const source = {get x() { spin(6); return 1; }};
function assigned() { own.n = Object.assign({}, source); }
function nested() { [1].forEach(function outer() { JSON.parse('1', function inner() { spin(6); }); }); }
const iterable = {[Symbol.iterator]() { let n = 0; return {next() { spin(3); return {done: ++n > 1}; }}; }};
function iterated() { own.n = [...iterable]; }
function sorted_typed() { new Float64Array([2, 1]).sort((a, b) => { spin(6); return a - b; }); }
const emitter = new (require('events'))();
emitter.on('it', function heard() { spin(6); });
function listened() { emitter.emit('it'); }
const parts = JSON.stringify(Array.from({length: 60}, (_, i) => ({i, text: 'text' + i})));
function parsed() { own.n = JSON.parse(parts); }
const words = 'a'.repeat(12) + 'b';
function matched() { own.n = /(a+)+$/.test(words); }

setImmediate(function main() {
  rounds([mapped, compared, reduced, revived, encoded, replaced, made_array, as_text, assigned, nested, iterated, sorted_typed, listened, parsed, matched],
    +process.argv[2]);
});
