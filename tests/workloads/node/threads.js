'use strict';
/* Threads, each with a heap of its own.

path 50 (.*;)?in_main;spin
path 50 (.*;)?in_worker;spin
path - ((?!spin)[^;]+;?)+
*/
const {spin} = require('./rounds.js');
const {Worker, isMainThread, workerData} = require('worker_threads');

function in_main(n) { for (; n; n--) spin(10); }
function in_worker(n) { for (; n; n--) spin(10); }

if (isMainThread) {
  new Worker(__filename, {workerData: +process.argv[2]});
  setImmediate(in_main, +process.argv[2]);
} else {
  setImmediate(in_worker, workerData);
}
