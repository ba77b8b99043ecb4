'use strict';
/* Functions that wait, and what runs on their behalf.

path 20 (.*;)?awaited;spin
path 20 (.*;)?chained;spin
path 20 (.*;)?processImmediate;(timed;)?spin
path 20 processTicksAndRejections;(ticked;)?spin
path 20 (.*;)?(streamed;|numbers;)+spin
path - (.*;)?(main|awaited|chained|timed|ticked|streamed|numbers)
path - ((?!spin)[^;]+;?)+
*/
const {spin} = require('./rounds.js');

async function awaited() { await null; spin(10); }
function promised() { return Promise.resolve().then(function chained() { spin(10); }); }
function later() { return new Promise(done => setImmediate(function timed() { spin(10); done(); })); }
function next() { return new Promise(done => process.nextTick(function ticked() { spin(10); done(); })); }
async function* numbers() { for (let n = 0; n < 2; n++) { await null; spin(5); yield n; } }
async function streamed() { for await (const n of numbers()); }

(async function main() {
  for (let i = +process.argv[2]; i; i--) { await awaited(); await promised(); await later(); await next(); await streamed(); }
})();
